"""The budget before and after a release: the ledger's account of the data set, looked up beside the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ..budget.account import Account, check_name
from ..budget.ledger import Ledger
from ..errors import TravasError
from ..privacy.numbers import as_text, exact_delta, exact_epsilon
from .parts import note, refusal, table
from .recipe import Recipe

if TYPE_CHECKING:
    from .page import Page


def show_budget(page: Page, allowed: Callable[[bool], Any]) -> None:
    """Name the data set, see its account before and after, give it a budget. `allowed` hears whether a release fits."""
    session = page.session
    ui.html("<h3>Budget</h3>", sanitize=False)
    name = ui.input("Data set in the ledger", value=session.dataset).classes("w-full").props("debounce=300")
    note("Give the same name to everything that is about the same people: their releases add up.")
    place = ui.column().classes("w-full")
    asked = 0

    async def look_up() -> None:
        nonlocal asked
        asked += 1
        mine, dataset = asked, (name.value or "").strip()
        session.dataset = dataset
        allowed(False)
        found = await asyncio.to_thread(_account, page.ledger, dataset, session.recipe)
        if mine != asked or place.is_deleted:
            return
        place.clear()
        with place:
            allowed(_show(page, found, session.recipe, look_up))

    name.on_value_change(look_up)
    ui.timer(0.01, look_up, once=True)


def _account(ledger: Ledger, dataset: str, recipe: Recipe) -> tuple[Account | None, str]:
    """The account of a name, None for a log without one, and why the release would be refused."""
    account = None
    try:
        if dataset:
            account = ledger.account(check_name(dataset))
            ledger.check(dataset, recipe.build())
    except TravasError as error:
        return account, str(error)
    return account, ""


def _show(page: Page, found: tuple[Account | None, str], recipe: Recipe, again: Callable[[], Any]) -> bool:
    account, why = found
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
        if account.budget is None:
            _limit(page, account.dataset, again)
    elif not why:
        note("Without a name the log is known by its content: a changed log counts as a new one, and has no budget.")
    if why:
        refusal(why)
    return not why


def _releases(number: int) -> str:
    return f"{number:,} release{'' if number == 1 else 's'}"


def _limit(page: Page, dataset: str, again: Callable[[], Any]) -> None:
    """A budget for a data set that has none; it is never changed."""
    with ui.expansion("Give it a budget, once and for all").classes("w-full"), ui.row().classes("items-center"):
        epsilon, delta = ui.input("ε of all releases"), ui.input("δ of all releases")

        async def create() -> None:
            try:
                await asyncio.to_thread(
                    page.ledger.create_budget, dataset, epsilon=epsilon.value or "", delta=delta.value or ""
                )
            except TravasError as error:
                page.refuse(str(error))
                return
            await again()

        ui.button("Set this budget", on_click=create).props("no-caps outline")
