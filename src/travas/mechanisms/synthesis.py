"""Synthetic logs of full traces, with times and case attributes: noisy measurements, and a log made of them alone.

Proof, line by line: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, shown
from ..log.log import Log
from ..log.options import Attribute, BudgetShares, Times, case_column
from ..log.plain import from_plain
from ..log.questions import (
    AttributeBins,
    AttributeBinsByLast,
    AttributeValues,
    AttributeValuesByLast,
    CellQuestion,
    Details,
    Durations,
    EventHours,
    EventWeekdays,
    StartBlocks,
    StartHours,
    StartWeekdays,
    StartWeeks,
    Throughput,
    Totals,
    check_details,
)
from ..log.traces import Activity, Trace
from ..releases.release import RESERVED_COLUMNS, Kind
from ..releases.synthetic_log import SyntheticRelease
from ..search.calibration import StagePlan
from ..synthesis.case_attributes import measures_by_last
from ..synthesis.chain import choose_pairs
from ..synthesis.durations import choose_timed_pairs
from ..synthesis.measurements import (
    ACTIVITIES,
    DURATIONS,
    EVENT_HOURS,
    EVENT_WEEKDAYS,
    LENGTHS,
    OTHER,
    REFINEMENT,
    START_BLOCKS,
    START_HOURS,
    START_WEEKDAYS,
    START_WEEKS,
    THROUGHPUT,
    TRANSITIONS,
    VARIANTS,
    AttributeMeasurements,
    Measurements,
    TimeMeasurements,
    choose_blocks,
    first_stage,
    second_stage,
)
from ..synthesis.randomness import new_seed
from ..trusted.contributions import CodedTraces, cells, context_sums, length_sums, transition_sums
from ..trusted.guarantee import Guarantee
from ..trusted.losses import Losses
from ..trusted.losses import Measurements as NoisySums
from ..trusted.numbers import as_text
from ..trusted.samplers import Seeded
from ..trusted.stages import Selection, Stage
from .gaussian import MOST_ACTIVITIES, MOST_KEYS, GaussianMechanism, Noisy, as_plain_names, coded, small_alphabet
from .prefix_tree import check_width

CONTROL_FLOW = {
    VARIANTS: Fraction(15, 100),
    ACTIVITIES: Fraction(20, 100),
    LENGTHS: Fraction(5, 100),
    TRANSITIONS: Fraction(35, 100),
    REFINEMENT: Fraction(25, 100),
}
"""How the control flow's part of μ² is divided."""

TIMES = {
    DURATIONS: Fraction(130, 250),
    THROUGHPUT: Fraction(40, 250),
    START_BLOCKS: Fraction(15, 250),
    START_WEEKS: Fraction(15, 250),
    START_WEEKDAYS: Fraction(12, 250),
    START_HOURS: Fraction(28, 250),
    EVENT_WEEKDAYS: Fraction(3, 250),
    EVENT_HOURS: Fraction(7, 250),
}
"""How the part of times is divided."""

SHARE_OF_TIMES = Fraction(1, 4)
SHARE_OF_ATTRIBUTES = Fraction(1, 10)

_SELECTIONS = {VARIANTS: Selection(), ACTIVITIES: Selection(1, MOST_KEYS)}


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
    kind: ClassVar[Kind] = "synthetic log"
    counted = "cases"

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

    def parameters(self) -> dict[str, Any]:
        shares = self.used_shares
        divided = {"control_flow": shares.control_flow, "times": shares.times, "attributes": shares.attributes}
        stated = {"shares": {name: as_text(share) for name, share in divided.items()}}
        return (
            {"alphabet": as_plain_names(self.alphabet)} | (stated if shares.control_flow < 1 else {}) | self.constants()
        )

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
        known = {code_of[activity] for trace in of_variants for activity in trace}
        selected = self._select_activities(variants, residual, noisy, known)
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


# -------------------------------------------------------------------------------------------- the stages


def used_shares(times: Times | None, attributes: tuple[Attribute, ...], shares: BudgetShares | None) -> BudgetShares:
    """The shares of what is measured: those that are set, or the defaults; nothing for what is not measured."""
    stated = shares or BudgetShares(SHARE_OF_TIMES, SHARE_OF_ATTRIBUTES)
    used = BudgetShares(stated.times if times else 0, stated.attributes if attributes else 0)
    for name, share, wanted in (("times", used.times, times), ("attributes", used.attributes, attributes)):
        if wanted and not share:
            raise ParameterError(f"{name} are measured but their share is 0; use a larger share", field="shares")
    return used


def stage_plans(
    alphabet: tuple[object, ...] | None, times: Times | None, attributes: tuple[Attribute, ...], shares: BudgetShares
) -> tuple[StagePlan, ...]:
    """All stages in the order in which they are measured."""
    flow = {name: share for name, share in CONTROL_FLOW.items() if name != ACTIVITIES or alphabet is None}
    plans = [
        StagePlan(name, share, _SELECTIONS.get(name)) for name, share in _divided(flow, shares.control_flow).items()
    ]
    if times is not None:
        plans += [StagePlan(name, share) for name, share in _divided(TIMES, shares.times).items()]
    names = sum(not attribute.is_number for attribute in attributes)
    for attribute in attributes:
        share = shares.attributes / len(attributes) / 2
        if attribute.is_number:
            plans.append(StagePlan(first_stage(attribute.name), share))
        else:
            plans.append(StagePlan(first_stage(attribute.name), share, Selection(), Fraction(1, names)))
        plans.append(StagePlan(second_stage(attribute.name), share))
    return tuple(plans)


