"""The policy of the organisation, rule by rule, before the release."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui import ui

from ...budget.account import Account, Approval
from ...budget.periods import ChargedPeriod
from ...budget.policy import Policy
from ...errors import PolicyError, TravasError
from ..parts import refusal
from ..recipe import Recipe
from ..sessions import Session


@dataclass(frozen=True)
class CheckedRule:
    """A rule in words, and why the release breaks it; empty if it does not."""

    text: str
    problem: str


@dataclass(frozen=True)
class CheckedPolicy:
    """A policy and its rules; `why` says why there is no answer."""

    name: str = ""
    rules: tuple[CheckedRule, ...] = ()
    why: str = ""

    @property
    def problem(self) -> str:
        """The first reason against the release; empty if there is none."""
        return self.why or next((rule.problem for rule in self.rules if rule.problem), "")


def check_policy(session: Session, recipe: Recipe, approval: Approval, account: Account | None) -> CheckedPolicy:
    """Check every rule of the policy that applies. It may be slow and must not run in the event loop."""
    try:
        policy = Policy.applying(None)
        if policy is None:
            return CheckedPolicy()
        mechanism, period = recipe.build(), ChargedPeriod.of(recipe.reading(session.reading), None)
        rules = []
        for rule in policy.rules:
            try:
                Policy(policy.name, (rule,)).check(mechanism, approval, account, period)
                rules.append(CheckedRule(rule.text, ""))
            except PolicyError as error:
                rules.append(CheckedRule(rule.text, str(error)))
        return CheckedPolicy(policy.name, tuple(rules))
    except TravasError as error:
        return CheckedPolicy(why=str(error))


def show_policy(checked: CheckedPolicy) -> None:
    """Show the rules, each with whether the release keeps it."""
    if checked.why:
        refusal(checked.why)
    elif checked.name:
        ui.label(f"Policy: {checked.name}")
        with ui.element("ul").classes("findings"):
            for rule in checked.rules:
                with ui.element("li").classes("rule-broken" if rule.problem else "rule-met"):
                    ui.label(rule.problem or f"{rule.text}: met").classes("inline")
    else:
        ui.label("Policy: none is set").classes("note")
