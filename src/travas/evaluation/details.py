"""Times and case attributes of a synthetic log compared with those of the original. Confidential. Exact and fast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal, cast

import numpy as np
import polars as pl

from ..errors import confidential_repr
from ..log.calendar import SECOND, WEEKS
from ..log.log import Log
from ..log.options import OTHER, Attribute, CaseColumn
from ..log.questions import SERVICE_COLUMN, DetailColumn, Totals, check_details
from ..log.traces import Activity
from ..releases.release import details_of, released_attributes, released_event_attributes, released_times
from ..releases.synthetic_log import SyntheticRelease
from ..sources.encoded_cases import Coded, EncodedCases
from ..synthesis.event_times import hour_of_week, week_of, zone_of
from ..trusted.samplers import Floats, Integers, Seeded, uniform_below

Pair = tuple[Activity, Activity]
Of = Literal["case", "event"]
HOURS_PER_WEEK = 168


@dataclass(frozen=True)
class TimeDistance:
    """How far the times of two logs are apart. Confidential.

    Attributes:
        throughput: Wasserstein distance of log2(1 + seconds) from first to last event: in doublings; None if a log is empty.
        medians: Of the directly-follows steps of the original log, the share whose pair has a median (with 1 second added)
            within a factor of two; pairs that are absent are not.
        weeks: Largest difference of the cumulative shares of the weeks in which cases start.
        hours: Largest difference of the cumulative shares of the hours of the week in which cases start.
    """

    throughput: float | None
    medians: float
    weeks: float
    hours: float


@dataclass(frozen=True)
class AttributeDistance:
    """How far the values of an attribute of two logs are apart. Confidential.

    Attributes:
        attribute: The attribute.
        alone: Total variation of the values; those that were not released count as `other`.
        by_last: Total variation of values and last activities together.
        kept: The share of the original cases whose value was released as such, or is missing.
    """

    attribute: str
    alone: float
    by_last: float
    kept: float


NEAR = 0.15
"""A distribution of values is near another one if their total variation is at most this."""


@dataclass(frozen=True)
class EventAttributeDistance:
    """How far the values of an attribute of events are apart, given the activity. Confidential.

    Attributes:
        attribute: The attribute.
        by_activity: Total variation of the values of an activity, on average over the original events.
        near: The share of the original events whose activity has a total variation of at most `NEAR`.
        baseline: `by_activity` if every activity had the values of all original events together.
    """

    attribute: str
    by_activity: float
    near: float
    baseline: float


@dataclass(frozen=True)
class TimeProfile:
    """What the times of a log are compared by. Confidential, except for a release.

    Attributes:
        doublings: log2(1 + seconds) from the first to the last event of every case.
        weeks: The week in which every case starts.
        hours: The hour of the week in which every case starts.
        medians: Of each directly-follows pair the median of its durations in microseconds, and its number of steps.
    """

    doublings: Floats
    weeks: Integers
    hours: Integers
    medians: dict[Pair, tuple[float, int]]

    @classmethod
    def of(cls, log: EncodedCases, zone: str) -> TimeProfile:
        """The profile of a log."""
        times, (first, last) = cast(Integers, log.times), _bounds(log)
        starts = times[first] / SECOND
        starts = np.where(log.aware[first], zone_of(zone).to_local(starts), starts)
        doublings = np.log2(1 + np.maximum(times[last] - times[first], 0) / SECOND)
        return cls(doublings, np.clip(week_of(starts), 0, WEEKS - 1), hour_of_week(starts), _medians(log, times))

    def distance(self, released: TimeProfile) -> TimeDistance:
        """How far the times of a released log are from those of this one."""
        near = sum(
            number
            for pair, (median, number) in self.medians.items()
            if pair in released.medians
            and abs(math.log2((released.medians[pair][0] + SECOND) / (median + SECOND))) <= 1
        )
        return TimeDistance(
            throughput=wasserstein(self.doublings, released.doublings)
            if len(self.weeks) and len(released.weeks)
            else None,
            medians=near / sum(number for _, number in self.medians.values()) if self.medians else 1.0,
            weeks=_largest_difference(self.weeks, released.weeks, WEEKS),
            hours=_largest_difference(self.hours, released.hours, HOURS_PER_WEEK),
        )


def _medians(log: EncodedCases, times: Integers) -> dict[Pair, tuple[float, int]]:
    step = np.delete(np.arange(len(log.codes)), _bounds(log)[1])  # to the next event of the same case
    durations = np.maximum(times[step + 1] - times[step], 0)
    steps = pl.DataFrame({"before": log.codes[step], "after": log.codes[step + 1], "duration": durations})
    found = steps.group_by("before", "after").agg(pl.col("duration").median(), pl.len())
    names = log.alphabet
    return {(names[before], names[after]): (median, number) for before, after, median, number in found.iter_rows()}


def released_cases(release: SyntheticRelease) -> EncodedCases:
    """The cases of a synthetic log as numbers, with their times and attributes."""
    alphabet = sorted({activity for trace in release.variants for activity in trace})
    code_of = {activity: code for code, activity in enumerate(alphabet)}
    codes = [
        code_of[activity]
        for trace, count in zip(release.variants, release.counts, strict=True)
        for activity in trace * count
    ]
    lengths = np.repeat([len(trace) for trace in release.variants], release.counts).astype(np.int64)
    times = None if release.event_times is None else release.event_times * SECOND
    values = _encoded(release.case_columns, "case") | _encoded(release.event_columns, "event")
    if (starts := release.event_starts) is not None and release.event_times is not None:
        values[SERVICE_COLUMN] = np.where(starts.missing, np.nan, release.event_times - starts.values)
    aware, joined = np.ones(len(codes), dtype=bool), np.array(codes, dtype=np.uint32)
    return EncodedCases(alphabet, joined, lengths, times, aware, values)


def _encoded(columns: Sequence[CaseColumn], of: Of) -> dict[DetailColumn, Coded | Floats]:
    """Attributes with names and with numbers, as they are read."""
    values: dict[DetailColumn, Coded | Floats] = {}
    for column in columns:
        if column.kind == "text":
            texts = np.where(column.missing, -1, column.values).astype(np.int32)
            values[DetailColumn(column.attribute, "name", of)] = Coded(texts, column.texts)
        else:
            numbers = np.where(column.missing, np.nan, column.values)
            values[DetailColumn(column.attribute, "number", of)] = numbers
    return values


def time_distance(original: EncodedCases, released: EncodedCases, zone: str) -> TimeDistance:
    """Compare the times of two logs."""
    return TimeProfile.of(original, zone).distance(TimeProfile.of(released, zone))


def attribute_distance(
    original: EncodedCases, released: EncodedCases, attribute: Attribute, values: Sequence[str] | None = None
) -> AttributeDistance:
    """Compare an attribute of two logs; by default, `values` are those of the released log."""
    logs = (original, released)
    cells, size = _cells(logs, attribute, "case", values)
    cells = [cell[log.lengths > 0] for cell, log in zip(cells, logs, strict=True)]
    kept = np.ones(len(cells[0])) if attribute.is_number else cells[0] != size - 1
    activities, number = _activities(logs)
    last = [codes[_bounds(log)[1]] for log, codes in zip(logs, activities, strict=True)]
    joint = [cell * number + codes for cell, codes in zip(cells, last, strict=True)]
    return AttributeDistance(
        attribute.name,
        alone=_total_variation(cells[0], cells[1], size),
        by_last=_total_variation(joint[0], joint[1], size * number),
        kept=float(np.mean(kept)) if len(kept) else 1.0,
    )


def event_attribute_distance(
    original: EncodedCases, released: EncodedCases, attribute: Attribute
) -> EventAttributeDistance:
    """Compare an attribute of events of two logs, by activity."""
    logs = (original, released)
    cells, size = _cells(logs, attribute, "event")
    activities, number = _activities(logs)
    one, other = (  # how many events every activity has in every cell
        np.bincount(codes * size + own, minlength=number * size).reshape(-1, size)
        for codes, own in zip(activities, cells, strict=True)
    )
    events = one.sum(axis=1)
    weights = events / max(events.sum(), 1)
    everything = one.sum(axis=0) / max(events.sum(), 1)
    share, made = (table / np.maximum(table.sum(axis=1, keepdims=True), 1) for table in (one, other))
    apart = np.maximum(np.abs(share - made).sum(axis=1) / 2, other.sum(axis=1) == 0)
    baseline = np.abs(share - everything).sum(axis=1) / 2
    return EventAttributeDistance(
        attribute.name, fsum(weights * apart), fsum(weights[apart <= NEAR]), fsum(weights * baseline)
    )


def _cells(
    logs: Sequence[EncodedCases], attribute: Attribute, of: Of, values: Sequence[str] | None = None
) -> tuple[list[Integers], int]:
    """The values of an attribute in each log as indexes, and how many there are.

    The last two are missing values and `other` of names, by default those of the last log; of numbers, the last is missing.
    """
    if attribute.is_number:
        edges, column = np.array(attribute.edges), DetailColumn(attribute.name, "number", of)
        numbers = [cast(Floats, log.values[column]) for log in logs]
        bins = [np.where(np.isnan(one), len(edges) + 1, np.searchsorted(edges, one, side="right")) for one in numbers]
        return bins, len(edges) + 2
    coded = [log.names(attribute.name, of) for log in logs]
    texts = [text for text in values or coded[-1].values if text != OTHER]
    cell_of = {text: cell for cell, text in enumerate(texts)}
    recoded = [
        [*(cell_of.get(text, len(texts) + 1) for text in one.values), len(texts)] for one in coded
    ]  # last: for −1
    return [np.array(cells)[one.codes] for cells, one in zip(recoded, coded, strict=True)], len(texts) + 2


def _activities(logs: Sequence[EncodedCases]) -> tuple[list[Integers], int]:
    """The activity of every event of each log by a common code, and how many codes there are."""
    codes = {name: code for code, name in enumerate(sorted({name for log in logs for name in log.alphabet}))}
    return [np.array([codes[name] for name in log.alphabet], dtype=np.int64)[log.codes] for log in logs], len(codes)


def wasserstein(one: Floats, other: Floats) -> float:
    """The Wasserstein distance of two samples: the area between their cumulative distributions."""
    one, other = np.sort(one), np.sort(other)
    points = np.sort(np.concatenate([one, other]))
    below, below_other = (np.searchsorted(each, points[:-1], "right") / len(each) for each in (one, other))
    return float(np.abs(below - below_other) @ np.diff(points))


def _bounds(log: EncodedCases) -> tuple[Integers, Integers]:
    """The index of the first and of the last event of every case."""
    ends = np.cumsum(log.lengths)[log.lengths > 0]
    return ends - log.lengths[log.lengths > 0], ends - 1


def _largest_difference(one: Integers, other: Integers, size: int) -> float:
    """The largest difference of two cumulative distributions over ordered cells."""
    return float(np.abs(np.cumsum(_shares(one, size) - _shares(other, size))).max(initial=0.0))


def _total_variation(one: Integers, other: Integers, size: int) -> float:
    """The distance; `fsum`, because the order of the cells is that of the rows."""
    return fsum(np.abs(_shares(one, size) - _shares(other, size))) / 2


def _shares(cells: Integers, size: int) -> Floats:
    return np.bincount(cells, minlength=size) / max(len(cells), 1)


@dataclass(frozen=True)
class DetailComparison:
    """How far times and attributes of a synthetic log are from those of the original. Confidential.

    Attributes:
        times: The distances of times; None if they were not released.
        attributes: The distances of attributes.
        event_attributes: The distances of attributes of events.
    """

    times: TimeDistance | None
    attributes: tuple[AttributeDistance, ...]
    event_attributes: tuple[EventAttributeDistance, ...] = ()

    __repr__ = confidential_repr

    def in_words(self) -> list[tuple[str, str]]:
        """Names and sentences."""
        facts = [] if self.times is None else _times_in_words(self.times)
        for part in self.attributes:
            words = (
                f"{part.alone:.0%} of the cases have a different value than in the original log (with the last activity "
                f"{part.by_last:.0%}); {part.kept:.0%} of the original cases have a value that was released"
            )
            facts.append((f"attribute {part.attribute}", words))
        for event in self.event_attributes:
            words = (
                f"given the activity, {event.by_activity:.0%} of the events have a different value than in the original log "
                f"({event.baseline:.0%} if all activities had the same values); {event.near:.0%} are of activities within "
                f"{NEAR:.0%}"
            )
            facts.append((f"event attribute {event.attribute}", words))
        return facts


def _times_in_words(distance: TimeDistance) -> list[tuple[str, str]]:
    apart = (
        f"{distance.throughput:.2f} doublings apart: on average a duration is off by a factor of {2**distance.throughput:.1f}"
        if distance.throughput is not None
        else "a log has no cases"
    )
    return [
        ("throughput", apart),
        ("durations", f"{distance.medians:.0%} of the steps are of pairs whose median is within a factor of two"),
        ("weeks", f"up to {distance.weeks:.0%} of the cases start too early or too late"),
        ("hours", f"up to {distance.hours:.0%} of the cases start at an earlier or later hour of the week"),
    ]


def compare_details(original: Log, released: SyntheticRelease) -> DetailComparison:
    """Compare times and attributes. The result is confidential."""
    check_details(original.totals, details_of(released.mechanism))
    return _distances(fetched_cases(cast(Totals, original.totals)), released_cases(released), released)


def details_of_halves(original: Log, released: SyntheticRelease) -> DetailComparison:
    """Compare two random halves of the original cases as a release of the same details is compared. Confidential."""
    cases = fetched_cases(cast(Totals, original.totals))
    first = uniform_below(np.full(len(cases.lengths), 2), Seeded(0)) == 0
    return _distances(cases.where(first), cases.where(~first), released)


def _distances(one: EncodedCases, other: EncodedCases, released: SyntheticRelease) -> DetailComparison:
    rule = released.mechanism
    measured = released_times(rule) if details_of(rule).times == "read" else None
    texts = {column.attribute: column.texts for column in released.case_columns if column.kind == "text"}
    return DetailComparison(
        None if measured is None else time_distance(one, other, measured.zone),
        tuple(attribute_distance(one, other, each, texts.get(each.name)) for each in released_attributes(rule)),
        tuple(event_attribute_distance(one, other, each) for each in released_event_attributes(rule)),
    )


def fetched_cases(totals: Totals) -> EncodedCases:
    """Return the cases that were counted, with their times and attributes; those of a Spark log are fetched."""
    cases: EncodedCases = totals.fetched().cases
    return cases
