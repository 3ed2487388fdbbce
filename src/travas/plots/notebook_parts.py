"""Pieces of HTML for notebooks, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from markupsafe import Markup

from .html import part

_part = partial(part, "travas.plots", "notebook.html")


def heading(text: str) -> Markup:
    """Return the heading of a fragment."""
    return _part("heading", text)


def warning(text: str) -> Markup:
    """Return a line that must not be overlooked."""
    return _part("warning", text)


def paragraph(text: str) -> Markup:
    """Return a paragraph."""
    return _part("paragraph", text)


def picture(svg: str) -> Markup:
    """Return a picture as it is: SVG of `plots`, which escapes its own text."""
    return _part("picture", Markup(svg))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table."""
    return _part("table", head, rows)


def fragment(parts: Iterable[Markup]) -> str:
    """Return the HTML of a value in a notebook, readable in light and dark themes."""
    return str(_part("fragment", parts))
