"""Synthetic logs of full traces, with times and case attributes: noisy measurements, and a log made of them alone.

Proof, line by line: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np

from ..errors import ParameterError, shown
from ..log.log import Log
from ..log.options import Attribute, BudgetShares, Times, case_column
from ..log.plain import from_plain
from ..log.questions import Details, check_details
from ..log.traces import Activity, Trace
from ..releases.estimate import Estimate, measured
from ..releases.release import RESERVED_COLUMNS, Kind, TimestampKind
from ..releases.synthetic_log import GENERATED_TIMES, SyntheticRelease
from ..search.calibration import StagePlan
from ..synthesis.chain import choose_pairs
from ..synthesis.measurements import ACTIVITIES, LENGTHS, REFINEMENT, TRANSITIONS, VARIANTS, Measurements
from ..synthesis.randomness import new_seed
from ..trusted.contributions import CodedTraces, activity_sums, cells, context_sums, length_sums, transition_sums
from ..trusted.guarantee import Guarantee
from ..trusted.losses import Losses
from ..trusted.losses import Measurements as NoisySums
from ..trusted.numbers import as_text
from ..trusted.samplers import Seeded
from .gaussian_mechanism import MOST_ACTIVITIES, GaussianMechanism, as_plain_names, coded, small_alphabet
from .prefix_tree import check_width
from .synthesis_stages import Noisy, measure_attribute, measure_times, stage_plans, used_shares

MOST_ATTRIBUTES = 100
"""At most this many case attributes are measured."""


def _attributes(value: Sequence[Attribute | str]) -> tuple[Attribute, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ParameterError(f"attributes is {shown(value)}; use a list of attributes", field="attributes")
    made = tuple(part if isinstance(part, Attribute) else _attribute(part) for part in value)
    columns = [case_column(attribute.name) for attribute in made]
    if len(set(columns)) < len(columns):
        raise ParameterError(f"attributes is {shown(columns)}; list every attribute once", field="attributes")
    for column in RESERVED_COLUMNS & set(columns):
        raise ParameterError(
            f"attributes has {column!r}, which is a column of every released log; remove it", field="attributes"
        )
    if len(made) > MOST_ATTRIBUTES:
        raise ParameterError(f"there are {len(made)} attributes: use at most {MOST_ATTRIBUTES}", field="attributes")
    return made


def _attribute(value: Any) -> Attribute:
    return Attribute(value) if isinstance(value, str) else from_plain(value, Attribute, "attributes")


def _times(value: Times | Mapping[str, Any] | None) -> Times | None:
    return value if value is None or isinstance(value, Times) else from_plain(value, Times, "times")


def _shares(value: BudgetShares | Mapping[str, Any] | str | None) -> BudgetShares | None:
    if value is None or isinstance(value, BudgetShares):
        return value
    return BudgetShares.parse(value) if isinstance(value, str) else from_plain(value, BudgetShares, "shares")


@attrs.frozen(slots=False)
class Synthesis(GaussianMechanism):
    """Measure variants, activities, lengths and transitions with Gaussian noise, and generate traces from that.

    Times and attributes are measured and generated too, if they are asked for, within the same (ε, δ).

    Input      a log's variants and their true counts, and for times and attributes sums over its cases; optionally a
               public alphabet
    Output     noisy measurements, and a log generated from them: traces that need not occur in the original log
    Neighbours adding or removing one case adds a vector of bounded norm to every measurement; a person at most `max_cases`
    Guarantee  (ε, δ) by the theorem, with every inequality verified on the constants that are used
    """

    name = "synthesis"
    summary = (
        "variants, activities, lengths and transitions are measured with exact Gaussian noise, and a log is generated from "
        "these measurements alone: its traces need not occur in the original log"
    )
    proof = "docs/mechanisms/synthesis.md"
    kind: ClassVar[Kind] = "synthetic log"
    counted = "cases"
    invents_variants = True

    alphabet: tuple[Activity, ...] | None = attrs.field(default=None, converter=small_alphabet)
    times: Times | None = attrs.field(default=None, converter=_times)
    attributes: tuple[Attribute, ...] = attrs.field(default=(), converter=_attributes)
    shares: BudgetShares | None = attrs.field(default=None, converter=_shares)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.plans()  # refuses shares that leave nothing for a stage

    @property
    def used_shares(self) -> BudgetShares:
        """How the budget is divided among control flow, times and attributes."""
        return used_shares(self.times, self.attributes, self.shares)

    def plans(self) -> tuple[StagePlan, ...]:
        """The control flow (V, A, L, T1 and T2), then times (D, P, W, H and E), then attributes (C)."""
        return stage_plans(self.alphabet, self.times, self.attributes, self.used_shares)

    @property
    def details(self) -> Details:
        """What has to be read in addition to the variants."""
        return Details(
            times="ignore" if self.times is None else "read",
            attributes=tuple(attribute.name for attribute in self.attributes if not attribute.is_number),
            numbers=tuple(attribute.name for attribute in self.attributes if attribute.is_number),
        )

    @property
    def released_times(self) -> Times | None:
        return self.times

    @property
    def released_attributes(self) -> tuple[Attribute, ...]:
        return self.attributes

    def _promise(self) -> Guarantee:
        promised = super()._promise()
        public = "were chosen without looking at the log"
        times = () if self.times is None else (f"the time zone, weekend days and resolution of times {public}",)
        attributes = (f"the attributes that are released and their bins {public}",) if self.attributes else ()
        return replace(promised, assumptions=(*promised.assumptions, *times, *attributes))

    def losses(self) -> Losses:
        """A frequent variant, or new cases of one activity that is known: they add to the lengths and to two transitions."""
        variants, lengths, transitions = (self.noise.stage(name) for name in (VARIANTS, LENGTHS, TRANSITIONS))
        cases = self.unit.max_cases
        two_transitions = 2 * math.isqrt(transitions.contribution**2 // 2) ** 2
        frequent = (cases * variants.contribution) ** 2
        rare = cases**2 * (lengths.contribution**2 + two_transitions)
        return (NoisySums(self.noise, ((frequent, Fraction(0)), (rare, variants.delta))),)

    @property
    def timestamp_kind(self) -> TimestampKind:
        """Generated, if times are measured."""
        return super().timestamp_kind if self.times is None else "generated"

    @property
    def timestamps(self) -> str:
        """Generated, if times are measured."""
        return super().timestamps if self.times is None else GENERATED_TIMES

    def parameters(self) -> dict[str, Any]:
        shares = self.used_shares
        divided = {"control_flow": shares.control_flow, "times": shares.times, "attributes": shares.attributes}
        stated = {"shares": {name: as_text(share) for name, share in divided.items()}}
        return (
            {"alphabet": as_plain_names(self.alphabet)} | (stated if shares.control_flow < 1 else {}) | self.constants()
        )

    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        """Return the numbers of cases as they are; intervals are in `SyntheticRelease.quality`."""
        return measured(noisy, None)

    def check(self, variants: Log) -> None:
        """Also refuse an alphabet whose names are made of a different number of columns, and details that were not read."""
        super().check(variants)
        check_details(variants.totals, self.details)
        check_width(self.alphabet, variants)

    def _release(self, variants: Log) -> SyntheticRelease:
        return SyntheticRelease.generated(
            self, self.measure(variants), variants.columns, variants.abstraction, self._generation_seed()
        )

    def _generation_seed(self) -> int:
        """The seed of the generation: from the operating system, or of an experiment; never from the generator of the noise."""
        return self.random_bytes.seed if isinstance(self.random_bytes, Seeded) else new_seed()

    # ------------------------------------------------------------------------------------------- the measurements

    def measure(self, variants: Log) -> Measurements:
        """Draw the noise, once, and measure the log: the stages of the proof, in this order.

        Args:
            variants: The log.

        Returns:
            The noisy measurements.
        """
        noisy = self._draws().noisy
        flow = self._measure_control_flow(variants, noisy)
        totals, stage = variants.totals, self.noise.stage
        if totals is None:
            return flow
        times = None if self.times is None else measure_times(totals, self.times, flow, stage, noisy)
        attributes = tuple(measure_attribute(totals, part, flow, stage, noisy) for part in self.attributes)
        return replace(flow, times=times, attributes=attributes)

    def _measure_control_flow(self, variants: Log, noisy: Noisy) -> Measurements:
        """V, A, L, T1 and T2."""
        log = coded(variants)
        released = self._release_variants(log, noisy)
        residual = log.without(np.array([index for index, _ in released], dtype=np.int64))
        traces = variants.traces(index for index, _ in released)
        of_variants = dict(zip(traces, (value for _, value in released), strict=True))
        code_of = {activity: code for code, activity in enumerate(variants.alphabet)}
        selected = self._select_activities(variants, residual, of_variants, code_of, noisy)
        activities = self._activities(of_variants, selected)
        # a public activity that the log does not have gets its own code: no event has it
        codes = [code_of.setdefault(activity, len(code_of)) for activity in activities]
        residual = CodedTraces(residual.codes, residual.lengths, residual.counts, len(code_of))
        projected = residual.projected(np.array(codes, dtype=np.int64))
        lengths = noisy(LENGTHS, length_sums(projected, self.noise.stage(LENGTHS)))
        allowed = cells(len(activities))
        first, second = self.noise.stage(TRANSITIONS), self.noise.stage(REFINEMENT)
        transitions = noisy(TRANSITIONS, transition_sums(projected, first), allowed)
        pairs = choose_pairs(transitions / first.contribution, first.deviation, second.deviation)
        if pairs is None:
            refinement = noisy(REFINEMENT, transition_sums(projected, second), allowed)
        else:
            refinement = noisy(REFINEMENT, context_sums(projected, pairs, second), allowed[pairs[:, 1]])
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

    def _release_variants(self, log: CodedTraces, noisy: Noisy) -> list[tuple[int, int]]:
        """V: variants whose noisy sum exceeds the threshold, by index, with that sum."""
        stage = self.noise.stage(VARIANTS)
        drawn = noisy(VARIANTS, log.counts * stage.contribution)
        kept = np.flatnonzero(drawn > stage.threshold)
        return list(zip(kept.tolist(), drawn[kept].tolist(), strict=True))

    def _select_activities(
        self,
        variants: Log,
        residual: CodedTraces,
        released: dict[Trace, int],
        code_of: dict[Activity, int],
        noisy: Noisy,
    ) -> dict[Activity, int]:
        """A: activities of residual cases, beyond those of released variants, whose noisy sum exceeds the threshold."""
        if self.alphabet is not None:
            return {}
        stage = self.noise.stage(ACTIVITIES)
        known = {code_of[activity] for trace in released for activity in trace}
        sums = activity_sums(residual, np.array(sorted(known), dtype=np.int64), stage)
        drawn = noisy(ACTIVITIES, sums, sums > 0)
        kept = np.flatnonzero((sums > 0) & (drawn > stage.threshold))
        return {variants.alphabet[code]: int(drawn[code]) for code in kept.tolist()}

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
