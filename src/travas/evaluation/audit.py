"""The audit of a release of any tool: tests of what its claim of (ε, δ) makes impossible or very unlikely. Confidential.

An audit never shows that a release is private. It contradicts the claim, or it does not, with a stated power. The null
hypotheses and their derivation: docs/audit.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import attrs

from ..errors import EmptyLogError, LogError
from ..log.log import Log
from ..log.traces import Trace
from ..search.table_builders import predicted_length
from ..sources.engine import read
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.numbers import Number, as_text, exact_delta, exact_epsilon
from .compare import released_variants
from .event_values import EventTable, Timeline, event_table, instant

COPIED = 0.1
"""The power of a test is stated against a method that copies each candidate with this probability."""


@dataclass(frozen=True)
class Finding:
    """The result of one test.

    Attributes:
        name: What is tested.
        null: What is assumed; it includes the claim.
        observed: What was found, in words.
        hits: How many of the candidates were found.
        candidates: How many there could have been.
        p_value: An upper bound on the probability of as many hits.
        at: The p-value as a function of the number of hits.
        reason: Why the test could not be made; empty if it was.
    """

    name: str
    null: str
    observed: str = ""
    hits: int = 0
    candidates: int = 0
    p_value: float = 1.0
    at: Callable[[int], float] = field(default=lambda _: 1.0, repr=False, compare=False)
    reason: str = ""

    def needed(self, level: float) -> int | None:
        """The least number of hits that contradicts the claim at this level; None if no number does."""
        if not self.candidates or self.at(self.candidates) > level:
            return None
        low, high = 0, self.candidates
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle) <= level else (middle, high)
        return high

    def power(self, level: float) -> float:
        """The probability that the test contradicts a method that copies each candidate with probability `COPIED`."""
        needed = self.needed(level)
        return 0.0 if needed is None else binomial_tail(needed, self.candidates, COPIED)


def binomial_tail(least: int, trials: int, chance: float) -> float:
    """P[X ≥ least] for X of Binomial(trials, chance)."""
    if least <= 0:
        return 1.0
    if least > trials or chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    if least <= trials * chance:  # sum the shorter side
        return max(0.0, 1.0 - _binomial_sum(range(least - 1, -1, -1), trials, chance))
    return min(1.0, _binomial_sum(range(least, trials + 1), trials, chance))


def _binomial_sum(numbers: range, trials: int, chance: float) -> float:
    """The sum of probabilities from the largest on, until what is left does not matter."""
    total = 0.0
    for number in numbers:
        term = math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(number + 1)
            - math.lgamma(trials - number + 1)
            + number * math.log(chance)
            + (trials - number) * math.log1p(-chance)
        )
        total += term
        if term < total * 1e-17:
            break
    return total


def markov(chances: Sequence[float] | tuple[int, float]) -> Callable[[int], float]:
    """P[at least k of the events] ≤ the sum of their probabilities over k, whatever their dependence (Lemma 7)."""
    if isinstance(chances, tuple):
        number, chance = chances
        expected = number * chance
    else:
        expected = math.fsum(chances)
    return lambda hits: 1.0 if hits <= 0 else min(1.0, expected / hits)


def largest_atom(epsilon: float, delta: float) -> float:
    """The largest probability of any one error of a count with additive noise (Lemma 8)."""
    return min(1.0, (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1))


def same_error(errors: Sequence[int], atom: float) -> tuple[int, Callable[[int], float]]:
    """The number of counts with the most frequent error, and the probability of at least a given number of them (Lemma 8)."""
    most = max(Counter(errors).values(), default=0)
    return most, lambda hits: min(1.0, binomial_tail(hits, len(errors), atom) / max(atom, 1e-300))


def larger_first(epsilon: float, delta: float) -> float:
    """The largest probability that the larger of two counts that differ by one comes first (Lemma 9)."""
    two_steps = math.exp(2 * epsilon)
    return min(1.0, (two_steps + (1 + math.exp(epsilon)) * delta) / (1 + two_steps))


def guesses(canaries: int, made: int, epsilon: float, delta: float) -> Callable[[int], float]:
    """The probability of as many right guesses of which canaries are in the log (Lemma 11)."""
    accuracy = 1 / (1 + math.exp(-epsilon))

    def at(right: int) -> float:
        beyond = binomial_tail(right, made, accuracy)
        steepest = max(
            ((binomial_tail(right - step, made, accuracy) - beyond) / step for step in range(1, right + 1)), default=0.0
        )
        return min(1.0, beyond + 2 * canaries * delta * steepest)

    return at


def chance_of_text(value: str, alike: int) -> float:
    """A bound on the probability that a method writes exactly this text without having read it (Lemma 10)."""
    return min(1.0, 100 * alike / math.exp2(bits_of_shape(value)))


def shape(value: str) -> str:
    """The kinds of the characters of a text: digits, small and capital letters; others are themselves."""
    return "".join("9" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in value)


def bits_of_shape(value: str) -> float:
    """The logarithm of the number of texts of the same shape, at most 1,000."""
    sizes = {"9": 10, "a": 26, "A": 26}
    return min(1000.0, math.fsum(math.log2(sizes[kind]) for kind in shape(value) if kind in sizes))


ERROR_RATE = 0.001
"""The probability that an audit contradicts a true claim, all tests together (Holm)."""

_MOST_HITS = 1000  # rare variants beyond this many are not looked for: that takes long, and they contradict already
_MOST_GAPS = 3  # of a case, in the probability that its times occur by chance

_INVENTS = (
    "the release has variants that the original does not have: the method makes up traces, so it may have produced "
    "these by chance; use canaries"
)


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
        tests = [
            {
                "test": finding.name,
                "null_hypothesis": finding.null,
                "made": not finding.reason,
                "reason": finding.reason,
                "observed": finding.observed,
                "hits": finding.hits,
                "candidates": finding.candidates,
                "p_value": finding.p_value,
                "needed": finding.needed(self.level),
                "power": finding.power(self.level),
                "contradicts": finding.name in contradicting,
            }
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
        EmptyLogError: The original log has no cases.
    """
    claim = exact_epsilon(epsilon), exact_delta(delta)
    before = read(original, reading.for_counts_of("units"))
    if not len(before):
        raise EmptyLogError("the original log is empty: nothing can be tested against it")
    after = released_variants(released, reading)
    made_up = None if canaries is None else read(canaries, _without_unit(reading))
    tables = event_table(original, reading), _released_table(released, reading)
    true, shown = dict(before.items()), dict(after.items())
    numbers = float(claim[0]), float(claim[1])
    findings = [
        _rare_variants(
            true, shown, numbers, before.unit.noun, set(made_up.traces(range(len(made_up)))) if made_up else set()
        ),
        *_exact_counts(true, shown, numbers, predicted_length(*claim) if claim[1] else 1, before.unit.max_cases),
        _order_of_counts(true, _order(after, tables[1]), numbers),
        _order_of_cases(true, tables),
        *_values(tables, numbers, frozenset(public)),
        _times(tables, numbers),
        _canaries(made_up, true, shown, numbers),
    ]
    whom = "one case" if before.unit.is_case else "all cases of one person"
    return Audit(as_text(claim[0]), as_text(claim[1]), whom, tuple(findings))


