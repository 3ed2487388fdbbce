"""Comparison of a released log or map with the original. Confidential, because the original log is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np

from ..errors import CONFIDENTIAL_HEADING, LogError, ParameterError, checked_items, confidential_repr, number_of, shown
from ..log.abstraction import FULL
from ..log.log import Log
from ..log.questions import NO_DETAILS, Details
from ..log.traces import Activity, Trace
from ..mechanisms.registry import extension
from ..outputs.guarantee_file import guarantee_path, measurements_path
from ..plots.html import fragment, heading, paragraph, table, warning
from ..plots.map_graph import ProcessGraph, compared_graph, release_graph, steps_of
from ..releases.process_map import MapRelease
from ..releases.release import SEGMENT, Release, VariantRelease, counted_of, details_of
from ..releases.synthetic_log import SyntheticRelease
from ..sources.engine import read, segments
from ..sources.reading import DEFAULT_READING, Reading, released_columns
from ..sources.release_json import MAP_IS_NO_LOG, is_process_map, merged
from ..trusted.samplers import Seeded, uniform_below
from ..verification.opened import load, open_release, read_release, stated_reading
from . import metrics, pm4py_models
from .details import DetailComparison, compare_details, details_of_halves
from .metrics import fake_activities

COUNTS = {
    "": "",
    "estimated": "each variant's own cases, estimated; the released log is smaller than the original",
    "spread": "with a share of the cases that were not released, for similarity studies",
    "noisy": "with the noise as it was drawn",
}
"""Which counts of a release were compared, in words."""

MODEL_METRICS = ("fitness", "precision")

Better = Literal["higher", "lower", "closer to zero"]
"""Which values of a metric are better."""


@dataclass(frozen=True)
class Metric:
    """A metric that compares a released log with the original.

    Attributes:
        measure: A function of the original and the released variants.
        meaning: What its values mean, in words.
        better: Which values are better.
        most_variants: Halves of the original with more variants are not compared: it takes as long as the comparison itself.
    """

    measure: Callable[[Any, Any], float]
    meaning: str
    better: Better = "higher"
    most_variants: float = math.inf


MOST_VARIANTS = 2000
"""Logs with more variants are compared by transport only where that is asked for."""

_DIFFERENCE = partial(Metric, better="lower", most_variants=MOST_VARIANTS)
METRICS = {
    "relative_log_similarity": Metric(
        metrics.relative_log_similarity,
        "1: the same distribution of variants; 0: maximally different, or empty",
        most_variants=MOST_VARIANTS,
    ),
    "absolute_log_difference_length": _DIFFERENCE(
        metrics.absolute_log_difference,
        "number of edits that turn one log into the other; an extra case costs its length",
    ),
    "absolute_log_difference_penalty": _DIFFERENCE(
        partial(metrics.absolute_log_difference, buffer="penalty"), "the same; an extra case costs a fixed penalty"
    ),
    "case_coverage": Metric(metrics.case_coverage, "share of the original cases whose variant was released"),
    "variant_coverage": Metric(metrics.variant_coverage, "share of the original variants that were released"),
    "fake_variants": Metric(metrics.fake_variants, "released variants that the original does not have", better="lower"),
    "total_variation_distance": Metric(
        metrics.total_variation_distance, "0: the same distribution; 1: nothing in common", better="lower"
    ),
    "log_size_difference": Metric(
        metrics.log_size_difference, "released cases minus original cases", better="closer to zero"
    ),
    "fitness": Metric(pm4py_models.fitness, "how much of the original the model of the released log can replay"),
    "precision": Metric(pm4py_models.precision, "how little behaviour beyond the original that model allows"),
}
DEFAULT_METRICS = tuple(name for name in METRICS if name not in MODEL_METRICS)


def find_metric(name: str) -> Metric:
    """Return a metric by name: a built-in one, or `package.module:function`."""
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    metric = extension(name, "metric", tuple(METRICS), "follow")
    if not callable(metric):
        raise ParameterError(f"metric is {shown(name)}, which is not a function", field="metrics")
    meaning = (metric.__doc__ or "a metric of another package").strip().split("\n")[0]
    return Metric(
        lambda original, released: float(metric(original, released)), meaning, getattr(metric, "better", "higher")
    )


@dataclass(frozen=True)
class Comparison:
    """The values of metrics by name, and remarks about the two logs. Confidential.

    Attributes:
        values: The values of metrics; none for a process map without fitness and precision.
        remarks: Remarks about the two logs.
        details: How far times and attributes of a synthetic log are from the original; None without metrics of them.
        process_map: How far the numbers of a process map are from the original; None for an event log.
        frequencies: Which counts of the release were compared; empty if it is not known.
        halves: The same for two random halves of the original: the floor, because differences of that size are chance.
    """

    values: dict[str, float]
    remarks: tuple[str, ...] = ()
    details: DetailComparison | None = None
    process_map: MapComparison | None = None
    frequencies: str = ""
    halves: Comparison | None = None

    __repr__ = confidential_repr

    def _repr_html_(self) -> str:
        """The comparison in a notebook, marked confidential."""
        parts = [warning(CONFIDENTIAL_HEADING), heading("Comparison with the original log")]
        parts += [table(["Metric", "Value", HALVES, "Meaning"], rows)] if (rows := self.numbers()) else []
        parts += [table(["Compared", "Result", HALVES], facts)] if (facts := self.facts()) else []
        counts = (f"Counts of the release: {COUNTS[self.frequencies]}",) if self.frequencies else ()
        return fragment([*parts, *(paragraph(f"Note: {remark}.") for remark in (*counts, *self.remarks))])

    def numbers(self) -> list[tuple[str, str, str, str]]:
        """Return the names of metrics, their values, those of the halves, and meanings."""
        floor = {} if self.halves is None else self.halves.values
        return [
            (name.replace("_", " "), _number(value), _number(floor.get(name)), find_metric(name).meaning)
            for name, value in self.values.items()
        ]

    def facts(self) -> list[tuple[str, str, str]]:
        """Return what is said about a process map, or about times and attributes: its name, and the same of the halves."""
        floor = {} if self.halves is None else self.halves.in_words()
        return [(name, text, floor.get(name, "")) for name, text in self.in_words().items()]

    def in_words(self) -> dict[str, str]:
        """Return what is said about a process map, or about times and attributes, by its name."""
        parts = [part.in_words() for part in (self.process_map, self.details) if part is not None]
        return {name: text for part in parts for name, text in part}

    def as_json(self) -> dict[str, Any]:
        """Return the values as JSON types."""
        parts = {"details": self.details, "process_map": self.process_map}
        stated = {name: asdict(part) for name, part in parts.items() if part is not None}
        counts = {"frequencies": self.frequencies} if self.frequencies else {}
        halves = {} if self.halves is None else {"halves": self.halves.as_json()}
        return self.values | stated | halves | counts


HALVES = "Two halves of the original"
"""The heading of the numbers that two random halves of the original reach."""


def _number(value: float | None) -> str:
    """Format a value of a metric; empty where there is none."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


