"""What travas is made of is known, its licences are compatible, and its wheel is the same on every build."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bill_of_materials import COPYLEFT, EXTRAS, bill, components, licence_of, licences

ROOT = Path(__file__).resolve().parents[2]
COPYLEFT_BY_CHOICE = {"pm4py", "cvxopt"}
"""Only with the extra `models`, behind one adapter file: nothing of it is imported otherwise."""


def test_every_component_has_a_known_licence() -> None:
    unknown = {name for name, package in components(EXTRAS).items() if licence_of(package) == "unknown"}
    assert unknown == set()


def test_nothing_that_is_always_needed_is_under_a_strong_copyleft() -> None:
    def copyleft(extras: tuple[str, ...]) -> set[str]:
        return {name for name, package in components(extras).items() if COPYLEFT.search(licence_of(package))}

    assert copyleft(()) == set()
    assert copyleft(tuple(extra for extra in EXTRAS if extra != "models")) == set()
    assert copyleft(EXTRAS) <= COPYLEFT_BY_CHOICE


def test_the_bill_of_materials_is_complete_and_always_the_same() -> None:
    made = bill()
    assert made == bill() and json.loads(json.dumps(made)) == made
    assert made["bomFormat"] == "CycloneDX" and made["metadata"]["component"]["name"] == "travas"
    names = {part["name"] for part in made["components"]}
    assert {"numpy", "polars", "lxml", "typer", "rich", "jinja2", "attrs", "nicegui", "pm4py"} <= names
    references = {part["bom-ref"] for part in made["components"]} | {made["metadata"]["component"]["bom-ref"]}
    assert {edge["ref"] for edge in made["dependencies"]} == references
    assert all(set(edge["dependsOn"]) <= references for edge in made["dependencies"])


def test_the_list_of_licences_names_every_direct_dependency() -> None:
    page, now = (ROOT / "docs" / "supply-chain.md").read_text(), licences()
    direct = ("attrs", "numpy", "polars", "lxml", "typer", "rich", "jinja2", "pandas", "pm4py", "nicegui", "matplotlib")
    for name in direct:
        assert f"| {name} |" in page and f"| {name} |" in now


@pytest.mark.slow
def test_the_wheel_is_reproducible(tmp_path: Path) -> None:
    """Two builds in two folders, at two times of day: the same bytes."""
    digests = []
    for number in range(2):
        folder = tmp_path / str(number)
        for name in ("src", "pyproject.toml", "README.md", "LICENSE"):
            source = ROOT / name
            ignored = shutil.ignore_patterns("__pycache__")
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                folder.mkdir(exist_ok=True)
                shutil.copy(source, folder / name)
        words = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            str(folder / "out"),
            str(folder),
        ]
        settings = os.environ | {"SOURCE_DATE_EPOCH": "1700000000", "SETUPTOOLS_SCM_PRETEND_VERSION": "0.1.0"}
        subprocess.run(words, check=True, env=settings, capture_output=True)
        (wheel,) = (folder / "out").glob("*.whl")
        digests.append((wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest()))
    assert digests[0] == digests[1]
