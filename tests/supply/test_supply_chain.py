"""What travas is made of is known, its licences are compatible, and every build of a commit gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bill_of_materials import COPYLEFT, EXTRAS, bill, components, licence_of

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


@pytest.mark.slow
def test_wheel_and_source_distribution_are_reproducible(tmp_path: Path) -> None:
    """Two clones of one commit, with different permissions, time zone and language: the same bytes."""
    built = []
    for name, umask, zone, language in (("one", 0o022, "UTC", "C.UTF-8"), ("a longer name", 0o077, "Asia/Tokyo", "C")):
        subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / name], check=True, umask=umask)
        settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SOURCE_DATE_EPOCH")}
        settings |= {"TZ": zone, "LC_ALL": language}
        words = ["make", "wheel", f"PYTHON={sys.executable}"]
        subprocess.run(words, cwd=tmp_path / name, check=True, env=settings, umask=umask, capture_output=True)
        made = sorted((tmp_path / name / "dist").iterdir())
        built.append([(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in made])
    assert [Path(name).suffix for name, _ in built[0]] == [".whl", ".gz"]
    assert built[0] == built[1]
