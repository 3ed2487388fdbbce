"""Variants as rows of coloured chevrons, as in process mining tools. Every chevron has a label, so colour is optional."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..model.traces import Trace
from .svg import INK, document, escape, name_of, shortened

PALETTE = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#BBBBBB")  # Okabe and Ito
_DARK = ("#0072B2",)  # white text is more readable than black
MOST_STEPS = 60
_STEP, _HEIGHT, _POINT = 104, 30, 10


def colours_of(variants: Sequence[Trace], counts: Sequence[int]) -> dict[str, str]:
    """Return a colour for each activity; the most frequent ones have unique colours."""
    often: Counter[str] = Counter()
    for trace, count in zip(variants, counts, strict=True):
        for activity in trace:
            often[name_of(activity)] += count
    ranked = sorted(often, key=lambda name: (-often[name], name))
    return {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(ranked)}


def chevrons(trace: Trace, colours: dict[str, str]) -> str:
    """Draw one variant."""
    names = list(map(name_of, trace))
    parts = []
    for index, name in enumerate(names[:MOST_STEPS]):
        x = index * _STEP
        colour = colours[name]
        notch = _POINT if index else 0
        corners = (
            (x, 0), (x + _STEP - 4, 0), (x + _STEP - 4 + _POINT, _HEIGHT / 2), (x + _STEP - 4, _HEIGHT), (x, _HEIGHT),
            (x + notch, _HEIGHT / 2),
        )  # fmt: skip
        shape = " ".join(f"{a:.0f},{b:.0f}" for a, b in corners)
        ink = "#ffffff" if colour in _DARK else INK
        parts.append(
            f'<g><title>{escape(name)}</title><polygon points="{shape}" fill="{colour}" stroke="{INK}" '
            f'stroke-width="0.5"/><text x="{x + _STEP / 2 + 3:.0f}" y="{_HEIGHT / 2 + 4:.0f}" text-anchor="middle" '
            f'font-size="11" fill="{ink}">{escape(shortened(name, 14))}</text></g>'
        )
    shown = min(len(names), MOST_STEPS)
    if len(names) > MOST_STEPS:
        parts.append(f'<text x="{shown * _STEP + 14}" y="{_HEIGHT / 2 + 4:.0f}">… {len(names) - shown} more</text>')
    width = shown * _STEP + _POINT + (110 if len(names) > MOST_STEPS else 0)
    return document(width, _HEIGHT, " → ".join(names), parts)