def _without_unit(reading: Reading) -> Reading:
    return attrs.evolve(reading, unit=None, max_cases=None, counted=None)


def _released_table(released: Any, reading: Reading) -> EventTable | None:
    try:
        return event_table(released, Reading())
    except LogError:
        return event_table(released, reading)


# ------------------------------------------------------------------------------------------------------ the tests


def _rare_variants(
    true: dict[Trace, int], shown: dict[Trace, int], claim: tuple[float, float], unit: str, canaries: set[Trace]
) -> Finding:
    name = f"variants of one {unit}"
    null = (
        f"each variant that exactly one {unit} has is released with a probability of at most δ, because without that {unit} "
        "it would not be in the log, and the method releases only variants of the log, or parts of their traces"
    )
    candidates = [trace for trace, count in true.items() if count == 1 and trace not in canaries]
    if shown.keys() - true.keys():
        return Finding(name, null, reason=_INVENTS)
    if not candidates:
        return Finding(name, null, reason=f"no variant of the original has exactly one {unit}")
    others = [trace for trace in true if len(trace) > 1]
    own = (trace for trace in candidates if trace in shown and not any(_is_part(trace, other) for other in others))
    hits, at = len(list(islice(own, _MOST_HITS))), markov((len(candidates), claim[1]))
    alone = binomial_tail(hits, len(candidates), claim[1])
    number = f"{hits:,}{' or more' if hits == _MOST_HITS else ''}"
    observed = (
        f"{number} of {len(candidates):,} such variants are in the release, not counting parts of other traces; at most "
        f"{len(candidates) * claim[1]:.2g} are expected (if variants are treated independently, as many have the "
        f"probability {alone:.1e})"
    )
    return Finding(name, null, observed, hits, len(candidates), at(hits), at)


