"""A process map with matplotlib, for PNG and PDF: the same drawing as the SVG."""

from __future__ import annotations

from typing import Any

from .figures import PictureFormat, new_figure, rendered
from .map_layout import HEIGHT, WIDTH
from .map_picture import Drawing, DrawnNode, DrawnPair
from .svg import BLUE, GREY, INK, printable, shortened

_DOTS = 90.0  # units of the drawing per inch
_LINE = 15.0  # height of a caption


def map_figure(plan: Drawing, form: PictureFormat) -> bytes:
    """Draw a process map.

    Args:
        plan: The drawing.
        form: The format of the picture.

    Returns:
        The content of the file.
    """
    width, height = max(plan.width, 640), plan.height + _LINE * len(plan.captions)
    figure = new_figure((width / _DOTS, height / _DOTS))
    axes = figure.add_subplot()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    for pair in plan.pairs:
        _draw_pair(axes, pair)
    for node in plan.nodes:
        _draw_node(axes, node)
    top = plan.height - _LINE if plan.nodes else _LINE
    for line, words in enumerate(plan.captions):
        _write(axes, 8, top + _LINE * line, words, 7, ha="left", color="#555555")
    return rendered(figure, form)


def _draw_pair(axes: Any, pair: DrawnPair) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [pair.start], [Path.MOVETO]
    for curve in pair.curves:
        points += list(curve)
        codes += [Path.CURVE4] * 3
    line = "solid" if pair.is_forward else "dashed"
    arrow = FancyArrowPatch(
        path=Path(points, codes), arrowstyle="-|>", mutation_scale=8, linewidth=pair.width * 0.7, color=pair.colour,
        linestyle=line, fill=False,
    )  # fmt: skip
    axes.add_patch(arrow)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
    _write(axes, *pair.label_at, pair.label, 6, bbox=box)


def _draw_node(axes: Any, node: DrawnNode) -> None:
    from matplotlib.patches import FancyBboxPatch

    terminal = node.kind in ("start", "end")
    width, height = (WIDTH - 70, HEIGHT - 12) if terminal else (WIDTH, HEIGHT)
    colour, line = (GREY, "dashed") if node.kind == "other" else (INK if terminal else BLUE, "solid")
    corner = node.at[0] - width / 2, node.at[1] - height / 2
    style = f"round,pad=0,rounding_size={12 if terminal else 4}"
    axes.add_patch(
        FancyBboxPatch(corner, width, height, style, facecolor="white", edgecolor=colour, linestyle=line, zorder=3)
    )
    name = node.kind if node.kind != "activity" else node.name
    _write(axes, node.at[0], node.at[1] - (6 if node.below else 0), shortened(name, 22), 8)
    if node.below:
        _write(axes, node.at[0], node.at[1] + 9, node.below, 6, color="#555555")


def _write(axes: Any, x: float, y: float, words: str, size: int, **style: Any) -> None:
    given = {"ha": "center", "va": "center", "fontsize": size, "parse_math": False, "zorder": 4, "color": INK} | style
    axes.text(x, y, printable(words), **given)
