"""Releases as JSON: variants with their noisy counts, estimates and intervals; measurements and what follows from them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..log.plain import plain
from ..mechanisms.mechanism import parameters_of
from ..releases.release import Kind, Release, VariantRelease, frequencies_of, kind_of
from ..sources.release_json import FORMAT, VERSION
from ..trusted.numbers import as_text
from .guarantee_file import describe_unit

QUARTILES = ("lower_quartile", "median", "upper_quartile")
"""The quartiles of durations, in seconds."""

if TYPE_CHECKING:
    from ..releases.map_numbers import Quartiles
    from ..releases.process_map import MapActivity, MapPair, MapRelease
    from ..releases.synthetic_log import SyntheticRelease
    from ..synthesis.measurements import MeasuredNumber


def write_json(release: Release, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        json.dump(json_content(release), out, ensure_ascii=True)
        out.write("\n")


def json_content(release: Release) -> dict[str, Any]:
    """Return the fields of a `.json` release of any kind, in their order."""
    kind = kind_of(release.mechanism)
    guarantee = release.guarantee
    header = {
        "format": FORMAT,
        "version": VERSION,
        **({"kind": kind} if kind == "process map" else {}),
        **({"segment": release.segment} if release.segment else {}),
        "columns": release.columns,
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "standing": str(guarantee.standing),
        "unit": describe_unit(release.mechanism),
        "table": parameters_of(release.mechanism),
        "frequencies": frequencies_of(release),
        "abstractions": [rule.as_json() for rule in release.abstractions],
    }
    return header | _FIELDS[kind](release)


def _of_variants(release: VariantRelease) -> dict[str, Any]:
    estimate = release.estimate
    return {
        "missing_cases": _with_interval(estimate.missing_cases, estimate.missing_cases_interval),
        "missing_variants": _with_interval(estimate.missing_variants, estimate.missing_variants_interval),
        "cases": release.cases,
        "variants": release.variants,
        "rungs": release.rungs,
        "counts": release.counts,
        "noisy": release.noisy,
        "estimated": [round(count, 3) for count in estimate.counts],
        "intervals": estimate.intervals,
    }


def _of_synthetic_log(release: SyntheticRelease) -> dict[str, Any]:
    return _of_measured(release) | {
        "seed": release.seed,
        "generation": release.generation,
        "variants": release.variants,
        "counts": release.counts,
        "origins": release.origins,
        "measurements": plain(release.measurements),
    }


def _of_process_map(release: MapRelease) -> dict[str, Any]:
    return _of_measured(release) | {
        "total": _measured_as_json(release.total),
        "expected_false_pairs": round(release.expected_false_pairs, 3),
        "activities": [_activity_as_json(activity) for activity in release.activities],
        "pairs": [_pair_as_json(pair) for pair in release.pairs],
        "throughput": _quartiles_as_json(release.throughput),
        "measurements": plain(release.measurements),
    }


def _of_measured(release: Release) -> dict[str, Any]:
    """What makes a release complete that can be made again from its measurements."""
    return {
        "notices": release.notices,
        "description": release.mechanism.describe(),
        "reading": release.reading and dict(release.reading),
        "assumptions": release.assumptions,
    }


_FIELDS: dict[Kind, Callable[[Any], dict[str, Any]]] = {
    "variants": _of_variants,
    "synthetic log": _of_synthetic_log,
    "process map": _of_process_map,
}


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> dict[str, float] | None:
    if value is None or interval is None:
        return None
    return {"estimate": round(value, 1), "low": round(interval[0], 1), "high": round(interval[1], 1)}


def _measured_as_json(number: MeasuredNumber | None) -> dict[str, float] | None:
    """Rounded to tenths, intervals outwards."""
    if number is None:
        return None
    return {"cases": round(number.value, 1), "low": math.floor(number.low), "high": math.ceil(number.high)}


def _quartiles_as_json(quartiles: Quartiles | None) -> dict[str, float] | None:
    return None if quartiles is None else {name: round(getattr(quartiles, name), 1) for name in QUARTILES}


def _activity_as_json(one: MapActivity) -> dict[str, Any]:
    service = {} if one.service is None else {"service": _quartiles_as_json(one.service)}
    numbers = {"present": _measured_as_json(one.present), "repeated": _measured_as_json(one.repeated)}
    return {"activity": one.activity} | numbers | service


def _pair_as_json(pair: MapPair) -> dict[str, Any]:
    before, after = (
        {"kind": node.kind} if node.activity is None else {"kind": node.kind, "activity": node.activity}
        for node in (pair.before, pair.after)
    )
    numbers = _measured_as_json(pair.cases) or {}
    return {"before": before, "after": after, **numbers, "duration": _quartiles_as_json(pair.duration)}
