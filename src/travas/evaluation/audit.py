"""The audit of a release of any tool: tests of what its claim of (ε, δ) makes impossible or very unlikely. Confidential.

An audit never shows that a release is private. It contradicts the claim, or it does not, with a stated power. The null
hypotheses and their derivation: docs/audit.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from ..errors import LogError
from ..log.traces import Trace
from ..search.table_builders import predicted_length
from ..sources.columns import Columns, recognised
from ..sources.csv_files import table_of
from ..sources.engine import read
from ..sources.files import CSV_SUFFIXES, PARQUET_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.instants import recognised_instants
from ..sources.reading import DEFAULT_READING, Reading
from ..sources.xes import events_of
from ..trusted.numbers import Number, as_text, exact_delta, exact_epsilon
from .compare import released_variants

COPIED = 0.1
"""The power of a test is stated against a method that copies each candidate with this probability."""


@dataclass(frozen=True)
class Finding:
    """The result of one test.

    Attributes:
        name: What is tested.
        null: What is assumed; it includes the claim.
        hits: How many of the candidates were found.
        candidates: How many there could have been.
        at: The p-value as a function of the number of hits.
        observed: What was found, in words.
        reason: Why the test could not be made; empty if it was.
    """

    name: str
    null: str
    hits: int = 0
    candidates: int = 0
    at: Callable[[int], float] = field(default=lambda _: 1.0, repr=False, compare=False)
    observed: str = ""
    reason: str = ""

    @property
    def p_value(self) -> float:
        """An upper bound on the probability of as many hits, under the null hypothesis."""
        return self.at(self.hits)

    def needed(self, level: float) -> int | None:
        """The least number of hits that contradicts the claim at this level; None if no number does."""
        hits = 1 + bisect_left(range(1, self.candidates + 1), True, key=lambda hits: self.at(hits) <= level)
        return hits if hits <= self.candidates else None

    def power(self, level: float) -> float:
        """The probability that the test contradicts a method that copies each candidate with probability `COPIED`."""
        needed = self.needed(level)
        return 0.0 if needed is None else binomial_tail(needed, self.candidates, COPIED)


def binomial_tail(least: int, trials: int, chance: float) -> float:
    """P[X ≥ least] for X of Binomial(trials, chance)."""
    import numpy as np

    if least <= 0 or chance >= 1:
        return float(least <= trials)
    if least > trials or chance <= 0:
        return 0.0
    numbers = np.arange(trials + 1)
    logs = np.r_[0.0, np.cumsum(np.log(numbers[1:]))]  # of factorials
    terms = np.exp(logs[-1] - logs - logs[::-1] + numbers * math.log(chance) + (trials - numbers) * math.log1p(-chance))
    return min(1.0, float(terms[least:].sum()))


def markov(expected: float) -> Callable[[int], float]:
    """P[at least k of the events] ≤ the sum of their probabilities over k, whatever their dependence (Lemma 7)."""
    return lambda hits: 1.0 if hits <= 0 else min(1.0, expected / hits)


def largest_atom(epsilon: float, delta: float) -> float:
    """The largest probability of any one error of a count with additive noise (Lemma 8)."""
    return min(1.0, (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1))


def same_error(errors: Sequence[int], atom: float) -> tuple[int, Callable[[int], float]]:
    """The number of counts with the most frequent error, and the probability of at least a given number of them (Lemma 8)."""
    most = max(Counter(errors).values(), default=0)
    return most, lambda hits: min(1.0, binomial_tail(hits, len(errors), atom) / max(atom, 1e-300))


def guesses(canaries: int, made: int, epsilon: float, delta: float) -> Callable[[int], float]:
    """The probability of as many right guesses of which canaries are in the log (Lemma 10)."""
    accuracy = 1 / (1 + math.exp(-epsilon))

    def at(right: int) -> float:
        beyond = binomial_tail(right, made, accuracy)
        steepest = max(
            ((binomial_tail(right - step, made, accuracy) - beyond) / step for step in range(1, right + 1)), default=0.0
        )
        return min(1.0, beyond + 2 * canaries * delta * steepest)

    return at


def chance_of_text(value: str, alike: int) -> float:
    """A bound on the probability that a method writes exactly this text without having read it (Lemma 9)."""
    bits = math.fsum(math.log2(_SIZES[kind]) for kind in shape(value) if kind in _SIZES)  # of all texts of this shape
    return min(1.0, 100 * alike / math.exp2(min(1000.0, bits)))


_SIZES = {"9": 10, "a": 26, "A": 26}


def shape(value: str) -> str:
    """The kinds of the characters of a text: digits, small and capital letters; others are themselves."""
    return "".join("9" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in value)


ERROR_RATE = 0.001
"""The probability that an audit contradicts a true claim, all tests together (Holm)."""

_MOST_HITS = 1000  # rare variants beyond this many are not looked for: that takes long, and they contradict already
_MOST_GAPS = 3  # of a case, in the probability that its times occur by chance


@dataclass(frozen=True)
class Audit:
    """The result of an audit. Confidential.

    Attributes:
        epsilon: The claimed ε.
        delta: The claimed δ.
        unit: Whom the claim protects.
        findings: One for each test.
    """

    epsilon: str
    delta: str
    unit: str
    findings: tuple[Finding, ...]

    @property
    def made(self) -> list[Finding]:
        """The tests that could be made."""
        return [finding for finding in self.findings if not finding.reason]

    @property
    def level(self) -> float:
        """The level of the strictest test: with several tests, each has a part of `ERROR_RATE`."""
        return ERROR_RATE / max(1, len(self.made))

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        """The tests that contradict the claim, by Holm's rule: all together are wrong with probability `ERROR_RATE`."""
        contradicting = []
        for rank, finding in enumerate(sorted(self.made, key=lambda finding: finding.p_value)):
            if finding.p_value > ERROR_RATE / (len(self.made) - rank):
                break
            contradicting.append(finding)
        return tuple(contradicting)

    @property
    def verdict(self) -> str:
        """One sentence. It never says that a release is private."""
        claim = f"(ε = {self.epsilon}, δ = {self.delta}) for {self.unit}"
        if self.contradictions:
            return f"The release contradicts the claim {claim}."
        power = max((finding.power(self.level) for finding in self.made), default=0.0)
        return (
            f"No contradiction of the claim {claim} was found. The strongest test would notice a method that copies one "
            f"candidate in {round(1 / COPIED)} with probability {power:.0%}."
        )

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        contradicting = {finding.name for finding in self.contradictions}
        facts = "reason", "observed", "hits", "candidates", "p_value"
        tests = [
            {"test": finding.name, "null_hypothesis": finding.null, "made": not finding.reason}
            | {name: getattr(finding, name) for name in facts}
            | {"needed": finding.needed(self.level), "power": finding.power(self.level)}
            | {"contradicts": finding.name in contradicting}
            for finding in self.findings
        ]
        claim = {"epsilon": self.epsilon, "delta": self.delta, "unit": self.unit}
        return {"claim": claim, "verdict": self.verdict, "contradicts": bool(contradicting), "tests": tests}