def _is_part(trace: Trace, other: Trace) -> bool:
    """Whether a trace is what is left of another one without some of its events: it may have been shortened to it."""
    rest = iter(other)
    return len(trace) < len(other) and all(activity in rest for activity in trace)


def _exact_counts(
    true: dict[Trace, int], shown: dict[Trace, int], claim: tuple[float, float], least: int, cases: int
) -> Iterable[Finding]:
    assumed = (
        "every count has its own additive noise, whose distribution does not depend on the count; then no single error "
        "has a probability above (e^ε − 1 + 2δ)/(e^ε + 1)"
    )
    errors = [shown[trace] - count for trace, count in true.items() if count >= least and trace in shown]
    atom = largest_atom(*claim)
    few = f"no variant of {least:,} or more cases, which no threshold touches, is in both logs"
    if not errors or atom >= 1:
        yield Finding("exact counts", assumed, reason=few)
        yield Finding("counts with the same error", assumed, reason=few)
        return
    exact, at = errors.count(0), _binomial(len(errors), atom)
    observed = f"{exact:,} of {len(errors):,} counts are exact; {len(errors) * atom:.3g} or fewer are expected"
    yield Finding("exact counts", assumed, observed, exact, len(errors), at(exact), at)
    most, of_most = same_error(errors, atom)
    observed = f"{most:,} of {len(errors):,} counts have the same error"
    yield Finding("counts with the same error", assumed, observed, most, len(errors), of_most(most), of_most)


def _binomial(trials: int, chance: float) -> Any:
    return lambda hits: binomial_tail(hits, trials, chance)


def _order(after: Log, table: EventTable | None) -> list[Trace]:
    """The released variants in the order of the file."""
    order: list[Trace] = [*(table.first_occurrences() if table is not None else ())]
    return order or after.traces(range(len(after)))


def _order_of_counts(true: dict[Trace, int], order: Sequence[Trace], claim: tuple[float, float]) -> Finding:
    null = (
        "the method treats all variants in the same way, each with its own noise; then of two whose counts differ by one, the "
        "larger comes first with a probability of at most (e^2ε + (1 + e^ε)δ)/(1 + e^2ε)"
    )
    rank = {trace: index for index, trace in enumerate(order)}
    known = sorted((trace for trace in rank if trace in true), key=lambda trace: (true[trace], trace))
    pairs, free = [], True
    for small, large in pairwise(known):
        if free and true[large] - true[small] == 1:
            pairs.append((small, large))
            free = False
        else:
            free = True
    if not pairs:
        return Finding("order of counts", null, reason="no two released variants have counts that differ by one")
    hits, at = sum(rank[large] < rank[small] for small, large in pairs), _binomial(len(pairs), larger_first(*claim))
    observed = f"in {hits:,} of {len(pairs):,} pairs the variant with one more case comes first"
    return Finding("order of counts", null, observed, hits, len(pairs), at(hits), at)


def _order_of_cases(true: dict[Trace, int], tables: tuple[EventTable | None, EventTable | None]) -> Finding:
    null = (
        "the order of the original log plays no role: of two variants with equal counts each comes first equally often"
    )
    name = "order of cases"
    if tables[0] is None or tables[1] is None:
        return Finding(name, null, reason="one of the logs has no events in an order")
    earlier = {trace: index for index, trace in enumerate(tables[0].first_occurrences())}
    order = tables[1].first_occurrences()
    if order == sorted(order):
        return Finding(name, null, reason="the variants are in alphabetical order")
    later = {trace: index for index, trace in enumerate(order)}
    by_count: dict[int, list[Trace]] = {}
    for trace in sorted(later):
        if trace in earlier and trace in true:
            by_count.setdefault(true[trace], []).append(trace)
    pairs = [pair for group in by_count.values() for pair in zip(group[::2], group[1::2], strict=False)]
    if not pairs:
        return Finding(name, null, reason="no two released variants have equal counts in the original")
    hits = sum((earlier[one] < earlier[two]) == (later[one] < later[two]) for one, two in pairs)
    at = _binomial(len(pairs), 0.5)
    observed = f"{hits:,} of {len(pairs):,} pairs of variants are in the order of the original"
    return Finding(name, null, observed, hits, len(pairs), at(hits), at)


