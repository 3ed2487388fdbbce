"""The gauge of an account: what was spent of its budget, as a bar and in words."""

from __future__ import annotations

from nicegui import ui

from ..budget.account import Account
from .parts import note


def gauge(account: Account) -> None:
    """Show what was spent of a budget. An account without one has only words."""
    number = len(account.entries)
    releases = f"{number:,} release{'' if number == 1 else 's'}"
    note(f"{account.remainder} · {releases}")
    share = spent_share(account)
    if share is None:
        return
    with ui.element("div").classes("gauge") as bar:
        ui.element("div").classes("gauge-spent").style(f"width: {share:.1%}")
    bar.props["role"] = "meter"
    bar.props["aria-label"] = f"Budget of {account.label}: spent"
    for name, value in (("valuemin", "0"), ("valuemax", "100"), ("valuenow", f"{100 * share:.0f}")):
        bar.props[f"aria-{name}"] = value
    bar.props["aria-valuetext"] = f"{share:.0%} spent"


def spent_share(account: Account) -> float | None:
    """Return the share of a budget that was spent, from 0 to 1, for pictures; None without a budget."""
    budget = account.budget
    if budget is None:
        return None
    if budget.composition == "basic":
        epsilon, delta = account.spent
        return min(1.0, float(max(epsilon / budget.epsilon, delta / budget.delta if budget.delta else 0)))
    return min(1.0, float((account.delta_used or 0) / budget.delta)) if budget.delta else 1.0
