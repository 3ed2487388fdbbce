"""All measures of what survived, by name, with one line on what each number means. Confidential: they read the original log."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError, shown
from ..mechanisms.extensions import extension
from ..model.abstraction import FULL, Abstraction, Grouped
from ..model.release import Release
from ..model.variants import Trace, Variants
from ..sources.columns import DEFAULT_READING, Reading
from ..sources.engine import read
from ..verification.verify import released_abstractions, released_reading
from . import metrics
from .metrics import EdgeDifference

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_METRICS = ("fitness", "precision")


@dataclass(frozen=True)
class Metric:
    """A measure of a released log against the original, and what it means in words."""

    measure: Callable[[Any, Any], Any]
    meaning: str
    original: Literal["full", "abstracted"] = "full"
    extra: str | None = None


def _model_metric(name: str, original: Any, released: Any) -> float:
    from . import pm4py_models as models

    return float(getattr(models, name)(original, released))


METRICS = {
    "relative_log_similarity": Metric(
        metrics.relative_log_similarity,
        "1: the same distribution of variants; 0: as far as can be, or empty",
        extra="metrics",
    ),
    "relative_log_similarity_abstracted": Metric(
        metrics.relative_log_similarity,
        "the same, against the original under the release's abstraction",
        "abstracted",
        "metrics",
    ),
    "absolute_log_difference_length": Metric(
        metrics.absolute_log_difference,
        "edits that turn one log into the other; a case too many costs its length",
        extra="metrics",
    ),
    "absolute_log_difference_penalty": Metric(
        partial(metrics.absolute_log_difference, buffer="penalty"),
        "the same; a case too many costs a fixed penalty",
        extra="metrics",
    ),
    "case_coverage": Metric(metrics.case_coverage, "share of the original cases whose variant is there"),
    "case_coverage_abstracted": Metric(
        metrics.case_coverage, "share of them whose abstracted variant is there", "abstracted"
    ),
    "variant_coverage": Metric(metrics.variant_coverage, "share of the original variants that are there"),
    "fake_variants": Metric(metrics.fake_variants, "variants the original does not have"),
    "total_variation_distance": Metric(
        metrics.total_variation_distance, "0: the same distribution; 1: nothing in common"
    ),
    "log_size_difference": Metric(metrics.log_size_difference, "cases more (or less, negative) than the original"),
    "directly_follows_difference": Metric(
        metrics.directly_follows_difference, "which steps from one activity to the next are lost, which are new"
    ),
    "trace_lengths": Metric(metrics.trace_lengths, "cases by the length of their trace, original and released"),
    "top_variants": Metric(metrics.top_variants, "the most frequent original variants and their counts in both logs"),
    "fitness": Metric(
        partial(_model_metric, "fitness"),
        "how much of the original the released log's model can replay",
        extra="models",
    ),
    "precision": Metric(partial(_model_metric, "precision"), "how little else that model allows", extra="models"),
}
DEFAULT_METRICS = tuple(
    name for name, metric in METRICS.items() if name not in MODEL_METRICS and metric.original == "full"
)
ABSTRACTED_METRICS = tuple(
    name for name in METRICS if name in DEFAULT_METRICS or METRICS[name].original == "abstracted"
)
"""The default set for a release whose traces were generalised."""


def find_metric(name: str) -> Metric:
    """The metric of this name: one of travas, an entry point of the group `travas.metrics`, or `package.module:function`.

    Args:
        name: As the user typed it; a dotted path is imported.

    Returns:
        The metric. A function of another package is called with the original and the released variants.
    """
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    found = extension(name, "travas.metrics", "metric", tuple(METRICS), "follow")
    if isinstance(found, Metric):
        return found
    if not callable(found):
        raise ParameterError(f"metric is {shown(name)}, which is not a function", field="metric")
    return Metric(found, (inspect.getdoc(found) or "a metric of another package").split("\n")[0])


@dataclass(frozen=True)
class Comparison:
    """Measured values by name, and remarks on what is odd about the two logs. Confidential."""

    values: dict[str, Any]
    remarks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        return {name: _plain(name, value) for name, value in self.values.items()}


def compare(
    original: Any,
    released: Any,
    names: Sequence[str] | None = None,
    abstractions: Sequence[Abstraction] | None = None,
) -> Comparison:
    """Measure a released log against the original by the named metrics; by default by all that do not need pm4py.

    `abstractions` are the rules by which the released log's traces were generalised; a `Release` and the guarantee file
    beside one know them. Metrics named `…_abstracted` hold the released log against the original under them, all others
    against the full original.
    """
    if abstractions is None:
        abstractions = _abstractions_of(released)
    if names is None:
        names = DEFAULT_METRICS if set(abstractions) == {FULL} else ABSTRACTED_METRICS
    chosen = {name: find_metric(name) for name in names}
    before, after = read(original, _reading_of(released)), read(released)
    against: dict[str, Variants] = {"full": before}
    if any(metric.original == "abstracted" for metric in chosen.values()):
        against["abstracted"] = abstracted(before, after, abstractions)
    values = {name: metric.measure(against[metric.original], after) for name, metric in chosen.items()}
    remarks = []
    fakes = metrics.fake_activities(before, after)
    if fakes and len(fakes) == len(set(after.alphabet)):
        remarks.append("the two logs have no activity in common: are they read with the same activity columns?")
    elif fakes:
        remarks.append(f"fakes: the released log has {len(fakes):,} activities that the original never had")
    if not len(after):
        remarks.append("the released log is empty")
    return Comparison(values, tuple(remarks))


def _reading_of(released: Any) -> Reading:
    """How the original was read for the release, so that it is measured against the same cases."""
    recorded = released_reading(Path(released)) if isinstance(released, str | Path) else None
    return DEFAULT_READING if recorded is None else replace(recorded, abstraction=FULL)


def _abstractions_of(released: Any) -> Sequence[Abstraction]:
    if isinstance(released, Release):
        return released.used_abstractions
    return released_abstractions(Path(released)) if isinstance(released, str | Path) else (FULL,)


def abstracted(original: Any, released: Any, abstractions: Sequence[Abstraction]) -> Variants:
    """The original as a release under these rules shows it: confidential.

    Every case under the first rule that gives a trace of the released log; a case that none covers under the last rule
    that covers any.
    """
    import numpy as np

    true = read(original)
    keys, places = _places(true, read(released), abstractions)
    places[places < 0] = places.max() if (places >= 0).any() else len(keys) - 1
    counts: Counter[Trace] = Counter()
    for place, grouped in enumerate(keys):
        mine = grouped.counts(np.where(places == place, true.counts, 0))
        for trace, count in zip(grouped.variants.traces(range(len(mine))), mine.tolist(), strict=True):
            counts[trace] += count
    return Variants.from_mapping(+counts, true.columns)


def covered_cases(original: Any, released: Any, abstractions: Sequence[Abstraction]) -> float:
    """The share of the original cases that have, under one of these rules, a trace of the released log: confidential."""
    true = read(original)
    _, places = _places(true, read(released), abstractions)
    return float(true.counts[places >= 0].sum() / true.counts.sum())


def _places(
    true: Variants, released: Variants, abstractions: Sequence[Abstraction]
) -> tuple[list[Grouped], NDArray[np.int64]]:
    """The log under every rule, and for each variant the first rule that gives a released trace, or −1."""
    import numpy as np

    there = set(released.traces(range(len(released))))
    keys = [rule.grouped(true) for rule in abstractions]
    places = np.full(len(true), -1)
    for place, grouped in reversed(list(enumerate(keys))):
        traces = grouped.variants.traces(range(len(grouped.variants)))
        found = np.flatnonzero([trace in there for trace in traces])
        places[grouped.among(found)] = place
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
