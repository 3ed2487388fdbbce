"""No module, package, class or type has the name of another, and what the public interface takes and returns is public."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import travas

PACKAGE = Path(travas.__file__).parent


NAMED_AFTER_THE_PAPER = {"travas": ["", "mechanisms/travas"]}
"""The package and its first mechanism, which is called so where it was published."""


def module_names() -> dict[str, list[str]]:
    """The modules and packages by the last part of their names; the folder of a package counts as its ``__init__``."""
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.parent if path.stem == "__init__" else path.with_suffix("")
        if module.name != "__main__":
            paths[module.name].append(module.relative_to(PACKAGE).as_posix().removeprefix("."))
    return paths


def test_no_module_or_package_has_the_name_of_another() -> None:
    names = module_names()
    assert {"mechanisms", "steps", "optimal", "pipeline"} <= set(names)
    assert {name: paths for name, paths in names.items() if len(paths) > 1} == NAMED_AFTER_THE_PAPER


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
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in types_of(ast.parse(path.read_text())):
            modules[name].append(path.relative_to(PACKAGE).as_posix())
    assert len(modules) > 150
    assert {name: files for name, files in modules.items() if len(files) > 1} == {}


def annotations_of(value: Any) -> Iterator[tuple[str, str]]:
    """What a public function, or the public methods, properties and fields of a class take and return."""
    if inspect.isfunction(value):
        yield from ((f"{value.__name__}({name})", text) for name, text in value.__annotations__.items())
    for base in value.__mro__ if inspect.isclass(value) else ():
        if not base.__module__.startswith("travas."):
            continue
        for name, member in (inspect.get_annotations(base) | vars(base)).items():
            where = f"{value.__name__}.{name}"
            if name.startswith("_"):
                continue
            if name in inspect.get_annotations(base):
                yield where, str(inspect.get_annotations(base)[name])
            elif function := _function(member):
                yield from ((f"{where}({part})", str(text)) for part, text in function.__annotations__.items())


def _function(member: Any) -> Any:
    member = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    return inspect.unwrap(member) if inspect.isfunction(member) else None


def classes_and_aliases() -> tuple[set[str], dict[str, str]]:
    """The names of all classes of the package, and what each alias of a type stands for. Names are unique."""
    classes: set[str] = set()
    aliases: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        names = set(types_of(tree))
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes.add(node.name)
            elif (
                isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name) and target.id in names
            ):
                aliases[target.id] = ast.unparse(node.value)
    return classes, aliases


def words_of(annotation: str, aliases: dict[str, str]) -> set[str]:
    """The names in an annotation, with those that an alias of no public name stands for."""
    words = set(re.findall(r"\w+", re.sub(r"'[^']*'|\"[^\"]*\"", "", annotation)))
    hidden = (words & set(aliases)) - set(travas.__all__)
    return words.union(*(words_of(aliases[name], aliases) for name in hidden))


def types_in_the_interface() -> dict[str, list[str]]:
    """The classes of the package that the public interface takes or returns, with the members that do."""
    classes, aliases = classes_and_aliases()
    own = classes | {"Activity", "Trace"}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for name in travas.__all__:
        for member, annotation in annotations_of(getattr(travas, name)):
            for word in words_of(annotation, aliases) & own:
                members[word].append(member)
    return members


def test_what_the_public_interface_takes_and_returns_is_public() -> None:
    used = types_in_the_interface()
    assert {"Release", "Variants", "Verified", "Estimate", "Trace", "Noise", "Stage", "GaussianTable"} <= set(used)
    assert {name: members for name, members in used.items() if name not in travas.__all__} == {}
