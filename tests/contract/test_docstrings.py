"""Every public function and method documents its parameters and what it returns, for the Python reference."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import travas

NOTHING = ("None", "Iterator[None]")  # the second is a context manager without a value


def functions_of(owner: type) -> dict[str, Any]:
    """The public functions that a class itself defines, class methods included; properties and fields are not."""
    members = {name: getattr(member, "__func__", member) for name, member in vars(owner).items()}
    return {
        name: inspect.unwrap(member)
        for name, member in members.items()
        if inspect.isfunction(member) and not name.startswith("_") and name not in inspect.get_annotations(owner)
    }


def public_functions() -> Iterator[tuple[str, Any]]:
    """The public functions, and the methods of public classes where they are first defined: overrides inherit the text."""
    for public in travas.__all__:
        value = getattr(travas, public)
        if inspect.isfunction(value):
            yield public, value
        bases = value.__mro__ if inspect.isclass(value) else ()
        own = [base for base in bases if base.__module__.partition(".")[0] == "travas"]
        first = {name: (base, made) for base in own for name, made in functions_of(base).items()}
        yield from ((f"{base.__name__}.{name}", made) for name, (base, made) in first.items())


def lacking(function: Callable[..., Any]) -> list[str]:
    """What the docstring of a function does not say."""
    text = inspect.cleandoc(function.__doc__ or "")
    sections = dict(re.findall(r"^(\w+):\n((?: .*\n?|\n)+)", text, flags=re.MULTILINE))
    documented = re.findall(r"^ {4}\**(\w+):", sections.get("Args", ""), flags=re.MULTILINE)
    stated = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    returned = function.__annotations__["return"]
    missing = [] if text else ["docstring"]
    missing += [] if documented == stated else [f"Args: {', '.join(stated)}"]
    return missing + ([] if returned in NOTHING or {"Returns", "Yields"} & set(sections) else ["Returns"])


def test_public_functions_document_their_parameters_and_results() -> None:
    functions = dict(public_functions())
    assert len(functions) > 150 and {"anonymize", "Mechanism.estimate", "Variants.from_mapping"} <= set(functions)
    assert {name: missing for name, function in functions.items() if (missing := lacking(function))} == {}


def undocumented(first: int) -> int:
    return first


def without_args(first: int) -> int:
    """Do something.

    Returns:
        A number.
    """
    return first


def with_another_name(first: int) -> int:
    """Do something.

    Args:
        second: A number.

    Returns:
        A number.
    """
    return first


def without_returns(first: int) -> int:
    """Do something.

    Args:
        first: A number.
    """
    return first


def complete(first: int, *more: int) -> int:
    """Do something.

    Args:
        first: A number.
        more: Other numbers, with a text that takes
            two lines.

    Returns:
        A number.
    """
    return first + sum(more)


@pytest.mark.parametrize(
    ("function", "missing"),
    [
        (undocumented, ["docstring", "Args: first", "Returns"]),
        (without_args, ["Args: first"]),
        (with_another_name, ["Args: first"]),
        (without_returns, ["Returns"]),
        (complete, []),
    ],
)
def test_what_a_docstring_lacks_is_noticed(function: Callable[..., Any], missing: list[str]) -> None:
    assert lacking(function) == missing
