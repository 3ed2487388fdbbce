"""What the command line says about the guarantee of every kind of release. All of it is public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..trusted.guarantee import Guarantee, Standing
from ..trusted.numbers import as_text, rounded_up


def guarantee_facts(guarantee: Guarantee) -> dict[str, Any]:
    """Return the facts of a guarantee for `--json`."""
    return {
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": rounded_up(guarantee.delta_spent),
        "standing": str(guarantee.standing),
        "unit": guarantee.unit.name,
        "max_cases": guarantee.unit.max_cases,
    }


def heading(name: str, guarantee: Guarantee, warnings: Sequence[str]) -> tuple[str, str]:
    """Return the heading of a release and its colour: whether it has a guarantee, and whether there are warnings."""
    if guarantee.standing is Standing.NOT_ESTABLISHED:
        return f"{name} WITHOUT a guarantee", "red"
    return (f"{name}, with warnings", "yellow") if warnings else (name, "green")


def protection(guarantee: Guarantee) -> str:
    """Return (ε, δ), the change of the log for which they hold, and the standing, in one line."""
    parameters = f"ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}"
    return f"{parameters} for {guarantee.holds_for}: {guarantee.standing}"
