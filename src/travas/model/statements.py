"""What a mechanism says about itself in every record: its name, its description and its guarantee.

It is computed here and not by methods, so that no class of another package changes it: such a class has its own name,
never that of the mechanism that it extends, and its guarantee is never established.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, shown
from ..privacy.guarantee import Guarantee, Standing
from ..privacy.numbers import as_text
from ..privacy.person_tables import GaussianTable
from ..privacy.sealed_classes import is_exactly
from .abstraction import Abstraction
from .detail_options import Attribute, BudgetShares, Times
from .other_packages import dotted_name, failures_named, is_ours

if TYPE_CHECKING:
    from .mechanism import Mechanism


def recorded_name(mechanism: Mechanism) -> str:
    """Return the name by which a mechanism is recorded: `package.module:Class` for one of another package."""
    return type(mechanism).name if is_ours(mechanism) else dotted_name(type(mechanism))


def guarantee_of(mechanism: Mechanism) -> Guarantee:
    """Return what a release costs; see `Mechanism.guarantee`.

    Args:
        mechanism: The mechanism.

    Returns:
        The guarantee.

    Raises:
        ParameterError: The mechanism of another package failed, or its guarantee is not for its own (ε, δ) and unit.
    """
    with failures_named(mechanism):
        promised = mechanism._promise()
    if not is_exactly(promised, Guarantee):
        raise ParameterError(
            f"the guarantee of {recorded_name(mechanism)} is {shown(promised)}; return a Guarantee", field="mechanism"
        )
    if (promised.epsilon, promised.delta, promised.unit) != (mechanism.epsilon, mechanism.delta, mechanism.unit):
        raise ParameterError(
            f"the guarantee of {recorded_name(mechanism)} has another epsilon, delta or unit than the mechanism; use the same",
            field="mechanism",
        )
    if not is_ours(mechanism):
        reason = f"the mechanism is {recorded_name(mechanism)}, whose proof is not part of travas"
        promised = _not_established(replace(promised, mechanism=recorded_name(mechanism)), reason)
    if mechanism.random_bytes is not os.urandom:
        promised = _not_established(promised, "the noise was drawn from a seed and can be reproduced by anyone")
    return promised


def _not_established(guarantee: Guarantee, reason: str) -> Guarantee:
    return replace(guarantee, standing=Standing.NOT_ESTABLISHED, assumptions=(*guarantee.assumptions, reason))


def description_of(mechanism: Mechanism) -> dict[str, Any]:
    """Return the mechanism as plain values; see `Mechanism.describe`.

    Args:
        mechanism: The mechanism.

    Returns:
        `mechanism`, `epsilon`, `delta` and `unit`, followed by the options.
    """
    described: dict[str, Any] = {
        "mechanism": recorded_name(mechanism),
        "epsilon": as_text(mechanism.epsilon),
        "delta": as_text(mechanism.delta),
        "unit": {"name": mechanism.unit.name, "max_cases": mechanism.unit.max_cases},
    }
    options = {name: _plain(getattr(mechanism, name)) for name in mechanism.options() if name not in described}
    former = mechanism.former_options
    return described | {
        name: value for name, value in options.items() if not (name in former and value in (None, former[name]))
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return as_text(value)
    if isinstance(value, Abstraction):
        return value.as_json()
    if isinstance(value, GaussianTable | Times | Attribute | BudgetShares):
        return value.describe()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
