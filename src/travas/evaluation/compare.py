"""Comparison of a released log with the original by named metrics. Confidential, because the original log is read."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import attrs

from ..errors import LogError, ParameterError, TravasError, confidential_repr, naming, number_of, shown
from ..evaluation import metrics
from ..log.abstraction import FULL, Abstraction, Grouped, parse_ladder
from ..log.log import Log
from ..log.questions import NO_DETAILS, Details
from ..log.traces import Trace
from ..mechanisms.registry import extension
from ..outputs.guarantee_file import guarantee_path
from ..releases.release import Release, ReleasedLog
from ..sources.engine import read
from ..sources.files import MAP_IS_NO_LOG, merged
from ..sources.reading import DEFAULT_READING, Reading, released_columns
from ..sources.release_json import is_process_map
from ..verification.opened import is_map, load, read_release, released_abstractions, released_reading
from .metrics import EdgeDifference, fake_activities
from .views import comparison_html

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..releases.process_map import MapRelease
    from .details import DetailComparison, ReleasedDetails
    from .map_comparison import MapComparison


COUNTS = {
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
        original: Whether it compares with the original as it is, or under the abstraction of the release.
        extra: The extra that it needs.
        better: Which values are better.
    """

    measure: Callable[[Any, Any], Any]
    meaning: str
    original: Literal["full", "abstracted"] = "full"
    extra: str | None = None
    better: Better = "higher"


def _model_metric(name: str, original: Any, released: Any) -> float:
    from ..evaluation import pm4py_models as models

    return float(getattr(models, name)(original, released))


METRICS = {
    "relative_log_similarity": Metric(
        metrics.relative_log_similarity,
        "1: the same distribution of variants; 0: maximally different, or empty",
        extra="metrics",
    ),
    "relative_log_similarity_abstracted": Metric(
        metrics.relative_log_similarity,
        "the same, against the original under the abstraction of the release",
        "abstracted",
        "metrics",
    ),
    "absolute_log_difference_length": Metric(
        metrics.absolute_log_difference,
        "number of edits that turn one log into the other; an extra case costs its length",
        extra="metrics",
        better="lower",
    ),
    "absolute_log_difference_penalty": Metric(
        partial(metrics.absolute_log_difference, buffer="penalty"),
        "the same; an extra case costs a fixed penalty",
        extra="metrics",
        better="lower",
    ),
    "case_coverage": Metric(metrics.case_coverage, "share of the original cases whose variant was released"),
    "case_coverage_abstracted": Metric(
        metrics.case_coverage, "share of the original cases whose abstracted variant was released", "abstracted"
    ),
    "variant_coverage": Metric(metrics.variant_coverage, "share of the original variants that were released"),
    "fake_variants": Metric(metrics.fake_variants, "released variants that the original does not have", better="lower"),
    "total_variation_distance": Metric(
        metrics.total_variation_distance, "0: the same distribution; 1: nothing in common", better="lower"
    ),
    "log_size_difference": Metric(
        metrics.log_size_difference, "released cases minus original cases", better="closer to zero"
    ),
    "directly_follows_difference": Metric(
        metrics.directly_follows_difference, "directly-follows steps that are lost or new"
    ),
    "trace_lengths": Metric(metrics.trace_lengths, "cases by the length of their trace, original and released"),
    "top_variants": Metric(metrics.top_variants, "the most frequent original variants and their counts in both logs"),
    "fitness": Metric(
        partial(_model_metric, "fitness"),
        "how much of the original the model of the released log can replay",
        extra="models",
    ),
    "precision": Metric(
        partial(_model_metric, "precision"),
        "how little behaviour beyond the original that model allows",
        extra="models",
    ),
}
DEFAULT_METRICS = tuple(
    name for name, metric in METRICS.items() if name not in MODEL_METRICS and metric.original == "full"
)
ABSTRACTED_METRICS = tuple(
    name for name in METRICS if name in DEFAULT_METRICS or METRICS[name].original == "abstracted"
)
"""The default metrics of a release whose traces were generalised."""


def find_metric(name: str) -> Metric:
    """Return a metric by name: a built-in one, an entry point of the group `travas.metrics`, or `package.module:function`."""
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    metric = extension(name, "travas.metrics", "metric", tuple(METRICS), "follow")
    if isinstance(metric, Metric):
        return metric
    if not callable(metric):
        raise ParameterError(f"metric is {shown(name)}, which is not a function", field="metric")
    better: Any = getattr(metric, "better", "higher")
    if better not in get_args(Better):
        raise ParameterError(
            f"metric is {shown(name)} with better = {shown(better)}; use one of {', '.join(get_args(Better))}",
            field="metric",
        )
    meaning = (inspect.getdoc(metric) or "a metric of another package").split("\n")[0]
    return Metric(metric, meaning, better=better)


