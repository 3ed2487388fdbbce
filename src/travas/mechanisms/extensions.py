"""Names of mechanisms and metrics in other packages: entry points, and dotted paths that the user typed."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..errors import ParameterError, TravasError, shown
from .mechanism import Mechanism, References

Maker = Callable[..., Mechanism]
"""A subclass of `Mechanism`, or a function that makes one: called with epsilon, delta, unit and the options."""

_DOTTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_GIVEN = ("epsilon", "delta", "unit", "random_bytes")


def extension(name: object, group: str, what: str, known: Sequence[str], references: References) -> Any:
    """Load the object of another package that a name refers to.

    Args:
        name: An entry point, by its name or by the dotted path that it stands for, or any dotted path
            `package.module:Class`.
        group: The group of entry points.
        what: The kind of object, for messages, which is also the name of the parameter.
        known: The names that travas defines.
        references: Whether a dotted path that is not an entry point is imported, which runs code.

    Returns:
        The class or function.
    """
    if not isinstance(name, str):
        raise ParameterError(f"{what} is {shown(name)}: it must be a name", field=what)
    points: tuple[EntryPoint, ...] = tuple(entry_points(group=group))
    for point in points:
        if name in (point.name, point.value):  # the recorded name of a class is its dotted path
            return _loaded(point, what)
    if ":" in name:
        return _imported(name, what, references)
    registered = [point.name for point in points]
    near = get_close_matches(name, [*known, *registered], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join([*known, *sorted(registered)])}"
    raise ParameterError(f"{what} is {shown(name)}, which does not exist; {hint}", field=what)


def _loaded(point: EntryPoint, what: str) -> Any:
    try:
        return point.load()
    except Exception as error:  # importing runs the code of another package
        raise ParameterError(
            f"{what} is {point.name!r}, registered as {point.value}: {_why(error)}", field=what
        ) from None


def _imported(name: str, what: str, references: References) -> Any:
    if references == "refuse":
        raise ParameterError(f"{what} is {shown(name)}, a dotted path, which is not imported from here", field=what)
    if not _DOTTED.fullmatch(name):
        raise ParameterError(f"{what} is {shown(name)}: write package.module:Class", field=what)
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # the user typed the name: a file in the current folder will do
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # importing runs the code of another package
        raise ParameterError(f"{what} is {shown(name)}, which cannot be imported: {_why(error)}", field=what) from None


def _why(error: Exception) -> str:
    """Return the message of an error about a name, and the type alone of any other."""
    is_about_a_name = isinstance(error, ImportError | AttributeError | TravasError)
    return (str(error) if is_about_a_name else "") or type(error).__name__


def options_of(maker: Maker) -> dict[str, bool]:
    """Return the options of a mechanism, and whether each is required."""
    parameters = inspect.signature(maker).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p.default is p.empty for p in parameters if p.name not in _GIVEN and p.kind in kinds}


def refuse_unknown(name: str, maker: Maker, stated: Mapping[str, Any]) -> None:
    """Raise ParameterError if the mechanism does not have an option that is set."""
    available = options_of(maker)
    for option in stated:
        if option not in available:
            raise ParameterError(
                f"{name} has no option {str(option)[:60]}; remove it (its options: {', '.join(available) or 'none'})",
                field=str(option),
            )
