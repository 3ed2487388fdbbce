"""The tab Hand over of a release: one zip for the recipient, and every single file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from ..parts import PRIMARY, heading, note, working_button
from ..sessions import FinishedRelease
from ..transfers import formats_of
from .handover import BUNDLE, bundled

if TYPE_CHECKING:
    from ..page import Page


def draw_handover(page: Page, released: FinishedRelease) -> None:
    """Show the zip and the single files."""
    name = bundled(released.release)
    with ui.element("div").classes("handover"):
        button = working_button("Download the zip", lambda: page.download(BUNDLE), PRIMARY)
        button.props["aria-label"] = f"Download {BUNDLE}"
        note(f"{name}, its guarantee, the report and a README: all that a recipient needs.")
    note("Anyone can check it: travas verify. What it says about the original log is covered by the guarantee.")
    downloads(page, released)


def downloads(page: Page, released: FinishedRelease) -> None:
    """Show a button for each file, which is written when it is asked for."""
    heading("Single files")
    with ui.element("div").classes("scroll files").props("tabindex=0"), ui.element("table"), ui.element("tbody"):
        for suffix, what in formats_of(released.release).items():
            name = f"release{suffix}"
            with ui.element("tr"):
                with ui.element("td"):
                    _download(page, name, name)
                with ui.element("td"):
                    ui.label(what)
                with ui.element("td"):
                    _download(page, "guarantee", f"{name}.guarantee.json")
                with ui.element("td"):
                    _download(page, "report", f"{name}.report.html")
    note("Hand out a file together with its guarantee.")


def _download(page: Page, words: str, name: str) -> None:
    button = working_button(words, lambda: page.download(name), "flat dense no-caps")
    button.props["aria-label"] = f"Download {name}"
