"""Mechanisms with a proof, one file each, by name or description, and the extension point for other packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

from ..errors import ParameterError, TravasError, shown
from ..trusted.guarantee import ONE_CASE, PrivacyUnit
from ..trusted.numbers import MAX_EPSILON, Number, exact_delta, exact_epsilon
from .extensions import Maker, extension, options_of, refuse_unknown
from .mechanism import Mechanism, References

_CLASSES = {
    "optimal": "selection.Optimal",
    "travas": "selection.Travas",
    "utravas": "utravas.UTravas",
    "prefix-tree": "prefix_tree.PrefixTree",
    "sacofa": "sacofa.SaCoFa",
    "ladder": "ladder.Ladder",
    "synthesis": "synthesis_mechanism.Synthesis",
    "map": "process_map.ProcessMap",
}


class _Mechanisms(Mapping[str, type[Mechanism]]):
    """The modules are imported when needed, so that commands start fast."""

    def __getitem__(self, name: str) -> type[Mechanism]:
        module, _, kind = _CLASSES[name].partition(".")
        return cast(type[Mechanism], getattr(import_module(f".{module}", __name__), kind))

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


MECHANISMS = _Mechanisms()
"""The mechanisms of travas that have a proof, by name."""

_MECHANISM_GROUP = "travas.mechanisms"


def find_mechanism(name: str, references: References = "refuse") -> Maker:
    """Return the class or function that builds the mechanism of this name.

    Args:
        name: A name, an entry point of the group `travas.mechanisms`, or a dotted path `package.module:Class`.
        references: Whether a dotted path is imported. Only for names that the user typed, because importing runs code.

    Returns:
        A class or function that is called with epsilon, delta, unit and the options.
    """
    if isinstance(name, str) and name in MECHANISMS:
        return MECHANISMS[name]
    maker = extension(name, _MECHANISM_GROUP, "mechanism", tuple(MECHANISMS), references)
    if isinstance(maker, type) and not issubclass(maker, Mechanism):
        raise ParameterError(
            f"mechanism is {shown(name)}, which is not a subclass of travas.Mechanism", field="mechanism"
        )
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
    name, unit = description["mechanism"], _unit(description.get("unit"))
    maker = find_mechanism(name, references)
    options = {key: value for key, value in description.items() if key not in ("mechanism", "epsilon", "delta", "unit")}
    refuse_unknown(name, maker, options)
    if isinstance(maker, type) and issubclass(maker, Mechanism):
        options = {key: maker.from_plain(key, value, references) for key, value in options.items()}
    return _made(name, maker, description["epsilon"], description["delta"], unit, options)


def mechanism(
    name: str,
    epsilon: Number,
    delta: Number,
    minimum_cases: int | None = None,
    *,
    unit: PrivacyUnit = ONE_CASE,
    **options: Any,
) -> Mechanism:
    """Build any mechanism by its name and the options of its class, for experiments."""
    if minimum_cases is not None:
        options["minimum_cases"] = minimum_cases
    maker = find_mechanism(name, "follow")
    refuse_unknown(name, maker, options)
    return _made(name, maker, epsilon, delta, unit, options)


def _unit(description: Any) -> PrivacyUnit:
    if description is None:
        return ONE_CASE
    if not isinstance(description, Mapping) or set(description) != {"name", "max_cases"}:
        raise ParameterError("the unit of a description must have a name and max_cases, and nothing else", field="unit")
    return PrivacyUnit(description["name"], description["max_cases"])


def _made(
    name: str, maker: Maker, epsilon: Number, delta: Number, unit: PrivacyUnit, options: Mapping[str, Any]
) -> Mechanism:
    for option, needed in options_of(maker).items():
        if needed and option not in options:
            raise ParameterError(
                f"{name} needs {option}, a public value that is not read from the log; set {option}", field=option
            )
    whole = exact_epsilon(epsilon), exact_delta(delta)
    try:
        made = maker(*whole, unit=unit, **options)
    except ParameterError as error:
        refused = whole[0] > MAX_EPSILON or whole[1] == 0
        if unit.max_cases == 1 or refused or error.field not in ("epsilon", "delta"):
            raise
        raise ParameterError(
            f"{error} (this is the share of one of {unit.max_cases} cases per {unit.noun})", field=error.field
        ) from None
    except Exception as error:
        if isinstance(error, TravasError) or name in MECHANISMS:
            raise
        raise ParameterError(
            f"mechanism is {shown(name)}, which cannot be made: {type(error).__name__}", field="mechanism"
        ) from error
    if not isinstance(made, Mechanism):
        raise ParameterError(f"mechanism is {shown(name)}, which does not make a travas.Mechanism", field="mechanism")
    return made
