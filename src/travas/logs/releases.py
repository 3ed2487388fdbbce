"""Releases of ours read back: the very variants, counts and, where the format has them, noisy counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engines import read
from ..engines.files import XES_SUFFIXES, suffix_of
from ..errors import EmptyLogError, LogError
from ..variants import Trace, Variants
from .columns import ACTIVITY, CASE, TIMESTAMP, Reading


@dataclass(frozen=True)
class Content:
    """What a release file holds, in canonical order. `noisy` is None where the file does not tell."""

    variants: tuple[Trace, ...]
    counts: tuple[int, ...]
    noisy: tuple[int, ...] | None
    columns: tuple[str, ...]


def read_release(path: Path) -> Content:
    """Any file that `Release.write` wrote. An empty release is one without variants."""
    if suffix_of(path, (".json",)):
        return _from_json(path)
    columns = _xes_columns(path) if suffix_of(path, XES_SUFFIXES) else _table_columns(path)
    try:
        variants = read(path, Reading(activities=columns, order="file", duplicate_cases="fail"))
    except EmptyLogError:
        variants = Variants.from_mapping({}, columns)
    found = sorted(variants.items())
    return Content(tuple(trace for trace, _ in found), tuple(count for _, count in found), None, columns)


def _from_json(path: Path) -> Content:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = [
            (tuple(a if isinstance(a, str) else tuple(a) for a in trace), int(count), int(noisy))
            for trace, count, noisy in zip(content["variants"], content["counts"], content["noisy"], strict=True)
        ]
        columns = tuple(map(str, content["columns"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise LogError(f"{path}: not a release of travas; give a .json that `travas anonymize` wrote") from None
    return Content(tuple(row[0] for row in rows), tuple(row[1] for row in rows), tuple(row[2] for row in rows), columns)


def _table_columns(path: Path) -> tuple[str, ...]:
    import polars as pl

    try:
        scan = pl.scan_parquet(path, glob=False) if path.suffix.lower() == ".parquet" else pl.scan_csv(path, glob=False)
        names = scan.collect_schema().names()
    except (OSError, pl.exceptions.PolarsError):
        raise LogError(f"{path}: not a release of travas; give a file that `travas anonymize` wrote") from None
    return tuple(name for name in names if name not in (CASE, TIMESTAMP, "privacy:standing")) or (ACTIVITY,)


def _xes_columns(path: Path) -> tuple[str, ...]:
    """The keys that the header says every event has, without the timestamp."""
    from lxml import etree

    from .files import chunks

    parser: Any = etree.XMLPullParser(events=("end",), tag="{*}global", resolve_entities=False, no_network=True)
    try:
        for chunk in chunks(path, lambda _: None, 1 << 16):
            parser.feed(chunk)
            for _, element in parser.read_events():
                if element.get("scope") == "event":
                    return tuple(child.get("key") for child in element if child.get("key") != TIMESTAMP) or (ACTIVITY,)
    except etree.XMLSyntaxError:
        pass
    return (ACTIVITY,)
