"""All measures of what survived, by name, with one line on what each number means. Private: they read the true log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from . import metrics
from .engines import read
from .errors import ParameterError
from .metrics import EdgeDifference

MODEL_METRICS = ("fitness", "precision")


@dataclass(frozen=True)
class Metric:
    """A measure of a private log against the original, and what it means in words."""

    measure: Callable[[Any, Any], Any]
    meaning: str


def _model_metric(name: str, original: Any, private: Any) -> float:
    from . import models

    return float(getattr(models, name)(original, private))


METRICS = {
    "relative_log_similarity": Metric(
        metrics.relative_log_similarity, "1: the same distribution of variants; 0: as far as can be, or empty"
    ),
    "absolute_log_difference_length": Metric(
        metrics.absolute_log_difference, "edits that turn one log into the other; a case too many costs its length"
    ),
    "absolute_log_difference_penalty": Metric(
        partial(metrics.absolute_log_difference, buffer="penalty"), "the same; a case too many costs a fixed penalty"
    ),
    "case_coverage": Metric(metrics.case_coverage, "share of the original cases whose variant is there"),
    "variant_coverage": Metric(metrics.variant_coverage, "share of the original variants that are there"),
    "fake_variants": Metric(metrics.fake_variants, "variants the original does not have"),
    "total_variation_distance": Metric(
        metrics.total_variation_distance, "0: the same distribution; 1: nothing in common"
    ),
    "log_size_difference": Metric(metrics.log_size_difference, "cases more (or less, negative) than the original"),
    "directly_follows_difference": Metric(
        metrics.directly_follows_difference, "which steps from one activity to the next are lost, which are new"
    ),
    "trace_lengths": Metric(metrics.trace_lengths, "cases by the length of their trace, original and private"),
    "top_variants": Metric(metrics.top_variants, "the most frequent original variants and their counts in both logs"),
    "fitness": Metric(partial(_model_metric, "fitness"), "how much of the original the private log's model can replay"),
    "precision": Metric(partial(_model_metric, "precision"), "how little else that model allows"),
}
DEFAULT_METRICS = tuple(name for name in METRICS if name not in MODEL_METRICS)


@dataclass(frozen=True)
class Comparison:
    """Measured values by name, and remarks on what is odd about the two logs. Private."""

    values: dict[str, Any]
    remarks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        return {name: _plain(name, value) for name, value in self.values.items()}


def compare(original: Any, private: Any, names: Sequence[str] = DEFAULT_METRICS) -> Comparison:
    """Measure a private log against the original by the named metrics; by default by all that do not need pm4py."""
    for name in names:
        if name not in METRICS:
            near = get_close_matches(name, METRICS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "take one of: " + ", ".join(METRICS)
            raise ParameterError(f"metric is {name!r}, which does not exist: {hint}")
    true, released = read(original), read(private)
    values = {name: METRICS[name].measure(true, released) for name in names}
    remarks = []
    fakes = metrics.fake_activities(true, released)
    if fakes and len(fakes) == len(set(released.alphabet)):
        remarks.append("the two logs have no activity in common: are they read with the same activity columns?")
    elif fakes:
        remarks.append(f"fakes: the private log has {len(fakes):,} activities that the original never had")
    if not len(released):
        remarks.append("the private log is empty")
    return Comparison(values, tuple(remarks))


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, EdgeDifference):
        edges = {key: [[*edge, count] for edge, count in asdict(value)[key].items()] for key in ("lost", "added")}
        return edges | {"kept": value.kept}
    if name == "trace_lengths":
        return [{"length": length, "original": counts[0], "private": counts[1]} for length, counts in value.items()]
    if name == "top_variants":
        return [{"activities": trace, "original": count, "private": other} for trace, count, other in value]
    return value
