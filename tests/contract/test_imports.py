"""No module imports itself through others: imports inside functions count, imports for type checking do not."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


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
    assert len(imports) > 100
    assert "travas.budget.migration" in imports["travas.budget.ledger_file"]
    assert cycle_of(imports) == []


@pytest.mark.parametrize(
    ("imports", "cycle"),
    [
        ({"a": {"b"}, "b": {"c"}}, set()),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, {"b", "c"}),
    ],
)
def test_a_cycle_would_be_found(imports: dict[str, set[str]], cycle: set[str]) -> None:
    assert set(cycle_of(imports)) == cycle
