"""The tab Summary of a release."""

from __future__ import annotations

from nicegui import ui

from ...report.decision import decision_on
from ..parts import heading, html, note
from ..sessions import FinishedRelease


def draw_summary(released: FinishedRelease) -> None:
    """Show four figures, the verdict, and what is missing."""
    decision = decision_on(released.release, released.recipe.weak_protection())
    ui.label(decision.verdict).classes("verdict")
    ui.label(decision.use).classes("words")
    html("figures", decision.figures).classes("w-full")
    for warning in decision.warnings:
        ui.label(warning).classes("refusal").props("role=status")
    heading("What is missing")
    for sentence in decision.missing:
        ui.label(sentence).classes("words")
    account = released.account
    note(f"Ledger: charged to {account.name or 'this file, which has no name'}. {account.remainder}.")
