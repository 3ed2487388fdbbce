"""Small pictures as SVG text, drawn by ourselves: they need no library, no script and no style sheet.

Every text is escaped, every picture has a text alternative; colours are told apart by colour-blind readers and in grey.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from xml.sax.saxutils import escape as _escaped

from ..model.mechanism import Mechanism
from ..model.variants import Activity

BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#999999", "#222222"  # the first two: Okabe and Ito
_POINTS = 160
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Text for XML and HTML, between tags or in double quotes; what neither can hold becomes U+FFFD."""
    return _NOT_XML.sub("\ufffd", _escaped(text, {'"': "&quot;", "'": "&#39;"}))


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


# -------------------------------------------------------------------------------------------------- the two pictures


def keep_points(mechanism: Mechanism) -> list[tuple[int, float]]:
    """(cases, probability to be released), from 1 to the first that is surely kept; none where that says too little."""
    last = mechanism.surely_kept()
    return [] if last is None else sampled(lambda cases: mechanism.keep_probability(cases) or Fraction(0), last)


def sampled(probability: Callable[[int], Fraction], last: int) -> list[tuple[int, float]]:
    """A rising probability from 1 to `last` cases, at no more points than a picture can show."""
    first = 1 + bisect_left(range(1, last + 1), True, key=lambda cases: float(probability(cases)) > 1e-3)
    start = max(1, min(first - max((last - first) // 8, 2), last))
    cases = {start + (last - start) * step // _POINTS for step in range(_POINTS + 1)}
    return [(number, float(probability(number))) for number in sorted({1, last} | cases)]


def keep_curve(points: Sequence[tuple[int, float]], noun: str = "cases") -> str:
    """How likely a variant is released, by its number of cases, or of what else is counted."""
    width, height, left, right, top, bottom = 560, 260, 56, 20, 14, 44
    first, last = points[0][0], max(points[-1][0], points[0][0] + 1)

    def place(cases: float, share: float) -> tuple[float, float]:
        x = left + (width - left - right) * (cases - first) / (last - first)
        return x, top + (height - top - bottom) * (1 - share)

    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        _, y = place(first, share)
        parts += [
            line(left, y, width - right, y, "#dddddd"),
            text(left - 6, y + 4, f"{share:.0%}", "end"),
        ]
    for cases in ticks(first, last):
        x, _ = place(cases, 0)
        parts += [line(x, height - bottom, x, height - bottom + 4, INK), text(x, height - 26, f"{cases:,}", "middle")]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="2.5"/>')
    parts.append(text((left + width - right) / 2, height - 8, f"number of {noun} that have the variant", "middle"))
    half = next(cases for cases, share in points if share >= 0.5)
    words = (
        f"Probability that a variant is released, by the number of {noun} that have it: over one half from {half:,}, "
        f"certain from {points[-1][0]:,}."
    )
    return document(width, height, words, parts)


def frequencies_chart(rows: Sequence[tuple[str, float, tuple[float, float] | None]], what: str, room: int = 300) -> str:
    """A bar for each row (name, value, interval of the true value or None), and the interval as a whisker on it."""
    row_height, width, top = 22, 720, 6
    height = top + row_height * len(rows) + 34
    largest = max((max(value, interval[1] if interval else 0) for _, value, interval in rows), default=1) or 1
    scale = (width - room - 70) / largest
    parts = []
    for place, (name, value, interval) in enumerate(rows):
        middle = top + row_height * place + row_height / 2
        parts.append(text(room - 6, middle + 4, shortened(name, room // 7), "end", size=11))
        parts.append(
            f'<rect x="{room}" y="{middle - 7:.1f}" width="{max(value * scale, 0.5):.1f}" height="14" '
            f'fill="{BLUE}" fill-opacity="0.45"/>'
        )
        end = value
        if interval is not None:
            low, high = interval
            end = max(end, high)
            parts.append(line(room + low * scale, middle, room + high * scale, middle, INK, 1.5))
            parts += [line(room + at * scale, middle - 4, room + at * scale, middle + 4, INK, 1.5) for at in interval]
        parts.append(text(room + end * scale + 6, middle + 4, f"{value:,.0f}", size=11))
    parts.append(text(room, height - 12, what, size=11))
    return document(width, height, f"{what}: the {len(rows)} largest. The table beside it has the numbers.", parts)


def ticks(first: int, last: int) -> list[int]:
    """Five or so round numbers between two."""
    step = _round_step(last - first)
    return [number for number in range(first // step * step, last + 1, step) if number >= first] or [first]


def _round_step(span: int) -> int:
    size = 1
    while True:
        for factor in (1, 2, 5):
            if span / (size * factor) <= 6:
                return size * factor
        size *= 10
