"""SVG charts from plain values: the keep curve of a mechanism, frequencies of variants, and throughput times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .map_graph import Throughput, duration_text
from .svg import BLUE, GREY, INK, PALE_PLUM, PLUM, document, line, shortened, text

Place = Callable[[float, float], tuple[float, float]]
"""From a value and a share to a point of the picture."""

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 56, 20, 14, 44


def _axes(height: int, first: int, last: int, below: str) -> tuple[list[str], Place]:
    """Lines and labels of a curve of shares, and where its points are."""

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
    parts.append(text((_LEFT + _WIDTH - _RIGHT) / 2, height - 8, below, "middle"))
    return parts, place


def keep_curve(points: Sequence[tuple[int, float]], half: int, noun: str = "cases") -> str:
    """Draw the probability of release by case count, or by what else is counted."""
    height, last = 260, max(points[-1][0], points[0][0] + 1)
    parts, place = _axes(height, points[0][0], last, f"number of {noun} that have the variant")
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="2.5"/>')
    words = (
        f"Probability that a variant is released, by the number of {noun} that have it: over one half from {half:,}, "
        f"certain from {points[-1][0]:,}."
    )
    return document(_WIDTH, height, words, parts)


def frequencies_chart(rows: Sequence[tuple[str, float, tuple[float, float] | None]], what: str) -> str:
    """Draw a bar for each row (name, value, interval or None), with the interval as a whisker."""
    row_height, width, top, room = 22, 720, 6, 300
    height = top + row_height * len(rows) + 34
    largest = max((max(value, interval[1] if interval else 0) for _, value, interval in rows), default=1) or 1
    scale = (width - room - 70) / largest
    parts = []
    for index, (name, value, interval) in enumerate(rows):
        middle = top + row_height * index + row_height / 2
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
    return document(width, height, f"{what}: the {len(rows)} largest. The table has the numbers.", parts)


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
