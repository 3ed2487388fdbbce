"""Times and case attributes of a synthetic log compared with those of the original. Confidential. Exact and fast."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import LogError, ParameterError, confidential_repr
from ..log.calendar import SECOND, WEEKS
from ..log.escaped_names import escape_cell, escape_name, original_name
from ..log.log import Log
from ..log.options import CASE_PREFIX, case_column
from ..log.questions import NO_DETAILS, Details, Totals, check_details
from ..log.traces import Activity
from ..mechanisms import from_description
from ..mechanisms.mechanism import Mechanism
from ..outputs.event_tables import MISSING
from ..outputs.guarantee_file import guarantee_path
from ..releases.release import Release, released_attributes, released_times
from ..releases.synthetic_log import SyntheticRelease
from ..sources.encoded_cases import Coded, EncodedCases, EncodedTotals
from ..sources.engine import read
from ..sources.formats import CSV_SUFFIXES, RELEASE_SUFFIXES, XES_SUFFIXES, suffix_of
from ..sources.reading import Reading
from ..synthesis.event_times import hour_of_week, week_of, zone_of
from ..synthesis.measurements import OTHER
from ..verification.opened import load, open_synthetic, read_release

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..log.options import Attribute
    from ..log.traces import Activity
    from ..releases.synthetic_log import SyntheticRelease

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    from ..sources.engines.spark import SparkTotals


HOURS_PER_WEEK = 168


@dataclass(frozen=True)
class TimeDistance:
    """How far the times of two logs are apart. Confidential.

    Attributes:
        throughput: Wasserstein distance of log2(1 + seconds) from first to last event: in doublings.
        medians: Of the directly-follows steps of the original log, the share whose pair has a median (with 1 second added)
            within a factor of two; pairs that are absent are not.
        weeks: Largest difference of the cumulative shares of the weeks in which cases start.
        hours: Largest difference of the cumulative shares of the hours of the week in which cases start.
    """

    throughput: float
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


@dataclass(frozen=True)
class TimeProfile:
    """What the times of a log are compared by. Confidential, except for a release.

    Attributes:
        doublings: log2(1 + seconds) from the first to the last event of every case.
        weeks: The week in which every case starts.
        hours: The hour of the week in which every case starts.
        medians: The directly-follows pairs and their durations.
    """

    doublings: Floats
    weeks: Integers
    hours: Integers
    medians: PairMedians

    @classmethod
    def of(cls, log: EncodedCases, zone: str) -> TimeProfile:
        """The profile of a log."""
        starts = _wall_clock(log, zone)
        weeks = np.clip(week_of(starts), 0, WEEKS - 1)
        doublings = np.log2(1 + _throughput(log) / SECOND)
        return cls(doublings, weeks, hour_of_week(starts), PairMedians.of(log))

    def distance(self, released: TimeProfile) -> TimeDistance:
        """How far the times of a released log are from those of this one."""
        return TimeDistance(
            throughput=wasserstein(self.doublings, released.doublings),
            medians=self.medians.within_two(released.medians),
            weeks=_largest_difference(self.weeks, released.weeks, WEEKS),
            hours=_largest_difference(self.hours, released.hours, HOURS_PER_WEEK),
        )


@dataclass(frozen=True)
class PairMedians:
    """The directly-follows pairs of a log, each with the median of its durations in microseconds and its number of steps."""

    pairs: tuple[tuple[Activity, Activity], ...]
    medians: Floats
    numbers: Integers

    @classmethod
    def of(cls, log: EncodedCases) -> PairMedians:
        """The pairs of a log with times."""
        inner = np.ones(max(len(log.codes) - 1, 0), dtype=bool)
        inner[_bounds(log)[1][:-1]] = False  # from one case to the next
        step = np.flatnonzero(inner)
        durations = np.maximum(_times(log)[step + 1] - _times(log)[step], 0)
        codes, size = log.codes.astype(np.int64), len(log.alphabet)
        pair = codes[step] * size + codes[step + 1]
        order = np.lexsort((durations, pair))
        pair, durations = pair[order], durations[order]
        begin = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]]) if len(pair) else np.empty(0, dtype=np.int64)
        numbers = np.diff(np.r_[begin, len(pair)])
        middle = (durations[begin + (numbers - 1) // 2] + durations[begin + numbers // 2]) / 2
        names = log.alphabet
        pairs = tuple((names[code // size], names[code % size]) for code in pair[begin].tolist())
        return cls(pairs, middle, numbers)

    def within_two(self, released: PairMedians) -> float:
        """The share of the steps whose pair has a median within a factor of two in a released log; an absent pair has none."""
        if not self.pairs:
            return 1.0
        median_of = dict(zip(released.pairs, released.medians.tolist(), strict=True))
        others = np.array([median_of.get(pair, np.inf) for pair in self.pairs])
        near = np.abs(np.log2((others + SECOND) / (self.medians + SECOND))) <= 1
        return float(self.numbers[near].sum() / self.numbers.sum())


def released_cases(release: SyntheticRelease) -> EncodedCases:
    """The cases of a synthetic log as numbers, with their times and attributes."""
    counts = np.array(release.counts, dtype=np.int64)
    alphabet = sorted({activity for trace in release.variants for activity in trace})
    code_of = {activity: code for code, activity in enumerate(alphabet)}
    flat = [np.array([code_of[activity] for activity in trace], dtype=np.uint32) for trace in release.variants]
    lengths = np.repeat(np.array([len(trace) for trace in release.variants], dtype=np.int64), counts)
    codes = [np.tile(part, count) for part, count in zip(flat, counts.tolist(), strict=True)]
    named, numbers = {}, {}
    for column in release.case_columns:
        if column.kind == "text":
            texts = np.where(column.missing, -1, column.values).astype(np.int32)
            named[column.attribute] = Coded(texts, column.texts)
        else:
            numbers[column.attribute] = np.where(column.missing, np.nan, column.values)
    times = None if release.event_times is None else release.event_times * SECOND
    joined = np.concatenate([np.empty(0, dtype=np.uint32), *codes])
    return EncodedCases(alphabet, joined, lengths, times, True, named, numbers)


def time_distance(original: EncodedCases, released: EncodedCases, zone: str) -> TimeDistance:
    """Compare the times of two logs."""
    return TimeProfile.of(original, zone).distance(TimeProfile.of(released, zone))


def attribute_distance(original: EncodedCases, released: EncodedCases, attribute: Attribute) -> AttributeDistance:
    """Compare an attribute of two logs."""
    names = {name: code for code, name in enumerate(sorted({*original.alphabet, *released.alphabet}))}
    cells = _cells(original, released, attribute)
    last = [_last(log, names) for log in (original, released)]
    size = 1 + max((int(part.max(initial=0)) for part in cells), default=0)
    joint = [one * len(names) + other for one, other in zip(cells, last, strict=True)]
    other = -1 if attribute.is_number else 1 + sum(text != OTHER for text in released.attributes[attribute.name].values)
    kept = float(np.mean(cells[0] != other)) if len(cells[0]) else 1.0
    return AttributeDistance(
        attribute.name,
        alone=_total_variation(*cells, size),
        by_last=_total_variation(joint[0], joint[1], size * len(names)),
        kept=kept,
    )


def wasserstein(one: Floats, other: Floats) -> float:
    """The Wasserstein distance of two samples: the area between their cumulative distributions."""
    if not len(one) or not len(other):
        return 0.0 if len(one) == len(other) else float("inf")
    one, other = np.sort(one), np.sort(other)
    points = np.concatenate([one, other])
    points.sort()
    heights = np.searchsorted(one, points[:-1], "right") / len(one) - np.searchsorted(
        other, points[:-1], "right"
    ) / len(other)
    return float(np.abs(heights) @ np.diff(points))


def _bounds(log: EncodedCases) -> tuple[Integers, Integers]:
    """The index of the first and of the last event of every case."""
    ends = np.cumsum(log.lengths)[log.lengths > 0]
    return ends - log.lengths[log.lengths > 0], ends - 1


def _times(log: EncodedCases) -> Integers:
    if log.times is None:
        raise ValueError("the log was read without times")
    return log.times


def _throughput(log: EncodedCases) -> Floats:
    first, last = _bounds(log)
    seconds: Floats = np.maximum(_times(log)[last] - _times(log)[first], 0).astype(float)
    return seconds


def _wall_clock(log: EncodedCases, zone: str) -> Floats:
    """The wall-clock times of the first events, in seconds from 1970."""
    first, _ = _bounds(log)
    moments = _times(log)[first] / SECOND
    aware = log.aware if isinstance(log.aware, bool) else log.aware[first]
    return np.where(aware, zone_of(zone).to_local(moments), moments)


def _last(log: EncodedCases, names: dict[Activity, int]) -> Integers:
    recoded = np.array([names[name] for name in log.alphabet], dtype=np.int64)
    return recoded[log.codes[_bounds(log)[1]]]


def _cells(original: EncodedCases, released: EncodedCases, attribute: Attribute) -> tuple[Integers, Integers]:
    """The cell of every case in both logs: bins, or values, then missing ones, and `other` last."""
    if attribute.is_number:
        edges = np.array(attribute.edges)
        one, other = (log.numbers[attribute.name][log.lengths > 0] for log in (original, released))
        return tuple(  # type: ignore[return-value]
            np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))
            for values in (one, other)
        )
    texts = [text for text in released.attributes[attribute.name].values if text != OTHER]
    cell_of = {text: cell for cell, text in enumerate(texts)}

    def cells(log: EncodedCases) -> Integers:
        coded = log.attributes[attribute.name]
        recoded = [*(cell_of.get(text, len(texts) + 1) for text in coded.values), len(texts)]  # the last one is for −1
        return np.array(recoded, dtype=np.int64)[coded.codes[log.lengths > 0]]

    return cells(original), cells(released)


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
    """

    times: TimeDistance | None
    attributes: tuple[AttributeDistance, ...]

    def __repr__(self) -> str:
        return confidential_repr(self)

    def as_json(self) -> dict[str, Any]:
        """The distances as plain values."""
        return {
            "times": None
            if self.times is None
            else {name: _finite(value) for name, value in asdict(self.times).items()},
            "attributes": [asdict(distance) for distance in self.attributes],
        }

    def in_words(self) -> list[tuple[str, str]]:
        """Names and sentences."""
        facts = [] if self.times is None else _times_in_words(self.times)
        for distance in self.attributes:
            facts.append(
                (
                    f"attribute {distance.attribute}",
                    f"{distance.alone:.0%} of the cases have a different value than in the original log (with the last activity "
                    f"{distance.by_last:.0%}); {distance.kept:.0%} of the original cases have a value that was released",
                )
            )
        return facts


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _times_in_words(distance: TimeDistance) -> list[tuple[str, str]]:
    apart = (
        f"{distance.throughput:.2f} doublings apart: on average a duration is off by a factor of {2**distance.throughput:.1f}"
        if math.isfinite(distance.throughput)
        else "one of the two logs has no cases"
    )
    return [
        ("throughput", apart),
        ("durations", f"{distance.medians:.0%} of the steps are of pairs whose median is within a factor of two"),
        ("weeks", f"up to {distance.weeks:.0%} of the cases start too early or too late"),
        ("hours", f"up to {distance.hours:.0%} of the cases start at an earlier or later hour of the week"),
    ]


