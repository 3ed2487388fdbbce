"""Classes that other packages cannot extend: the proofs are about these classes, and about no variation of them."""

from __future__ import annotations

from typing import TypeGuard, TypeVar

_Class = TypeVar("_Class", bound=type)
_Value = TypeVar("_Value")


def sealed(made: _Class) -> _Class:
    """Refuse subclasses of a class: all if it is `typing.final`, otherwise those outside travas.

    A mixin whose `__init_subclass__` calls no other can prevent that, so values are checked by `is_exactly`.

    Args:
        made: The class, complete.

    Returns:
        The class itself.
    """

    def refuse(heir: type) -> None:
        is_ours = heir.__module__.partition(".")[0] == "travas"
        if not is_ours or getattr(made, "__final__", False):
            raise TypeError(
                f"{heir.__qualname__} extends {made.__qualname__}, on which guarantees rely; use {made.__qualname__} itself"
            )

    made.__init_subclass__ = classmethod(refuse)  # type: ignore[assignment]
    return made


def is_exactly(value: object, made: type[_Value]) -> TypeGuard[_Value]:
    """Return whether a value is of exactly this class: not of one that extends it without the knowledge of `sealed`."""
    return type(value) is made
