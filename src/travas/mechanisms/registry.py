"""Mechanisms by name, by description, and in other packages by dotted path."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, cast

from ..errors import ParameterError, TravasError, shown
from ..log.plain import from_plain
from ..trusted.guarantee import ONE_CASE, PrivacyUnit
from ..trusted.numbers import Number, exact_delta, exact_epsilon
from .ladder import Ladder
from .mechanism import Mechanism, References
from .prefix_tree import PrefixTree
from .process_map import ProcessMap
from .sacofa import SaCoFa
from .selection import Optimal, Travas
from .synthesis import Synthesis
from .utravas import UTravas

Maker = Callable[..., Mechanism]
"""A subclass of `Mechanism`, or a function that makes one: called with epsilon, delta, unit and the options."""

MECHANISMS: Mapping[str, type[Mechanism]] = {
    kind._name: kind for kind in (Optimal, Travas, UTravas, PrefixTree, SaCoFa, Ladder, Synthesis, ProcessMap)
}
"""The mechanisms of travas that have a proof, by name."""

_PUBLISHED = {"utravas-published": "UTravasPublished", "sacofa-published": "SaCoFaPublished"}
"""Those for comparison only, which have no guarantee."""


def find_mechanism(name: str, references: References = "refuse") -> Maker:
    """Return the class or function that builds the mechanism of this name."""
    if isinstance(name, str) and name in MECHANISMS:
        return MECHANISMS[name]
    if isinstance(name, str) and name in _PUBLISHED:
        return cast(Maker, getattr(import_module("travas.evaluation.published"), _PUBLISHED[name]))
    maker = extension(name, "mechanism", (*MECHANISMS, *_PUBLISHED), references)
    try:
        options_of(maker)
    except (TypeError, ValueError):
        raise ParameterError(
            f"mechanism is {shown(name)}, which is neither a class nor a function with named parameters",
            field="mechanism",
        ) from None
    return cast(Maker, maker)


def from_description(description: Mapping[str, Any], references: References = "refuse") -> Mechanism:
    """Build a mechanism from the description that `Mechanism.describe()` returns.

    Args:
        description: `mechanism`, `epsilon`, `delta`, optionally `unit`, and the options of the mechanism.
        references: Whether `package.module:Class` is imported and rule files are read. Only for descriptions that the
            user wrote, never for a file that came with a release.

    Returns:
        A mechanism equal to the described one, with noise from the operating system.

    >>> from_description({"mechanism": "optimal", "epsilon": "1", "delta": "1e-6"}).describe()["minimum_cases"]
    1
    """
    if not isinstance(description, Mapping):
        raise ParameterError(
            f"the description of a mechanism is {shown(description)}, not a mapping", field="description"
        )
    for field in ("mechanism", "epsilon", "delta"):
        if field not in description:
            raise ParameterError(f"the description of a mechanism has no {field}", field=field)
    name = description["mechanism"]
    unit = from_plain(description["unit"], PrivacyUnit, "unit") if "unit" in description else ONE_CASE
    maker = find_mechanism(name, references)
    options = {key: value for key, value in description.items() if key not in ("mechanism", "epsilon", "delta", "unit")}
    if isinstance(maker, type) and issubclass(maker, Mechanism):
        options = {key: maker._from_plain(key, value, references) for key, value in options.items()}
    return _made(name, maker, description["epsilon"], description["delta"], unit, options)


def mechanism(name: str, epsilon: Number, delta: Number, *, unit: PrivacyUnit = ONE_CASE, **options: Any) -> Mechanism:
    """Build any mechanism by its name and the options of its class, for experiments."""
    return _made(name, find_mechanism(name, "follow"), epsilon, delta, unit, options)


def _made(
    name: str, maker: Maker, epsilon: Number, delta: Number, unit: PrivacyUnit, options: Mapping[str, Any]
) -> Mechanism:
    available = options_of(maker)
    for option in options:
        if option not in available:
            raise ParameterError(
                f"{name} has no option {str(option)[:60]}; remove it (its options: {', '.join(available) or 'none'})",
                field=str(option),
            )
    for option, needed in available.items():
        if needed and option not in options:
            raise ParameterError(
                f"{name} needs {option}, a public value that is not read from the log; set {option}", field=option
            )
    try:
        made = maker(exact_epsilon(epsilon), exact_delta(delta), unit=unit, **options)
    except Exception as error:
        if isinstance(error, TravasError) or name in MECHANISMS:
            raise
        raise ParameterError(
            f"mechanism is {shown(name)}, which cannot be made: {type(error).__name__}", field="mechanism"
        ) from error
    if not isinstance(made, Mechanism):
        raise ParameterError(f"mechanism is {shown(name)}, which does not make a travas.Mechanism", field="mechanism")
    return made


# ------------------------------------------------------------------------------------------ other packages


_GIVEN = ("epsilon", "delta", "unit", "random_bytes")


def extension(name: object, what: str, known: Sequence[str], references: References) -> Any:
    """Load the object of another package that `package.module:name` refers to."""
    if not isinstance(name, str):
        raise ParameterError(f"{what} is {shown(name)}: it must be a name", field=what)
    module, colon, attribute = name.partition(":")
    if not colon:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(known)}"
        raise ParameterError(f"{what} is {shown(name)}, which does not exist; {hint}", field=what)
    if references == "refuse":
        raise ParameterError(f"{what} is {shown(name)}, a dotted path, which is not imported from here", field=what)
    if "" not in sys.path:
        sys.path.append("")  # the user typed the name: a file in the current folder will do
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # importing runs the code of another package
        is_about_a_name = isinstance(error, ImportError | AttributeError | TravasError)
        why = (str(error) if is_about_a_name else "") or type(error).__name__
        raise ParameterError(f"{what} is {shown(name)}, which cannot be imported: {why}", field=what) from None


def options_of(maker: Maker) -> dict[str, bool]:
    """Return the options of a mechanism, and whether each is required."""
    parameters = inspect.signature(maker).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p.default is p.empty for p in parameters if p.name not in _GIVEN and p.kind in kinds}
