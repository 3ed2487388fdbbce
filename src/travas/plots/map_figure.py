"""A process map with matplotlib, for PNG and PDF: the same drawing as the SVG."""

from __future__ import annotations

from typing import Any

from .figures import PictureFormat, new_figure, rendered
from .map_picture import Drawing, DrawnNode, DrawnPair
from .svg import BLUE, GREY, INK, printable

_DOTS = 90.0  # units of the drawing per inch
_LINE = 15.0  # height of a line of text


def map_figure(plan: Drawing, form: PictureFormat) -> bytes:
    """Draw a process map.

    Args:
        plan: The drawing.
        form: The format of the picture.

    Returns:
        The content of the file.
    """
    width, height = plan.width, plan.whole_height
    figure = new_figure((width / _DOTS, height / _DOTS))
    axes = figure.add_subplot()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    for pair in plan.pairs:
        _draw_pair(axes, pair)
    for node in plan.nodes:
        _draw_node(axes, node)
    for line, words in enumerate(plan.captions, start=1):
        _write(axes, 8, plan.height + _LINE * line, words, 7, ha="left", color="#555555")
    return rendered(figure, form)


def _draw_pair(axes: Any, drawn: DrawnPair) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [drawn.route.start], [Path.MOVETO]
    for curve in drawn.route.curves:
        points += list(curve)
        codes += [Path.CURVE4] * 3
    arrow = FancyArrowPatch(
        path=Path(points, codes), arrowstyle="-|>", mutation_scale=8, linewidth=drawn.width * 0.7, color=drawn.colour,
        fill=False,
    )  # fmt: skip
    axes.add_patch(arrow)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
    _write(axes, *drawn.route.label_at, drawn.pair.label, 6, bbox=box)


def _draw_node(axes: Any, drawn: DrawnNode) -> None:
    from matplotlib.patches import FancyBboxPatch

    node, (width, height), (x, y) = drawn.node, drawn.size, drawn.at
    terminal = node.kind in ("start", "end")
    colour, line = (GREY, "dashed") if node.kind == "other" else (INK if terminal else BLUE, "solid")
    style = f"round,pad=0,rounding_size={12 if terminal else 4}"
    corner = x - width / 2, y - height / 2
    axes.add_patch(
        FancyBboxPatch(corner, width, height, style, facecolor="white", edgecolor=colour, linestyle=line, zorder=3)
    )
    top = y - _LINE * (len(drawn.lines) - 1) / 2
    for number, words in enumerate(drawn.lines):
        below = bool(node.below) and number == len(drawn.lines) - 1
        _write(axes, x, top + _LINE * number, words, 6 if below else 8, color="#555555" if below else INK)


def _write(axes: Any, x: float, y: float, words: str, size: int, **style: Any) -> None:
    given = {"ha": "center", "va": "center", "fontsize": size, "parse_math": False, "zorder": 4, "color": INK} | style
    axes.text(x, y, printable(words), **given)
