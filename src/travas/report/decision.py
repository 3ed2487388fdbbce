"""The decision about a release in words: its figures, a verdict, warnings, and what is missing. All of it is public."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .. import explain
from ..errors import number_of
from ..log.traces import Trace
from ..mechanisms.mechanism import Mechanism
from ..releases.estimate import Estimate
from ..releases.process_map import MapRelease
from ..releases.release import Release, ReleasedLog, VariantRelease, kind_of
from ..releases.synthetic_log import SyntheticRelease
from ..report import texts
from ..synthesis.measurements import MeasuredNumber
from ..trusted.guarantee import Standing

MOST, MANY = 0.8, 0.5
"""The shares of cases from which a release is said to cover most of them, or at least half."""


@dataclass(frozen=True)
class Figure:
    """A number with what it counts."""

    value: str
    words: str

    def __str__(self) -> str:
        return f"{self.value} {self.words}"


@dataclass(frozen=True)
class Decision:
    """What is said about a release, or about what a file has of it.

    Attributes:
        mechanism: The mechanism.
        counts: The counts of the variants in the file.
        estimate: The estimates; None if the file has no noisy counts.
        release: The complete release; None if the file does not contain all of it.
        stated_cases: The number of cases stated by the owner, if any.
        person: The noun for whom it protects, where that is not a case.
    """

    mechanism: Mechanism
    counts: tuple[int, ...]
    estimate: Estimate | None
    release: Release | None = None
    stated_cases: int | None = None
    person: str = explain.PERSON

    @property
    def weak(self) -> tuple[str, ...]:
        """The reasons why its parameters protect only weakly, if any."""
        noun = self.mechanism.unit.noun
        return explain.weak_protection(self.mechanism.epsilon, self.mechanism.delta, self.stated_cases, noun)

    @property
    def pairs(self) -> str:
        """What counts are numbers of."""
        return explain.pairs(self.mechanism, self.person)

    @property
    def content(self) -> tuple[Figure, ...]:
        """The figures of what was released."""
        release, kind = self.release, kind_of(self.mechanism)
        if isinstance(release, MapRelease):
            cases = f"{explain.original_cases(release, self.person)}, as measured ({between(release.total)})"
            false = f"about {round(release.expected_false_pairs, 1):g} of them expected by noise alone"
            return (
                Figure(f"{max(round(release.total.value), 0):,}", cases),
                _number(len(release.activities), "activities"),
                _number(len(release.pairs), f"paths from one activity to the next, {false}"),
            )
        if kind == "process map":
            return ()
        traces, cases = _number(len(self.counts), "variants"), f"{sum(self.counts):,}"
        if isinstance(release, SyntheticRelease):
            measured = f"{explain.original_cases(release, self.person)}: {between(release.quality().cases)}"
            share = Figure(f"{release.share_released:.0%}", explain.SHARE_RELEASED)
            return Figure(cases, f"generated cases ({measured}; rare lengths are left out)"), traces, share
        if kind == "synthetic log":
            return Figure(cases, "generated cases"), traces
        if self.estimate is None:
            return traces, Figure(cases, f"{self.pairs}: the sum of the counts in the file")
        share = Figure("–", f"share of the {self.pairs} covered: not estimated")
        if self.coverage is not None:
            low, high = self.coverage
            share = Figure(f"{low:.0%} – {high:.0%}", f"of the {self.pairs} covered, as estimated (95 %)")
        estimated = Figure(f"{sum(self.estimate.counts):,.0f}", f"{self.pairs} of these variants, as estimated")
        return traces, estimated, share

    @property
    def privacy(self) -> Figure:
        """The figure of its privacy."""
        guarantee = self.mechanism.guarantee()
        protected = texts.protected_unit(guarantee.unit, self.person)
        value, _, delta = explain.numbers(guarantee.epsilon, guarantee.delta).partition(", ")
        return Figure(value, f"{delta}, for adding or removing {protected}: {guarantee.standing}")

    @property
    def verdict(self) -> str:
        """What is known about the guarantee. Whether the release is handed out is decided by people."""
        if self.mechanism.guarantee().standing is Standing.NOT_ESTABLISHED:
            return "The guarantee is not established: do not hand it out as protected."
        return "The guarantee holds. The decision is yours."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons against handing out or using the release."""
        return (*self.weak, *self.little_use)

    @property
    def missing(self) -> tuple[str, ...]:
        """What the release does not have, in sentences."""
        kind = kind_of(self.mechanism)
        if kind == "process map":
            return ("Activities that were not selected are one node, other; rare pairs are missing.",)
        if kind == "synthetic log":
            quality = self.release.quality() if isinstance(self.release, SyntheticRelease) else None
            ignored = explain.without_effect(self.release) if self.release else ()
            return explain.SYNTHETIC, *((f"Noise: {quality.in_words()}.",) if quality else ()), *ignored
        words = explain.of_missing(self.estimate, self.pairs)
        return (f"Not released: {words}." if words else "What is missing cannot be estimated from this file.",)

    @property
    def coverage(self) -> tuple[float, float] | None:
        """The 95 % interval of the share of the original cases that the released variants cover; None if it is unknown."""
        if self.estimate is None or self.estimate.missing_cases_interval is None:
            return None
        covered, (least, most) = sum(self.estimate.counts), self.estimate.missing_cases_interval
        return (covered / (covered + most), covered / (covered + least)) if covered > 0 else None

    @property
    def little_use(self) -> tuple[str, ...]:
        """Reasons against using the release, as far as they are known."""
        kind = kind_of(self.mechanism)
        if kind == "variants":
            return explain.of_emptiness(len(self.counts), self.mechanism, self.estimate)
        if isinstance(self.release, SyntheticRelease):
            return explain.of_noise(self.release)
        if isinstance(self.release, MapRelease):
            return () if self.release.pairs else (explain.EMPTY_MAP,)
        return (explain.EMPTY_SYNTHETIC,) if kind == "synthetic log" and not self.counts else ()

    @property
    def use(self) -> str:
        """What the release is good for."""
        kind = kind_of(self.mechanism)
        if kind == "process map":
            return "A process map shows which activities follow each other: every number has an interval."
        if kind == "synthetic log":
            return "A synthetic log is good for statements about many cases together."
        if self.coverage is None:
            return f"How many {self.pairs} it covers is not known."
        least, most = self.coverage
        if least >= MOST:
            return f"It covers most of the {self.pairs}."
        if most < MANY:
            return f"Fewer than half of the {self.pairs} are covered: use it for the frequent variants only."
        return "It covers the frequent variants; many of the rare ones may be missing."


def _number(number: int, what: str) -> Figure:
    """A figure of this many, in the singular if it is one."""
    value, _, words = number_of(number, what).partition(" ")
    return Figure(value, words)


def between(number: MeasuredNumber) -> str:
    """Format a 95 % interval of a number of cases."""
    return f"{math.floor(number.low):,} to {math.ceil(number.high):,}, 95 %"


def decision_on(release: Release, stated_cases: int | None = None) -> Decision:
    """Return what is said about a release."""
    counts = release.counts if isinstance(release, ReleasedLog) else ()
    estimate = release.estimate if isinstance(release, VariantRelease) else None
    return Decision(release.mechanism, counts, estimate, release, stated_cases)


def most_frequent(variants: Sequence[Trace], values: Sequence[float]) -> list[int]:
    """The numbers of the variants by their values, the largest first."""
    return sorted(range(len(variants)), key=lambda index: (-values[index], variants[index]))
