"""Releases as JSON: variants with their noisy counts, estimates and intervals; measurements and what follows from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..model.release import Release
from ..sources.release_json import FORMAT, VERSION
from ..trusted.numbers import as_text
from .guarantee_file import describe_unit


def write_json(release: Release, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        json.dump(json_content(release), out, ensure_ascii=True)
        out.write("\n")


def json_content(release: Release) -> dict[str, Any]:
    """Return the fields of a `.json` release of any kind, in their order."""
    rules = {"abstractions": [rule.as_json() for rule in release.abstractions]}
    if not release.is_event_log:
        return _header(release) | rules | release.json_fields()
    estimate = release.estimate
    content = {
        "missing_cases": _with_interval(estimate.missing_cases, estimate.missing_cases_interval),
        "missing_variants": _with_interval(estimate.missing_variants, estimate.missing_variants_interval),
        "cases": release.cases,
        **rules,
        "variants": release.variants,
        "rungs": release.rungs,
        "counts": release.counts,
        "noisy": release.noisy,
        "estimated": [round(count, 3) for count in estimate.counts],
        "intervals": estimate.intervals,
    }
    return _header(release) | content | release.json_fields()


def _header(release: Release) -> dict[str, Any]:
    """The first fields; a release that is not an event log also has its kind."""
    guarantee = release.guarantee
    return {
        "format": FORMAT,
        "version": VERSION,
        **({} if release.is_event_log else {"kind": release.mechanism.kind}),
        "columns": release.columns,
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "standing": str(guarantee.standing),
        "unit": describe_unit(release.mechanism),
        "table": release.mechanism.parameters(),
        "frequencies": release.frequencies,
    }


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> dict[str, float] | None:
    if value is None or interval is None:
        return None
    return {"estimate": round(value, 1), "low": round(interval[0], 1), "high": round(interval[1], 1)}
