"""Releases as JSON: variants with their noisy counts, estimates and intervals; measurements and what follows from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from ..log.plain import plain
from ..releases.release import Kind, Release, VariantRelease, frequencies_of, kind_of
from ..sources.release_json import FORMAT, VERSION

if TYPE_CHECKING:
    from ..releases.process_map import MapRelease
    from ..releases.synthetic_log import SyntheticRelease


def write_json(release: Release, out: BinaryIO) -> None:
    out.write(json.dumps(json_content(release)).encode() + b"\n")


def json_content(release: Release) -> dict[str, Any]:
    """Return the fields of a `.json` release of any kind, in their order."""
    kind = kind_of(release.mechanism)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "segment": release.segment,
        "notices": release.notices,
        "standing": str(release.guarantee.standing),
        "description": release.mechanism.describe(),
        "reading": release.reading and dict(release.reading),
        "assumptions": release.assumptions,
        "columns": release.columns,
        "abstractions": [rule.as_json() for rule in release.abstractions],
        "frequencies": frequencies_of(release),
    }
    return header | _FIELDS[kind](release)


def _of_variants(release: VariantRelease) -> dict[str, Any]:
    estimate = release.estimate
    return {
        "missing_cases": _rounded(estimate.missing_cases),
        "missing_cases_interval": _rounded(estimate.missing_cases_interval),
        "cases": release.cases,
        "variants": release.variants,
        "rungs": release.rungs,
        "counts": release.counts,
        "noisy": release.noisy,
        "estimated": _rounded(estimate.counts, 3),
        "intervals": estimate.intervals,
    }


def _of_synthetic_log(release: SyntheticRelease) -> dict[str, Any]:
    return {
        "seed": release.seed,
        "generation": release.generation,
        "variants": release.variants,
        "counts": release.counts,
        "origins": release.origins,
        "measurements": plain(release.measurements),
    }


def _of_process_map(release: MapRelease) -> dict[str, Any]:
    return {
        "total": _rounded(release.total),
        "expected_false_pairs": _rounded(release.expected_false_pairs, 3),
        "activities": _rounded(release.activities),
        "pairs": _rounded(release.pairs),
        "throughput": _rounded(release.throughput),
        "measurements": plain(release.measurements),
    }


_FIELDS: dict[Kind, Callable[[Any], dict[str, Any]]] = {
    "variants": _of_variants,
    "synthetic log": _of_synthetic_log,
    "process map": _of_process_map,
}


def _rounded(value: Any, digits: int = 1) -> Any:
    """A value as JSON has it, with rounded numbers."""
    content = plain(value)
    if isinstance(content, dict):
        return {name: _rounded(part, digits) for name, part in content.items()}
    if isinstance(content, list):
        return [_rounded(part, digits) for part in content]
    return round(content, digits) if isinstance(content, float) else content
