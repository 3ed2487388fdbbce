"""The decision about a release in plain words: four figures, a verdict, warnings, and what is missing. All of it is public."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import explain
from ..mechanisms.mechanism import Mechanism
from ..releases.estimate import Estimate
from ..releases.process_map import MapRelease
from ..releases.release import Kind, Release, ReleasedLog, VariantRelease, kind_of
from ..releases.synthetic_log import SyntheticRelease
from ..report import texts
from ..trusted.guarantee import Standing
from ..trusted.numbers import as_text

MOST, MANY = 0.8, 0.5
"""The shares of cases from which a release is said to cover most of them, or at least half."""


@dataclass(frozen=True)
class Figure:
    """A number with what it counts."""

    value: str
    words: str


@dataclass(frozen=True)
class Decision:
    """What is said about a release of variants, or about what a file has of it.

    Attributes:
        mechanism: The mechanism.
        variants: The number of different traces.
        cases: The sum of their counts in the file.
        estimate: The estimates; None if the file has no noisy counts.
        release: The complete release; None if the file does not contain all of it.
        weak: Reasons against its parameters.
        person: The noun for whom it protects, where that is not a case.
    """

    mechanism: Mechanism
    variants: int
    cases: int
    estimate: Estimate | None
    release: Release | None = None
    weak: tuple[str, ...] = ()
    person: str = explain.PERSON

    @property
    def pairs(self) -> str:
        """What counts are numbers of."""
        return explain.pairs(self.mechanism, self.person)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of the release, the last of which is its privacy."""
        guarantee = self.mechanism.guarantee()
        protected = texts.protected_unit(guarantee.unit, self.person)
        words = f"δ = {as_text(guarantee.delta)}, for adding or removing {protected}: {guarantee.standing}"
        return (*self._content, Figure(f"ε = {as_text(guarantee.epsilon)}", words))

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
        emptiness = explain.of_emptiness(self.variants, self.mechanism, texts.counted_noun(self.mechanism, self.person))
        return (emptiness,) if emptiness else ()

    @property
    def _content(self) -> tuple[Figure, ...]:
        traces, noun = Figure(f"{self.variants:,}", "different traces"), self.pairs
        if self.estimate is None:
            return traces, Figure(f"{self.cases:,}", f"{noun}: the sum of the counts in the file")
        covered = Figure("–", f"share of the {noun} covered: not estimated")
        if self.coverage is not None:
            low, high = self.coverage
            covered = Figure(f"{low:.0%} – {high:.0%}", f"of the {noun} covered, as estimated (95 %)")
        return traces, Figure(f"{sum(self.estimate.counts):,.0f}", f"{noun} of these variants, as estimated"), covered

    @property
    def use(self) -> str:
        """What the release is good for, in a sentence."""
        if self.coverage is None:
            return "How many cases it covers is not known."
        least, most = self.coverage
        if least >= MOST:
            return "It covers most of the cases."
        if most < MANY:
            return "Fewer than half of the cases are covered: use it for the frequent variants only."
        return "It covers the frequent variants; many of the rare ones may be missing."


@dataclass(frozen=True)
class SyntheticDecision(Decision):
    """What is said about a synthetic log; without the release, nothing of its measurements is known."""

    release: SyntheticRelease | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """What the log does not have, in sentences."""
        noise = () if self.release is None else (f"Noise: {self.release.quality().in_words()}.",)
        return explain.SYNTHETIC, *noise

    @property
    def little_use(self) -> tuple[str, ...]:
        if self.release is not None:
            return explain.warnings_of(self.release)
        return () if self.variants else (explain.EMPTY_SYNTHETIC,)

    @property
    def _content(self) -> tuple[Figure, ...]:
        cases, traces = Figure(f"{self.cases:,}", "generated cases"), Figure(f"{self.variants:,}", "different traces")
        if self.release is None:
            return cases, traces
        share = Figure(f"{self.release.share_released:.0%}", "of the cases have a variant that was released as such")
        return cases, traces, share

    @property
    def use(self) -> str:
        """What the log is good for."""
        return "A synthetic log is good for statements about many cases together."


@dataclass(frozen=True)
class MapDecision(Decision):
    """What is said about a process map; without the release, none of its numbers is known."""

    release: MapRelease | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """What the map does not have, in sentences."""
        rare = "Activities that were not selected are one node, other; rare pairs are missing."
        if self.release is None:
            return (rare,)
        return rare, f"About {self.release.expected_false_pairs:.1f} pairs are expected to be there by noise alone."

    @property
    def little_use(self) -> tuple[str, ...]:
        return () if self.release is None else explain.warnings_of(self.release)

    @property
    def _content(self) -> tuple[Figure, ...]:
        if self.release is None:
            return ()
        total = self.release.total
        cases = explain.original_cases(self.release.mechanism, self.person)
        interval = f"{math.floor(total.low):,} to {math.ceil(total.high):,}, 95 %"
        return (
            Figure(f"{len(self.release.activities):,}", "activities with their own node"),
            Figure(f"{len(self.release.pairs):,}", "pairs of activities that follow each other"),
            Figure(f"{max(round(total.value), 0):,}", f"{cases}, as measured ({interval})"),
        )

    @property
    def use(self) -> str:
        """What the map is good for."""
        return "A process map shows which activities follow each other: every number has an interval."


DECISIONS: dict[Kind, type[Decision]] = {
    "variants": Decision,
    "synthetic log": SyntheticDecision,
    "process map": MapDecision,
}
"""What is said about each kind of release."""


def decision_on(release: Release, weak: tuple[str, ...] = ()) -> Decision:
    """Return what is said about a release."""
    said = DECISIONS[kind_of(release.mechanism)]
    variants, cases = (len(release.variants), sum(release.counts)) if isinstance(release, ReleasedLog) else (0, 0)
    estimate = release.estimate if isinstance(release, VariantRelease) else None
    return said(release.mechanism, variants, cases, estimate, release, weak)
