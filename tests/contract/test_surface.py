"""The surface is what the documents say, and importing it is cheap."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import travas as package
from conftest import Run, unmeasured
from travas.cli import main as cli
from travas.outputs.example import write_hospital_log

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "nicegui", "numpy", "polars", "pandas", "pyarrow", "matplotlib", "pm4py", "scipy", "sqlite3", "dp_accounting",
    "ibis", "duckdb", "psycopg", "pyspark",
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
    doors = {"privacy/noise.py", "synthesis/randomness.py", "web/access.py"}
    package_folder = ROOT / "src" / "travas"
    for path in package_folder.rglob("*.py"):
        if path.relative_to(package_folder).as_posix() not in doors:
            text = path.read_text()
            assert "np.random" not in text and "import random" not in text
            assert "import secrets" not in text or path.parent.name == "web"  # the keys of the web app


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


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/quickstart.md",
        "docs/promise.md",
        "docs/metrics.md",
        "docs/budgets.md",
        "docs/experiments.md",
        "docs/report.md",
        "docs/abstractions.md",
        "docs/forecast.md",
        "docs/mechanisms/ladder.md",
        "docs/unit.md",
        "docs/synthesis.md",
        "docs/periods.md",
        "docs/policy.md",
        "docs/map.md",
        "docs/notebooks.md",
    ],
)
def test_what_the_documents_show_runs(page: str, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every console line and every Python block, in the order of the page, in an empty folder with the demo's log."""
    write_hospital_log(tmp_path / "hospital.csv")
    monkeypatch.chdir(tmp_path)
    if page in ("docs/promise.md", "docs/metrics.md", "docs/report.md"):
        for out in ("release.xes.gz", "release.json"):
            assert travas("anonymize", "hospital.csv", "--epsilon", 1, "--delta", "1e-6", "-o", out).code == 0
    for name, grid in re.findall(r"```toml\n# (\S+)\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL):
        (tmp_path / name).write_text(grid)
    blocks = re.findall(r"```(console|python)\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, page, "exec"), {})
            continue
        for line in block.splitlines():
            ran = travas(*shlex.split(line)[1:])
            assert ran.code == 0, f"{line}: {ran.err}"


def test_links_in_the_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"