@dataclass(frozen=True)
class MapComparison:
    """How far a process map is from the original log. Confidential.

    Attributes:
        count_error: Σ|released − true|/Σ true of the numbers of cases of pairs; pairs of `other` count as missing.
        kept_mass: The share of the true numbers whose pair is in the map.
        total_variation: The distance of the shares of pairs: 0 the same, 1 nothing in common.
        false_pairs: The number of pairs that no case has.
        coverage: The share of the pairs whose interval contains the true number; None for a map without pairs.
    """

    count_error: float
    kept_mass: float
    total_variation: float
    false_pairs: int
    coverage: float | None = None

    __repr__ = confidential_repr

    def in_words(self) -> list[tuple[str, str]]:
        """Names and sentences."""
        words = [
            ("numbers of cases", f"off by {self.count_error:.1%} in total, including missing pairs"),
            ("kept", f"{self.kept_mass:.1%} of the directly-follows mass has its pair in the map"),
            ("shares of pairs", f"total variation {self.total_variation:.3f}"),
            ("false pairs", f"{self.false_pairs:,}"),
        ]
        if self.coverage is not None:
            words.append(("95 % intervals", f"{self.coverage:.0%} contain the true number"))
        return words


def compare(
    original: Any,
    released: Any,
    metrics: Iterable[str] | None = None,
    *,
    reading: Reading = DEFAULT_READING,
    watch: Callable[[str, float], None] = lambda _, __: None,
) -> Comparison:
    """Compare what was released with the original log. The result is confidential.

    Args:
        original: The original log, as for `read`.
        released: The released log, a `Release` of any kind, or the file of one.
        metrics: The names of the metrics; by default all that do not need pm4py, and those of times and attributes of a
            synthetic log. A process map has its own measures, and `fitness` and `precision` of its model.
        reading: How the original log is read. What it leaves at the default is as the release or its guarantee file states.
            The release of a segment is compared with the cases of this segment. A log is compared with all of the original
            unless the reading has an abstraction, a map with the original under the abstraction of its release.
        watch: Called with the phase and its share.

    Returns:
        The values and remarks.

    Raises:
        ParameterError: A metric does not exist, or has no meaning for a process map.
        LogError: One of the logs cannot be read.
    """
    example = "a list of names, such as ['case_coverage']"
    names = None if metrics is None else checked_items("metrics", metrics, str, example)
    for name in names or ():
        find_metric(name)
    made = _Released.of(released)
    read_as = reading if made.reading is None else _over(made.reading, reading)
    progress = partial(watch, "reading the original log")
    if isinstance(made.source, MapRelease):
        if {*(names or ())} - {*MODEL_METRICS}:
            raise ParameterError(
                "metrics are set but the release is a process map; remove all but fitness and precision",
                field="metrics",
            )
        cases = _read_original(original, read_as, made.segment, NO_DETAILS, progress)
        watch("measuring", 0.0)
        return _of_map(made.source.abstractions[0].of(cases), made.source, names or ())
    details = NO_DETAILS
    if names is None and read_as.abstraction == FULL and isinstance(made.source, SyntheticRelease):
        details = details_of(made.source.mechanism)
    if isinstance(original, Log):  # what was not read cannot be compared
        details = details if original.totals is not None and original.totals.details.covers(details) else NO_DETAILS
    elif isinstance(original, Release | Mapping | list):
        details = NO_DETAILS
    before = read_as.abstraction.of(_read_original(original, read_as, made.segment, details, progress))
    watch("reading the released log", 0.0)
    after = _variants_of(made.source, attrs.evolve(read_as, abstraction=FULL))
    watch("measuring", 0.0)
    values, floor = _values(DEFAULT_METRICS if names is None else names, before, after)
    both = None if details == NO_DETAILS else compare_details(before, made.source)
    halves = None if both is None else details_of_halves(before, made.source)
    return Comparison(values, _remarks(before, after), both, None, made.frequencies, Comparison(floor, details=halves))


