"""Budgets: the accounts of the ledger, and what was charged to each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ...budget.account import Account
from ...trusted.numbers import as_text
from ..frame import link
from ..gauges import gauge
from ..parts import clock, heading, note, table, title, when_ready

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    title("Budgets")
    note(
        "All data about the same people belong to one data set, because what is learnt from its releases adds up. "
        "A budget is set once and cannot be changed; a charge is never taken back."
    )
    when_ready(page, lambda: asyncio.to_thread(page.ledger.accounts), lambda accounts: _show(page, accounts))


def _show(page: Page, accounts: list[Account]) -> None:
    if not accounts:
        note("There are no accounts yet. The first release creates one.")
        link(page, "Start a release", "/new")
    for account in accounts:
        heading(account.label)
        gauge(account)
        if account.entries:
            _charges(account)
        else:
            note("Nothing was charged.")


def _charges(account: Account) -> None:
    rows = []
    for entry in reversed(account.entries):
        cost = as_text(entry.spending.epsilon), as_text(entry.spending.delta)
        said = " · ".join(filter(None, (entry.approval.reason, entry.approval.signed_off_by)))
        period = "" if entry.period is None else f", {entry.period.name}"
        rows.append([clock(entry.time), f"{entry.spending.mechanism}{period}", *cost, str(entry.standing), said])
    with ui.expansion(f"Charges: {len(rows):,}", value=len(rows) <= 5).classes("w-full"):
        table(["Time (UTC)", "Mechanism", "ε", "δ", "Standing", "Reason"], rows)
