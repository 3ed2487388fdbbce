"""SVG primitives, without libraries, scripts or style sheets. The charts are in charts.py.

All text is escaped, and every figure has a text alternative. Colours are distinct for colour-blind readers and in
greyscale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape as _escaped

from ..log.escaped_names import NOT_XML
from ..log.traces import Activity

INK = "#222222"
_NOT_XML = re.compile(NOT_XML)


def escape_markup(text: str) -> str:
    """Escape text for XML and HTML, between tags or in double quotes; unsupported characters become U+FFFD."""
    return printable(_escaped(text, {'"': "&quot;", "'": "&#39;"}))


def printable(text: str) -> str:
    """Replace characters that XML or HTML cannot represent with U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def activity_text(activity: Activity) -> str:
    """Format an activity in one line, for display only."""
    return " ".join((activity if isinstance(activity, str) else " / ".join(activity)).split())


def step_text(before: Activity | None, after: Activity | None) -> str:
    """Format a step; None is the start or the end of a trace."""
    start = "(start)" if before is None else activity_text(before)
    return f"{start} → {'(end)' if after is None else activity_text(after)}"


def shortened(text: str, characters: int) -> str:
    """Shorten text to a number of characters."""
    return text if len(text) <= characters else text[: max(characters - 1, 1)] + "…"


_NARROW, _WIDE = frozenset("iIljtf|!.,:;'()[]{} -"), frozenset("mwMWQ@%—…→")


def text_width(text: str, size: float) -> float:
    """An upper estimate of the width of text in a sans-serif font of a size, as the widest common ones have it."""
    return size * sum(
        0.42 if character in _NARROW else 1.02 if character in _WIDE or character > "\u1100" else 0.72
        if character.isupper() else 0.645
        for character in text
    )  # fmt: skip


def fitted(text: str, size: float, room: float) -> str:
    """Shorten text to a width."""
    while text_width(text, size) > room and len(text) > 1:
        text = shortened(text, len(text) - 1)
    return text


def wrapped(text: str, size: float, room: float) -> tuple[str, ...]:
    """Break text into at most two lines of a width, at a space if there is one; what does not fit is cut."""
    if text_width(text, size) <= room:
        return (text,)
    first = text
    while text_width(first, size) > room:
        head, space, _ = first.rpartition(" ")
        first = head if space else first[:-1]
    return first, fitted(text[len(first) :].strip(), size, room)


def scale(counts: Sequence[float], power: float) -> Callable[[float], float]:
    """From 0 for the least positive number to 1 for the largest, on a log scale."""
    logs = [math.log1p(count) for count in counts if count > 0] or [0.0]
    low, high = min(logs), max(logs)
    if high == low:
        return lambda _: 1.0
    return lambda count: float(min(max((math.log1p(max(count, 0)) - low) / (high - low), 0), 1) ** power)


def document(width: int, height: int, alternative: str, parts: Sequence[str], colour: str = INK, size: int = 12) -> str:
    """Return an SVG that scales with the page. `alternative` is its text alternative; `size` is that of its font."""
    label = escape_markup(alternative)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{label}" font-family="sans-serif" font-size="{size}" fill="{colour}">'
        f"<title>{label}</title>{''.join(parts)}</svg>"
    )


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = INK, size: int = 12) -> str:
    """Return a line of text."""
    look = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape_markup(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    """Return a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'
