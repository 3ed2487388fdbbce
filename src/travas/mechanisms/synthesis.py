"""Synthetic logs of full traces, with times and case attributes: noisy measurements, and a log made of them alone.

Proof, line by line: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np

from ..errors import ParameterError, shown
from ..log import questions
from ..log.log import Log
from ..log.options import CASE_PREFIX, OTHER, SERVICE_TIMES, Attribute, Times, case_column
from ..log.plain import Value, from_plain, plain
from ..log.questions import LIFECYCLE, SERVICE, Totals
from ..log.rules import NO_RULES, Rules, possible_cells
from ..log.traces import Activity, Trace
from ..releases.release import RESERVED_COLUMNS, Kind
from ..releases.synthetic_log import SyntheticRelease
from ..search.calibration import StagePlan
from ..synthesis import measurements as stages
from ..synthesis.attributes import measures_by_last
from ..synthesis.chain import choose_pairs
from ..synthesis.durations import choose_timed_pairs
from ..synthesis.measurements import (
    AttributeMeasurements,
    EventAttributeMeasurements,
    Measurements,
    TimeMeasurements,
    event_stage,
    first_stage,
    second_stage,
    values_stage,
)
from ..synthesis.randomness import new_seed
from ..trusted.branch import released
from ..trusted.contributions import context_sums, length_sums, transition_sums
from ..trusted.samplers import Integers, Seeded
from ..trusted.stage_check import Draws
from ..trusted.stages import Group, Selection, Stage
from .gaussian import MOST_ACTIVITIES, MOST_KEYS, GaussianMechanism, answered, by_size, coded, coded_for
from .mechanism import parameters_of

CONTROL_FLOW = {
    stages.VARIANTS: Fraction(15, 100),
    stages.ACTIVITIES: Fraction(20, 100),
    stages.LENGTHS: Fraction(5, 100),
    stages.TRANSITIONS: Fraction(35, 100),
    stages.REFINEMENT: Fraction(25, 100),
}
"""How the control flow's part of μ² is divided."""

TIMES = {
    stages.DURATIONS: Fraction(135, 250),
    stages.THROUGHPUT: Fraction(45, 250),
    stages.START_BLOCKS: Fraction(10, 250),
    stages.START_SPANS: Fraction(25, 250),
    stages.START_WEEKS: Fraction(3, 250),
    stages.START_WEEKDAYS: Fraction(4, 250),
    stages.START_HOURS: Fraction(8, 250),
    stages.EVENT_WEEKDAYS: Fraction(5, 250),
    stages.EVENT_HOURS: Fraction(15, 250),
}
"""How the part of times is divided."""

SHARE_OF_TIMES = Fraction(1, 4)
SHARE_OF_ATTRIBUTES = Fraction(1, 10)

SHARE_OF_SERVICE = Fraction(1, 5)
"""Of the part of times, where service times are measured."""

SHARE_OF_VALUES = Fraction(3, 10)
"""Of the part of an attribute of events, where its values are selected: for that; the rest is for values by activity."""

_SELECTIONS = {stages.VARIANTS: Selection(), stages.ACTIVITIES: Selection(1, MOST_KEYS)}


