"""The account of the data set before and after a release, looked up in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ..budget.account import Account
from ..budget.ledger import Ledger
from ..errors import TravasError
from ..privacy.numbers import as_text, exact_delta, exact_epsilon
from .parts import note, refusal, table
from .recipe import Recipe
from .sessions import Session

if TYPE_CHECKING:
    from .page import Page


@dataclass(frozen=True)
class Found:
    """The result of a look-up: the account, if any, why a release is refused, and whether the name is new."""

    account: Account | None = None
    why: str = ""
    is_new: bool = False


def show_budget(page: Page, allowed: Callable[[bool], Any]) -> None:
    """Show the fields for the name and the budget of the data set. `allowed` is called with whether a release fits."""
    session = page.session
    ui.html("<h3>Budget</h3>", sanitize=False)
    name = ui.input("Data set in the ledger", value=session.dataset).classes("w-full").props("debounce=300")
    note("Use the same name for all data about the same people, because their releases add up.")
    place = ui.column().classes("w-full")
    asked = 0

    async def look_up() -> None:
        nonlocal asked
        asked += 1
        mine, session.dataset = asked, (name.value or "").strip()
        allowed(False)
        found = await asyncio.to_thread(look_up_account, page.ledger, session)
        if mine != asked or place.is_deleted:
            return
        place.clear()
        with place:
            _show(page, found, session.recipe, look_up)
        allowed(not found.why)

    name.on_value_change(look_up)
    ui.timer(0.01, look_up, once=True)


def look_up_account(ledger: Ledger, session: Session) -> Found:
    """Return the account that a release of this session would be charged to, and why it would be refused."""
    dataset, account, is_new = session.dataset or None, None, False
    try:
        if dataset is None and session.location is None:
            return Found(
                why="Enter the name of the data set: an uploaded log has no location by which it could be counted."
            )
        is_new = dataset is not None and dataset not in {known.dataset for known in ledger.accounts()}
        account = None if dataset is None or is_new else ledger.account(dataset)
        chosen = session.recipe.build()
        return Found(ledger.check(dataset, session.location, chosen, session.reading.case or ""))
    except TravasError as error:
        return Found(account, str(error), is_new)


def _show(page: Page, found: Found, recipe: Recipe, again: Callable[[], Any]) -> None:
    account = found.account
    if account is not None:
        (epsilon, delta), (more, rarely) = account.spent, (exact_epsilon(recipe.epsilon), exact_delta(recipe.delta))
        table(
            ["", "ε", "δ"],
            [
                [f"before: {_releases(len(account.entries))}", as_text(epsilon), as_text(delta)],
                ["this release", as_text(more), as_text(rarely)],
                ["after", as_text(epsilon + more), as_text(delta + rarely)],
            ],
        )
        ui.label(f"Budget: {account.remainder}")
        if account.name is None:
            note("Without a name, only releases of this file are added up.")
        elif account.budget is None:
            _limit(page, account.name, "Set a budget; it cannot be changed", again)
    if found.why:
        refusal(found.why)
    if found.is_new:
        _create(page, page.session.dataset, again)


def _releases(number: int) -> str:
    return f"{number:,} release{'' if number == 1 else 's'}"


def _create(page: Page, dataset: str, again: Callable[[], Any]) -> None:
    """A new data set, with or without a budget."""

    async def create() -> None:
        await _done(page, lambda: page.ledger.create_account(dataset), again)

    ui.button(f"Create the data set {dataset!r} without a budget", on_click=create).props("no-caps outline")
    _limit(page, dataset, "Create it with a budget", again)


def _limit(page: Page, dataset: str, title: str, again: Callable[[], Any]) -> None:
    """Show the fields to set the budget of a data set, which cannot be changed later."""
    with ui.expansion(title).classes("w-full"), ui.row().classes("items-center"):
        epsilon, delta = ui.input("ε of all releases"), ui.input("δ of all releases")

        async def create() -> None:
            most, rarely = epsilon.value or "", delta.value or ""
            await _done(page, lambda: page.ledger.create_budget(dataset, epsilon=most, delta=rarely), again)

        ui.button("Set this budget", on_click=create).props("no-caps outline")


async def _done(page: Page, work: Callable[[], Account], again: Callable[[], Any]) -> None:
    try:
        await asyncio.to_thread(work)
    except TravasError as error:
        page.refuse(str(error))
        return
    await again()
