"""Synthetic logs of full traces: noisy measurements of a log, and traces generated from them alone.

Proof, line by line: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np

from ..model.estimate import Estimate, measured
from ..model.mechanism import Kind
from ..model.trace_features import cells
from ..model.traces import Activity, Trace
from ..model.variants import Variants
from ..privacy.gaussian_stages import Selection, StagePlan
from ..privacy.noise import Seeded
from ..synthesis.chain import choose_pairs
from ..synthesis.measurements import ACTIVITIES, LENGTHS, REFINEMENT, TRANSITIONS, VARIANTS, Measurements
from ..synthesis.randomness import new_seed
from ..synthesis.synthetic_release import SyntheticRelease
from .coded_traces import CodedTraces, activity_sums, context_sums, length_sums, transition_sums
from .gaussian_mechanism import (
    MOST_ACTIVITIES,
    MOST_KEYS,
    GaussianMechanism,
    as_plain_names,
    check_width,
    small_alphabet,
)

SHARES = {
    VARIANTS: Fraction(15, 100),
    ACTIVITIES: Fraction(20, 100),
    LENGTHS: Fraction(5, 100),
    TRANSITIONS: Fraction(35, 100),
    REFINEMENT: Fraction(25, 100),
}
"""The part of μ² of every measurement."""

_SELECTIONS = {VARIANTS: Selection(), ACTIVITIES: Selection(1, MOST_KEYS)}


@attrs.frozen(slots=False)
class Synthesis(GaussianMechanism):
    """Measure variants, activities, lengths and transitions with Gaussian noise, and generate traces from that.

    Input      a log's variants and their true counts; optionally a public alphabet
    Output     noisy measurements, and a log generated from them: traces that need not occur in the original log
    Neighbours one case more or less adds a vector of bounded norm to every measurement; a person at most `max_cases`
    Guarantee  (ε, δ) by the theorem, with every inequality verified on the constants that are used
    """

    name = "synthesis"
    proof = "docs/mechanisms/synthesis.md"
    kind: ClassVar[Kind] = "synthetic log"
    counted = "cases"
    invents_variants = True

    alphabet: tuple[Activity, ...] | None = attrs.field(default=None, converter=small_alphabet)

    def plans(self) -> tuple[StagePlan, ...]:
        """V, A, L, T1 and T2; with a public alphabet A is left out, and the shares of the others grow in proportion."""
        used = {name: share for name, share in SHARES.items() if name != ACTIVITIES or self.alphabet is None}
        total = sum(used.values())
        return tuple(StagePlan(name, share / total, _SELECTIONS.get(name)) for name, share in used.items())

    def parameters(self) -> dict[str, Any]:
        return {"alphabet": as_plain_names(self.alphabet)} | self.constants()

    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        """Return the numbers of cases as they are; intervals are in `SyntheticRelease.quality`."""
        return measured(noisy, None)

    def check(self, variants: Variants) -> None:
        """Also refuse an alphabet whose names are made of another number of columns."""
        super().check(variants)
        check_width(self.alphabet, variants)

    def _release(self, variants: Variants) -> SyntheticRelease:
        return SyntheticRelease.generated(
            self, self.measure(variants), variants.columns, variants.abstraction, self._generation_seed()
        )

    def _generation_seed(self) -> int:
        """The seed of the generation: from the operating system, or of an experiment; never from the generator of the noise."""
        return self.random_bytes.seed if isinstance(self.random_bytes, Seeded) else new_seed()

    # ------------------------------------------------------------------------------------------- the measurements

    def measure(self, variants: Variants) -> Measurements:
        """Draw the noise, once, and measure the log: stages V, A, L, T1 and T2 of the proof, in this order."""
        log = CodedTraces.of(variants)
        released = self._release_variants(variants, log)
        residual = log.without(np.array([index for index, _ in released], dtype=np.int64))
        traces = variants.traces(index for index, _ in released)
        of_variants = dict(zip(traces, (value for _, value in released), strict=True))
        code_of = {activity: code for code, activity in enumerate(variants.alphabet)}
        selected = self._select_activities(variants, residual, of_variants, code_of)
        activities = self._activities(of_variants, selected)
        # a public activity that the log does not have gets a code of its own: no event has it
        codes = [code_of.setdefault(activity, len(code_of)) for activity in activities]
        residual = CodedTraces(residual.codes, residual.lengths, residual.counts, len(code_of))
        projected = residual.projected(np.array(codes, dtype=np.int64))
        lengths = self._noisy(length_sums(projected, self.noise.stage(LENGTHS)))
        allowed = cells(len(activities))
        first, second = self.noise.stage(TRANSITIONS), self.noise.stage(REFINEMENT)
        transitions = self._noisy(transition_sums(projected, first), allowed)
        pairs = choose_pairs(transitions / first.contribution, first.deviation, second.deviation)
        if pairs is None:
            refinement = self._noisy(transition_sums(projected, second), allowed)
        else:
            refinement = self._noisy(context_sums(projected, pairs, second), allowed[pairs[:, 1]])
        return Measurements(
            contributions=self.contributions,
            variants=tuple(sorted(of_variants.items())),
            activities=activities,
            activity_sums={name: selected[name] for name in activities if name in selected},
            lengths=lengths,
            transitions=transitions,
            pairs=pairs,
            refinement=refinement,
        )

    def _release_variants(self, variants: Variants, log: CodedTraces) -> list[tuple[int, int]]:
        """V: variants whose noisy sum exceeds the threshold, by index, with that sum."""
        stage = self.noise.stage(VARIANTS)
        noisy = self._noisy(log.counts * stage.contribution)
        kept = np.flatnonzero(noisy > stage.threshold)
        return list(zip(kept.tolist(), noisy[kept].tolist(), strict=True))

    def _select_activities(
        self,
        variants: Variants,
        residual: CodedTraces,
        released: dict[Trace, int],
        code_of: dict[Activity, int],
    ) -> dict[Activity, int]:
        """A: activities of residual cases, beyond those of released variants, whose noisy sum exceeds the threshold."""
        if self.alphabet is not None:
            return {}
        stage = self.noise.stage(ACTIVITIES)
        known = {code_of[activity] for trace in released for activity in trace}
        sums = activity_sums(residual, np.array(sorted(known), dtype=np.int64), stage)
        noisy = self._noisy(sums, sums > 0)
        kept = np.flatnonzero((sums > 0) & (noisy > stage.threshold))
        return {variants.alphabet[code]: int(noisy[code]) for code in kept.tolist()}

    def _activities(self, released: dict[Trace, int], selected: dict[Activity, int]) -> tuple[Activity, ...]:
        """The activities of generated traces: a rule on outputs, which prefers large noisy sums if there are too many."""
        mass: defaultdict[Activity, int] = defaultdict(int)
        for trace, value in released.items():
            for activity in set(trace):
                mass[activity] += value
        by_mass = sorted(mass, key=lambda activity: (-mass[activity], activity))
        by_sum = sorted(selected, key=lambda activity: (-selected[activity], activity))
        public = [activity for activity in self.alphabet or () if activity not in mass]
        return tuple(sorted([*by_mass, *by_sum, *public][:MOST_ACTIVITIES]))