def _values(
    tables: tuple[EventTable | None, EventTable | None], claim: tuple[float, float], public: frozenset[str]
) -> Iterable[Finding]:
    """One test for each column that both logs have."""
    before, after = tables
    if before is None or after is None:
        return
    shared = {name: (column, after.others[name]) for name, column in before.others.items() if name in after.others}
    for name, (column, other) in shared.items():
        if public & {name, column, name.removeprefix("the ")}:
            continue
        null = (
            f"a value of {name!r} that exactly one case has reappears with a probability of at most e^ε·c + δ, where c bounds "
            "the probability that the method writes this text without having read it: at most a hundred times that of random "
            "texts of the same shape"
        )
        yield _unique_values(f"values of {name!r}", null, before.owners(column), set(after.owners(other)), claim)


def _unique_values(
    name: str, null: str, owners: dict[str, bool], shown: set[str], claim: tuple[float, float]
) -> Finding:
    candidates = [value for value, alone in owners.items() if alone]
    if not candidates:
        return Finding(name, null, reason="no value occurs in exactly one case")
    growth, delta = math.exp(claim[0]), claim[1]
    chances = [min(1.0, growth * chance + delta) for chance in _chances_of_values(candidates, shown)]
    hits, at = sum(value in shown for value in candidates), markov(chances)
    observed = f"{hits:,} of {len(candidates):,} values that exactly one case has are in the release"
    return Finding(name, null, observed, hits, len(candidates), at(hits), at)


def _chances_of_values(candidates: Sequence[str], shown: set[str]) -> Iterable[float]:
    """Of texts by their shape; of moments by their number in the time span, because dates are not random digits (Lemma 10)."""
    moments = sorted({int(moment.timestamp()) for value in candidates if (moment := instant(value)) is not None})
    if len(moments) > len(candidates) // 2:
        span = (moments[-1] - moments[0]) // _resolution(moments) + 1
        return [min(1.0, 100 * len(shown) / span)] * len(candidates)
    alike = Counter(map(shape, shown))
    return [chance_of_text(value, alike[shape(value)]) for value in candidates]


def _resolution(moments: Sequence[int]) -> int:
    """The largest number of seconds, at most a day, of which all differences are multiples."""
    return math.gcd(*(later - earlier for earlier, later in pairwise(moments)), 86_400)


def _times(tables: tuple[EventTable | None, EventTable | None], claim: tuple[float, float]) -> Finding:
    null = (
        "all times of a case, which no other case has, reappear with a probability of at most e^ε·c + δ, where c is at most a "
        "hundred times the probability that random cases of the same time span and gaps have them"
    )
    name = "times of a case"
    if tables[0] is None or tables[1] is None:
        return Finding(name, null, reason="one of the logs has no events with times")
    before, after = Counter(tables[0].timelines()), set(tables[1].timelines())
    candidates = [line for line, number in before.items() if number == 1]
    if not candidates:
        return Finding(name, null, reason="no case has times that no other case has")
    growth, delta = math.exp(claim[0]), claim[1]
    chances = [min(1.0, growth * chance + delta) for chance in _chances_of_times(candidates, len(after))]
    hits, at = sum(line in after for line in candidates), markov(chances)
    observed = f"the times of {hits:,} of {len(candidates):,} cases are in the release"
    return Finding(name, null, observed, hits, len(candidates), at(hits), at)


def _chances_of_times(lines: Sequence[Timeline], made: int) -> Iterable[float]:
    """A hundred times the probability that one of `made` random cases has the start and gaps of a case (Lemma 10)."""
    starts = sorted({int(line[0].timestamp()) for line in lines})
    span = (starts[-1] - starts[0]) // _resolution(starts) + 1
    gaps = len({later - earlier for line in lines for earlier, later in pairwise(line)})
    for line in lines:
        yield min(1.0, 100 * made / (span * gaps ** min(len(set(line)) - 1, _MOST_GAPS)))


def _canaries(
    made_up: Log | None, true: dict[Trace, int], shown: dict[Trace, int], claim: tuple[float, float]
) -> Finding:
    null = (
        "each canary is in the log with probability 1/2; nobody who sees the release can tell which ones are, beyond what "
        "(ε, δ) allows"
    )
    if made_up is None:
        return Finding("canaries", null, reason="no canaries were put into the log")
    canaries = made_up.traces(range(len(made_up)))
    released = [trace for trace in canaries if trace in shown]
    if not released:
        return Finding("canaries", null, reason="no canary is in the release, so nothing can be guessed")
    right = sum(trace in true for trace in released)
    at = guesses(len(canaries), len(released), *claim)
    observed = f"{right:,} of {len(released):,} released canaries are in the original, of {len(canaries):,} in all"
    return Finding("canaries", null, observed, right, len(released), at(right), at)
