"""Primitives of SVG pictures: they need no library, no script and no style sheet. The charts: charts.py.

Every text is escaped, every picture has a text alternative; colours are chosen so that colour-blind readers can tell
them apart, and so that they differ in grey.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape as _escaped

from ..model.variants import Activity

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#999999", "#222222"  # the first two: Okabe and Ito
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Text for XML and HTML, between tags or in double quotes; what neither can hold becomes U+FFFD."""
    return printable(_escaped(text, {'"': "&quot;", "'": "&#39;"}))


def printable(text: str) -> str:
    """The text with U+FFFD for every character that neither XML nor HTML can hold."""
    return _NOT_XML.sub("\ufffd", text)


def name_of(activity: Activity) -> str:
    """An activity for people, in one line: for show only, never a key."""
    return " ".join((activity if isinstance(activity, str) else " / ".join(activity)).split())


def shortened(text: str, characters: int) -> str:
    """The text, or as much of it as there is room for."""
    return text if len(text) <= characters else text[: max(characters - 1, 1)] + "…"


def document(width: int, height: int, alternative: str, parts: Sequence[str]) -> str:
    """One picture that grows with the page. `alternative` is what it says to those who do not see it."""
    label = escape(alternative)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{label}" font-family="sans-serif" font-size="12" fill="{INK}">'
        f"<title>{label}</title>{''.join(parts)}</svg>"
    )


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = INK, size: int = 12) -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'
