"""Releases out: event logs that open everywhere, and JSON. Written beside, then renamed, the guarantee first.

An event log here is made from nothing but the release: fresh case identifiers in canonical order, and artificial
timestamps, the same for every case: one second a step from 1970.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import CONFIDENTIAL, MissingExtraError, OutputError
from ..model.release import Release
from ..model.variants import Activity
from ..privacy.guarantee import Standing
from ..privacy.numbers import as_text
from ..sources.chunks import check_folder
from ..sources.columns import CASE, TIMESTAMP
from ..sources.files import suffix_of
from .guarantee_file import ARTIFICIAL, describe, describe_unit, digest, guarantee_path

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

RULE = "case:travas:abstraction"
"""The column that says how a case was made coarser, in logs where some were; in XES an attribute of the trace."""

_START = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# ------------------------------------------------------------------------------------------------- the one way out


def check_output(path: Path, existing: Literal["fail", "replace"], activities: Iterable[Activity] = ()) -> str:
    """The suffix of an output that can be written. Called before any noise is drawn: a failure must cost nothing."""
    suffix = suffix_of(path, tuple(WRITERS))
    if suffix is None:
        raise OutputError(f"{path}: not a format I can write by its suffix; take one of {', '.join(WRITERS)}")
    try:
        check_folder(path)
        for target in (path, guarantee_path(path)):
            with suppress(FileNotFoundError):
                _partial(target).lstat()  # a name too long for the disk is found out now
            if target.is_dir():
                raise OutputError(f"{target}: is a directory; give a file name")
            if existing == "fail" and os.path.lexists(target):
                raise OutputError(f"{target}: exists already; give another name, or --force to replace it")
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{str(path)!r}: cannot be written, {_reason(error)}; choose another place") from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: you may not write in {str(path.parent)!r}; choose another place")
    if suffix in (".xes", ".xes.gz"):
        for activity in activities:
            for name in (activity,) if isinstance(activity, str) else activity:
                if match := _NOT_XML.search(name):
                    raise OutputError(
                        f"{path}: the name {name[:60]!r} holds the character U+{ord(match[0]):04X}, which XES cannot; "
                        f"write .csv, .parquet or .json {CONFIDENTIAL}"
                    )
    return suffix


def write_release(release: Release, path: Path, existing: Literal["fail", "replace"]) -> Path:
    """Write the release and its guarantee file; nothing of either is visible before both are complete."""
    suffix = check_output(
        path, existing, {activity for trace in release.variants for activity in trace} | {release.columns}
    )
    try:
        with _beside(path) as partial, _beside(guarantee_path(path)) as promise:
            WRITERS[suffix](release, partial)
            facts: dict[str, Any] = {"format": suffix[1:], "frequencies": release.frequencies}
            facts |= {"abstractions": [rule.as_json() for rule in release.used_abstractions], "sha256": digest(partial)}
            facts |= {"assumptions": list(release.assumptions)} if release.assumptions else {}
            text = json.dumps(describe(release.mechanism, facts), indent=2, ensure_ascii=False)
            promise.write_text(text + "\n", encoding="utf-8")
            for part in (partial, promise):
                _to_disk(part)
            promise.replace(guarantee_path(path))
            try:
                partial.replace(path)
            except OSError:
                guarantee_path(path).unlink()  # a guarantee without its release is worse than none
                raise
            _to_disk(path.parent)
    except OutputError:
        raise
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise
        raise OutputError(
            f"{path}: cannot be written, {_reason(error)}; nothing was left behind, make room or choose another place"
        ) from None
    return path


def _reason(error: Exception) -> str:
    """Why the system refused; Polars passes its number on as text only."""
    match = re.search(r"os error (\d+)", str(error))
    number = getattr(error, "errno", None) or (int(match[1]) if match else None)
    if number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return "the disk is full"
    return os.strerror(number).lower() if number else type(error).__name__


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary name in the same directory, gone at the end unless it was renamed."""
    partial = _partial(path)
    try:
        yield partial
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ------------------------------------------------------------------------------------------------------------ tables


