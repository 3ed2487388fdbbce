"""Settings in TOML files: numbers as exact text, unknown keys refused with a suggestion."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..errors import ParameterError, shown

_TYPE_NAMES: dict[type, str] = {str: "text", int: "a whole number", bool: "true or false", list: "a list of text"}


def load_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; decimal numbers are text, so that they stay exact.

    Raises:
        ParameterError: The file cannot be opened or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=str)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be opened ({error.strerror}); check the path") from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is one; a number of 5,000 digits raises another
        raise ParameterError(f"{path}: not a TOML file ({error}); fix it") from None


def check_keys(where: str, content: Any, available: Iterable[str]) -> Mapping[str, Any]:
    """Return a table of a TOML file. Raises ParameterError for a key that is not available, with a suggestion."""
    names = list(available)
    if not isinstance(content, Mapping):
        raise ParameterError(f"{where} is {shown(content)}; it must be a table with {', '.join(names)}")
    for key in content:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(names)}"
            raise ParameterError(f"{where}: the key {shown(key)} is unknown; {hint}")
    return content


def value_of(where: str, content: Mapping[str, Any], key: str, expected: type) -> Any:
    """Return the value of a key, or None. Raises ParameterError if it has another type."""
    if (value := content.get(key)) is None:
        return None
    if expected is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # an exact number
    right = isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
    if not right or (expected is list and not all(isinstance(item, str) for item in value)):
        raise ParameterError(f"{where}: {key} is {shown(value)}; it must be {_TYPE_NAMES[expected]}")
    return value
