"""Third-party files in pages with maps: each is the one that was checked, with its licences next to it."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "travas" / "plots" / "browser"
OURS = {"map_worker.js", "map.js"}
NOTICE = (FOLDER / "NOTICE.md").read_text()


def test_graphviz_is_the_file_that_was_checked() -> None:
    stated = re.search(r"SHA-256: `([0-9a-f]{64})`", NOTICE)
    assert stated is not None
    assert hashlib.sha256((FOLDER / "graphviz.js").read_bytes()).hexdigest() == stated[1]


def test_every_script_of_others_has_a_notice() -> None:
    others = {path.name for path in FOLDER.glob("*.js")} - OURS
    assert others == {"graphviz.js"} and all(f"`{name}`" in NOTICE for name in others)


def test_licences_are_there_and_in_the_wheel() -> None:
    graphviz, package = (FOLDER / f"LICENSE-{name}.txt" for name in ("graphviz", "hpcc-js-wasm"))
    assert "Eclipse Public License - v 2.0" in graphviz.read_text() and "Apache License" in package.read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    in_wheel = {path.name for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    assert {"LICENSE", "NOTICE.md", graphviz.name, package.name} <= in_wheel
    assert {"Apache-2.0", "EPL-2.0", "MIT"} <= set(project["license"].split(" AND "))
