"""Pieces of HTML for notebooks: text is escaped by Markup, pictures are SVG of our own, and there are no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from .svg import printable

_BOX = Markup(
    '<div style="background:#ffffff;color:#222222;padding:8px 12px;font-family:sans-serif;font-size:13px;'
    'overflow-x:auto">{}</div>'
)
_CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:middle"


def heading(text: str) -> Markup:
    """Return the heading of a fragment."""
    return Markup('<p style="font-size:15px;margin:4px 0"><strong>{}</strong></p>').format(printable(text))


def warning(text: str) -> Markup:
    """Return a line that must not be overlooked."""
    style = "border-left:4px solid #D55E00;padding:4px 8px;margin:4px 0;font-weight:bold"
    return Markup('<p style="{}">{}</p>').format(style, printable(text))


def paragraph(text: str) -> Markup:
    """Return a paragraph."""
    return Markup('<p style="margin:4px 0">{}</p>').format(printable(text))


def picture(svg: str) -> Markup:
    """Return a picture as it is: SVG of `plots`, which escapes its own text."""
    return Markup('<div style="overflow-x:auto">{}</div>').format(Markup(svg))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Return a table.

    Args:
        head: The names of the columns.
        rows: The cells, row by row: text, or markup made by a function of this module.

    Returns:
        The table.
    """
    names = Markup("").join(Markup('<th scope="col" style="{}">{}</th>').format(_CELL, name) for name in head)
    lines = Markup("").join(Markup("<tr>{}</tr>").format(_cells(row)) for row in rows)
    form = '<table style="border-collapse:collapse"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
    return Markup(form).format(names, lines)


def fragment(parts: Iterable[Markup]) -> str:
    """Return the HTML of a value in a notebook, readable in light and dark themes."""
    return str(_BOX.format(Markup("").join(parts)))


def _cells(row: Sequence[str]) -> Markup:
    texts = (cell if isinstance(cell, Markup) else printable(cell) for cell in row)
    return Markup("").join(Markup('<td style="{}">{}</td>').format(_CELL, text) for text in texts)
