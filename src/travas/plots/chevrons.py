"""Variants as rows of coloured chevrons, as in process mining tools. Every chevron has a label, so colour is optional."""

from __future__ import annotations

import colorsys
import hashlib

from ..log.traces import Trace
from .svg import INK, activity_text, document, escape_markup, shortened

MOST_STEPS = 60
_STEP, _HEIGHT, _POINT = 104, 30, 10
_HUES, _LIGHTNESS, _SATURATION = 24, (0.72, 0.82), 0.62


def colour_of(name: str) -> str:
    """Return the colour of an activity: always the same, and light enough for dark text."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    lightness = _LIGHTNESS[digest[1] % len(_LIGHTNESS)]
    shares = colorsys.hls_to_rgb(digest[0] % _HUES / _HUES, lightness, _SATURATION)
    return "#" + "".join(f"{round(255 * share):02x}" for share in shares)


def chevrons(trace: Trace) -> str:
    """Draw one variant."""
    names = list(map(activity_text, trace))
    parts = []
    for index, name in enumerate(names[:MOST_STEPS]):
        x = index * _STEP
        colour = colour_of(name)
        notch = _POINT if index else 0
        corners = (
            (x, 0), (x + _STEP - 4, 0), (x + _STEP - 4 + _POINT, _HEIGHT / 2), (x + _STEP - 4, _HEIGHT), (x, _HEIGHT),
            (x + notch, _HEIGHT / 2),
        )  # fmt: skip
        shape = " ".join(f"{a:.0f},{b:.0f}" for a, b in corners)
        parts.append(
            f'<g><title>{escape_markup(name)}</title><polygon points="{shape}" fill="{colour}" stroke="{INK}" '
            f'stroke-width="0.5"/><text x="{x + _STEP / 2 + 3:.0f}" y="{_HEIGHT / 2 + 4:.0f}" text-anchor="middle" '
            f'font-size="11" fill="{INK}">{escape_markup(shortened(name, 14))}</text></g>'
        )
    shown = min(len(names), MOST_STEPS)
    if len(names) > MOST_STEPS:
        parts.append(f'<text x="{shown * _STEP + 14}" y="{_HEIGHT / 2 + 4:.0f}">… {len(names) - shown} more</text>')
    width = shown * _STEP + _POINT + (110 if len(names) > MOST_STEPS else 0)
    return document(width, _HEIGHT, " → ".join(names), parts)
