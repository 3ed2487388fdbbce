"""An SVG chart from plain values: throughput times."""

from __future__ import annotations

from ..explain import duration_text
from .map_graph import Throughput
from .svg import document, line, text

_MEDIAN, _OTHERS, _AXIS = "#8c1d63", "#dbb6cc", "#999999"


def throughput_chart(throughput: Throughput, origin: str) -> str:
    """Draw the distribution of the throughput time with its median."""
    width, top, bottom = 560, 40, 130
    bars = throughput.bars
    step, most = (width - 20) / max(len(bars), 1), max((share for _, share, _ in bars), default=1)
    words = f"Throughput time: median {duration_text(throughput.quartiles.median)}, {origin}"
    parts = [text(10, 18, words, size=14)]
    for index, (label, share, is_median) in enumerate(bars):
        tall, x = (bottom - top) * share / most, 10 + index * step
        parts.append(
            f'<rect x="{x:.1f}" y="{bottom - tall:.1f}" width="{step - 3:.1f}" height="{tall:.1f}" '
            f'fill="{_MEDIAN if is_median else _OTHERS}"><title>{label}: {share:.0%}</title></rect>'
        )
    if bars:
        parts += [text(10, bottom + 18, bars[0][0]), text(width - 10, bottom + 18, bars[-1][0], "end")]
    parts.append(line(10, bottom, width - 10, bottom, _AXIS))
    return document(width, bottom + 28, words, parts)
