"""Every state of the steps is accessible, in light and dark: no violation that axe finds, and controls have names."""

from __future__ import annotations

from typing import Any

from browser import Server
from web_flow import card, heading, name_data_set, opened, press, to_columns, violations

pytest_plugins = ["web_fixtures"]


def unnamed(tab: Any) -> list[str]:
    """The controls without a name, by the browser's own accessibility tree."""
    roles = ("button", "checkbox", "combobox", "radio", "slider", "textbox", "link")
    tree = tab.locator(".card").aria_snapshot()
    lines = [line.strip().removeprefix("- ") for line in tree.splitlines()]
    return [line for line in lines if line.split(":")[0].split(" [")[0] in roles]


def test_no_step_has_a_violation(browser: Any, server: Server) -> None:
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    tab = opened(context, server)
    found: dict[str, list[str]] = {}

    def check(state: str) -> None:
        found[state] = [*violations(tab), *unnamed(tab)]

    check("log")
    press(tab, "Try it with a made-up hospital log")
    tab.get_by_text("What the doctor found").wait_for()
    check("findings")
    to_columns(tab)
    tab.get_by_role("gridcell").first.wait_for()
    check("columns")
    press(tab, "Show the values")
    tab.get_by_role("gridcell", name="register").first.wait_for()
    tab.get_by_text("More: order").click()
    tab.get_by_label("Duplicate events").wait_for()
    check("values")
    press(tab, "Continue")
    heading(tab, "Protect")
    tab.get_by_role("group", name="keep-probability curve").locator("svg").wait_for()
    check("protect")
    card(tab, "One person")
    tab.get_by_text("Generalise traces before counting").click()
    tab.get_by_role("button", name="Fold repetitions").click()
    tab.get_by_text("More: mechanism").click()
    tab.get_by_label("First day of the period").wait_for()
    press(tab, "Continue")
    tab.get_by_role("alert").first.wait_for()
    check("protect, all options")
    card(tab, "One case")
    for kind in ("Synthetic log", "Process map"):
        card(tab, kind)
        tab.get_by_text("How exact it is depends on the number of cases").wait_for()
        check(kind)
    press(tab, "Continue")
    tab.get_by_role("heading", name="Recommendation").wait_for()
    check("forecast")
    press(tab, "Continue")
    heading(tab, "Confirm")
    tab.get_by_role("button", name="without a budget").wait_for()
    check("confirm")
    name_data_set(tab)
    tab.get_by_text("Set a budget").first.click()
    tab.get_by_label("ε of all releases").fill("3")
    tab.get_by_label("δ of all releases").fill("1e-5")
    press(tab, "Set this budget")
    tab.get_by_role("img", name="0% spent").wait_for()
    check("budget")
    lines = sorted({f"{state}: {problem}" for state, problems in found.items() for problem in problems})
    assert not lines, "\n".join(lines)
    context.close()
