"""What a release at (ε, δ) would keep: without a log, or in expectation for a log (confidential). See docs/forecast.md."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ..errors import CONFIDENTIAL_HEADING, EmptyLogError, ParameterError, confidential_repr
from ..log.abstraction import Abstraction
from ..log.log import Log
from ..mechanisms.mechanism import Mechanism
from ..plots.html import fragment, heading, paragraph, table, warning
from ..releases.estimate import KeepCurve, intervals, keep_curve_of
from ..releases.release import name_of
from ..sources.engine import read
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.numbers import ONE, as_text
from .compare import checked_abstractions, checked_items

EPSILONS = ("0.5", "1", "2", "4")
DELTAS = ("1e-4", "1e-6", "1e-8")
ABSTRACTIONS = "full,fold,first,prefix:16,prefix:8,prefix:4,set"
WHATS: tuple[Literal["cases", "variants"], ...] = ("cases", "variants")
"""What a forecast gives shares of."""

LOOKING = (
    "This forecast has read the original log. Choosing parameters or an abstraction based on it is a use of the log that "
    "no guarantee covers. Instead, choose them beforehand, or use a forecast on last year's log or on a similar public "
    "log."
)


@dataclass(frozen=True)
class Chance:
    """The probability that a variant of `cases` cases is kept, and a typical interval of its frequency if it is.

    The interval is that of the median noisy count of such a variant.
    """

    cases: int
    kept: Fraction
    low: int
    high: int


def chances(mechanism: Mechanism, numbers: Sequence[int] | None = None) -> list[Chance]:
    """Return keep probabilities and frequency intervals by case count, without a log."""
    curve = _curve(mechanism)
    numbers = [n for n in (numbers or curve.numbers_of_cases()) if curve.probability(n)]
    table, least = curve.table, curve.minimum_cases

    def median(cases: int) -> int:
        """Return the median of N, given that N ≤ cases."""
        most = min(cases - least + 1, table.length)
        half = -(-table.cumulative(most) // 2)
        return least + bisect_left(range(1, most + 1), half, key=table.cumulative)

    ranges = intervals(curve, tuple(cases - median(cases) + curve.centre for cases in numbers))
    return [Chance(n, curve.probability(n), low, high) for n, (low, high) in zip(numbers, ranges, strict=True)]


@dataclass(frozen=True)
class Expected:
    """The exact expected shares of cases, variants and events of a log that a release would keep. Confidential.

    Variants are those under the abstraction; cases and events are those of the whole log.
    """

    epsilon: Fraction
    delta: Fraction
    abstraction: Abstraction
    cases: Fraction
    variants: Fraction
    events: Fraction


@dataclass(frozen=True)
class Forecast:
    """Expected shares for a grid of (ε, δ) and abstractions and the number of cases. Confidential."""

    cells: tuple[Expected, ...]
    cases: int

    def __repr__(self) -> str:
        return confidential_repr(self)

    def shares(self, what: Literal["cases", "variants"]) -> list[list[str]]:
        """The expected shares as a table: ε, δ and a column for each abstraction, with a heading."""
        rows: dict[tuple[str, str], list[str]] = {}
        for cell in self.cells:
            at = as_text(cell.epsilon), as_text(cell.delta)
            rows.setdefault(at, [*at]).append(_percent(cell.cases if what == "cases" else cell.variants))
        return [["ε", "δ", *dict.fromkeys(str(cell.abstraction) for cell in self.cells)], *rows.values()]

    def _repr_html_(self) -> str:
        """The forecast in a notebook, marked confidential."""
        parts = [warning(CONFIDENTIAL_HEADING), heading("Forecast")]
        for what in WHATS:
            head, *rows = self.shares(what)
            parts += [paragraph(f"Expected share of the {what} kept"), table(head, rows)]
        return fragment([*parts, paragraph(LOOKING)])


def forecast(
    source: Any,
    mechanisms: Iterable[Mechanism],
    abstractions: str | Iterable[Abstraction] = ABSTRACTIONS,
    reading: Reading = DEFAULT_READING,
) -> Forecast:
    """Compute the expected shares of a log that mechanisms would keep under abstractions. Confidential.

    Args:
        source: The log, as for `read`.
        mechanisms: The mechanisms.
        abstractions: The abstractions, or their names from fine to coarse, separated by commas.
        reading: How the log is read.

    Returns:
        The forecast.
    """
    rules = checked_items("mechanisms", mechanisms, Mechanism, "a list such as [Optimal(epsilon=1, delta='1e-6')]")
    for rule in rules:
        _curve(rule)  # raises before the log is read
    compared = checked_abstractions(abstractions)
    variants = read(source, reading)
    if not len(variants):
        raise EmptyLogError("the log is empty; there is nothing to forecast")
    lengths, cases = variants.lengths(), int(variants.counts.sum())
    events = int(lengths @ variants.counts)
    under = [(abstraction, abstraction.of(variants)) for abstraction in compared]
    cells = (_expected(rule, abstraction, keys, cases, events) for rule in rules for abstraction, keys in under)
    return Forecast(tuple(cells), cases)


def _expected(mechanism: Mechanism, abstraction: Abstraction, keys: Log, all_cases: int, all_events: int) -> Expected:
    """Return Σ n·π(n), Σ π(n) and Σ n·length·π(n), in integers, over the case counts that occur."""
    number, length = Counter(keys.counts.tolist()), Counter[int]()
    for count, events in zip(keys.counts.tolist(), keys.lengths().tolist(), strict=True):
        length[count] += events
    curve = _curve(mechanism)
    kept = {count: curve.table.cumulative(count - curve.minimum_cases + 1) for count in number}
    return Expected(
        mechanism.epsilon,
        mechanism.delta,
        abstraction,
        cases=Fraction(sum(number[n] * n * kept[n] for n in kept), ONE * all_cases),
        variants=Fraction(sum(number[n] * kept[n] for n in kept), ONE * max(len(keys), 1)),
        events=Fraction(sum(length[n] * n * kept[n] for n in kept), ONE * all_events),
    )


def _curve(mechanism: Mechanism) -> KeepCurve:
    curve = keep_curve_of(mechanism)
    if curve is None or curve.rungs or curve.runs > 1:
        raise ParameterError(
            f"no forecast for {name_of(mechanism)}, because what it keeps depends on more than the case count; use optimal or "
            "travas",
            field="mechanism",
        )
    return curve


def _percent(share: Fraction) -> str:
    return f"{float(share):.0%}"
