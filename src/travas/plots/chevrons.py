"""Variants as rows of coloured chevrons, as in process mining tools. Every chevron has a label, so colour is optional."""

from __future__ import annotations

import hashlib

from ..log.traces import Trace
from .svg import INK, activity_text, document, escape_markup, shortened

MOST_STEPS = 60
_STEP, _HEIGHT, _POINT = 104, 30, 10
_HUES = 24


def colour_of(name: str) -> str:
    """Return the colour of an activity: always the same, and light enough for dark text."""
    hue, lightness = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:2]
    return f"hsl({hue % _HUES * 360 // _HUES}, 62%, {72 + 10 * (lightness % 2)}%)"


def chevrons(trace: Trace) -> str:
    """Draw one variant."""
    names = list(map(activity_text, trace))
    parts = []
    for index, name in enumerate(names[:MOST_STEPS]):
        x = index * _STEP
        notch = _POINT if index else 0
        corners = (
            (x, 0), (x + _STEP - 4, 0), (x + _STEP - 4 + _POINT, _HEIGHT / 2), (x + _STEP - 4, _HEIGHT), (x, _HEIGHT),
            (x + notch, _HEIGHT / 2),
        )  # fmt: skip
        shape = " ".join(f"{a:.0f},{b:.0f}" for a, b in corners)
        parts.append(
            f'<g><title>{escape_markup(name)}</title><polygon points="{shape}" fill="{colour_of(name)}" stroke="{INK}" '
            f'stroke-width="0.5"/><text x="{x + _STEP / 2 + 3:.0f}" y="{_HEIGHT / 2 + 4:.0f}" text-anchor="middle" '
            f'font-size="11" fill="{INK}">{escape_markup(shortened(name, 14))}</text></g>'
        )
    width = min(len(names), MOST_STEPS) * _STEP + _POINT
    if len(names) > MOST_STEPS:
        parts.append(f'<text x="{width + 4}" y="{_HEIGHT / 2 + 4:.0f}">… {len(names) - MOST_STEPS} more</text>')
        width += 110
    return document(width, _HEIGHT, " → ".join(names), parts)