def audit(
    original: Any,
    released: Any,
    *,
    epsilon: Number,
    delta: Number,
    reading: Reading = DEFAULT_READING,
    canaries: Any = None,
    public: Sequence[str] = (),
) -> Audit:
    """Test whether a release contradicts the claim that it is (ε, δ)-differentially private.

    Args:
        original: The original log, as for `read`.
        released: The released log of any method: a file, a data frame, or a `Release`.
        epsilon: The claimed ε.
        delta: The claimed δ.
        reading: The rule from the original log to variants, and whom the claim protects.
        canaries: A log of made-up cases, each with a different variant and each added to the original log with
            probability 1/2 before the release.
        public: Columns whose values are public, so that a method may know them without reading the log.

    Returns:
        The findings. Confidential, because the original log is read.

    Raises:
        LogError: The original log has no cases.
    """
    claim = exact_epsilon(epsilon), exact_delta(delta)
    before = read(original, reading.for_counts_of("units"))
    if not len(before):
        raise LogError("the original log is empty: nothing can be tested against it")
    after = released_variants(released, reading)
    cases = attrs.evolve(reading, unit=None, max_cases=None, counted=None)
    made_up = () if canaries is None else tuple(trace for trace, _ in read(canaries, cases).items())
    try:
        shown = event_table(released, Reading())  # with the names that travas writes, or else those of the original
    except LogError:
        shown = event_table(released, reading)
    numbers = float(claim[0]), float(claim[1])
    true, made, events = dict(before.items()), dict(after.items()), event_table(original, reading)
    findings = [
        _rare_variants(true, made, numbers, before.unit.noun, made_up),
        *_exact_counts(true, made, numbers, predicted_length(*claim) if claim[1] else 1),
    ]
    if events is not None and shown is not None:
        findings += _values(events, shown, numbers, frozenset(public))
        findings.append(_times(events.timelines(), shown.timelines(), numbers))
    findings.append(_canaries(true, made, numbers, made_up))
    whom = "one case" if before.unit.is_case else "all cases of one person"
    return Audit(as_text(claim[0]), as_text(claim[1]), whom, tuple(findings))


# ------------------------------------------------------------------------------------------------------ the tests

_Claim = tuple[float, float]


_Counts = Mapping[Trace, int]


