"""The decision about a release in plain words: four figures, a verdict, warnings, and what is missing. All of it is public."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..maps.map_release import MapRelease
from ..model import explain
from ..model.estimate import Estimate
from ..model.mechanism import Mechanism
from ..model.release import Release
from ..privacy.guarantee import Standing
from ..privacy.numbers import as_text
from ..synthesis.synthetic_release import SyntheticRelease

MOST, MANY = 0.8, 0.5
"""The shares of cases from which a release is said to cover most of them, or at least half."""


@dataclass(frozen=True)
class ReleaseFacts:
    """What the words are about: a release, or what a file has of it.

    Attributes:
        mechanism: The mechanism.
        variants: The number of different traces.
        cases: The sum of their counts in the file.
        estimate: The estimates; None if the file has no noisy counts.
        synthetic: The synthetic log with its measurements, if there are any.
        process_map: The process map with its measurements, if there are any.
        weak: What speaks against its parameters.
    """

    mechanism: Mechanism
    variants: int
    cases: int
    estimate: Estimate | None
    synthetic: SyntheticRelease | None = None
    process_map: MapRelease | None = None
    weak: tuple[str, ...] = ()

    @classmethod
    def of(cls, release: Release, weak: tuple[str, ...] = ()) -> ReleaseFacts:
        """The facts of a release."""
        return cls(
            release.mechanism,
            len(release.variants),
            sum(release.counts),
            release.estimate,
            release if isinstance(release, SyntheticRelease) else None,
            release if isinstance(release, MapRelease) else None,
            weak,
        )

    @property
    def coverage(self) -> tuple[float, float] | None:
        """The 95 % interval of the share of the original cases that the released variants cover; None if it is unknown."""
        if self.estimate is None or self.estimate.missing_cases_interval is None:
            return None
        covered, (least, most) = sum(self.estimate.counts), self.estimate.missing_cases_interval
        return (covered / (covered + most), covered / (covered + least)) if covered > 0 else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against handing out or using the release."""
        return (*self.weak, *self._of_little_use)

    @property
    def _of_little_use(self) -> tuple[str, ...]:
        if self.synthetic is not None:
            return self.synthetic.quality().warnings(self.cases)
        if self.process_map is not None:
            return () if self.process_map.pairs else (explain.EMPTY_MAP,)
        emptiness = explain.of_emptiness(self.variants, self.mechanism)
        return (emptiness,) if emptiness else ()


@dataclass(frozen=True)
class Figure:
    """A number with what it counts."""

    value: str
    words: str


def figures(facts: ReleaseFacts) -> tuple[Figure, ...]:
    """Return the figures of a release, the last of which is its privacy."""
    guarantee = facts.mechanism.guarantee()
    words = f"δ = {as_text(guarantee.delta)}, for {guarantee.protects}: {guarantee.standing}"
    return (*_of_content(facts), Figure(f"ε = {as_text(guarantee.epsilon)}", words))


def _of_content(facts: ReleaseFacts) -> tuple[Figure, ...]:
    found = facts.process_map
    if found is not None:
        total = found.total
        interval = f"{math.floor(total.low):,} to {math.ceil(total.high):,}, 95 %"
        return (
            Figure(f"{len(found.activities):,}", "activities with a node of their own"),
            Figure(f"{len(found.pairs):,}", "pairs of activities that follow each other"),
            Figure(f"{max(round(total.value), 0):,}", f"cases, as measured ({interval})"),
        )
    if facts.mechanism.kind == "process map":
        return ()
    variants = Figure(f"{facts.variants:,}", "different traces")
    if facts.mechanism.kind == "synthetic log":
        share = () if facts.synthetic is None else (_share(facts.synthetic),)
        return Figure(f"{facts.cases:,}", "generated cases"), variants, *share
    noun = explain.pairs(facts.mechanism)
    if facts.estimate is None:
        return variants, Figure(f"{facts.cases:,}", f"{noun}: the sum of the counts in the file")
    covered = Figure("–", f"share of the {noun} covered: not estimated")
    if facts.coverage is not None:
        low, high = facts.coverage
        covered = Figure(f"{low:.0%} – {high:.0%}", f"of the {noun} covered, as estimated (95 %)")
    return variants, Figure(f"{sum(facts.estimate.counts):,.0f}", f"{noun} of these variants, as estimated"), covered


def _share(synthetic: SyntheticRelease) -> Figure:
    return Figure(f"{synthetic.share_released:.0%}", "of the cases have a variant that was released as such")


def verdict(facts: ReleaseFacts) -> str:
    """Return one plain sentence on whether a release can be handed out, and what it is good for."""
    if facts.mechanism.guarantee().standing is Standing.NOT_ESTABLISHED:
        return "Do not hand it out as protected: its guarantee is not established."
    if facts.weak:
        return "It can be checked by anyone, but the protection is weak: read the warning before you hand it out."
    if facts.warnings:
        return "It can be handed out, but it is of little use: read the warning."
    if facts.mechanism.kind == "process map":
        return "It can be handed out: a process map whose numbers all have an interval."
    if facts.mechanism.kind == "synthetic log":
        return "It can be handed out: a synthetic log, good for statements about many cases together."
    if facts.coverage is None:
        return "It can be handed out. How many cases it covers is not known."
    least, most = facts.coverage
    if least >= MOST:
        return "It can be handed out, and it covers most of the cases."
    if most < MANY:
        return (
            "It can be handed out, but fewer than half of the cases are covered: use it for the frequent variants only."
        )
    return "It can be handed out. It covers the frequent variants; many of the rare ones may be missing."


def missing(facts: ReleaseFacts) -> tuple[str, ...]:
    """Return what a release does not have, in sentences."""
    if facts.mechanism.kind == "process map":
        rare = "Activities that were not selected are one node, other; rare pairs are missing."
        if facts.process_map is None:
            return (rare,)
        false = facts.process_map.expected_false_pairs
        return rare, f"About {false:.1f} pairs are expected to be there by noise alone."
    if facts.mechanism.kind == "synthetic log":
        noise = () if facts.synthetic is None else (f"Noise: {facts.synthetic.quality().in_words()}.",)
        return explain.SYNTHETIC, *noise
    found = explain.of_missing(facts.estimate, explain.pairs(facts.mechanism))
    return (f"Not released: {found}." if found else "What is missing cannot be estimated from this file.",)
