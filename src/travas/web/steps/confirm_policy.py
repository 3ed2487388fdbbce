"""The policy of the organisation, rule by rule, before the release."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui import ui

from ...budget.account import Account
from ...budget.ledger import Ledger
from ...budget.policy import CheckedPolicy
from ...errors import TravasError
from ...pipeline import checked_policy
from ..failures import in_words
from ..parts import refusal
from ..releasing import draft_request
from ..sessions import Session


@dataclass(frozen=True)
class PolicyLookup:
    """The policy that applies, if any, with its rules; `why` says why there is no answer."""

    policy: CheckedPolicy | None = None
    why: str = ""

    @property
    def problem(self) -> str:
        """The first reason against the release; empty if there is none."""
        return self.why or (self.policy.problem if self.policy is not None else "")


def look_up_policy(ledger: Ledger, session: Session, account: Account | None) -> PolicyLookup:
    """Check every rule of the policy that applies. It may be slow and must not run in the event loop."""
    try:
        return PolicyLookup(checked_policy(draft_request(ledger, session), account))
    except TravasError as error:
        return PolicyLookup(why=in_words(error))


def show_policy(lookup: PolicyLookup) -> None:
    """Show the rules, each with whether the release keeps it."""
    if lookup.why:
        refusal(lookup.why)
    elif lookup.policy is not None:
        ui.label(f"Policy: {lookup.policy.name}")
        with ui.element("ul").classes("findings"):
            for rule in lookup.policy.rules:
                with ui.element("li").classes("rule-broken" if rule.problem else "rule-met"):
                    ui.label(rule.problem or f"{rule.text}: met").classes("inline")
    else:
        ui.label("Policy: none is set").classes("note")