def _attributes(
    value: Sequence[Attribute | str], field: str = "attributes", column_of: Callable[[str], str] = case_column
) -> tuple[Attribute, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ParameterError(f"{field} is {shown(value)}; use a list of attributes", field=field)
    made = tuple(part if isinstance(part, Attribute) else _attribute(part, field) for part in value)
    columns = [column_of(attribute.name) for attribute in made]
    if len(set(columns)) < len(columns):
        raise ParameterError(f"{field} is {shown(columns)}; list every attribute once", field=field)
    for column in RESERVED_COLUMNS & set(columns):
        raise ParameterError(f"{field} has {column!r}, which is a column of every released log; remove it", field=field)
    return made


def _event_attributes(value: Sequence[Attribute | str]) -> tuple[Attribute, ...]:
    made = _attributes(value, "event_attributes", str)
    for name in [attribute.name for attribute in made if attribute.name.startswith(CASE_PREFIX)]:
        raise ParameterError(f"event_attributes has {name!r}; set attributes to it", field="event_attributes")
    if any(attribute.name == LIFECYCLE for attribute in made):
        raise ParameterError(
            f"event_attributes has {LIFECYCLE!r}; add it to activity, or set lifecycle", field="event_attributes"
        )
    if any(attribute.name == SERVICE and attribute != SERVICE_TIMES for attribute in made):
        raise ParameterError(f"event_attributes has {SERVICE!r} with other bins; remove it", field="event_attributes")
    return made


def _attribute(value: Any, field: str) -> Attribute:
    return Attribute.parse(value) if isinstance(value, str) else from_plain(value, Attribute, field)


def _option(value: Any, kind: type[Value], name: str) -> Value | None:
    """An option that is a value of a class, a mapping of its options, or None."""
    return value if value is None or isinstance(value, kind) else from_plain(value, kind, name)


def _times(value: Times | Mapping[str, Any] | None) -> Times | None:
    return _option(value, Times, "times")


def _rules(value: Rules | Mapping[str, Any] | None) -> Rules | None:
    rules = _option(value, Rules, "rules")
    return None if rules == NO_RULES else rules


@attrs.frozen(slots=False)
class Synthesis(GaussianMechanism):
    """Measure variants, activities, lengths and transitions with Gaussian noise, and generate traces from that.

    Times and attributes are measured and generated too, if they are asked for, within the same (ε, δ).

    Input      a log's variants and their true counts, and for times and attributes sums over its cases; optionally a
               public alphabet and public rules
    Output     noisy measurements, and a log generated from them: traces that need not occur in the original log
    Neighbours adding or removing one case adds a vector of bounded norm to every measurement; a person at most `max_cases`
    Guarantee  (ε, δ) by the theorem, with every inequality verified on the constants that are used
    """

    _name = "synthesis"
    _kind: ClassVar[Kind] = "synthetic log"

    times: Times | None = attrs.field(default=None, converter=_times)
    attributes: tuple[Attribute, ...] = attrs.field(default=(), converter=_attributes)
    event_attributes: tuple[Attribute, ...] = attrs.field(default=(), converter=_event_attributes)
    rules: Rules | None = attrs.field(default=None, converter=_rules)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.rules is not None and self.rules.is_timed and self.times is None:
            field = "hours" if self.rules.hours else "at_least"
            raise ParameterError(
                f"{field} is set but times are not released; release times, or remove {field}", field=field
            )
        if SERVICE_TIMES in self.event_attributes and self.times is None:
            raise ParameterError("service times are measured but times are not; set times", field="times")

    @property
    def _columns(self) -> tuple[Attribute, ...]:
        """The attributes that are columns of the log, those of cases first."""
        of_events = (attribute for attribute in self.event_attributes if attribute != SERVICE_TIMES)
        return (*self.attributes, *of_events)

    @property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """The parts of μ² for times and for attributes, if they are measured."""
        return SHARE_OF_TIMES * bool(self.times), SHARE_OF_ATTRIBUTES * bool(self._columns)

    def plans(self) -> tuple[StagePlan, ...]:
        """V, the stages of the flow (A, L, T1 and T2), to which residual cases contribute, and those of every case."""
        flow = {name: share for name, share in CONTROL_FLOW.items() if name != stages.ACTIVITIES or not self.alphabet}
        total = sum(flow.values(), Fraction(0)) / (1 - sum(self._shares))
        group_of: dict[str, Group] = {stages.VARIANTS: "variants"}
        plans = (
            StagePlan(name, share / total, _SELECTIONS.get(name), group=group_of.get(name, "residual"))
            for name, share in flow.items()
        )
        return (*plans, *self.plans_of_every_case())

    def plans_of_every_case(self) -> tuple[StagePlan, ...]:
        """The stages to which every case contributes, released or not: times (D, P, W, H and E), then attributes (C)."""
        of_times, of_attributes = self._shares
        plans: list[StagePlan] = []
        of_service = of_times * SHARE_OF_SERVICE * (SERVICE_TIMES in self.event_attributes)
        if self.times is not None:
            plans += [StagePlan(name, share * (of_times - of_service)) for name, share in TIMES.items()]
        every = self._columns
        part = Fraction(1, max(sum(attribute.is_selected for attribute in every), 1))  # of the δ of selected values
        share = of_attributes / max(len(every), 1)
        for attribute in self.attributes:
            selection = (Selection(), part) if attribute.is_selected else ()
            plans.append(StagePlan(first_stage(attribute.name), share / 2, *selection))
            plans.append(StagePlan(second_stage(attribute.name), share / 2))
        for attribute in self.event_attributes:
            selecting = share * SHARE_OF_VALUES if attribute.is_selected else Fraction(0)
            if attribute.is_selected:
                plans.append(StagePlan(values_stage(attribute.name), selecting, Selection(1, MOST_KEYS), part))
            whole = of_service if attribute == SERVICE_TIMES else share
            plans.append(StagePlan(event_stage(attribute.name), whole - selecting))
        return tuple(plans)

    def _release(self, variants: Log) -> SyntheticRelease:
        # of an experiment, or of the operating system; never of the generator of the noise
        seed = self._random_bytes.seed if isinstance(self._random_bytes, Seeded) else new_seed()
        return SyntheticRelease.generated(self, self.measure(variants), variants.columns, variants.abstraction, seed)

    # ------------------------------------------------------------------------------------------- the measurements

    def measure(self, variants: Log) -> Measurements:
        """Draw the noise, once, and measure the log: the stages of the proof, in this order."""
        draws, totals = self._draws(), variants.totals
        flow = self._measure_control_flow(variants, draws)
        if totals is None:
            return flow
        times = None if self.times is None else measure_times(totals, self.times, flow, draws)
        attributes = tuple(measure_attribute(totals, part, flow, draws) for part in self.attributes)
        of_events = tuple(measure_event_attribute(totals, part, flow, draws) for part in self.event_attributes)
        return replace(flow, times=times, attributes=attributes, event_attributes=of_events)

    def _measure_control_flow(self, variants: Log, draws: Draws) -> Measurements:
        """V, A, L, T1 and T2."""
        log = coded(variants)
        of_variant = draws.stage(stages.VARIANTS)
        drawn = draws.noisy(stages.VARIANTS, log.counts * of_variant.contribution)
        shown = released(of_variant, drawn, self._random_bytes)
        traces = variants.traces(np.flatnonzero(shown).tolist())
        of_variants = dict(zip(traces, drawn[shown].tolist(), strict=True))
        residual, known = log.without(shown), np.unique(log.codes[np.repeat(shown, log.lengths)])
        selected = self._select_activities(variants, residual, draws, known)
        activities = self._activities(of_variants, selected)
        codes, residual = coded_for(activities, variants.alphabet, residual)
        projected = residual.projected(codes)
        lengths = draws.noisy(stages.LENGTHS, length_sums(projected, draws.stage(stages.LENGTHS)))
        allowed = possible_cells(activities, self.rules)
        first, second = draws.stage(stages.TRANSITIONS), draws.stage(stages.REFINEMENT)
        transitions = draws.noisy(stages.TRANSITIONS, transition_sums(projected, first), allowed)
        pairs = choose_pairs(transitions / first.contribution, first.deviation, second.deviation)
        if pairs is None:
            refinement = draws.noisy(stages.REFINEMENT, transition_sums(projected, second), allowed)
        else:
            refinement = draws.noisy(stages.REFINEMENT, context_sums(projected, pairs, second), allowed[pairs[:, 1]])
        return Measurements(
            contributions=self.contributions,
            variants=tuple(sorted(of_variants.items())),
            activities=activities,
            activity_sums={name: selected[name] for name in activities if name in selected},
            lengths=lengths,
            transitions=transitions,
            pairs=pairs,
            refinement=refinement,
            rules=self.rules,
        )

    def _activities(self, released: dict[Trace, int], selected: dict[Activity, int]) -> tuple[Activity, ...]:
        """The activities of generated traces: a rule on outputs, which prefers large noisy sums if there are too many."""
        mass: defaultdict[Activity, int] = defaultdict(int)
        for trace, value in released.items():
            for activity in set(trace):
                mass[activity] += value
        public = [activity for activity in self.alphabet or () if activity not in mass]
        return tuple(sorted([*by_size(mass), *by_size(selected), *public][:MOST_ACTIVITIES]))


@parameters_of.register
def _parameters(mechanism: Synthesis) -> dict[str, Any]:
    return {"alphabet": plain(mechanism.alphabet)} | mechanism._constants()


# -------------------------------------------------------------------------------------------- the stages


def measure_times(totals: Totals, settings: Times, flow: Measurements, draws: Draws) -> TimeMeasurements:
    """D, P, W, H and E: what all cases add, with noise."""
    zone, weekend = settings.zone, settings.weekend
    asked = partial(answered, totals, draws, activities=flow.activities)
    pairs = choose_timed_pairs(flow)
    durations = asked(
        stages.DURATIONS, questions.Durations, pairs=tuple((int(before), int(after)) for before, after in pairs)
    )
    throughput = asked(stages.THROUGHPUT, questions.Throughput, edges=questions.THROUGHPUT_EDGES)
    start_blocks = asked(stages.START_BLOCKS, questions.StartBlocks, zone=zone)
    of_blocks = draws.stage(stages.START_BLOCKS)
    blocks = stages.choose_blocks(start_blocks, of_blocks.contribution, of_blocks.deviation, settings.recorded)
    in_blocks: dict[str, Any] = {"zone": zone, "blocks": tuple(map(int, blocks))}
    return TimeMeasurements(
        settings=settings,
        pairs=pairs,
        durations=durations,
        throughput=throughput,
        start_blocks=start_blocks,
        blocks=blocks,
        start_spans=asked(stages.START_SPANS, questions.StartWeeks, width=stages.SPAN, **in_blocks),
        start_weeks=asked(stages.START_WEEKS, questions.StartWeeks, **in_blocks),
        start_weekdays=asked(stages.START_WEEKDAYS, questions.StartWeekdays, zone=zone),
        start_hours=asked(stages.START_HOURS, questions.StartHours, zone=zone, weekend=weekend),
        event_weekdays=asked(stages.EVENT_WEEKDAYS, questions.EventWeekdays, zone=zone),
        event_hours=asked(stages.EVENT_HOURS, questions.EventHours, zone=zone, weekend=weekend),
    )


def measure_attribute(totals: Totals, attribute: Attribute, flow: Measurements, draws: Draws) -> AttributeMeasurements:
    """C: the values of an attribute, then the same cells again or by last activity, with noise."""
    name, values = attribute.name, attribute.values
    once, again = draws.stage(first_stage(name)), draws.stage(second_stage(name))
    asked = partial(answered, totals, draws, attribute=name)
    if attribute.is_number:
        first = asked(once.name, questions.AttributeCells, edges=attribute.edges)
    else:
        sums = totals.value_sums(questions.AttributeValues(contribution=once.contribution, attribute=name))
        if attribute.is_selected:
            values, first = _selected(sums, once, draws, None)
        else:
            first = draws.noisy(once.name, np.array([sums.get(value, 0) for value in (*values, None)], dtype=np.int64))
    cells: dict[str, Any] = {"edges": attribute.edges, "values": values}
    if measures_by_last(attribute, first, flow, once, again):
        second = asked(again.name, questions.AttributeByLast, activities=flow.activities, **cells)
    else:
        second = asked(again.name, questions.AttributeCells, **cells)
    return AttributeMeasurements(attribute, values, first, second)


def _selected(
    sums: Mapping[str | None, int], stage: Stage, draws: Draws, *others: None
) -> tuple[tuple[str, ...], Integers]:
    """The values whose noisy sum exceeds the threshold; and their noisy sums, followed by those of others."""
    candidates = sorted(value for value in sums if value is not None and value != OTHER)
    drawn = draws.noisy(stage.name, np.array([sums.get(value, 0) for value in (*candidates, *others)], dtype=np.int64))
    kept = np.flatnonzero(drawn[: len(candidates)] > stage.threshold).tolist()
    return tuple(candidates[index] for index in kept), drawn[[*kept, *range(len(candidates), len(drawn))]]


def measure_event_attribute(
    totals: Totals, attribute: Attribute, flow: Measurements, draws: Draws
) -> EventAttributeMeasurements:
    """G: the values of an attribute of events, where they are not public; then values by activity, with noise."""
    name, values, selected = attribute.name, attribute.values, np.empty(0, dtype=np.int64)
    if attribute.is_selected:
        choice = draws.stage(values_stage(name))
        question = questions.EventValues(contribution=choice.contribution, attribute=name, most=MOST_KEYS)
        values, selected = _selected(totals.value_sums(question), choice, draws)
    asked = partial(answered, totals, draws, event_stage(name), activities=flow.activities, attribute=name)
    by_activity = asked(questions.EventValuesByActivity, edges=attribute.edges, values=values)
    return EventAttributeMeasurements(attribute, values, selected, by_activity)
