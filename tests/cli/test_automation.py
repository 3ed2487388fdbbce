"""Release projects without people: errors for machines, quiet runs, and the Python of docs/every-month.md."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from conftest import Run
from projects import Start

ROOT = Path(__file__).resolve().parents[2]


def test_errors_are_one_object_with_stable_keys(travas: Run, start: Start) -> None:
    start()
    ran = travas("release", "--period", "2026-01", "--set", "epsilon=3", "--json")
    keys = {"code", "kind", "message", "field", "charged", "confidential"}
    error = json.loads(ran.out)["error"]
    assert set(error) == keys and error["code"] == ran.code == 3 and error["kind"] == "BudgetError"
    assert error["message"] in ran.err and error["charged"] is False
    page = (ROOT / "docs" / "every-month.md").read_text()
    assert all(f"| `{key}` |" in page for key in keys)
    error = json.loads(travas("release", "--period", "x", "--json").out)["error"]
    assert error["field"] == "period"
    error = json.loads(travas("release", "--no-such-option", "--json").out)["error"]
    assert error["code"] == 2 and "--no-such-option" in error["message"]
    ran = travas("release", "--period", "2026-01", "--json")
    assert json.loads(ran.out)["period"] == "2026-01" and ran.err == ""


def test_quiet_prints_nothing_but_errors(travas: Run, start: Start) -> None:
    assert start("--quiet").out == ""
    ran = travas("release", "--period", "2026-01", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    ran = travas("release", "--period", "2026-01", "--quiet")
    assert ran.code == 2 and ran.out == "" and len(ran.err.splitlines()) == 1
    assert "Released" in travas("release", "--period", "2026-02").out


def test_the_python_recipe_runs(start: Start, folder: Path) -> None:
    start()
    scripts = folder / "bin"
    scripts.mkdir()
    script = scripts / "travas"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m travas "$@"\n')
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    page = (ROOT / "docs" / "every-month.md").read_text()
    recipe = page.partition("### Python")[2].partition("```python\n")[2].partition("```")[0]
    for expected in (str(Path("releases") / "2026-02" / "release.json"), "2 "):
        ran = subprocess.run(
            [sys.executable, "-c", recipe], capture_output=True, text=True, check=True, env=environment
        )
        assert ran.stdout.startswith(expected) and "\x1b" not in ran.stdout + ran.stderr
