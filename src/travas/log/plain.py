"""Values as plain values for JSON and TOML, and back: one converter for all value classes, fractions, names and arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar, get_origin

import numpy as np
from cattrs import Converter
from cattrs.errors import ForbiddenExtraKeysError

from ..errors import LogError, ParameterError, TravasError, shown
from ..trusted.guarantee import Standing
from ..trusted.numbers import as_text, exact, is_whole_number
from .abstraction import Abstraction
from .options import Resolution
from .traces import Activity, activity_from_json

Value = TypeVar("Value")

ActivitySums = Mapping[Activity, int]
"""A number for every activity: in JSON a list of pairs, as an activity may have several names."""


def plain(value: Any) -> Any:
    """Return a value as JSON has it: fractions as exact text, arrays and tuples as lists, objects as mappings."""
    return converter().unstructure(value)


def from_plain(content: Any, kind: type[Value], field: str) -> Value:
    """Return the value of a class that `plain` described. Unknown names are refused."""
    try:
        return converter().structure(content, kind)
    except (TravasError, MemoryError):
        raise
    except ForbiddenExtraKeysError as error:
        unknown = ", ".join(sorted(map(str, error.extra_fields)))
        raise ParameterError(f"{field} has the unknown option {shown(unknown)}; remove it", field=field) from None
    except KeyError as error:
        raise ParameterError(f"{field} has no {error.args[0]}; add it", field=field) from None
    except Exception:  # cattrs raises many kinds, some of them without a class of their own
        raise ParameterError(f"{field} is {shown(content)}; use a mapping of options", field=field) from None


def measurements_from_plain(content: Any, kind: type[Value]) -> Value:
    """Return the measurements in a `.json` release; LogError if it has others."""
    try:
        return converter().structure(content, kind)
    except (LogError, MemoryError):
        raise
    except Exception:  # see from_plain
        raise LogError("the measurements cannot be read: a field is missing or of another kind") from None


def digest_of(measurements: Any) -> str:
    """SHA-256 of measurements as compact JSON with sorted keys: the same for every release that follows from them."""
    text = json.dumps(plain(measurements), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def as_shape(measurements: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check the tables of measurements when they are made; a table without rows, which JSON cannot tell, gets its shape."""
    for name, shape in shapes.items():
        table = getattr(measurements, name)
        if table.size == 0 and 0 in shape:
            object.__setattr__(measurements, name, table.reshape(shape))
        elif table.shape != shape:
            raise LogError(
                "the measurements are inconsistent: a table does not have the size that its activities require"
            )


def _exactly(kind: type[Value]) -> Callable[[Any, Any], Value]:
    def check(value: Any, _: Any) -> Value:
        if type(value) is not kind:
            raise TypeError(f"not {kind.__name__}")
        return value

    return check


def _tuple(value: Any, kind: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError("not a list")
    kinds = kind.__args__[:1] * len(value) if kind.__args__[-1] is Ellipsis else kind.__args__
    return tuple(converter().structure(part, of) for part, of in zip(value, kinds, strict=True))


def _sums(pairs: Any) -> ActivitySums:
    return {activity_from_json(name): _exactly(int)(value, None) for name, value in pairs}


def _array(value: Any, _: Any) -> Any:
    if not isinstance(value, list) or not _whole(value):
        raise TypeError("not a table of whole numbers")
    return np.array(value, dtype=np.int64)


def _whole(value: Any) -> bool:
    return all(map(_whole, value)) if isinstance(value, list) else is_whole_number(value)


def _is(kind: type) -> Callable[[Any], bool]:
    """Whether an annotation is this class, with or without parameters."""
    return lambda annotated: annotated is kind or get_origin(annotated) is kind


@cache
def converter() -> Converter:
    """The converter of all value classes. Structuring raises many kinds of exceptions."""
    made = Converter(forbid_extra_keys=True, detailed_validation=False, prefer_attrib_converters=True)
    made.register_unstructure_hook(Fraction, as_text)
    made.register_structure_hook(Fraction, lambda value, _: exact(value, "number"))
    made.register_unstructure_hook(datetime, datetime.isoformat)
    made.register_structure_hook(datetime, lambda text, _: datetime.fromisoformat(text))
    made.register_unstructure_hook(Abstraction, Abstraction.as_json)
    made.register_structure_hook(Abstraction, lambda steps, _: Abstraction.from_json(steps))
    made.register_structure_hook_func(lambda kind: kind == Resolution, lambda value, _: value)  # Times checks it
    for kind in (str, int):
        made.register_structure_hook(kind, _exactly(kind))
    made.register_structure_hook(Standing, lambda value, _: Standing(value))  # a str, too
    made.register_unstructure_hook_func(_is(np.ndarray), lambda array: array.tolist())
    made.register_structure_hook_func(_is(np.ndarray), _array)
    made.register_unstructure_hook_func(_is(tuple), lambda parts: [made.unstructure(part) for part in parts])
    made.register_structure_hook_func(_is(tuple), _tuple)
    made.register_structure_hook_func(lambda kind: kind == Activity, lambda name, _: activity_from_json(name))
    made.register_structure_hook_func(lambda kind: kind == ActivitySums, lambda pairs, _: _sums(pairs))
    made.register_unstructure_hook_func(
        lambda kind: kind == ActivitySums, lambda sums: plain(tuple(sorted(sums.items())))
    )
    return made
