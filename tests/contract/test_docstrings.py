"""Every public function documents its parameters and what it returns: the Python reference is made from it."""

from __future__ import annotations

import inspect
import re

import pytest

import travas


@pytest.mark.parametrize("name", [name for name in travas.__all__ if inspect.isfunction(getattr(travas, name))])
def test_a_public_function_documents_its_parameters_and_result(name: str) -> None:
    function = getattr(travas, name)
    text = inspect.cleandoc(function.__doc__ or "")
    sections = dict(re.findall(r"^(\w+):\n((?: .*\n?|\n)+)", text, flags=re.MULTILINE))
    documented = re.findall(r"^ {4}\**(\w+):", sections.get("Args", ""), flags=re.MULTILINE)
    assert documented == list(inspect.signature(function).parameters)
    assert function.__annotations__["return"] == "None" or {"Returns", "Yields"} & set(sections)


def test_completion_offers_public_names_only() -> None:
    assert [name for name in dir(travas) if not name.startswith("__")] == sorted(set(travas.__all__) - {"__version__"})