def _rare_variants(true: _Counts, shown: _Counts, claim: _Claim, unit: str, canaries: Collection[Trace]) -> Finding:
    name = f"variants of one {unit}"
    null = (
        f"each variant that exactly one {unit} has is released with a probability of at most δ, because without that {unit} "
        "it would not be in the log, and the method releases only variants of the log, or parts of their traces"
    )
    added = set(canaries)
    candidates = [trace for trace, count in true.items() if count == 1 and trace not in added]
    if shown.keys() - true.keys():
        why = "the release has variants that the original does not have, so the method may make up traces; use canaries"
        return Finding(name, null, reason=why)
    if not candidates:
        return Finding(name, null, reason=f"no variant of the original has exactly one {unit}")
    others = [trace for trace in true if len(trace) > 1]
    own = (trace for trace in candidates if trace in shown and not any(_is_part(trace, other) for other in others))
    hits, expected = len(list(islice(own, _MOST_HITS))), len(candidates) * claim[1]
    observed = (
        f"{hits:,}{' or more' if hits == _MOST_HITS else ''} of {len(candidates):,} such variants are in the release, not "
        f"counting parts of other traces; at most {expected:.2g} are expected"
    )
    return Finding(name, null, hits, len(candidates), markov(expected), observed)


def _is_part(trace: Trace, other: Trace) -> bool:
    """Whether a trace is what is left of another one without some of its events: it may have been shortened to it."""
    rest = iter(other)
    return len(trace) < len(other) and all(activity in rest for activity in trace)


def _exact_counts(true: _Counts, shown: _Counts, claim: _Claim, least: int) -> Iterable[Finding]:
    names = "exact counts", "counts with the same error"
    null = (
        "every count has its own additive noise, whose distribution does not depend on the count; then no single error "
        "has a probability above (e^ε − 1 + 2δ)/(e^ε + 1)"
    )
    common = ((trace, count) for trace, count in true.items() if count >= least and trace in shown)
    errors = [shown[trace] - count for trace, count in common]
    number, atom = len(errors), largest_atom(*claim)
    if not errors or atom >= 1:
        few = f"no variant of {least:,} or more cases, which no threshold touches, is in both logs"
        yield from (Finding(name, null, reason=few) for name in names)
        return
    exact, (most, of_most) = errors.count(0), same_error(errors, atom)
    observed = f"{exact:,} of {number:,} counts are exact; {number * atom:.3g} or fewer are expected"
    yield Finding(names[0], null, exact, number, partial(binomial_tail, trials=number, chance=atom), observed)
    yield Finding(names[1], null, most, number, of_most, f"{most:,} of {number:,} counts have the same error")


def _values(before: EventTable, after: EventTable, claim: _Claim, public: frozenset[str]) -> Iterable[Finding]:
    """One test for each column that both logs have."""
    others = after.others
    for what, column in before.others.items():
        if what not in others or public & {what, column, what.removeprefix("the ")}:
            continue
        null = (
            f"a value of {what!r} that exactly one case has reappears with a probability of at most e^ε·c + δ, where c bounds "
            "the probability that the method writes this text without having read it: at most a hundred times that of random "
            "texts of the same shape"
        )
        candidates = [value for value, alone in before.owners(column).items() if alone]
        shown = set(after.owners(others[what]))
        chances = _chances_of_values(candidates, shown)
        yield _reappearing(Finding(f"values of {what!r}", null), candidates, shown, chances, claim)


def _reappearing(
    test: Finding, candidates: Sequence[Any], shown: Collection[Any], chances: Iterable[float], claim: _Claim
) -> Finding:
    """The test of Lemma 7 for what one case has alone, with a chance of each to be written without having been read."""
    if not candidates:
        return replace(test, reason="there is nothing that exactly one case has")
    expected = math.fsum(min(1.0, math.exp(claim[0]) * chance + claim[1]) for chance in chances)
    hits = sum(value in shown for value in candidates)
    observed = f"{hits:,} of {len(candidates):,}, each of which exactly one case has, are in the release"
    return replace(test, hits=hits, candidates=len(candidates), at=markov(expected), observed=observed)


def _chances_of_values(candidates: Sequence[str], shown: set[str]) -> Iterable[float]:
    """Of texts by their shape; of moments by their number in the time span, because dates are not random digits (Lemma 9)."""
    moments = set(recognised_instants(pl.Series(candidates, dtype=pl.String), None).drop_nulls().dt.epoch("s"))
    if len(moments) > len(candidates) // 2:
        return [min(1.0, 100 * len(shown) / _span(moments))] * len(candidates)
    alike = Counter(map(shape, shown))
    return [chance_of_text(value, alike[shape(value)]) for value in candidates]


def _span(moments: Iterable[int]) -> int:
    """The number of moments from the first to the last, at the largest resolution of all, which is at most a day."""
    known = sorted(set(moments))
    resolution = math.gcd(*(later - earlier for earlier, later in pairwise(known)), 86_400)
    return (known[-1] - known[0]) // resolution + 1


