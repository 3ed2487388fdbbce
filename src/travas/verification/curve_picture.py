"""The privacy curve of a mechanism as a figure. Public: no log is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..mechanisms.mechanism import Mechanism
from ..outputs.pictures import write_picture
from ..plots.figures import Panel, draw_panels
from ..trusted.numbers import as_text
from .privacy_curve import Point

_LEAST = 1e-30  # δ below this is not drawn


def draw_curve(mechanism: Mechanism, points: Sequence[Point], path: Path) -> Path:
    """Draw the worst-case δ by ε', with the stated (ε, δ)."""
    lines = {
        "at most": [(float(point.epsilon), float(point.at_most)) for point in points],
        "reached by a pair of logs": [(float(point.epsilon), float(point.reached)) for point in points],
        "stated": [(float(mechanism.epsilon), float(mechanism.delta))],
    }
    shown = {name: [(x, y) for x, y in line if y > _LEAST] for name, line in lines.items()}
    panel = Panel(
        f"Worst-case privacy curve of {mechanism.name}, ε = {as_text(mechanism.epsilon)}, δ = {as_text(mechanism.delta)}",
        "ε'",
        "δ(ε')",
        shown,
        scale="log",
    )
    return write_picture(path, lambda form: draw_panels([[panel]], "", form))
