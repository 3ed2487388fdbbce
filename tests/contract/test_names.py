"""No module and no class has the name of another, and what a public function returns is public."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path

import travas

PACKAGE = Path(travas.__file__).parent


def test_no_module_has_the_name_of_another() -> None:
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        if path.stem not in {"__init__", "__main__"}:
            paths[path.stem].append(path.relative_to(PACKAGE).as_posix())
    assert len(paths) > 100
    assert {name: found for name, found in paths.items() if len(found) > 1} == {}


def test_no_class_has_the_name_of_another() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def returned_classes() -> dict[str, str]:
    """Classes of the package that the annotations of public functions return, with one of these."""
    own = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(), flags=re.MULTILINE)
    }
    returned: dict[str, str] = {}
    for name in travas.__all__:
        function = getattr(travas, name)
        if inspect.isfunction(function):
            annotation = str(function.__annotations__.get("return", ""))
            returned |= {word: name for word in re.findall(r"\w+", annotation) if word in own}
    return returned


def test_what_public_functions_return_is_public() -> None:
    returned = returned_classes()
    assert {"Release", "Variants", "Verified"} <= set(returned)
    assert {name: function for name, function in returned.items() if name not in travas.__all__} == {}
