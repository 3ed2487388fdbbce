"""Release projects without people: errors for machines, quiet runs, and the recipes of docs/every-month.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

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


def recipes() -> dict[str, str]:
    """The code blocks of the recipes, by their headings."""
    page = (ROOT / "docs" / "every-month.md").read_text().partition("## Without a terminal")[2]
    return dict(re.findall(r"### ([^\n]+)\n\n(?:<!--[^\n]*\n)?```\w+\n(.*?)```", page, flags=re.DOTALL))


def command_of(block: str) -> list[str]:
    """The words of the one travas command of a recipe, with the template of Airflow filled in."""
    [line] = re.findall(
        r"travas release[^\n\"]*", block.replace("{{ data_interval_start.strftime('%Y-%m') }}", "2026-01")
    )
    return shlex.split(line)[1:]


@pytest.mark.parametrize("name", ["cron", "systemd timer", "Airflow", "GitHub Actions"])
def test_the_command_of_a_recipe_runs(
    name: str, travas: Run, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(every="month")
    monkeypatch.setattr("travas.settings.series.datetime", _March)
    ran = travas(*command_of(recipes()[name]))
    assert (ran.code, ran.err) == (0, "")
    month = "2026-01" if name == "Airflow" else "2026-02"
    assert (folder / "releases" / month / "report.html").exists()
    if "--quiet" in command_of(recipes()[name]):
        assert ran.out == ""
    else:
        assert json.loads(ran.out)["period"] == month


class _March(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> _March:
        return cls(2026, 3, 10, tzinfo=tz)


def test_the_python_recipe_runs(start: Start, folder: Path) -> None:
    start()
    scripts = folder / "bin"
    scripts.mkdir()
    script = scripts / "travas"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m travas "$@"\n')
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for expected in (str(Path("releases") / "2026-02" / "release.json"), "2 "):
        ran = subprocess.run(
            [sys.executable, "-c", recipes()["Python"]], capture_output=True, text=True, check=True, env=environment
        )
        assert ran.stdout.startswith(expected) and "\x1b" not in ran.stdout + ran.stderr
