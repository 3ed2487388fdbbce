"""Activities and traces, and how they are encoded: the words of every other module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..trusted.samplers import Integers

Activity = str | tuple[str, ...]
"""A name, or a tuple of names if an activity has several columns. Never a joined string."""

Trace = tuple[Activity, ...]
"""A trace variant: the sequence of activities of a case."""


def activity_from_json(name: Any) -> Activity:
    """Return an activity of a JSON file, which is text or a list of texts."""
    parts = tuple(name) if isinstance(name, list | tuple) else (name,)
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("an activity is not text")
    return parts if isinstance(name, list | tuple) else parts[0]


def listed(values: Any) -> Sequence[Any]:
    """Return a list of a JSON file; ValueError for anything else, text and objects included, which Python can iterate."""
    if not isinstance(values, list | tuple):
        raise ValueError("not a list")
    return values


# A mapping is invariant in its keys: dict[tuple[str, ...], int] is not a Mapping[Trace, int].
AnyTrace = TypeVar("AnyTrace", bound=Trace)

CODE = "uint32"
"""Activities are interned: a key is the bytes of its activities' codes."""

CODE_BYTES = 4


def keys_of(codes: NDArray[Any], lengths: Integers) -> list[bytes]:
    """Return the keys of traces of these lengths, whose codes are one after another."""
    content, ends = codes.astype(CODE, copy=False).tobytes(), (np.cumsum(lengths) * CODE_BYTES).tolist()
    return [content[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


class Codes(dict[Activity, int]):
    """Interns activities: a new activity gets the next code."""

    def __missing__(self, activity: Activity) -> int:
        code = self[activity] = len(self)
        return code


Origin = Literal["released", "generated"]
"""Whether a trace is a variant of the log that was released as such, or was generated."""
