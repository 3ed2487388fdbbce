"""Mechanisms of other packages: how they are recognised, and how their failures are reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ParameterError, TravasError


def is_ours(mechanism: object) -> bool:
    """Return whether the class of a mechanism is part of travas."""
    return type(mechanism).__module__.partition(".")[0] == "travas"


def dotted_name(mechanism: object) -> str:
    """Return `package.module:Class`."""
    return f"{type(mechanism).__module__}:{type(mechanism).__qualname__}"


@contextmanager
def failures_named(mechanism: object) -> Iterator[None]:
    """Turn an unexpected failure of another package's mechanism into an error that names it; it is no bug of travas.

    Raises:
        ParameterError: The mechanism failed. The message of its own error is not quoted: it may contain data.
    """
    try:
        yield
    except (TravasError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if is_ours(mechanism):
            raise
        raise ParameterError(
            f"the mechanism {dotted_name(mechanism)} failed with {type(error).__name__}; correct it, or use another one",
            field="mechanism",
        ) from error