def _values(names: Sequence[str], before: Log, after: Log) -> tuple[dict[str, float], dict[str, float]]:
    """The values of metrics, and those of two random halves of the original."""
    selected = {name: find_metric(name) for name in names}
    values = {name: metric.measure(before, after) for name, metric in selected.items()}
    one, other = _halves(before)
    size = max(len(one), len(other)) if one and other else math.inf
    return values, {
        name: metric.measure(one, other)
        for name, metric in selected.items()
        if size <= metric.most_variants and math.isfinite(size)
    }


def _halves(log: Log) -> tuple[dict[Trace, int], dict[Trace, int]]:
    """The cases of a log in two halves, drawn by a fixed seed."""
    log = log.canonical()  # the order in which a log is read is arbitrary
    sides = uniform_below(np.full(int(log.counts.sum()), 2), Seeded(0))
    drawn = np.diff(np.cumsum(np.r_[0, sides])[np.r_[0, np.cumsum(log.counts)]]).tolist()
    rows = [(trace, count, half) for (trace, count), half in zip(log.items(), drawn, strict=True)]
    return {trace: half for trace, _, half in rows if half}, {t: n - half for t, n, half in rows if n - half}


def _remarks(before: Log, after: Log) -> tuple[str, ...]:
    remarks = []
    fakes = fake_activities(before, after)
    if fakes and len(fakes) == len(set(after.alphabet)):
        remarks.append(
            "the two logs have no activity in common; check that both are read with the same activity columns"
        )
    elif fakes:
        remarks.append(f"the released log has {number_of(len(fakes), 'activities')} that the original does not have")
    if not len(after):
        remarks.append("the released log is empty")
    return tuple(remarks)


