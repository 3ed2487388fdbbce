"""The help of every command is written for people: values have names, not Python types."""

from __future__ import annotations

import pytest
import typer
from typer.core import TyperGroup

from conftest import Run
from travas.cli.main import app

ROOT = typer.main.get_command(app)
assert isinstance(ROOT, TyperGroup)
BUDGET = ROOT.commands["budget"]
assert isinstance(BUDGET, TyperGroup)
COMMANDS = [[], *([name] for name in ROOT.commands), *(["budget", name] for name in BUDGET.commands)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_names_values_instead_of_types(command: list[str], travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = travas(*command, "--help").out
    assert "--help" in text
    for odd in ("<bool>", "<list", "[[", "Needs travas."):
        assert odd not in text, odd
    options = text.partition("Options")[2]
    assert "<str>" not in options and "<path>" not in options


def test_the_help_groups_all_commands_by_purpose(travas: Run) -> None:
    text = travas("--help").out
    panels = (
        "─ Start ─",
        "─ Release ─",
        "─ Check a release ─",
        "─ Examine the original log (confidential) ─",
        "─ Research ─",
    )
    places = [text.index(panel) for panel in panels]
    assert places == sorted(places) and "─ Commands ─" not in text