@dataclass(frozen=True)
class ReleasedDetails:
    """The cases of a synthetic log that has times or attributes, and what they mean.

    Attributes:
        cases: The cases as numbers.
        mechanism: What made the log: its time zone and its attributes.
    """

    cases: EncodedCases
    mechanism: Mechanism

    @property
    def details(self) -> Details:
        """What has to be read of the original log."""
        return self.mechanism.details

    @classmethod
    def of(cls, release: SyntheticRelease) -> ReleasedDetails:
        """Return those of a release in memory."""
        return cls(released_cases(release), release.mechanism)


def detailed_log(released: Release | str | Path) -> ReleasedDetails | None:
    """Return a synthetic log, if it has times or attributes."""
    if isinstance(released, Release):
        has_details = isinstance(released, SyntheticRelease) and released.mechanism.details != NO_DETAILS
        return ReleasedDetails.of(cast(SyntheticRelease, released)) if has_details else None
    path = Path(released)
    try:
        if not path.is_file():
            return None
        if suffix_of(path, RELEASE_SUFFIXES):
            return _of_json(path)
        return _of_events(path) if guarantee_path(path).is_file() else None
    except (LogError, ParameterError, ValueError, TypeError, KeyError):
        return None


def _of_json(path: Path) -> ReleasedDetails | None:
    if "measurements" not in json.loads(path.read_text(encoding="utf-8")):
        return None
    release = open_synthetic(path)
    return ReleasedDetails.of(release) if release.mechanism.details != NO_DETAILS else None


