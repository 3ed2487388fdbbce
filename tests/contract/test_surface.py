"""The surface of the package: its public names, what importing it costs, no cycles, and where randomness comes from."""

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from conftest import unmeasured

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "starlette", "uvicorn", "polars", "pandas", "pyarrow", "pm4py", "scipy", "sqlite3", "dp_accounting",
    "duckdb", "adbc_driver_manager", "pyspark",
)  # fmt: skip


def test_there_is_no_cycle_of_imports() -> None:
    """Imports inside functions count."""
    graph = grimp.build_graph("travas", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len([*TopologicalSorter(imports).static_order()]) == len(imports)  # a cycle is an error


@pytest.mark.parametrize("statement", ["import travas", "import travas; travas.read", "import travas.cli.main"])
def test_heavy_things_are_imported_where_they_are_used(statement: str) -> None:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    words = [sys.executable, "-c", script]
    loaded = subprocess.run(words, capture_output=True, text=True, check=True, env=unmeasured()).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_randomness_has_one_source() -> None:
    """One for noise, one for traces generated from noisy measurements."""
    doors = {"trusted/samplers.py", "synthesis/randomness.py"}
    package_folder = ROOT / "src" / "travas"
    for path in package_folder.rglob("*.py"):
        if path.relative_to(package_folder).as_posix() not in doors:
            text = path.read_text()
            assert "np.random" not in text and "import random" not in text
            assert "import secrets" not in text or "web" in path.parts  # the keys of the web app
