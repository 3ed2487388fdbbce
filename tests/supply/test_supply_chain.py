"""What is always installed is under compatible licences, no extra is forgotten, and every build gives the same bytes."""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
STRONG_COPYLEFT = re.compile(r"\bA?GPL|(?<!Lesser )General Public License")


def needed(name: str) -> dict[str, str]:
    """The packages that one needs without extras, itself included, each with what its metadata say about its licence."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        one = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            package = distribution(one)
        except PackageNotFoundError:  # for another system
            continue
        if one not in found:
            about = package.metadata
            stated = [about["License-Expression"] or "", *(about.get_all("Classifier") or [])]
            found[one] = " ".join(text for text in stated if not text.startswith("Topic"))
            needs = [Requirement(text) for text in package.requires or ()]
            waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


def test_nothing_that_is_always_needed_is_under_a_strong_copyleft() -> None:
    assert [name for name, licence in needed("travas").items() if STRONG_COPYLEFT.search(licence)] == []
    assert len(needed("travas")) > 10 and STRONG_COPYLEFT.search(needed("pm4py")["pm4py"])


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


# ---- Third-party files in pages with maps: each is the one that was checked, with its licences next to it.


FOLDER = ROOT / "src" / "travas" / "plots" / "browser"


def test_graphviz_is_the_file_that_was_checked_and_its_licences_are_in_the_wheel() -> None:
    stated = re.search(r"SHA-256: `([0-9a-f]{64})`", (FOLDER / "NOTICE.md").read_text())
    assert stated and hashlib.sha256((FOLDER / "graphviz.js").read_bytes()).hexdigest() == stated[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    in_wheel = {path.name for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    assert {"LICENSE", "NOTICE.md", "LICENSE-graphviz.txt", "LICENSE-hpcc-js-wasm.txt"} <= in_wheel
