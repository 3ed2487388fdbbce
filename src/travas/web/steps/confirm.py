"""Step 5: the account, the reason, the policy, and the release. Cancelling is free before the charge."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nicegui import ui

from ...trusted.guarantee import holds_for
from ..curve import View, view
from ..parts import PRIMARY, note, refusal, table, title, typed_text, working_button
from ..recipe import OptionValue
from ..releasing import start_release
from ..sessions import Session
from .confirm_account import AccountPanel
from .confirm_policy import PolicyLookup, look_up_policy, show_policy

if TYPE_CHECKING:
    from ..page import Page


def draw(page: Page) -> None:
    """Show the step."""
    session = page.session
    title("Confirm")
    shown = view(session.recipe)
    why = shown.why or session.refused()
    if why or shown.mechanism is None:
        refusal(why)
        return
    _summary(session, shown)
    _Confirmation(page)


def _summary(session: Session, shown: View) -> None:
    recipe = session.recipe
    assert shown.mechanism is not None
    options = ", ".join(f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in recipe.options)
    rows = [
        ["log", session.name],
        ["activity", ", ".join(session.reading.activity)],
        ["guarantee for", holds_for(shown.mechanism.unit)],
        ["released", recipe.kind],
        ["traces", recipe.abstraction or "as they are"],
        ["mechanism", recipe.mechanism + (f" ({options})" if options else "")],
        ["ε, δ", f"{recipe.epsilon}, {recipe.delta}"],
    ]
    if recipe.period.first:
        rows.append(["period", f"cases closed on or after {recipe.period.first} and before {recipe.period.last}"])
    table(["What", "Chosen"], rows)


def _in_words(value: OptionValue) -> str:
    return " and ".join(value) if isinstance(value, tuple) else str(value)


class _Confirmation:
    """The account, the reason and the policy, and the button that is enabled when all of them allow the release."""

    def __init__(self, page: Page) -> None:
        self._page, self._session = page, page.session
        self._asked = 0
        self._place: ui.column | None = None
        self._go: ui.button | None = None
        self._checked: PolicyLookup | None = None
        self._account = AccountPanel(page, self._changed)
        self._rest = ui.column().classes("w-full")  # drawn when the account is known, so that nothing moves

    def _draw_rest(self) -> tuple[ui.column, ui.button]:
        """Draw what is below the account: the place of the policy, and the button."""
        self._approval()
        rules = ui.column().classes("w-full")
        note("You can cancel at no cost until the ledger is charged; after that the release is completed.")
        recipe = self._session.recipe
        again = " again for another " if self._session.released is not None else " for "
        words = f"Release{again}ε = {recipe.epsilon}, δ = {recipe.delta}"
        return rules, working_button(words, lambda: start_release(self._page), PRIMARY)

    def _approval(self) -> None:
        session = self._session

        async def take(name: str, text: str | None) -> None:
            if name == "reason":
                session.reason = typed_text(text)
            else:
                session.steps.signed_off_by = typed_text(text)
            await self._check()

        reason = ui.textarea("Why these parameters (for the report)", value=session.reason).classes("w-full")
        reason.props("debounce=300").on_value_change(lambda event: take("reason", event.value))
        signed = ui.input("Signed off by (optional)", value=session.steps.signed_off_by).classes("w-full")
        signed.props("debounce=300").on_value_change(lambda event: take("signed", event.value))

    async def _check(self) -> None:
        """Check the policy against what is known now."""
        self._asked += 1
        mine, session = self._asked, self._session
        account = None if self._account.lookup is None else self._account.lookup.account
        checked = await asyncio.to_thread(look_up_policy, self._page.ledger, session, account)
        if mine != self._asked or self._rest.is_deleted:
            return
        if self._place is None or self._go is None:
            with self._rest:
                self._place, self._go = self._draw_rest()
        if checked != self._checked:  # else nothing moves, so that no click is lost
            self._checked = checked
            self._place.clear()
            with self._place:
                show_policy(checked)
        self._go.set_enabled(not self._account.why and not checked.problem)

    def _changed(self) -> None:
        """The account is being looked up, or was found: the yearly limits of a policy depend on it."""
        if self._go is not None:
            self._go.set_enabled(False)
        if self._account.lookup is not None:
            with self._rest:
                ui.timer(0.01, self._check, once=True)