@dataclass(frozen=True)
class Comparison:
    """The values of metrics by name, and remarks about the two logs. Confidential.

    Attributes:
        values: The values of metrics; none for a process map without fitness and precision.
        remarks: Remarks about the two logs.
        details: How far times and attributes of a synthetic log are from the original; None without metrics of them.
        process_map: How far the numbers of a process map are from the original; None for an event log.
        frequencies: Which counts of the release were compared; empty if it is not known.
    """

    values: dict[str, Any]
    remarks: tuple[str, ...]
    details: DetailComparison | None = None
    process_map: MapComparison | None = None
    frequencies: str = ""

    def __repr__(self) -> str:
        return confidential_repr(self)

    def _repr_html_(self) -> str:
        """The comparison in a notebook, marked confidential."""
        meanings = {name: find_metric(name).meaning for name in self.values}
        counts = (f"Counts of the release: {self.counts_in_words}",) if self.frequencies else ()
        return comparison_html(self.values, meanings, self.in_words(), (*counts, *self.remarks))

    def in_words(self) -> dict[str, str]:
        """Return what is said about a process map, or about times and attributes, by its name."""
        parts = [part.in_words() for part in (self.process_map, self.details) if part is not None]
        return {name: text for part in parts for name, text in part}

    def as_json(self) -> dict[str, Any]:
        """Return the values as JSON types."""
        parts = {"details": self.details, "process_map": self.process_map}
        stated = {name: part.as_json() for name, part in parts.items() if part is not None}
        counts = {"frequencies": self.frequencies} if self.frequencies else {}
        return {name: _plain(name, value) for name, value in self.values.items()} | stated | counts

    @property
    def counts_in_words(self) -> str:
        """Which counts of the release were compared; empty if it is not known."""
        return COUNTS.get(self.frequencies, "")


def compare(
    original: Any,
    released: Any,
    metrics: Iterable[str] | None = None,
    abstractions: str | Iterable[Abstraction] | None = None,
    *,
    reading: Reading = DEFAULT_READING,
    plot: str | Path | None = None,
    watch: Callable[[str, float], None] = lambda _, __: None,
) -> Comparison:
    """Compare what was released with the original log. The result is confidential.

    Args:
        original: The original log, as for `read`.
        released: The released log, a `Release` of any kind, or the file of one.
        metrics: The names of the metrics; by default all that do not need pm4py, and those of times and attributes of a
            synthetic log. A process map has its own measures, and `fitness` and `precision` of its model.
        abstractions: The rules by which the released traces were generalised, or their names separated by commas; by
            default those of the `Release` or its guarantee file. Metrics named `…_abstracted` use the original under these
            rules, all others the original.
        reading: How the original log is read. What it leaves at the default is as the release or its guarantee file states.
        plot: A `.png`, `.svg` or `.pdf` file to draw, which is confidential.
        watch: Called with the phase and its share.

    Returns:
        The values and remarks.

    Raises:
        ParameterError: A metric does not exist, or has no meaning for a process map.
        LogError: One of the logs cannot be read.
    """
    rules = None if abstractions is None else checked_abstractions(abstractions)
    example = "a list of names, such as ['case_coverage']"
    names = None if metrics is None else checked_items("metrics", metrics, str, example)
    for name in names or ():
        find_metric(name)
    read_as = reading_of(released, reading)
    if (process_map := released_map(released)) is not None:
        if plot is not None:
            raise ParameterError(
                "plot is set but the release is a process map; remove it, or draw the map", field="plot"
            )
        if rules is not None:
            raise ParameterError(
                "abstractions are set but the release is a process map, which has its own; remove them",
                field="abstractions",
            )
        return _of_map(original, process_map, names or (), read_as, watch)
    is_whole = names is None and rules is None and read_as.abstraction == FULL
    made = released_details(original, released) if is_whole else None
    if rules is None:
        rules = abstractions_of(released) if read_as.abstraction == FULL else (read_as.abstraction,)
    needed = NO_DETAILS if made is None else made.details
    before = read_original(original, read_as, needed, partial(watch, "reading the original log"))
    watch("reading the released log", 0.0)
    after = released_variants(released, attrs.evolve(read_as, abstraction=FULL))
    watch("measuring", 0.0)
    if names is None:
        names = DEFAULT_METRICS if set(rules) == {FULL} else ABSTRACTED_METRICS
    values = _values(names, before, after, rules)
    details = None if made is None else _details(before, made)
    if plot is not None:
        from .views import draw_comparison

        draw_comparison(before, after, Path(plot))
    return Comparison(values, _remarks(before, after), details, None, frequencies_of(released))


