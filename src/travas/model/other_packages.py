"""Mechanisms of other packages: how they are recognised, and how their failures are reported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ParameterError, TravasError


def is_ours(value: object) -> bool:
    """Return whether the exact class of a value is part of travas: the one that its module has under its name."""
    made, module = type(value), sys.modules.get(type(value).__module__)
    return is_in_travas(made) and getattr(module, made.__qualname__, None) is made


def is_in_travas(made: type) -> bool:
    """Return whether a class, which may not be complete yet, says that it was defined in a module of travas."""
    return made.__module__.partition(".")[0] == "travas"


def dotted_name(made: type) -> str:
    """Return `package.module:Class`."""
    return f"{made.__module__}:{made.__qualname__}"


@contextmanager
def failures_named(mechanism: object, *others: type[Exception]) -> Iterator[None]:
    """Turn an unexpected failure of another package's mechanism into an error that names it; it is not a bug of travas.

    Args:
        mechanism: The mechanism.
        others: Failures that are not those of the mechanism, such as an OSError where something is printed; Rich ends
            the program after one.

    Raises:
        ParameterError: The mechanism failed. The message of its own error is not quoted: it may contain data.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        printed = isinstance(error, SystemExit) and isinstance(error.__context__, others)
        if printed or is_ours(mechanism) or isinstance(error, (TravasError, MemoryError, *others)):
            raise
        raise ParameterError(
            f"the mechanism {dotted_name(type(mechanism))} failed with {type(error).__name__}; correct it, or use another one",
            field="mechanism",
        ) from error
