"""No module imports itself through others, and the trusted base needs numpy only. Imports inside functions count."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import grimp


def cycle_of(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of one cycle, or none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_there_is_no_cycle_of_imports() -> None:
    graph = grimp.build_graph("travas", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert cycle_of(imports) == []


def test_the_trusted_base_imports_the_standard_library_and_numpy_only() -> None:
    graph = grimp.build_graph("travas", include_external_packages=True, cache_dir=None)
    used = graph.find_upstream_modules("travas.trusted", as_package=True)
    packages = {".".join(name.split(".")[:2]) if name.startswith("travas.") else name.split(".")[0] for name in used}
    assert "fractions" in packages
    assert packages - sys.stdlib_module_names == {"numpy", "travas.errors"}
