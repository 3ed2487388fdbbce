"""The surface is what the documents say, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import travas as package
from conftest import unmeasured
from travas.cli import main as cli

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "nicegui", "polars", "pandas", "pyarrow", "pm4py", "scipy", "sqlite3", "dp_accounting",
    "duckdb", "adbc_driver_manager", "pyspark",
)  # fmt: skip


def test_all_is_sorted_and_true() -> None:
    assert package.__all__ == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None


@pytest.mark.parametrize("statement", ["import travas", "import travas; travas.read", "import travas.cli.main"])
def test_heavy_things_are_imported_where_they_are_used(statement: str) -> None:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    words = [sys.executable, "-c", script]
    loaded = subprocess.run(words, capture_output=True, text=True, check=True, env=unmeasured()).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_randomness_has_one_source() -> None:
    """One for noise, one for traces generated from noisy measurements, and one for the tokens of the web app."""
    doors = {"trusted/samplers.py", "synthesis/randomness.py", "web/access.py"}
    package_folder = ROOT / "src" / "travas"
    for path in package_folder.rglob("*.py"):
        if path.relative_to(package_folder).as_posix() not in doors:
            text = path.read_text()
            assert "np.random" not in text and "import random" not in text
            assert "import secrets" not in text or "web" in path.parts  # the keys of the web app


def test_every_command_is_in_the_readme_or_docs() -> None:
    pages = "\n".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    groups = [("travas", cli.app)] + [
        (f"travas {group.name}", group.typer_instance) for group in cli.app.registered_groups
    ]
    for prefix, app in groups:
        assert app is not None
        for command in app.registered_commands:
            assert command.callback is not None and command.callback.__doc__
            assert f"{prefix} {command.name or command.callback.__name__}" in pages
