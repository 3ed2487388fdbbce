"""The account that a release is charged to: its budget before and after, looked up in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ...budget.account import Account, check_name
from ...budget.ledger import Ledger
from ...errors import ParameterError, TravasError
from ...pipeline import account_before, spent_after
from ...sources.files import suffix_of
from ...trusted.numbers import as_text, exact_delta, exact_epsilon
from ..failures import in_words
from ..parts import heading, html, note, refusal, table, typed_text, working_button
from ..preview import SUFFIXES
from ..recipe import Recipe
from ..releasing import draft_request
from ..sessions import Session

if TYPE_CHECKING:
    from pathlib import Path

    from ..page import Page


@dataclass(frozen=True)
class AccountLookup:
    """The result of a look-up: the account, if any, why a release is refused, whether the name is new, and all names.

    `after` is what all releases of the account cost together with this one, for one unit.
    """

    account: Account | None = None
    why: str = ""
    is_new: bool = False
    names: tuple[str, ...] = ()
    after: tuple[Fraction, Fraction] | None = None


def suggested_name(path: Path | None, name: str) -> str:
    """Return a name for the data set, from the name of the file; empty if it cannot be one."""
    from pathlib import Path

    suffix = suffix_of(path or Path(name), SUFFIXES) or ""
    try:
        return check_name(name.removesuffix(" (example)").removesuffix(suffix).strip())
    except ParameterError:
        return ""


class AccountPanel:
    """The fields for the data set and its budget, and a bar of what is spent, what this release costs and what is left."""

    def __init__(self, page: Page, changed: Callable[[], Any]) -> None:
        self._page, self._session, self._changed = page, page.session, changed
        self.lookup: AccountLookup | None = None
        self._asked = 0
        if not self._session.dataset and self._session.origin == "copy":
            self._session.dataset = suggested_name(self._session.log, self._session.name)
        heading("Account")
        label = "Data set in the ledger"
        self._name = ui.input(label, value=self._session.dataset).classes("w-full").props("debounce=300")
        note("Use the same name for all data about the same people, because their releases add up.")
        self._place = ui.column().classes("w-full")
        with self._place:
            ui.label("Loading …").props("role=status")
        self._name.on_value_change(self.look_up)
        ui.timer(0.01, self.look_up, once=True)

    @property
    def why(self) -> str:
        """Why the account does not allow the release; empty if it does."""
        if self.lookup is None:
            return "the account is being looked up"
        if self.lookup.why:
            return self.lookup.why
        if not self._session.dataset and not self._session.steps.without_account:
            return "no account is chosen: enter the name of a data set, or choose no budget"
        return ""

    async def look_up(self) -> None:
        """Look up the account of the name that was typed."""
        self._asked += 1
        if self.lookup is not None:  # what is shown is about the account before: it takes no clicks
            self._place.props("inert")
        mine, self._session.dataset, self.lookup = self._asked, typed_text(self._name.value).strip(), None
        self._changed()
        result = await asyncio.to_thread(look_up_account, self._page.ledger, self._session)
        if mine != self._asked or self._place.is_deleted:
            return
        self.lookup = result
        self._name.set_autocomplete(list(result.names))
        self._place.props(remove="inert").clear()
        with self._place:
            self._show(result)
        self._changed()

    def _show(self, result: AccountLookup) -> None:
        account, recipe = result.account, self._session.recipe
        if not self._session.dataset and self._session.location is not None:
            self._no_account()
        if account is not None and result.after is not None:
            show_bar(account, recipe, result.after)
            if account.name is not None and account.budget is None:
                note("No budget: releases of this data set are recorded and not limited.")
                self._limit(account.name, "Set a budget; it cannot be changed")
        if result.why:
            refusal(result.why)
        if result.is_new:
            self._create(self._session.dataset)

    def _no_account(self) -> None:
        """A file of an allowed folder can be counted by its path, if that is chosen explicitly."""
        state = self._session.steps

        def take(wanted: bool) -> None:
            state.without_account = wanted
            self._changed()

        box = ui.checkbox("No budget: only releases of this file are added up", value=state.without_account)
        box.on_value_change(lambda event: take(bool(event.value)))

    def _create(self, dataset: str) -> None:
        """A new data set, with or without a budget."""

        async def create() -> None:
            await self._done(lambda: self._page.ledger.create_account(dataset))

        with ui.row().classes("items-center"):
            working_button(f"Create the data set {dataset!r} without a budget", create)
        self._limit(dataset, "Create it with a budget")

    def _limit(self, dataset: str, title: str) -> None:
        """Show the fields to set the budget of a data set, which cannot be changed later."""
        with ui.expansion(title).classes("w-full"), ui.row().classes("items-center"):
            epsilon, delta = ui.input("ε of all releases"), ui.input("δ of all releases")

            async def create() -> None:
                most, rarely = epsilon.value or "", delta.value or ""
                await self._done(lambda: self._page.ledger.create_budget(dataset, epsilon=most, delta=rarely))

            working_button("Set this budget", create)

    async def _done(self, work: Callable[[], Account]) -> None:
        try:
            await asyncio.to_thread(work)
        except TravasError as error:
            self._page.refuse(str(error))
            return
        self._page.strip.look_again()
        await self.look_up()


def look_up_account(ledger: Ledger, session: Session) -> AccountLookup:
    """Return the account that a release of this session would be charged to, and why it would be refused."""
    dataset, account, is_new = session.dataset or None, None, False
    names: tuple[str, ...] = ()
    after: tuple[Fraction, Fraction] | None = None
    try:
        names = tuple(known.name for known in ledger.accounts() if known.name is not None)
        if dataset is None and session.location is None:
            why = "Enter the name of the data set: an uploaded log has no location by which it could be counted."
            return AccountLookup(why=why, names=names)
        is_new = dataset is not None and dataset not in names
        account = None if dataset is None or is_new else ledger.account(dataset)
        request = draft_request(ledger, session)
        after = None if account is None else spent_after(request, account)  # also shown if it is refused
        if (checked := account_before(request)) is not None:
            account, after = checked, spent_after(request, checked)
        return AccountLookup(account, names=names, after=after)
    except TravasError as error:
        return AccountLookup(account, in_words(error), is_new, names, after)


def show_bar(account: Account, recipe: Recipe, after: tuple[Fraction, Fraction]) -> None:
    """Show what is spent, what this release costs and what is left, as numbers and, with a budget, as a bar of ε."""
    epsilon, delta = account.spent
    rows = [
        [f"before: {_releases(len(account.entries))}", as_text(epsilon), as_text(delta)],
        ["this release", as_text(exact_epsilon(recipe.epsilon)), as_text(exact_delta(recipe.delta))],
        ["after", *map(as_text, after)],
    ]
    budget = account.budget
    if budget is not None and account.left is not None:
        wholes = zip((budget.epsilon, budget.delta), after, strict=True)
        left = [max(whole - spent, Fraction(0)) for whole, spent in wholes]
        rows.append(["left", *map(as_text, left)])
        _bar(epsilon / budget.epsilon, (after[0] - epsilon) / budget.epsilon)
    table(["Releases", "ε", "δ"], rows)
    if budget is not None:
        ui.label(f"Budget: {account.remainder}")


def _bar(spent: Fraction, this: Fraction) -> None:
    shares = {"spent": min(spent, Fraction(1)), "this": min(this, max(1 - spent, Fraction(0)))}
    left = max(1 - spent - this, Fraction(0))
    words = f"ε: {float(spent):.0%} spent, {float(this):.0%} this release, {float(left):.0%} left"
    html("budget_bar", words, {name: float(share) for name, share in shares.items()}).classes("w-full")
    ui.label(words).classes("note")


def _releases(number: int) -> str:
    return f"{number:,} release{'' if number == 1 else 's'}"
