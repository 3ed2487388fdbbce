"""The tab Summary of a release."""

from __future__ import annotations

from nicegui import ui

from ..plots.svg import escape
from ..report.decision import ReleaseFacts, figures, missing, verdict
from .parts import note
from .sessions import FinishedRelease


def draw_summary(released: FinishedRelease) -> None:
    """Show four figures, the verdict, and what is missing."""
    facts = ReleaseFacts.of(released.release, released.recipe.weak_protection())
    ui.label(verdict(facts)).classes("verdict")
    cells = "".join(
        f'<div class="figure"><dt>{escape(figure.words)}</dt><dd>{escape(figure.value)}</dd></div>'
        for figure in figures(facts)
    )
    ui.html(f'<dl class="figures">{cells}</dl>', sanitize=False).classes("w-full")
    for warning in facts.warnings:
        ui.label(warning).classes("refusal").props("role=status")
    ui.html("<h3>What is missing</h3>", sanitize=False)
    for sentence in missing(facts):
        ui.label(sentence).classes("words")
    account = released.account
    note(f"Ledger: charged to {account.name or 'this file, which has no name'}. {account.remainder}.")
