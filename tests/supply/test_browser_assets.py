"""Third-party files in pages with maps: each is the one that was checked, with its licences next to it."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "travas" / "plots" / "browser"


def test_graphviz_is_the_file_that_was_checked_and_its_licences_are_in_the_wheel() -> None:
    stated = re.search(r"SHA-256: `([0-9a-f]{64})`", (FOLDER / "NOTICE.md").read_text())
    assert stated and hashlib.sha256((FOLDER / "graphviz.js").read_bytes()).hexdigest() == stated[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    in_wheel = {path.name for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    assert {"LICENSE", "NOTICE.md", "LICENSE-graphviz.txt", "LICENSE-hpcc-js-wasm.txt"} <= in_wheel