def _values(names: Sequence[str], before: Log, after: Log, rules: Sequence[Abstraction]) -> dict[str, Any]:
    selected = {name: find_metric(name) for name in names}
    against: dict[str, Log] = {"full": before}
    if any(metric.original == "abstracted" for metric in selected.values()):
        against["abstracted"] = abstracted(before, after, rules)
    return {name: _value(name, metric, against[metric.original], after) for name, metric in selected.items()}


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


def _details(before: Log, made: ReleasedDetails) -> DetailComparison:
    from .details import compare_details

    return compare_details(before, made)


def _of_map(
    original: Any,
    released: MapRelease,
    names: Sequence[str],
    reading: Reading,
    watch: Callable[[str, float], None],
) -> Comparison:
    from .map_comparison import compare_map, with_model

    if not set(names) <= set(MODEL_METRICS):
        raise ParameterError(
            "metrics are set but the release is a process map, which has its own measures; remove all but fitness and "
            "precision",
            field="metrics",
        )
    before = read_original(original, reading, progress=partial(watch, "reading the original log"))
    before = released.abstractions[0].of(before)
    compared = compare_map(before, released)
    if names:
        watch("discovering the model and replaying the log", 0.0)
        compared = with_model(compared, before, released)
    return Comparison({}, (), process_map=compared)


def _value(name: str, metric: Metric, original: Log, released: Log) -> Any:
    """Return the value of a metric. A failure of another package is an error that names the metric, not a bug of travas."""
    if name in METRICS:
        return metric.measure(original, released)
    try:
        return float(metric.measure(original, released))
    except (TravasError, MemoryError):
        raise
    except Exception as error:  # its message may quote the log
        raise ParameterError(
            f"metric is {shown(name)}, which failed with {type(error).__name__}; it must return a number: correct it, or "
            "use another metric",
            field="metric",
        ) from error


def abstracted(original: Any, released: Any, abstractions: Sequence[Abstraction]) -> Log:
    """Return the original as a release under these rules represents it. Confidential.

    Every case is generalised by the first rule that yields a released trace; a case without one, by the last rule that
    covers any case.
    """
    import numpy as np

    true = read(original)
    keys, rungs = _rungs(true, read(released), abstractions)
    rungs[rungs < 0] = rungs.max() if (rungs >= 0).any() else len(keys) - 1
    counts: Counter[Trace] = Counter()
    for index, grouped in enumerate(keys):
        mine = grouped.counts(np.where(rungs == index, true.counts, 0))
        for trace, count in zip(grouped.variants.traces(range(len(mine))), mine.tolist(), strict=True):
            counts[trace] += count
    return Log.from_mapping(+counts, true.columns)


def covered_cases(original: Any, released: Any, abstractions: Sequence[Abstraction]) -> float:
    """Return the share of the original cases with a released trace under one of these rules. Confidential."""
    true = read(original)
    _, rungs = _rungs(true, read(released), abstractions)
    return float(true.counts[rungs >= 0].sum() / max(int(true.counts.sum()), 1))


def _rungs(true: Log, released: Log, abstractions: Sequence[Abstraction]) -> tuple[list[Grouped], NDArray[np.int64]]:
    """Return the log under every rule, and for each variant the first rule that yields a released trace, or −1."""
    import numpy as np

    there = set(released.traces(range(len(released))))
    keys = [rule.grouped(true) for rule in abstractions]
    rungs = np.full(len(true), -1)
    for index, grouped in reversed(list(enumerate(keys))):
        traces = grouped.variants.traces(range(len(grouped.variants)))
        covered = np.flatnonzero([trace in there for trace in traces])
        rungs[grouped.among(covered)] = index
    return keys, rungs


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, EdgeDifference):
        edges = {key: [[*edge, count] for edge, count in asdict(value)[key].items()] for key in ("lost", "added")}
        return edges | {"kept": value.kept}
    if name == "trace_lengths":
        return [{"length": length, "original": counts[0], "released": counts[1]} for length, counts in value.items()]
    if name == "top_variants":
        return [{"activities": trace, "original": count, "released": other} for trace, count, other in value]
    return value


_MAP_WITHOUT_MEASUREMENTS = "only the .json file of a process map can be compared; use it"


def read_original(
    original: Any, reading: Reading, details: Details = NO_DETAILS, progress: Callable[[float], None] = lambda _: None
) -> Log:
    """Read the original log without an abstraction. Confidential."""
    if isinstance(original, Log):
        unit = Reading(unit=reading.unit, max_cases=reading.max_cases, counted=reading.counted)
        return read(original, attrs.evolve(unit, details=details), progress)
    return read(original, attrs.evolve(reading, abstraction=FULL, details=details), progress)