def _times(before: Sequence[Timeline], after: Sequence[Timeline], claim: _Claim) -> Finding:
    name = "times of a case"
    null = (
        "all times of a case, which no other case has, reappear with a probability of at most e^ε·c + δ, where c is at most a "
        "hundred times the probability that random cases of the same time span and gaps have them"
    )
    candidates = [line for line, number in Counter(before).items() if number == 1]
    shown = set(after)
    return _reappearing(Finding(name, null), candidates, shown, _chances_of_times(candidates, len(shown)), claim)


def _chances_of_times(lines: Sequence[Timeline], made: int) -> Iterable[float]:
    """A hundred times the probability that one of `made` random cases has the start and gaps of a case (Lemma 9)."""
    span = _span(int(line[0].timestamp()) for line in lines)
    gaps = len({later - earlier for line in lines for earlier, later in pairwise(line)})
    for line in lines:
        yield min(1.0, 100 * made / (span * gaps ** min(len(set(line)) - 1, _MOST_GAPS)))


def _canaries(true: _Counts, shown: _Counts, claim: _Claim, canaries: Sequence[Trace]) -> Finding:
    name = "canaries"
    null = (
        "each canary is in the log with probability 1/2; nobody who sees the release can tell which ones are, beyond what "
        "(ε, δ) allows"
    )
    if not canaries:
        return Finding(name, null, reason="no canaries were put into the log")
    released = [trace for trace in canaries if trace in shown]
    if not released:
        return Finding(name, null, reason="no canary is in the release, so nothing can be guessed")
    right = sum(trace in true for trace in released)
    observed = f"{right:,} of {len(released):,} released canaries are in the original, of {len(canaries):,} in all"
    return Finding(name, null, right, len(released), guesses(len(canaries), len(released), *claim), observed)


# -------------------------------------------------------------------------------------------- all columns as text

Timeline = tuple[datetime, ...]


@dataclass(frozen=True, eq=False)
class EventTable:
    """The events of a log: every column as text, and the columns by role."""

    frame: pl.DataFrame
    columns: Columns

    @property
    def others(self) -> dict[str, str]:
        """The columns of text by what they are called in both logs: roles by role, all others by name."""
        roles = {"the case": self.columns.case}
        if len(self.columns.activities) == 1:
            roles["the activity"] = self.columns.activities[0]
        used = {*roles.values(), *self.columns.activities, self.columns.timestamp}
        return roles | {name: name for name in self.frame.columns if name not in used}

    def owners(self, column: str) -> dict[str, bool]:
        """The values of a column, and whether exactly one case has them."""
        pairs = self.frame.select(pl.col(column).alias("value"), pl.col(self.columns.case).alias("case")).drop_nulls()
        counted = pairs.unique().group_by("value").len()
        return dict(zip(counted["value"], counted["len"] == 1, strict=True))

    def timelines(self) -> list[Timeline]:
        """The times of every case with two or more different ones; empty if they cannot be parsed."""
        if self.columns.timestamp is None:
            return []
        times = recognised_instants(self.frame[self.columns.timestamp], None)
        cases = pl.DataFrame({"case": self.frame[self.columns.case], "time": times})
        lines = cases.group_by("case", maintain_order=True).agg(pl.col("time").sort())["time"]
        return [tuple(line) for line in lines if line.null_count() == 0 and line.n_unique() > 1]


def event_table(source: Any, reading: Reading) -> EventTable | None:
    """Return the events of a log with all columns."""
    frame = _frame(source, reading)
    if frame is None:
        return None
    frame = frame.select(pl.all().cast(pl.String, strict=False))
    names = frame.columns
    roles = Reading(case=reading.case if reading.case in names else None, activity=reading.activity, order="file")
    columns = Columns.of(roles, names, str(source) if isinstance(source, str | Path) else "data frame")
    time = reading.timestamp if reading.timestamp in names else recognised("timestamp", names)
    return EventTable(frame, replace(columns, timestamp=time))


def _frame(source: Any, reading: Reading) -> pl.DataFrame | None:
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        return source.lazy().collect()
    if type(source).__module__.partition(".")[0] == "pandas":
        texts = {str(name): [None if value != value else str(value) for value in source[name]] for name in source}
        return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))
    if not isinstance(source, str | Path) or not Path(source).is_file():
        return None
    path = Path(source)
    try:
        if suffix_of(path, CSV_SUFFIXES):
            return table_of(path, reading)
        if suffix_of(path, PARQUET_SUFFIXES):
            return pl.read_parquet(path, glob=False)
        return events_of([path]).frame() if suffix_of(path, XES_SUFFIXES) else None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise LogError(f"{path}: cannot be read for the audit ({type(error).__name__}); check the file") from None
