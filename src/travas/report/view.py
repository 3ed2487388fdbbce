"""What screens show of a release, as plain values of JSON: public."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from .. import explain
from ..plots.map_graph import ProcessGraph, release_graph
from ..plots.svg import activity_text
from ..releases.map_numbers import Quartiles
from ..releases.release import Release, ReleasedLog, VariantRelease, kind_of
from ..releases.synthetic_log import SyntheticRelease
from ..trusted.guarantee import Standing
from .decision import between, decision_on, most_frequent

MOST_ROWS = 20_000
"""The most frequent variants that a screen can show; the files have all."""

_STEPS, _VALUES, _ROWS, _COVERED = 12, 12, 200, 80
_SPANS = (("day", "D", 1), ("week", "W", 7), ("month", "M", 30), ("year", "Y", 366))
_FEW_BARS = 64


def view_of(release: Release) -> dict[str, Any]:
    """Everything that a screen shows of a release."""
    graph, guarantee = release_graph(release), release.guarantee
    decision = decision_on(release)
    return {
        "kind": kind_of(release.mechanism),
        "figures": [(figure.value, figure.words) for figure in decision.content],
        "guarantee": f"{decision.privacy.value}, {decision.privacy.words}",
        "holds": guarantee.standing is not Standing.NOT_ESTABLISHED,
        "standing": str(guarantee.standing),
        "promise": explain.promise(guarantee.epsilon, guarantee.delta, guarantee.unit.noun),
        "use": decision.use,
        "warnings": decision.warnings,
        "missing": decision.missing,
        "map": graph.model() if graph.paths else None,
        "variants": _variants(release) if isinstance(release, ReleasedLog) else None,
        "times": _times(release, graph),
        "attributes": _attributes(release) if isinstance(release, SyntheticRelease) else [],
    }


def _variants(release: ReleasedLog) -> dict[str, Any]:
    """The variants by estimate, as runs of activities, which are numbered as they appear."""
    estimated, intervals = release.estimated_counts, release.intervals
    traces = [[activity_text(activity) for activity in trace] for trace in release.variants]
    ranked = most_frequent(release.variants, estimated)
    names = list(dict.fromkeys(name for index in ranked for name in traces[index]))
    code = {name: number for number, name in enumerate(names)}
    missing = (release.estimate.missing_cases or 0.0) if isinstance(release, VariantRelease) else 0.0
    labels: Sequence[str] = release.rules if release.is_abstracted else ()
    if isinstance(release, SyntheticRelease):
        labels = release.origins
    rows = [
        {
            "trace": [(code[name], len(list(run))) for name, run in groupby(traces[index])],
            "cases": round(estimated[index], 1),
            "interval": intervals[index] if intervals else None,
            "label": labels[index] if labels else "",
        }
        for index in ranked[:MOST_ROWS]
    ]
    noun = "generated cases" if isinstance(release, SyntheticRelease) else explain.pairs(release.mechanism)
    return {"names": names, "rows": rows, "number": len(traces), "total": sum(estimated) + missing, "noun": noun}


def covering(content: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    """The variants of a view that cover a share of the cases: the most frequent ones that contain what is searched."""
    rows, names, total = content["rows"], content["names"], content["total"] or 1
    sums = list(accumulate(row["cases"] for row in rows))
    most = int(100 * sums[-1] / total) if sums else 0
    asked = query.get("coverage", "")
    coverage = min(int(asked[:9]) if asked.isdecimal() else _COVERED, most)
    needed = next((index + 1 for index, covered in enumerate(sums) if covered >= coverage / 100 * total), len(rows))
    searched = query.get("search", "").strip()[:100]
    wanted = {code for code, name in enumerate(names) if searched.casefold() in name.casefold()}
    found = [row for row in rows[:needed] if not searched or any(code in wanted for code, _ in row["trace"])]
    return {
        "rows": found[:_ROWS], "found": len(found), "needed": needed, "coverage": coverage, "most": most, "search": searched,
        "total": total,
    }  # fmt: skip


# --------------------------------------------------------------------------------------------- times and attributes


def _times(release: Release, graph: ProcessGraph) -> dict[str, Any] | None:
    """Throughput, arrivals and the time between the most frequent pairs; None without times."""
    timed = [(path, path.time) for path in graph.paths if path.time is not None][:_STEPS]
    if graph.throughput is None and not timed:
        return None
    names = {node.key: node.name for node in graph.nodes}
    ends = [math.log1p(end) for _, time in timed for end in (time.lower_quartile, time.upper_quartile)]
    low, high = min(ends, default=0), max(ends, default=1)

    def place(seconds: float) -> float:
        return round(100 * (math.log1p(seconds) - low) / (high - low), 1) if high > low else 50.0

    return {
        "origin": graph.times or "measured",
        "is_paired": graph.is_paired,
        "throughput": graph.throughput and {**_quartiles(graph.throughput.quartiles), "bars": graph.throughput.bars},
        "arrivals": _arrivals(release) if isinstance(release, SyntheticRelease) else None,
        "steps": [
            {
                "before": names[path.before],
                "after": names[path.after],
                **_quartiles(time),
                "places": [place(end) for end in (time.lower_quartile, time.median, time.upper_quartile)],
            }
            for path, time in timed
        ],
    }


def _quartiles(of: Quartiles) -> dict[str, str]:
    middle = f"{explain.duration_text(of.lower_quartile)} to {explain.duration_text(of.upper_quartile)}"
    return {"median": explain.duration_text(of.median), "middle": middle}


def _arrivals(release: SyntheticRelease) -> dict[str, Any] | None:
    """How many cases start in each day, week, month or year: the finest with few enough bars; None without times."""
    moments = release.event_times
    if moments is None or not len(moments):
        return None
    lengths = np.repeat([len(trace) for trace in release.variants], release.counts)
    starts = moments[np.cumsum(lengths) - lengths]
    days = int(starts.max() - starts.min()) / 86_400
    unit, code, _ = next((span for span in _SPANS if days / span[2] <= _FEW_BARS), _SPANS[-1])
    cells = starts.astype("datetime64[s]").astype(f"datetime64[{code}]")
    first, counts = cells.min(), np.bincount((cells - cells.min()).astype(np.int64))
    labels = [str((first + number).astype("datetime64[D]")) for number in range(len(counts))]
    shares = (counts / counts.sum()).tolist()
    return {"unit": unit, "bars": [(label, share, False) for label, share in zip(labels, shares, strict=True)]}


def _attributes(release: SyntheticRelease) -> list[dict[str, Any]]:
    """The numbers of cases of the values of every attribute, with intervals."""
    found = []
    numbers = {one.attribute.name for one in release.measurements.attributes if one.attribute.is_number}
    for name, group in groupby(release.quality().attributes, key=lambda one: one.attribute):
        values, is_number = list(group), name in numbers
        if not is_number:
            values.sort(key=lambda one: -one.cases.value)
        rows = [
            {
                "value": "(missing)" if one.value is None else one.value,
                "cases": [max(number, 0) for number in (one.cases.value, one.cases.low, one.cases.high)],
                "interval": between(one.cases),
            }
            for one in values[: None if is_number else _VALUES]
        ]
        most = max((one.cases.high for one in values), default=1)
        found.append({"name": name, "rows": rows, "left_out": len(values) - len(rows), "most": max(most, 1)})
    return found