def _of_map(before: Log, released: MapRelease, names: Sequence[str]) -> Comparison:
    models = pm4py_models.map_fitness_and_precision(before, released) if names else ()
    values = {name: value for name, value in zip(MODEL_METRICS, models, strict=False) if name in names}
    one, other = (cases_of_pairs(half) for half in _halves(before))
    halves = Comparison({}, process_map=_distances(one, other))
    return Comparison(values, process_map=compare_map(before, released), halves=halves)


StepPair = tuple[Activity | None, Activity | None]
"""Two activities that follow each other; None is the start or the end of a case."""


def compare_map(original: Log, released: MapRelease) -> MapComparison:
    """Compare a process map with the original log. Confidential."""
    truth = cases_of_pairs(original)
    numbers = {
        (pair.before.activity, pair.after.activity): pair.cases
        for pair in released.pairs
        if "other" not in (pair.before.kind, pair.after.kind)
    }
    covered = [number.low <= truth[pair] <= number.high for pair, number in numbers.items()]
    found = _distances(truth, {pair: number.value for pair, number in numbers.items()})
    return replace(found, coverage=sum(covered) / len(covered) if covered else None)


def _distances(truth: Counter[StepPair], values: Mapping[StepPair, float]) -> MapComparison:
    total, mass = max(sum(truth.values()), 1), max(sum(values.values()), 1.0)
    every = {*truth, *values}
    return MapComparison(
        count_error=sum(abs(values.get(pair, 0.0) - truth[pair]) for pair in every) / total,
        kept_mass=sum(truth[pair] for pair in values) / total,
        total_variation=sum(abs(values.get(pair, 0.0) / mass - truth[pair] / total) for pair in every) / 2,
        false_pairs=sum(not truth[pair] for pair in values),
    )


def cases_of_pairs(log: Log | Mapping[Trace, int]) -> Counter[StepPair]:
    """In how many cases each pair occurs. Confidential."""
    pairs: Counter[StepPair] = Counter()
    for trace, cases in log.items():
        for pair in set(zip((None, *trace), (*trace, None), strict=True)):
            pairs[pair] += cases
    return pairs


# -------------------------------------------------------------------------------------------------- the two logs


@dataclass(frozen=True)
class _Released:
    """What was released, as a release where that is possible, and what it or its guarantee file states."""

    source: Any
    reading: Reading | None = None
    frequencies: str = ""
    segment: str = ""

    @classmethod
    def of(cls, released: Any) -> _Released:
        if isinstance(released, str | Path) and (guarantee := guarantee_path(Path(released))).is_file():
            path = Path(released)
            if not measurements_path(path).is_file():
                return cls._of_log(path, load(guarantee), guarantee)
            released = open_release(path)
        if not isinstance(released, Release):
            return cls(released)
        reading = None if released.reading is None else Reading.from_description(released.reading)
        counts = released.frequencies if isinstance(released, VariantRelease) else ""
        return cls(released, reading, counts, released.segment)

    @classmethod
    def _of_log(cls, path: Path, stated: dict[str, Any], guarantee: Path) -> _Released:
        """An event log without its measurements."""
        if is_process_map(stated):
            raise LogError(f"{path}: only the .json file of a process map can be compared; use it")
        content, facts = read_release(path), stated["release"]
        log = Log.from_mapping(merged(content.variants, content.counts), content.columns)
        segment = str((facts.get("notices") or {}).get(SEGMENT, ""))
        return cls(log, stated_reading(stated, guarantee), str(facts.get("frequencies", "")), segment)