def _divided(parts: Mapping[str, Fraction], share: Fraction) -> dict[str, Fraction]:
    total = sum(parts.values())
    return {name: part / total * share for name, part in parts.items()}


StageOf = Callable[[str], Stage]
"""The calibrated stage of a name."""


def measure_times(
    totals: Totals, settings: Times, flow: Measurements, stage: StageOf, noisy: Noisy
) -> TimeMeasurements:
    """D, P, W, H and E: what all cases add, with noise."""
    activities, zone, weekend = flow.activities, settings.zone, settings.weekend

    def asked(name: str, kind: Callable[..., CellQuestion], **options: Any) -> NDArray[np.int64]:
        question = kind(contribution=stage(name).contribution, activities=activities, **options)
        return noisy(name, totals.sums(question))

    pairs = choose_timed_pairs(flow)
    durations = asked(DURATIONS, Durations, pairs=tuple((int(before), int(after)) for before, after in pairs))
    throughput = asked(THROUGHPUT, Throughput)
    start_blocks = asked(START_BLOCKS, StartBlocks, zone=zone)
    blocks = choose_blocks(start_blocks, stage(START_BLOCKS).contribution, stage(START_BLOCKS).deviation)
    return TimeMeasurements(
        settings=settings,
        pairs=pairs,
        durations=durations,
        throughput=throughput,
        start_blocks=start_blocks,
        blocks=blocks,
        start_weeks=asked(START_WEEKS, StartWeeks, zone=zone, blocks=tuple(map(int, blocks))),
        start_weekdays=asked(START_WEEKDAYS, StartWeekdays, zone=zone),
        start_hours=asked(START_HOURS, StartHours, zone=zone, weekend=weekend),
        event_weekdays=asked(EVENT_WEEKDAYS, EventWeekdays, zone=zone),
        event_hours=asked(EVENT_HOURS, EventHours, zone=zone, weekend=weekend),
    )


def measure_attribute(
    totals: Totals, attribute: Attribute, flow: Measurements, stage: StageOf, noisy: Noisy
) -> AttributeMeasurements:
    """C: the values of an attribute, then the same cells again or by last activity, with noise."""
    measure = _measure_number if attribute.is_number else _measure_name
    return measure(totals, attribute, flow, stage, noisy)


def _measure_number(
    totals: Totals, attribute: Attribute, flow: Measurements, stage: StageOf, noisy: Noisy
) -> AttributeMeasurements:
    name, edges = attribute.name, attribute.edges
    once, again = stage(first_stage(name)), stage(second_stage(name))
    first = noisy(once.name, totals.sums(AttributeBins(contribution=once.contribution, attribute=name, edges=edges)))
    question: CellQuestion = AttributeBins(contribution=again.contribution, attribute=name, edges=edges)
    if measures_by_last(attribute, first, flow, once, again):
        question = AttributeBinsByLast(
            contribution=again.contribution, attribute=name, edges=edges, activities=flow.activities
        )
    return AttributeMeasurements(attribute, (), first, noisy(again.name, totals.sums(question)))


def _measure_name(
    totals: Totals, attribute: Attribute, flow: Measurements, stage: StageOf, noisy: Noisy
) -> AttributeMeasurements:
    name = attribute.name
    once, again = stage(first_stage(name)), stage(second_stage(name))
    sums = totals.value_sums(AttributeValues(contribution=once.contribution, attribute=name))
    candidates = sorted(value for value in sums if value is not None and value != OTHER)
    with_noise = noisy(once.name, np.array([*(sums[value] for value in candidates), sums.get(None, 0)], dtype=np.int64))
    kept = [index for index in range(len(candidates)) if with_noise[index] > once.threshold]
    values = tuple(candidates[index] for index in kept)
    first = with_noise[[*kept, len(candidates)]]
    if measures_by_last(attribute, first, flow, once, again):
        second = totals.sums(
            AttributeValuesByLast(
                contribution=again.contribution, attribute=name, values=values, activities=flow.activities
            )
        )
    else:
        second = _folded(totals, name, values, again)
    return AttributeMeasurements(attribute, values, first, noisy(again.name, second))


def _folded(totals: Totals, name: str, values: tuple[str, ...], stage: Stage) -> NDArray[np.int64]:
    """Sums of the selected values, of all others together, and of missing ones."""
    sums = totals.value_sums(AttributeValues(contribution=stage.contribution, attribute=name))
    selected = [sums.get(value, 0) for value in values]
    others = sum(added for value, added in sums.items() if value is not None) - sum(selected)
    return np.array([*selected, others, sums.get(None, 0)], dtype=np.int64)
