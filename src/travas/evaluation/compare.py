"""Comparison of a released log with the original by named metrics. Confidential, because the original log is read."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import LogError, ParameterError, TravasError, confidential_repr, shown
from ..mechanisms.extensions import extension
from ..model.abstraction import FULL, Abstraction, Grouped
from ..model.release import Release
from ..model.traces import Trace
from ..model.variants import Variants
from ..outputs.guarantee_file import guarantee_path
from ..sources.engine import read
from ..sources.files import MAP_IS_NO_LOG, merged
from ..sources.reading import DEFAULT_READING, Reading, released_columns
from ..verification.release_file import is_map, read_release
from ..verification.verify import released_abstractions, released_reading
from . import metrics
from .arguments import checked_abstractions, checked_items
from .metrics import EdgeDifference, fake_activities
from .notebook_views import comparison_html

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    from . import pm4py_models as models

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
    """Return a metric by name: a built-in one, an entry point of the group `travas.metrics`, or `package.module:function`.

    Args:
        name: The name that the user typed; a dotted path is imported.

    Returns:
        The metric. A function of another package is called with the original and the released variants; its attribute
        `better` says which values are better, by default higher ones.
    """
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
            f"metric is {shown(name)}, whose better is {shown(better)}; use one of {', '.join(get_args(Better))}",
            field="metric",
        )
    meaning = (inspect.getdoc(metric) or "a metric of another package").split("\n")[0]
    return Metric(metric, meaning, better=better)


@dataclass(frozen=True)
class Comparison:
    """The values of metrics by name, and remarks about the two logs. Confidential."""

    values: dict[str, Any]
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        return confidential_repr(self)

    def _repr_html_(self) -> str:
        """The comparison in a notebook, marked confidential."""
        meanings = {name: find_metric(name).meaning for name in self.values}
        return comparison_html(self.values, meanings, self.remarks)

    def as_json(self) -> dict[str, Any]:
        """Return the values as JSON types."""
        return {name: _plain(name, value) for name, value in self.values.items()}


def compare(
    original: Any,
    released: Any,
    metrics: Iterable[str] | None = None,
    abstractions: str | Iterable[Abstraction] | None = None,
) -> Comparison:
    """Compare a released log with the original. The result is confidential.

    Args:
        original: The original log, as for `read`.
        released: The released log or a `Release`.
        metrics: The names of the metrics; by default all that do not need pm4py.
        abstractions: The rules by which the released traces were generalised, or their names separated by commas; by
            default those of the `Release` or its guarantee file. Metrics named `…_abstracted` use the original under these
            rules, all others the original.

    Returns:
        The values and remarks.
    """
    rules = _abstractions_of(released) if abstractions is None else checked_abstractions(abstractions)
    if metrics is None:
        metrics = DEFAULT_METRICS if set(rules) == {FULL} else ABSTRACTED_METRICS
    names = checked_items("metrics", metrics, str, "a list of names, such as ['case_coverage']")
    selected = {name: find_metric(name) for name in names}
    before, after = read(original, _reading_of(released)), released_variants(released)
    against: dict[str, Variants] = {"full": before}
    if any(metric.original == "abstracted" for metric in selected.values()):
        against["abstracted"] = abstracted(before, after, rules)
    values = {name: _value(name, metric, against[metric.original], after) for name, metric in selected.items()}
    remarks = []
    fakes = fake_activities(before, after)
    if fakes and len(fakes) == len(set(after.alphabet)):
        remarks.append(
            "the two logs have no activity in common; check that both are read with the same activity columns"
        )
    elif fakes:
        remarks.append(f"the released log has {len(fakes):,} activities that the original does not have")
    if not len(after):
        remarks.append("the released log is empty")
    return Comparison(values, tuple(remarks))


def _value(name: str, metric: Metric, original: Variants, released: Variants) -> Any:
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


def released_variants(released: Any, reading: Reading = DEFAULT_READING) -> Variants:
    """Return the variants of a released log.

    Args:
        released: A `Release`, or a log as for `read`. A file next to its guarantee is read by the rules of our own
            files: names may be escaped in it.
        reading: The columns of the original log. A release of travas has the default names; one of another tool may
            have those of the original.

    Returns:
        The variants.

    Raises:
        LogError: The log cannot be read, or it is a process map.
    """
    if isinstance(released, str | Path) and is_map(Path(released)):
        raise LogError(f"{released}: {MAP_IS_NO_LOG}")
    if isinstance(released, str | Path) and guarantee_path(Path(released)).is_file():
        content = read_release(Path(released))
        return Variants.from_mapping(merged(content.variants, content.counts), content.columns)
    reading = replace(reading, unit=None, max_cases=None, counted=None)
    ours = Reading(activities=released_columns(reading.activities) if reading.activities else ())
    try:
        return read(released, ours)
    except LogError:
        if reading == ours:
            raise
    return read(released, reading)


def _reading_of(released: Any) -> Reading:
    """Return how the original was read for the release, so that the same cases are compared."""
    recorded = released_reading(Path(released)) if isinstance(released, str | Path) else None
    return DEFAULT_READING if recorded is None else replace(recorded, abstraction=FULL)


def _abstractions_of(released: Any) -> Sequence[Abstraction]:
    if isinstance(released, Release):
        return released.used_abstractions
    return released_abstractions(Path(released)) if isinstance(released, str | Path) else (FULL,)


def abstracted(original: Any, released: Any, abstractions: Sequence[Abstraction]) -> Variants:
    """Return the original as a release under these rules represents it. Confidential.

    Every case is generalised by the first rule that yields a released trace; a case without one, by the last rule that
    covers any case.
    """
    import numpy as np

    true = read(original)
    keys, places = _places(true, read(released), abstractions)
    places[places < 0] = places.max() if (places >= 0).any() else len(keys) - 1
    counts: Counter[Trace] = Counter()
    for index, grouped in enumerate(keys):
        mine = grouped.counts(np.where(places == index, true.counts, 0))
        for trace, count in zip(grouped.variants.traces(range(len(mine))), mine.tolist(), strict=True):
            counts[trace] += count
    return Variants.from_mapping(+counts, true.columns)


def covered_cases(original: Any, released: Any, abstractions: Sequence[Abstraction]) -> float:
    """Return the share of the original cases with a released trace under one of these rules. Confidential."""
    true = read(original)
    _, places = _places(true, read(released), abstractions)
    return float(true.counts[places >= 0].sum() / max(int(true.counts.sum()), 1))


def _places(
    true: Variants, released: Variants, abstractions: Sequence[Abstraction]
) -> tuple[list[Grouped], NDArray[np.int64]]:
    """Return the log under every rule, and for each variant the first rule that yields a released trace, or −1."""
    import numpy as np

    there = set(released.traces(range(len(released))))
    keys = [rule.grouped(true) for rule in abstractions]
    places = np.full(len(true), -1)
    for index, grouped in reversed(list(enumerate(keys))):
        traces = grouped.variants.traces(range(len(grouped.variants)))
        covered = np.flatnonzero([trace in there for trace in traces])
        places[grouped.among(covered)] = index
    return keys, places


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, EdgeDifference):
        edges = {key: [[*edge, count] for edge, count in asdict(value)[key].items()] for key in ("lost", "added")}
        return edges | {"kept": value.kept}
    if name == "trace_lengths":
        return [{"length": length, "original": counts[0], "released": counts[1]} for length, counts in value.items()]
    if name == "top_variants":
        return [{"activities": trace, "original": count, "released": other} for trace, count, other in value]
    return value
