"""SVG charts from plain values: the keep curve of a mechanism and throughput times."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .map_graph import Throughput, duration_text
from .svg import BLUE, GREY, INK, PALE_PLUM, PLUM, document, line, text

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 56, 20, 14, 44


def keep_curve(points: Sequence[tuple[int, float]], half: int, noun: str = "cases") -> str:
    """Draw the probability of release by case count, or by what else is counted."""
    height, first, last = 260, points[0][0], max(points[-1][0], points[0][0] + 1)

    def place(value: float, share: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - first) / (last - first)
        return x, _TOP + (height - _TOP - _BOTTOM) * (1 - share)

    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        _, y = place(first, share)
        parts += [line(_LEFT, y, _WIDTH - _RIGHT, y, "#dddddd"), text(_LEFT - 6, y + 4, f"{share:.0%}", "end")]
    size = 10 ** int(math.log10(last - first))
    step = next(step for step in (size // 5, size // 2, size, 2 * size) if step and last - first <= 6 * step)
    for value in range(-(-first // step) * step, last + 1, step):
        x, y = place(value, 0)
        parts += [line(x, y, x, y + 4, INK), text(x, height - 26, f"{value:,}", "middle")]
    below = f"number of {noun} that have the variant"
    parts.append(text((_LEFT + _WIDTH - _RIGHT) / 2, height - 8, below, "middle"))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="2.5"/>')
    words = (
        f"Probability that a variant is released, by the number of {noun} that have it: over one half from {half:,}, "
        f"certain from {points[-1][0]:,}."
    )
    return document(_WIDTH, height, words, parts)


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
            f'fill="{PLUM if is_median else PALE_PLUM}"><title>{label}: {share:.0%}</title></rect>'
        )
    if bars:
        parts += [text(10, bottom + 18, bars[0][0]), text(width - 10, bottom + 18, bars[-1][0], "end")]
    parts.append(line(10, bottom, width - 10, bottom, GREY))
    return document(width, bottom + 28, words, parts)
