"""No module, class or type has the name of another, and what the public interface returns is public."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import travas
from travas import Mechanism

PACKAGE = Path(travas.__file__).parent


def test_no_module_has_the_name_of_another() -> None:
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        if path.stem not in {"__init__", "__main__"}:
            paths[path.stem].append(path.relative_to(PACKAGE).as_posix())
    assert len(paths) > 100
    assert {name: found for name, found in paths.items() if len(found) > 1} == {}


def types_of(tree: ast.Module) -> Iterator[str]:
    """The classes and type aliases of a module; constants are written in capitals."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name


def test_no_type_has_the_name_of_another() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in types_of(ast.parse(path.read_text())):
            places[name].append(path.relative_to(PACKAGE).as_posix())
    assert len(places) > 150
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def returned_by(value: Any) -> Iterator[tuple[str, str]]:
    """The annotations of what a public function returns, or the public methods, properties and fields of a class."""
    if inspect.isfunction(value):
        yield value.__name__, str(value.__annotations__.get("return", ""))
    for base in value.__mro__ if inspect.isclass(value) else ():
        if not base.__module__.startswith("travas."):
            continue
        members = {name: _function(member) for name, member in vars(base).items()}
        methods = {name: str(method.__annotations__.get("return", "")) for name, method in members.items() if method}
        for name, annotation in (inspect.get_annotations(base) | methods).items():
            if not name.startswith("_"):
                yield f"{value.__name__}.{name}", str(annotation)


def _function(member: Any) -> Any:
    member = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    return inspect.unwrap(member) if inspect.isfunction(member) else None


def classes_in(*folders: str) -> set[str]:
    """The names of the classes defined in these folders of the package."""
    paths = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    return {name for path in paths for name in re.findall(r"^class (\w+)", path.read_text(), flags=re.MULTILINE)}


def returned_types() -> dict[str, list[str]]:
    """The types of the package that the public interface returns, with the places that do. Names are unique."""
    own = classes_in("") | {"Activity", "Trace"}
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name in travas.__all__:
        for place, annotation in returned_by(getattr(travas, name)):
            for word in set(re.findall(r"\w+", annotation)) & own:
                places[word].append(place)
    return places


def test_what_the_public_interface_returns_is_public() -> None:
    """Parts of the trusted base that no mechanism returns itself, such as a stage of its noise, are left to the base."""
    returned = returned_types()
    assert {"Release", "Variants", "Verified", "Estimate", "Trace", "Noise"} <= set(returned)
    public = {name: getattr(travas, name) for name in travas.__all__}
    mechanisms = {name for name, value in public.items() if inspect.isclass(value) and issubclass(value, Mechanism)}
    inner = {
        name
        for name in classes_in("privacy")
        if not any(place.partition(".")[0] in mechanisms for place in returned.get(name, ()))
    }
    assert {name: places for name, places in returned.items() if name not in {*public, *inner}} == {}