def released_variants(released: Any, reading: Reading = DEFAULT_READING) -> Log:
    """Return the variants of a released log."""
    if isinstance(released, str | Path) and is_map(Path(released)):
        raise LogError(f"{released}: {MAP_IS_NO_LOG}")
    if isinstance(released, str | Path) and guarantee_path(Path(released)).is_file():
        if is_process_map(load(guarantee_path(Path(released)))):
            raise LogError(f"{released}: {_MAP_WITHOUT_MEASUREMENTS}")
        content = read_release(Path(released))
        return Log.from_mapping(merged(content.variants, content.counts), content.columns)
    reading = attrs.evolve(reading, unit=None, max_cases=None, counted=None)
    ours = Reading(activities=released_columns(reading.activities) if reading.activities else ())
    try:
        return read(released, ours)
    except LogError:
        if reading == ours:
            raise
    return read(released, reading)


def released_map(released: Any) -> MapRelease | None:
    """Return what was released as a process map: itself, or from its `.json` file; None if it is not one."""
    if isinstance(released, Release) and not isinstance(released, ReleasedLog):
        from ..releases.process_map import map_release

        return map_release(released)
    if isinstance(released, str | Path) and is_map(Path(released)):
        from ..verification.opened import open_map

        return open_map(released)
    return None


def released_details(original: Any, released: Any) -> ReleasedDetails | None:
    """Return what was released as a synthetic log with times or attributes that can be compared."""
    if not isinstance(released, Release | str | Path) or isinstance(original, Release | Mapping | list):
        return None
    from .details import detailed_log

    made = detailed_log(released)
    if made is not None and isinstance(original, Log):
        totals = original.totals
        return made if totals is not None and totals.details.covers(made.details) else None
    return made


def abstractions_of(released: Any) -> tuple[Abstraction, ...]:
    """Return the rules by which released traces were generalised, as the release or its guarantee file states them."""
    if isinstance(released, Release):
        return released.used_abstractions
    return released_abstractions(Path(released)) if isinstance(released, str | Path) else (FULL,)


def frequencies_of(released: Any) -> str:
    """Return which counts a release of variants has, as it or its guarantee file states; empty for other logs."""
    if isinstance(released, Release):
        return str(getattr(released, "frequencies", "")) if released.mechanism.kind == "variants" else ""
    if not isinstance(released, str | Path) or not guarantee_path(Path(released)).is_file():
        return ""
    stated = load(guarantee_path(Path(released)))
    return str(stated["release"].get("frequencies", "")) if stated.get("kind", "variants") == "variants" else ""


def reading_of(released: Any, reading: Reading) -> Reading:
    """Return how the original log was read for a release, so that the same cases are compared."""
    if isinstance(released, Release):
        return reading if released.reading is None else _over(Reading.from_description(released.reading), reading)
    if not isinstance(released, str | Path) or not guarantee_path(Path(released)).is_file():
        return reading
    path = guarantee_path(Path(released))
    recorded = released_reading(Path(released))
    try:
        return reading if recorded is None else _over(recorded, reading)
    except ParameterError as error:
        raise LogError(f"{path}: {error}") from None


def _over(recorded: Reading, reading: Reading) -> Reading:
    """The recorded reading without its abstraction, overridden by the settings that differ from the defaults."""
    settings = {field.name: getattr(reading, field.name) for field in attrs.fields(Reading)}
    changed = {name: value for name, value in settings.items() if value != getattr(DEFAULT_READING, name)}
    return attrs.evolve(recorded, **{"abstraction": FULL} | changed)


Item = TypeVar("Item")


def checked_items(field: str, values: Iterable[Item], kind: type[Any], example: str) -> tuple[Item, ...]:
    """Return the items of a list, or of anything else that can be iterated once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{field} is {shown(values)}; use {example}", field=field)
    items = tuple(values)
    if not items:
        raise ParameterError(f"{field} is empty; use {example}", field=field)
    for item in items:
        if not isinstance(item, kind):
            raise ParameterError(f"{field} contains {shown(item)}; use {example}", field=field)
    return items


def checked_abstractions(abstractions: str | Iterable[Abstraction]) -> tuple[Abstraction, ...]:
    """Return abstractions from a list, or from their names separated by commas."""
    if isinstance(abstractions, str):
        with naming("abstractions"):
            return parse_ladder(abstractions)
    example = "their names in one text, such as 'full,prefix:4', or a list of Abstraction"
    return checked_items("abstractions", abstractions, Abstraction, example)
