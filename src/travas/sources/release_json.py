"""The `.json` files of all kinds of release: what they have in common, how a malformed one is refused, and as a log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import LogError, shown
from ..log.log import Log
from ..log.plain import converter
from ..log.traces import Activity, Trace
from .files import unopened

FORMAT, VERSION = "travas release", 1
"""What every `.json` release states about its form."""

MAP_IS_NO_LOG = (
    "a process map has no traces; use its pairs, or compare it, with its guarantee: travas compare LOG map.json"
)


def read_release(path: Path) -> Log:
    """Read the variants and counts of a `.json` release."""
    reason = "not a release of travas; use a .json release, or a log"
    content = load_release_json(path, reason)
    if is_process_map(content):
        raise LogError(f"{path}: {MAP_IS_NO_LOG}")
    with refusing_malformed(path, reason):
        counts, columns = merged(traces_of(content), whole_numbers(content["counts"])), stated_columns(content)
    try:
        return Log.from_mapping(counts, columns)
    except LogError as error:
        raise LogError(f"{path}: {error}") from None


def merged(traces: Sequence[Trace], counts: Sequence[int]) -> dict[Trace, int]:
    """Sum counts by trace; in a ladder release, a trace can be on several rungs."""
    counts_by_trace: dict[Trace, int] = defaultdict(int)
    for trace, count in zip(traces, counts, strict=True):
        counts_by_trace[trace] += count
    return counts_by_trace


def load_release_json(path: Path, reason: str) -> dict[str, Any]:
    """Load a `.json` release of any kind."""
    with refusing_malformed(path, reason):
        content = strict_json(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content["format"] != FORMAT:
            raise ValueError("not a release")
        version = content["version"]
    if type(version) is not int or version != VERSION:
        raise LogError(f"{path}: release of version {shown(version)}; supported: {VERSION}; update travas")
    return content


def strict_json(text: str) -> Any:
    """Parse JSON; ValueError for what Python's parser accepts but no file can hold again: Infinity, NaN, lone surrogates.

    Also for a name that an object has twice: Python keeps the last value, and the others would be seen by nobody.
    """

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            raise ValueError("a name occurs twice")
        return made

    content = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    if "\\ud" in text.lower():
        json.dumps(content, ensure_ascii=False).encode()  # UnicodeEncodeError is a ValueError
    return content


@contextmanager
def refusing_malformed(path: Path, reason: str) -> Iterator[None]:
    """Raise LogError, one line about the file, in place of any error that a malformed release causes, also one of travas."""
    try:
        yield
    except OSError as error:
        raise unopened(path, error) from None
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError):
        raise LogError(f"{path}: {reason}") from None


def is_process_map(content: Mapping[str, Any]) -> bool:
    """Whether a release states that it is a process map."""
    return content.get("kind") == "process map"


def stated_columns(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of which activities consist."""
    columns = texts_of(content["columns"])
    if not columns or not all(columns):
        raise ValueError("no column, or one without a name")
    return columns


def traces_of(content: Mapping[str, Any]) -> tuple[Trace, ...]:
    """The released traces, each of at least one activity, of as many texts as there are columns."""
    traces, width = converter().structure(content["variants"], tuple[Trace, ...]), len(stated_columns(content))
    if not all(trace and all(is_activity_of(activity, width) for activity in trace) for trace in traces):
        raise ValueError("a trace without activities, or an activity of another number of columns")
    return traces


def is_activity_of(activity: Activity, width: int) -> bool:
    """Return whether an activity is of this many columns: text, or a tuple of two or more texts, none of them empty."""
    parts = (activity,) if isinstance(activity, str) else activity
    return isinstance(activity, str) == (width == 1) and len(parts) == width and all(parts)


def whole_numbers(values: Any) -> tuple[int, ...]:
    """Return a list of whole numbers of 64 bits as a tuple; an error for anything else."""
    numbers = converter().structure(values, tuple[int, ...])
    np.array(numbers, dtype=np.int64)  # raises
    return numbers


def texts_of(values: Any) -> tuple[str, ...]:
    """Return a list of texts as a tuple; an error for anything else."""
    return converter().structure(values, tuple[str, ...])
