"""Attributes of generated cases and events, service times included: post-processing, from measurements and a seed alone.

Within an activity, the longest service times go to the events that come longest after the event before, so that few events
start before that. An event never starts before the last one of the same activity in its case has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..log.options import OTHER, SERVICE_TIMES, Attribute, CaseColumn
from ..log.rules import NO_RULES
from ..log.traces import Trace
from ..trusted.samplers import Floats, Integers
from ..trusted.stages import Stage
from .durations import DAY, seconds_at
from .event_times import hours_closed, opened, rounded, zone_of
from .measurements import (
    LENGTHS,
    VARIANTS,
    AttributeCells,
    AttributeMeasurements,
    EventAttributeMeasurements,
    Measurements,
    event_stage,
    first_stage,
    second_stage,
)
from .randomness import Random, drawn_cells, generator
from .shrinkage import deviating, normalised, uniform

WORTHWHILE = 4.0  # an attribute is measured by last activity if there are this many times as many cases as noise
STANDS_OUT = 1.5  # a public cell is taken as empty below this many standard deviations
KEPT = 2.0  # a cell of an activity has a share of its own, and an activity service times, above this many deviations
LARGEST_WHOLE = 2**53  # beyond it, floating-point numbers skip whole ones
HALF = {"second": 0.0, "minute": 30.0, "day": DAY / 2}  # of a unit of times, in seconds
_CASES, _EVENTS, _STARTS = 2, 3, 4  # streams of random numbers


def number_of_cases(measurements: Measurements) -> float:
    """The noisy number of cases: of released variants and of all others."""
    released = sum(value for _, value in measurements.variants) / measurements.contributions[VARIANTS]
    lengths, _ = measurements.noisy(LENGTHS, measurements.lengths)
    return released + float(lengths.sum())


def first_numbers(attribute: Attribute, noisy: Floats, deviation: float, cases: float) -> tuple[Floats, Floats]:
    """Numbers of cases by cell, and their standard deviations; the number of `other` is what the others leave of all cases."""
    if attribute.is_number:
        return noisy, np.full(len(noisy), deviation)
    rest = max(cases - float(np.maximum(noisy, 0.0).sum()), 0.0)
    deviations = np.full(len(noisy) + 1, deviation)
    deviations[-2] *= np.sqrt(len(noisy))
    return np.r_[noisy[:-1], rest, noisy[-1]], deviations


def shares_of(attribute: Attribute, numbers: Floats, deviations: Floats) -> Floats:
    """Shares of all cells; public cells that do not stand out from the noise are taken as empty."""
    present = numbers > STANDS_OUT * deviations
    present[:-2] |= attribute.is_selected  # these are there, whatever noise says
    kept = np.where(present, np.maximum(numbers, 0.0), 0.0)
    return normalised(kept, uniform(len(kept)))


def measures_by_last(attribute: Attribute, first: Integers, flow: Measurements, once: Stage, again: Stage) -> bool:
    """Decide, from outputs so far, whether an attribute is measured by last activity."""
    cases, activities = number_of_cases(flow), len(flow.activities)
    numbers = first_numbers(attribute, first / once.contribution, once.deviation, cases)
    values = int((shares_of(attribute, *numbers) > 0).sum())
    return activities > 0 and cases > WORTHWHILE * again.deviation * values * activities**0.5


def combined_numbers(measurements: Measurements, measured: AttributeMeasurements) -> tuple[Floats, Floats]:
    """Numbers of cases by cell, whatever the last activity is, and their standard deviations: what both stages say."""
    name, noisy, cases = measured.attribute.name, measurements.noisy, number_of_cases(measurements)
    numbers, deviations = first_numbers(measured.attribute, *noisy(first_stage(name), measured.first), cases)
    if measured.is_by_last:
        return numbers, deviations
    second, deviation = noisy(second_stage(name), measured.second)
    precision, other = 1 / deviations**2, 1 / deviation**2
    return (numbers * precision + second * other) / (precision + other), 1 / np.sqrt(precision + other)


def attribute_shares(measurements: Measurements, measured: AttributeMeasurements) -> Floats:
    """The shares of the cells of an attribute by last activity; the last row is for any activity."""
    activities = len(measurements.activities)
    overall = shares_of(measured.attribute, *combined_numbers(measurements, measured))
    if not measured.is_by_last:
        return np.tile(overall, (activities + 1, 1))
    second, deviation = measurements.noisy(second_stage(measured.attribute.name), measured.second)
    rows, _ = deviating(second.T * (overall > 0), deviation, np.tile(overall, (activities, 1)))
    return np.vstack([rows, overall])


def case_columns(measurements: Measurements, last: Integers, seed: int) -> tuple[CaseColumn, ...]:
    """Values of all attributes for the cases of a synthetic log."""
    random = generator(seed, _CASES)
    return tuple(
        column_of(measured, drawn_cells(attribute_shares(measurements, measured), last, random), random)
        for measured in measurements.attributes
    )


def column_of(measured: AttributeCells, cells: Integers, random: Random) -> CaseColumn:
    """Values in cells: texts as they are, numbers evenly within their bin."""
    attribute, missing = measured.attribute, cells == measured.cells - 1
    if not attribute.is_number:
        return CaseColumn(attribute.name, "text", cells, missing, (*measured.values, OTHER))
    whole = all(edge.denominator == 1 and abs(edge) <= LARGEST_WHOLE for edge in attribute.bins)
    unit = min(Fraction(1, edge.denominator) for edge in attribute.bins)
    low = np.array([float(attribute.bins[0] - unit), *attribute.edges, 0.0])
    high = np.array([*attribute.edges, attribute.edges[-1], 0.0])
    open_end = (cells == 0) | (cells >= len(attribute.bins))
    drawn = np.where(open_end, low[cells], low[cells] + random.random(len(cells)) * (high - low)[cells])
    if whole:
        return CaseColumn(attribute.name, "whole number", np.floor(drawn).astype(np.int64), missing)
    return CaseColumn(attribute.name, "number", drawn, missing)


def event_shares(measurements: Measurements, measured: EventAttributeMeasurements) -> Floats:
    """The shares of the cells of an attribute by activity; the last row is for any activity.

    Cells of an activity that do not stand out share what stands out of the rest together, as those of all activities do.
    """
    noisy, deviation = measurements.noisy(event_stage(measured.attribute.name), measured.by_activity)
    least = KEPT * deviation
    overall = noisy.sum(axis=0)
    kept = np.where(overall > least * np.sqrt(max(len(noisy), 1)), overall, 0.0)
    everything = normalised(kept, uniform(measured.cells))
    rows = np.where((noisy > least) & (everything > 0), noisy, 0.0)
    rest = noisy.sum(axis=1) - rows.sum(axis=1)
    rows += np.where(rest > least * np.sqrt(measured.cells), rest, 0.0)[:, None] * everything * (rows == 0)
    return np.vstack([*(normalised(row, everything) for row in rows), everything])


def event_columns(
    measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int], seed: int
) -> tuple[CaseColumn, ...]:
    """Values of all attributes for the events of a synthetic log, case by case; service times are not among them."""
    random, activity = generator(seed, _EVENTS), event_codes(measurements, traces, counts)
    return tuple(
        column_of(measured, drawn_cells(event_shares(measurements, measured), activity, random), random)
        for measured in measurements.event_attributes
        if measured.attribute != SERVICE_TIMES
    )


def event_codes(measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int]) -> Integers:
    """The index of the activity of every event, case by case; the last one is for any other activity."""
    repeated = [np.tile(codes, count) for codes, count in zip(measurements.codes_of(traces), counts, strict=True)]
    return np.concatenate([np.empty(0, dtype=np.int64), *repeated])


def _service_shares(measurements: Measurements, measured: EventAttributeMeasurements) -> Floats:
    """The shares of the buckets by activity; one whose service times are mostly noise has none, if that stands out."""
    shares = event_shares(measurements, measured)
    noisy, deviation = measurements.noisy(event_stage(measured.attribute.name), measured.by_activity)
    present = noisy[:, :-1].sum(axis=1) > KEPT * deviation * np.sqrt(measured.cells - 1)
    absent = np.flatnonzero(~present & (noisy[:, -1] > KEPT * deviation))
    shares[absent] = np.eye(measured.cells)[-1]
    return shares


def event_starts(
    measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int], times: Integers, seed: int
) -> CaseColumn | None:
    """Starts of the events that end at these times, in seconds from 1970; None if service times were not measured."""
    measured = next((each for each in measurements.event_attributes if each.attribute == SERVICE_TIMES), None)
    if measured is None or measurements.times is None:
        return None
    random, settings = generator(seed, _STARTS), measurements.times.settings
    activity = event_codes(measurements, traces, counts)
    lengths = np.repeat(np.array([len(trace) for trace in traces], dtype=np.int64), counts)
    case = np.repeat(np.arange(len(lengths)), lengths)
    cells = drawn_cells(_service_shares(measurements, measured), activity, random)
    missing = cells == measured.cells - 1
    seconds = np.floor(seconds_at(np.where(missing, 0, cells), random.random(len(cells))))
    step = np.diff(times, prepend=0).astype(np.float64)
    step[np.diff(case, prepend=-1) > 0] = np.inf  # nothing comes before
    known = np.flatnonzero(~missing)
    by_step = known[np.lexsort((random.random(len(known)), step[known], activity[known]))]
    seconds[by_step] = seconds[known[np.lexsort((seconds[known], activity[known]))]]
    middle = times.astype(np.float64) + HALF[settings.resolution]  # service times are rounded to the nearest unit
    waits, zone = hours_closed((measurements.rules or NO_RULES).open_hours), zone_of(settings.zone)
    starts = np.minimum(rounded(opened(middle - seconds, waits, zone), zone, settings.resolution), times)
    key = case * (len(measurements.activities) + 1) + activity
    order = np.argsort(key, kind="stable")
    later = np.flatnonzero(np.diff(key[order]) == 0)  # the same activity comes again in the case
    starts[order[later + 1]] = np.maximum(starts[order[later + 1]], times[order[later]])
    return CaseColumn(measured.attribute.name, "whole number", starts, missing)
