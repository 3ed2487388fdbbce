"""The surface is what the documents say, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import travas
from travas import cli

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("polars", "pandas", "pyarrow", "matplotlib", "pm4py", "scipy")


def test_all_is_sorted_and_true() -> None:
    assert travas.__all__ == sorted(travas.__all__)
    for name in travas.__all__:
        assert getattr(travas, name) is not None


@pytest.mark.parametrize("statement", ["import travas", "import travas.cli"])
def test_heavy_things_are_imported_where_they_are_used(statement: str) -> None:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_arrows_point_one_way() -> None:
    """errors ← privacy ← noise, variants ← release ← mechanisms ← anonymize ← cli"""
    forbidden = {
        "errors": ["privacy", "noise", "variants", "release", "mechanisms", "logs", "engines", "cli"],
        "privacy": ["noise", "variants", "release", "mechanisms", "logs", "engines", "cli"],
        "noise": ["variants", "release", "mechanisms", "logs", "engines", "cli"],
        "variants": ["noise", "release", "mechanisms", "logs", "engines", "cli"],
    }
    for module, others in forbidden.items():
        text = (ROOT / "src/travas" / f"{module}.py").read_text()
        for other in others:
            assert f"from .{other}" not in text
    for path in (ROOT / "src/travas/mechanisms").glob("*.py"):
        assert "logs" not in path.read_text() and "engines" not in path.read_text()


def test_randomness_has_one_door() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        if path.name not in ("noise.py",):
            text = path.read_text()
            assert "np.random" not in text and "import random" not in text and "import secrets" not in text


def test_every_command_is_in_the_readme_or_docs() -> None:
    pages = "\n".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    for command in cli.app.registered_commands:
        assert command.callback is not None and command.callback.__doc__
        assert f"travas {command.callback.__name__}" in pages


def test_links_in_the_documents_lead_somewhere() -> None:
    import re

    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"