def events(release: Release) -> pl.LazyFrame:
    """The release as an event log: one row per event, pm4py's column names."""
    import polars as pl

    codes: dict[Activity, int] = {}
    flat = np.array([codes.setdefault(a, len(codes)) for trace in release.variants for a in trace], dtype=np.uint32)
    counts = np.array(release.counts, dtype=np.int64)
    lengths = np.array([len(trace) for trace in release.variants], dtype=np.int64)
    per_case = np.repeat(lengths, counts)
    starts = np.repeat(np.cumsum(lengths) - lengths, counts)
    step = np.arange(int(per_case.sum()), dtype=np.int64)
    step -= np.repeat(np.cumsum(per_case) - per_case, per_case)
    code = flat[np.repeat(starts, per_case) + step]
    case = np.repeat(np.arange(1, len(per_case) + 1, dtype=np.uint32), per_case)
    table = pl.LazyFrame({CASE: case, "code": code, TIMESTAMP: step.astype(np.int32)})
    rules = []
    if release.is_abstracted:
        rung = np.repeat(np.repeat(np.array(release.rungs, dtype=np.uint32), counts), per_case)
        table = table.with_columns(pl.Series("rung", rung))
        names = list(map(str, release.abstractions))
        rules = [pl.col("rung").replace_strict(list(range(len(names))), names, return_dtype=pl.String).alias(RULE)]
    width = len(release.columns)
    parts = [[a if width == 1 else a[place] for a in codes] for place in range(width)]
    return table.select(
        pl.col(CASE).cast(pl.String),
        *(
            pl.col("code").replace_strict(list(range(len(codes))), part, return_dtype=pl.String).alias(column)
            for column, part in zip(release.columns, parts, strict=True)
        ),
        (pl.lit(_START) + pl.duration(seconds=pl.col(TIMESTAMP))).cast(pl.Datetime("us", "UTC")).alias(TIMESTAMP),
        *rules,
    )


def pandas_events(release: Release) -> pd.DataFrame:
    """The same as a pandas data frame."""
    try:
        return events(release).collect().to_pandas()
    except ImportError:
        raise MissingExtraError("a pandas DataFrame", "pandas") from None


def _stamped(release: Release) -> pl.LazyFrame:
    """The events; without a guarantee every row says so, for a table has no header to say it in."""
    import polars as pl

    standing = release.guarantee.standing
    stamp = [pl.lit(str(standing)).alias("privacy:standing")] if standing is Standing.NOT_ESTABLISHED else []
    return events(release).with_columns(stamp)


def _write_csv(release: Release, path: Path) -> None:
    _stamped(release).sink_csv(path, datetime_format="%Y-%m-%dT%H:%M:%S+00:00")


def _write_parquet(release: Release, path: Path) -> None:
    _stamped(release).sink_parquet(path)


# ------------------------------------------------------------------------------------------------------ JSON and XES


