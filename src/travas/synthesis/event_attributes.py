"""Attributes of generated events: post-processing, from measurements and a seed alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..log.options import SERVICE_TIMES, CaseColumn
from ..log.traces import Trace
from .case_attributes import column_of, drawn_cells
from .measurements import EventAttributeMeasurements, Measurements, event_stage
from .randomness import generator
from .shrinkage import Floats, Integers, normalised, uniform

STANDS_OUT = 1.5  # a cell of all activities together is taken as empty below this many standard deviations
DEVIATES = 2.0  # a cell differs from what is expected of it if it does by more standard deviations than this
_STREAM = 3


def event_shares(measurements: Measurements, measured: EventAttributeMeasurements) -> Floats:
    """The shares of the cells of an attribute by activity; the last row is for any activity.

    A row is expected to be empty, or to be that of all activities together: whichever is estimated to be off by less.
    """
    stage = event_stage(measured.attribute.name)
    noisy, deviation = measurements.in_cases(stage, measured.by_activity), measurements.deviation(stage)
    overall = noisy.sum(axis=0)
    kept = np.where(overall > STANDS_OUT * deviation * np.sqrt(max(len(noisy), 1)), overall, 0.0)
    everything = normalised(kept, uniform(measured.cells))
    noisy = noisy * (everything > 0)
    empty = _kept(noisy, np.zeros_like(noisy), deviation)
    alike = _kept(noisy, np.maximum(noisy.sum(axis=1, keepdims=True), 0.0) * everything, deviation)
    rows = np.where((alike[1] < empty[1])[:, None], alike[0], empty[0])
    shares = [normalised(row, everything) for row in rows]
    return np.vstack([*shares, everything])


def _kept(noisy: Floats, expected: Floats, deviation: float) -> tuple[Floats, Floats]:
    """What is expected but for cells that deviate from it, and an unbiased estimate of its squared error, by row."""
    residual = noisy - expected
    deviates = np.abs(residual) > DEVIATES * deviation
    error = np.where(deviates, deviation**2, residual**2 - deviation**2)
    return np.maximum(np.where(deviates, noisy, expected), 0.0), error.sum(axis=1)


def event_columns(
    measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int], seed: int
) -> tuple[CaseColumn, ...]:
    """Values of all attributes for the events of a synthetic log, case by case; service times are not among them."""
    random, activity = generator(seed, _STREAM), event_codes(measurements, traces, counts)
    return tuple(
        column_of(measured, drawn_cells(event_shares(measurements, measured), activity, random), random)
        for measured in measurements.event_attributes
        if measured.attribute != SERVICE_TIMES
    )


def event_codes(measurements: Measurements, traces: Sequence[Trace], counts: Sequence[int]) -> Integers:
    """The index of the activity of every event, case by case; the last one is for any other activity."""
    other = len(measurements.activities)
    code_of = {activity: code for code, activity in enumerate(measurements.activities)}
    of_traces = [np.array([code_of.get(activity, other) for activity in trace], dtype=np.int64) for trace in traces]
    repeated = [np.tile(codes, count) for codes, count in zip(of_traces, counts, strict=True)]
    return np.concatenate([np.empty(0, dtype=np.int64), *repeated])
