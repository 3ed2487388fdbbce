"""Releases as JSON: variants with their noisy counts, estimates and intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..model.release import Release
from ..privacy.numbers import as_text
from .guarantee_file import describe_unit


def write_json(release: Release, path: Path) -> None:
    estimate = release.estimate
    content = json_header(release) | {
        "missing_cases": _with_interval(estimate.missing_cases, estimate.missing_cases_interval),
        "missing_variants": _with_interval(estimate.missing_variants, estimate.missing_variants_interval),
        "cases": release.cases,
        "abstractions": [rule.as_json() for rule in release.abstractions],
        "variants": release.variants,
        "rungs": release.rungs,
        "counts": release.counts,
        "noisy": release.noisy,
        "estimated": [round(count, 3) for count in estimate.counts],
        "intervals": estimate.intervals,
    }
    save_json(content | release.json_fields(), path)


def json_header(release: Release) -> dict[str, Any]:
    """The first keys of a `.json` release of any kind, in their order; a release that is not an event log also has its kind."""
    guarantee = release.guarantee
    return {
        "format": "travas release",
        "version": 1,
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


def save_json(content: dict[str, Any], path: Path) -> None:
    """Write the content of a `.json` release."""
    with path.open("w", encoding="utf-8") as out:
        json.dump(content, out, ensure_ascii=True)
        out.write("\n")


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> dict[str, float] | None:
    if value is None or interval is None:
        return None
    return {"estimate": round(value, 1), "low": round(interval[0], 1), "high": round(interval[1], 1)}
