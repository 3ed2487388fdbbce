"""The noisy measurements of a synthetic log: public, and all that generation ever sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from ..log.calendar import BLOCKS, WEEK_DAYS, WEEKS_PER_BLOCK
from ..log.options import OTHER, Attribute, Times, weeks_of
from ..log.plain import ActivitySums, as_shape, digest_of
from ..log.questions import DURATION_BUCKETS, KINDS_OF_DAY, THROUGHPUT_EDGES
from ..log.rules import Rules, possible_cells
from ..log.traces import Activity, Trace
from ..trusted.contributions import BUCKETS, states
from ..trusted.numbers import as_text
from ..trusted.samplers import Booleans, Floats, Integers
from ..trusted.stages import STANDARD_DEVIATION

CONFIDENCE = 0.95
RADIUS = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class MeasuredNumber:
    """A measured number with its 95 % interval. The interval accounts for the noise, and for nothing else.

    Attributes:
        value: The noisy value.
        low: The lower end of the interval, at least 0.
        high: The upper end of the interval.
    """

    value: float
    low: float
    high: float

    @property
    def mostly_noise(self) -> bool:
        """Whether the value cannot be distinguished from 0."""
        return self.low <= 0


def measured(value: float, deviation: float) -> MeasuredNumber:
    """A value with normal noise of this standard deviation."""
    return MeasuredNumber(value, max(0.0, value - RADIUS * deviation), max(0.0, value + RADIUS * deviation))


def first_stage(attribute: str) -> str:
    """The name of the stage that counts the values of an attribute."""
    return f"attribute {attribute}"


def second_stage(attribute: str) -> str:
    """The name of the stage that measures an attribute again, alone or by last activity."""
    return f"refined attribute {attribute}"


def values_stage(attribute: str) -> str:
    """The name of the stage that selects the values of an attribute of events."""
    return f"values of event attribute {attribute}"


def event_stage(attribute: str) -> str:
    """The name of the stage that measures the values of an attribute of events by activity."""
    return f"event attribute {attribute}"


@dataclass(frozen=True, eq=False)
class AttributeCells:
    """The cells of an attribute: the selected or listed values of a name, `other` and *missing*; or bins and *missing*.

    Attributes:
        attribute: The attribute.
        values: The selected or listed values of a name, sorted; empty for a number.
    """

    attribute: Attribute
    values: tuple[str, ...]

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.attribute.bins) + 2 if self.attribute.is_number else len(self.values) + 2

    @property
    def labels(self) -> tuple[str | None, ...]:
        """What the cells are called: values and `other`, or bins; None is missing."""
        if not self.attribute.is_number:
            return (*self.values, OTHER, None)
        edges = [as_text(edge) for edge in self.attribute.bins]
        inner = (f"{low} to {high}" for low, high in pairwise(edges))
        return (f"below {edges[0]}", *inner, f"from {edges[-1]}", None)


@dataclass(frozen=True, eq=False)
class AttributeMeasurements(AttributeCells):
    """Sums over cases with noise, as integers.

    Attributes:
        first: Noisy sums by cell, without `other`.
        second: Noisy sums by cell, or by cell and last activity.
    """

    first: Integers
    second: Integers

    def __post_init__(self) -> None:
        as_shape(self, {"first": (self.cells if self.attribute.is_number else self.cells - 1,)})

    @property
    def is_by_last(self) -> bool:
        """Whether the second stage measured values by last activity."""
        return self.second.ndim == 2


@dataclass(frozen=True, eq=False)
class EventAttributeMeasurements(AttributeCells):
    """Sums over cases with noise, as integers, of an attribute of events.

    Attributes:
        selected: The noisy sums of the values that were selected; empty where none was.
        by_activity: Noisy sums by activity and cell.
    """

    selected: Integers
    by_activity: Integers


DURATIONS, THROUGHPUT = "durations", "throughput"
START_BLOCKS, START_SPANS, START_WEEKS = "start blocks", "start spans", "start weeks"
START_WEEKDAYS, START_HOURS = "start weekdays", "start hours"
EVENT_WEEKDAYS, EVENT_HOURS = "event weekdays", "event hours"
"""The names of the stages D, P, W (three), H (two) and E (two)."""

HOURS = 24

SPAN = 8
"""Weeks of a span: the weeks between a block and a single one."""

CERTAIN_BLOCK = 4.0  # a block in which cases start exceeds this many standard deviations


@dataclass(frozen=True, eq=False)
class TimeMeasurements:
    """Sums over cases with noise, as integers. Calendars are in the wall-clock time of the mechanism's zone.

    Attributes:
        settings: The public options.
        pairs: The directly-follows pairs whose durations were measured, as indices of activities, sorted.
        durations: D: noisy sums by pair and duration bucket.
        throughput: P: noisy sums by bucket of `THROUGHPUT_EDGES`, of the time from the first to the last event.
        start_blocks: W: noisy sums by block of weeks, of the first event.
        blocks: The blocks whose spans and weeks were measured, one after another.
        start_spans: W: noisy sums by measured block and span.
        start_weeks: W: noisy sums by measured block and week.
        start_weekdays: H: noisy sums by weekday of the first event.
        start_hours: H: noisy sums by working day or weekend, and hour, of the first event.
        event_weekdays: E: noisy sums by weekday of all events.
        event_hours: E: noisy sums by working day or weekend, and hour, of all events.
    """

    settings: Times
    pairs: Integers
    durations: Integers
    throughput: Integers
    start_blocks: Integers
    blocks: Integers
    start_spans: Integers
    start_weeks: Integers
    start_weekdays: Integers
    start_hours: Integers
    event_weekdays: Integers
    event_hours: Integers

    def __post_init__(self) -> None:
        pairs, blocks = len(self.pairs), len(self.blocks)
        shapes = {
            "pairs": (pairs, 2),
            "durations": (pairs, DURATION_BUCKETS),
            "throughput": (len(THROUGHPUT_EDGES) + 1,),
            "start_blocks": (BLOCKS,),
            "blocks": (blocks,),
            "start_spans": (blocks, WEEKS_PER_BLOCK // SPAN),
            "start_weeks": (blocks, WEEKS_PER_BLOCK),
            "start_weekdays": (WEEK_DAYS,),
            "start_hours": (KINDS_OF_DAY, HOURS),
            "event_weekdays": (WEEK_DAYS,),
            "event_hours": (KINDS_OF_DAY, HOURS),
        }
        as_shape(self, shapes)


def choose_blocks(start_blocks: Integers, contribution: int, deviation: float, recorded: str | None = None) -> Integers:
    """Decide, from the noisy blocks alone, of which of them spans and weeks are measured: those of the recorded period.

    If it was not stated, these are the largest block, those that stand out from the noise with gaps of at most one block
    between them, and one more at either end, which may hold too few cases to stand out.
    """
    if recorded is not None:
        begin, end = weeks_of(recorded)
        return np.arange(begin // WEEKS_PER_BLOCK, (end - 1) // WEEKS_PER_BLOCK + 1, dtype=np.int64)
    certain = start_blocks / contribution / deviation > CERTAIN_BLOCK
    largest = int(np.argmax(start_blocks))
    certain[largest] = True
    blocks = np.flatnonzero(certain)
    runs = np.split(blocks, np.flatnonzero(np.diff(blocks) > 2) + 1)
    run = next(run for run in runs if largest in run)
    return np.arange(max(run[0] - 1, 0), min(run[-1] + 2, BLOCKS), dtype=np.int64)


VARIANTS, ACTIVITIES, LENGTHS = "variants", "activities", "lengths"
TRANSITIONS, REFINEMENT = "transitions", "refinement"
"""The names of the stages V, A, L, T1 and T2."""


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Sums over cases with noise of standard deviation S, as integers, and the sizes of what a case added to them.

    Attributes:
        contributions: Δ of every stage, by name: a noisy sum divided by it is in cases.
    """

    contributions: Mapping[str, int]

    def deviation(self, stage: str) -> float:
        """The standard deviation of the noise of a stage, in cases."""
        return STANDARD_DEVIATION / self.contributions[stage]

    def noisy(self, stage: str, sums: Integers) -> tuple[Floats, float]:
        """Noisy sums of a stage in cases, and the standard deviation of their noise."""
        return sums / self.contributions[stage], self.deviation(stage)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the measurements as compact JSON with sorted keys: the same for every release that follows from them."""
        return digest_of(self)


@dataclass(frozen=True, eq=False)
class Measurements(NoisySums):
    """The measurements of a synthetic log.

    Attributes:
        variants: V: the released variants with their noisy sums, sorted.
        activities: The activities that generated traces are made of, sorted.
        activity_sums: A: the noisy sums of those activities that were selected by it.
        lengths: L: the noisy sum of every length bucket.
        transitions: T1: noisy sums by state and symbol; 0 where there is no cell.
        pairs: The pairs of states whose continuations T2 measured; None where it measured T1's cells again.
        refinement: T2: noisy sums by pair and symbol, or by state and symbol.
        times: Those of times; None if times were not measured.
        attributes: Those of case attributes.
        event_attributes: Those of attributes of events.
        rules: What generated cases obey; impossible cells were not measured.
    """

    variants: tuple[tuple[Trace, int], ...]
    activities: tuple[Activity, ...]
    activity_sums: ActivitySums
    lengths: Integers
    transitions: Integers
    pairs: Integers | None
    refinement: Integers
    times: TimeMeasurements | None = None
    attributes: tuple[AttributeMeasurements, ...] = ()
    event_attributes: tuple[EventAttributeMeasurements, ...] = ()
    rules: Rules | None = None

    def __post_init__(self) -> None:
        size = states(len(self.activities))
        shapes: dict[str, tuple[int, ...]] = {"lengths": (BUCKETS,), "transitions": (size, size)}
        if self.pairs is not None:
            shapes["pairs"] = (len(self.pairs), 2)
        as_shape(self, shapes | {"refinement": (size if self.pairs is None else len(self.pairs), size)})
        for of_events in self.event_attributes:
            as_shape(of_events, {"by_activity": (len(self.activities), of_events.cells)})

    def codes_of(self, traces: Iterable[Trace]) -> list[Integers]:
        """The indices of the activities of every trace; one more stands for any other activity."""
        code_of = {activity: code for code, activity in enumerate(self.activities)}
        other = len(code_of)
        return [np.array([code_of.get(activity, other) for activity in trace], dtype=np.int64) for trace in traces]

    @cached_property
    def cells(self) -> Booleans:
        """Which transitions can occur, by state and symbol."""
        return possible_cells(self.activities, self.rules)
