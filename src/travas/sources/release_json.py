"""What the `.json` files of all kinds of release have in common, and how a malformed one is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import LogError
from ..model.traces import Activity, Trace, activity_from_json
from ..privacy.numbers import is_whole_number
from .folders import unopened


def load_release_json(path: Path) -> dict[str, Any]:
    """Load a `.json` release of any kind.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is not a JSON object.
    """
    content = strict_json(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    return content


def strict_json(text: str) -> Any:
    """Parse JSON; ValueError for what Python's parser accepts but no file can hold again: Infinity, NaN, lone surrogates."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    content = json.loads(text, parse_constant=refuse)
    if "\\ud" in text.lower():
        json.dumps(content, ensure_ascii=False).encode()  # UnicodeEncodeError is a ValueError
    return content


@contextmanager
def refusing_malformed(path: Path, reason: str) -> Iterator[None]:
    """Let whatever a malformed release raises, errors of travas included, be one line about the file.

    Args:
        path: The release.
        reason: What it is not, and the remedy.
    """
    try:
        yield
    except OSError as error:
        raise unopened(path, error) from None
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError):
        raise LogError(f"{path}: {reason}") from None


def is_process_map(content: Mapping[str, Any]) -> bool:
    """Whether a release states that it is a process map; event logs state no kind."""
    return content.get("kind") == "process map"


def columns_of(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of which activities consist."""
    columns = tuple(map(_text, content["columns"]))
    if not columns or not all(columns):
        raise ValueError("no column, or one without a name")
    return columns


def traces_of(content: Mapping[str, Any]) -> tuple[Trace, ...]:
    """The released traces, each of at least one activity, of as many texts as there are columns."""
    traces = tuple(tuple(map(activity_from_json, trace)) for trace in content["variants"])
    width = len(columns_of(content))
    if not all(trace and all(is_name(activity, width) for activity in trace) for trace in traces):
        raise ValueError("a trace without activities, or an activity of another number of columns")
    return traces


def is_name(activity: Activity, width: int) -> bool:
    """Return whether an activity is made of this many texts, none of them empty."""
    parts = (activity,) if isinstance(activity, str) else activity
    return len(parts) == width and all(isinstance(part, str) and part for part in parts)


def whole_numbers(values: Any) -> tuple[int, ...]:
    """Numbers that must be whole and fit into 64 bits; ValueError if one is or does not."""
    if not all(is_whole_number(value) and abs(value) < 1 << 63 for value in values):
        raise ValueError("not a whole number")
    return tuple(values)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value
