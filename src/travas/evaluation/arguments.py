"""Checks of arguments that are lists, before a log is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ..errors import ParameterError, naming, shown
from ..model.abstraction import Abstraction, parse_ladder

Item = TypeVar("Item")


def checked_items(field: str, values: Iterable[Item], kind: type[Any], example: str) -> tuple[Item, ...]:
    """Return the items of a list, or of anything else that can be iterated once.

    Args:
        field: The name of the argument.
        values: What the user gave.
        kind: The type of an item.
        example: What to use instead, for the message.

    Returns:
        The items, at least one.

    Raises:
        ParameterError: It is not a list, it is empty, or an item has the wrong type.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{field} is {shown(values)}; use {example}", field=field)
    items = tuple(values)
    if not items:
        raise ParameterError(f"{field} is empty; use {example}", field=field)
    for item in items:
        if not isinstance(item, kind):
            raise ParameterError(f"{field} contains {shown(item)}; use {example}", field=field)
    return items


def checked_abstractions(abstractions: str | Iterable[Abstraction]) -> tuple[Abstraction, ...]:
    """Return abstractions from a list, or from their names separated by commas.

    Args:
        abstractions: What the user gave.

    Returns:
        The abstractions, at least one.

    Raises:
        ParameterError: A name does not exist, or it is not a list of abstractions.
    """
    if isinstance(abstractions, str):
        with naming("abstractions"):
            return parse_ladder(abstractions)
    example = "their names in one text, such as 'full,prefix:4', or a list of Abstraction"
    return checked_items("abstractions", abstractions, Abstraction, example)