def _of_events(path: Path) -> ReleasedDetails | None:
    """Read an event log by the columns that travas writes: attributes of cases have a prefix in tables."""
    stated = load(guarantee_path(path))
    mechanism = from_description(stated["description"])
    if mechanism.kind != "synthetic log" or mechanism.details == NO_DETAILS:
        return None
    is_xes = suffix_of(path, XES_SUFFIXES) is not None
    written: Callable[[str], str] = escape_name if is_xes else escape_cell if suffix_of(path, CSV_SUFFIXES) else str
    details = mechanism.details
    column_of = {
        name: written(name.removeprefix(CASE_PREFIX) if is_xes else case_column(name))
        for name in (*details.attributes, *details.numbers)
    }
    columns = Details(
        details.times,
        tuple(column_of[name] for name in details.attributes),
        tuple(column_of[name] for name in details.numbers),
    )
    activities = tuple(map(written, read_release(path).columns))
    log = read(path, Reading(activities=activities, order="file", details=columns))
    cases = cast(EncodedTotals, log.totals).cases
    absent = MISSING if stated["release"].get("profile", "travas") != "travas" else None
    named = {
        name: _original(cases.attributes[column_of[name]], written is not str, absent) for name in details.attributes
    }
    return ReleasedDetails(
        replace(cases, attributes=named, numbers={name: cases.numbers[column_of[name]] for name in details.numbers}),
        mechanism,
    )


def _original(values: Coded, is_escaped: bool, absent: str | None) -> Coded:
    """The values of an attribute as they were before the file was written."""
    codes = values.codes
    if absent is not None and absent in values.values:
        codes = np.where(codes == list(values.values).index(absent), -1, codes).astype(np.int32)
    return Coded(codes, [original_name(text) if is_escaped else text for text in values.values])


def compare_details(original: Log, released: SyntheticRelease | ReleasedDetails) -> DetailComparison:
    """Compare times and attributes. The result is confidential."""
    made = ReleasedDetails.of(released) if isinstance(released, SyntheticRelease) else released
    check_details(original.totals, made.details)
    before, after = fetched_cases(cast(Totals, original.totals)), made.cases
    measured = released_times(made.mechanism) if made.details.times == "read" else None
    times = None if measured is None else time_distance(before, after, measured.zone)
    attributes = (attribute_distance(before, after, attribute) for attribute in released_attributes(made.mechanism))
    return DetailComparison(times, tuple(attributes))


def fetched_cases(totals: Totals) -> EncodedCases:
    """Return the cases that were counted, with their times and attributes; those of a Spark log are fetched."""
    return totals.cases if isinstance(totals, EncodedTotals) else cast("SparkTotals", totals).fetched()