def _write_json(release: Release, path: Path) -> None:
    guarantee, estimate = release.guarantee, release.estimate
    content = {
        "format": "travas release",
        "version": 1,
        "columns": release.columns,
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "standing": str(guarantee.standing),
        "unit": describe_unit(release.mechanism),
        "table": release.mechanism.parameters(),
        "frequencies": release.frequencies,
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
    with path.open("w", encoding="utf-8") as out:
        json.dump(content, out, ensure_ascii=True)
        out.write("\n")


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> dict[str, float] | None:
    if value is None or interval is None:
        return None
    return {"estimate": round(value, 1), "low": round(interval[0], 1), "high": round(interval[1], 1)}


def _attribute(value: str) -> str:
    """An XML attribute in quotes; white space is written as references, or parsers would turn it into blanks."""
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", "\x85": "&#133;", "\u2028": "&#8232;"})


def _string(key: str, value: str) -> str:
    return f"<string key={_attribute(key)} value={_attribute(value)}/>"


_EXTENSIONS = (("Concept", "concept"), ("Time", "time"), ("Lifecycle", "lifecycle"), ("Organizational", "org"))


def _xes_header(release: Release) -> str:
    """What XES says about the whole log: the release's own facts, nothing of the source's header."""
    guarantee = release.guarantee
    privacy = {
        "privacy:operation type": "addition and suppression" + (" and generalization" if release.is_abstracted else ""),
        "privacy:level": guarantee.unit.name,
        "privacy:target": "trace variant",
        "privacy:mechanism": guarantee.mechanism,
        "privacy:epsilon": as_text(guarantee.epsilon),
        "privacy:delta": as_text(guarantee.delta),
        "privacy:standing": str(guarantee.standing),
        "privacy:frequencies": release.frequencies,
    }
    if not guarantee.unit.is_case:
        privacy["privacy:max cases"] = str(guarantee.unit.max_cases)
    used = [
        (n, p)
        for n, p in _EXTENSIONS
        if p in ("concept", "time") or any(c.startswith(p + ":") for c in release.columns)
    ]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<log xes.version="1.0" xes.features="nested-attributes">']
    for name, prefix in [*used, ("Privacy", "privacy")]:
        lines.append(f'<extension name="{name}" prefix="{prefix}" uri="http://www.xes-standard.org/{prefix}.xesext"/>')
    lines += ['<global scope="trace">', _string("concept:name", ""), "</global>"]
    lines += ['<global scope="event">', *(_string(column, "") for column in release.columns), _date(0), "</global>"]
    keys = " ".join(f"'{column}'" if " " in column else column for column in release.columns)
    lines.append(f'<classifier name="Activity" keys={_attribute(keys)}/>')
    lines += [_string("concept:name", "released by travas"), _string("travas:timestamps", ARTIFICIAL)]
    lines += ['<list key="privacy:anonymizations">', "<values>", '<list key="privacy:anonymizer1">', "<values>"]
    lines += [_string(key, value) for key, value in privacy.items()]
    lines += ["</values>", "</list>", "</values>", "</list>"]
    return "\n".join(lines) + "\n"


def _date(step: int) -> str:
    moment = (_START + timedelta(seconds=step)).strftime("%Y-%m-%dT%H:%M:%S.000+00:00")
    return f'<date key="{TIMESTAMP}" value="{moment}"/>'


def _xes(release: Release) -> Iterator[bytes]:
    """The document in pieces, an element a line: a variant's events are rendered once and repeated."""
    yield _xes_header(release).encode()
    width = len(release.columns)
    rendered: dict[Activity, str] = {}
    dates: list[str] = []
    rules = [_string(RULE.removeprefix("case:"), str(rule)) + "\n" for rule in release.abstractions]
    rules = rules if release.is_abstracted else [""] * len(rules)
    case = 0
    for trace, rung, count in zip(release.variants, release.rungs, release.counts, strict=True):
        dates.extend(_date(step) + "\n</event>\n" for step in range(len(dates), len(trace)))
        parts: list[str] = []
        for activity, date in zip(trace, dates, strict=False):
            if activity not in rendered:
                values: Any = (activity,) if width == 1 else activity
                rendered[activity] = "\n".join(["<event>", *map(_string, release.columns, values), ""])
            parts += (rendered[activity], date)
        body = ('"/>\n' + rules[rung] + "".join(parts) + "</trace>\n").encode()
        for number in range(case + 1, case + count + 1):
            yield b'<trace>\n<string key="concept:name" value="%d' % number
            yield body
        case += count
    yield b"</log>\n"


def _write_xes(release: Release, path: Path) -> None:
    with path.open("wb", buffering=1 << 20) as out:
        out.writelines(_xes(release))


def _write_xes_gz(release: Release, path: Path) -> None:
    with path.open("wb") as raw:
        # at level 3 a log is an eighth larger than at 6, in less than half the time
        packed: Any = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=3)
        with packed:
            _in_blocks(_xes(release), packed)


def _in_blocks(pieces: Iterable[bytes], out: IO[bytes]) -> None:
    """Many small writes are what makes gzip slow."""
    block, size = [], 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size > 1 << 18:
            out.write(b"".join(block))
            block, size = [], 0
    out.write(b"".join(block))


WRITERS: dict[str, Callable[[Release, Path], None]] = {
    ".xes": _write_xes,
    ".xes.gz": _write_xes_gz,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": _write_json,
}
