"""The help groups the commands."""

from __future__ import annotations

from conftest import Run


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
