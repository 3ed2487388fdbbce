"""Starts of generated events: post-processing, from measurements and a seed alone.

Within an activity, the longest service times go to the events that come longest after the event before, so that few events
start before that. An event never starts before the last one of the same activity in its case has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..log.options import SERVICE_TIMES, CaseColumn
from ..log.rules import NO_RULES
from ..log.traces import Trace
from .case_attributes import drawn_cells
from .durations import log_bounds
from .event_attributes import event_codes, event_shares
from .event_times import DAY, hours_closed, opened, rounded, zone_of
from .measurements import EventAttributeMeasurements, Measurements, event_stage
from .randomness import generator
from .shrinkage import Floats, Integers

STANDS_OUT = 2.0  # standard deviations
HALF = {"second": 0.0, "minute": 30.0, "day": DAY / 2}  # of a unit of times, in seconds
_STREAM = 4


def _shares(measurements: Measurements, measured: EventAttributeMeasurements) -> Floats:
    """The shares of the buckets by activity; one whose service times are mostly noise has none, if that stands out."""
    stage, shares = event_stage(measured.attribute.name), event_shares(measurements, measured)
    noisy, deviation = measurements.in_cases(stage, measured.by_activity), measurements.deviation(stage)
    present = noisy[:, :-1].sum(axis=1) > STANDS_OUT * deviation * np.sqrt(measured.cells - 1)
    absent = np.flatnonzero(~present & (noisy[:, -1] > STANDS_OUT * deviation))
    shares[absent] = np.eye(measured.cells)[-1]
    return shares


def event_starts(
    measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int], times: Integers, seed: int
) -> CaseColumn | None:
    """Starts of the events that end at these times, in seconds from 1970; None if service times were not measured."""
    measured = next((each for each in measurements.event_attributes if each.attribute == SERVICE_TIMES), None)
    if measured is None or measurements.times is None:
        return None
    random, settings = generator(seed, _STREAM), measurements.times.settings
    activity = event_codes(measurements, traces, counts)
    lengths = np.repeat(np.array([len(trace) for trace in traces], dtype=np.int64), counts)
    case = np.repeat(np.arange(len(lengths)), lengths)
    cells = drawn_cells(_shares(measurements, measured), activity, random)
    missing = cells == measured.cells - 1
    low, high = (np.append(bounds, 0.0) for bounds in log_bounds())  # of all buckets, and of missing ones
    within = random.random(len(cells))
    seconds = np.floor(np.where((cells > 0) & ~missing, np.exp(low[cells] + within * (high - low)[cells]), 0.0))
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