def _read_original(
    original: Any, reading: Reading, segment: str, details: Details, progress: Callable[[float], None]
) -> Log:
    """Read the original log, or the segment that was released, without an abstraction. Confidential."""
    names = reading.named_segments
    if not segment and len(names) == 1:
        segment = names[0]  # as stated for the log of another tool; empty without segments
    if segment not in names:
        what = f"of the segment {shown(segment)}" if segment else "not of one segment"
        raise ParameterError(f"by and segments do not fit the release, which is {what}; remove them", field="by")
    if isinstance(original, Log):
        if segment:
            raise LogError(f"the release is of the segment {shown(segment)}; pass the file of the original log")
        reading = Reading(unit=reading.unit, max_cases=reading.max_cases, counted=reading.counted)
    reading = attrs.evolve(reading, abstraction=FULL, details=details)
    return segments(read(original, reading, progress), reading)[names.index(segment)]


def released_variants(released: Any, reading: Reading = DEFAULT_READING) -> Log:
    """Return the variants of a released log."""
    made = _Released.of(released)
    if isinstance(made.source, MapRelease) and isinstance(released, str | Path):
        raise LogError(f"{released}: {MAP_IS_NO_LOG}")
    return _variants_of(made.source, reading)


def _variants_of(released: Any, reading: Reading) -> Log:
    reading = attrs.evolve(reading, unit=None, max_cases=None, counted=None, by=None, segments=(), details=NO_DETAILS)
    ours = Reading(activity=released_columns(reading.activity) if reading.activity else ())
    try:
        return read(released, ours)
    except LogError:
        if reading == ours:
            raise
    return read(released, reading)


def _over(recorded: Reading, reading: Reading) -> Reading:
    """The recorded reading without its abstraction, overridden by the settings that differ from the defaults."""
    settings = {field.name: getattr(reading, field.name) for field in attrs.fields(Reading)}
    changed = {name: value for name, value in settings.items() if value != getattr(DEFAULT_READING, name)}
    return attrs.evolve(recorded, **{"abstraction": FULL} | changed)


# ------------------------------------------------------------------------------- before and after, for a screen

_STEPS = 12


def before_and_after(log: str, reading: Reading, made: Release, watch: Callable[[str, float], None]) -> dict[str, Any]:
    """CONFIDENTIAL: one map of both, the metrics of `compare`, and what has changed most."""
    details = details_of(made.mechanism) if isinstance(made, SyntheticRelease) else NO_DETAILS
    reading = reading.for_counts_of(counted_of(made.mechanism))
    watch("reading the log", 0.0)
    original = read(log, attrs.evolve(reading, abstraction=FULL, details=details), partial(watch, "reading the log"))
    watch("comparing", 0.0)
    compared = compare(original, made)
    traces = dict(reading.abstraction.of(original).items())
    after = release_graph(made)
    before = steps_of(list(traces), list(traces.values()), after.noun)
    graph = compared_graph(before, after.by_names, after.noun)
    return {
        "map": graph.model(),
        "metrics": [
            *((name, text, meaning) for name, text, _, meaning in compared.numbers()),
            *((name, text, "") for name, text in compared.in_words().items()),
        ],
        "differences": _differences(graph),
        "remarks": compared.remarks,
    }


def _differences(graph: ProcessGraph) -> list[tuple[str, str, str, str, str]]:
    steps = [(pair, path.original or 0, path.count) for pair, path in graph.named_paths]
    return [
        (before or "(start)", after or "(end)", f"{true:,.0f}", f"{released:,.0f}", f"{released - true:+,.0f}")
        for (before, after), true, released in sorted(steps, key=lambda step: -abs(step[2] - step[1]))[:_STEPS]
    ]
