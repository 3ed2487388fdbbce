"""Mechanisms with a proof, one file each; their names and descriptions, and the way in for mechanisms of other packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from ..errors import ParameterError, shown
from ..model.abstraction import Abstraction
from ..model.mechanism import Mechanism, References
from ..model.variants import Activity
from ..privacy.guarantee import ONE_CASE, PrivacyUnit
from ..privacy.numbers import Number, exact_delta, exact_epsilon
from ..privacy.tables import MAX_EPSILON
from .extensions import Maker, extension, options_of, refuse_unknown

_CLASSES = {
    "optimal": "optimal.Optimal",
    "travas": "travas.Travas",
    "utravas": "utravas.UTravas",
    "prefix-tree": "prefix_tree.PrefixTree",
    "sacofa": "sacofa.SaCoFa",
    "ladder": "ladder.Ladder",
    "synthesis": "synthesis.Synthesis",
}


class _Mechanisms(Mapping[str, type[Mechanism]]):
    """Each is imported when it is needed, so that no command waits for the others."""

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
    """What makes the mechanism of this name: one of travas, or one that an installed package registers.

    Args:
        name: A name, an entry point of the group `travas.mechanisms`, or a dotted path `package.module:Class`.
        references: Whether a dotted path is imported. Only for names that the user typed: importing runs code.

    Returns:
        A class or function that is called with epsilon, delta, unit and the options.
    """
    if isinstance(name, str) and name in MECHANISMS:
        return MECHANISMS[name]
    found = extension(name, _MECHANISM_GROUP, "mechanism", tuple(MECHANISMS), references)
    if isinstance(found, type) and not issubclass(found, Mechanism):
        raise ParameterError(
            f"mechanism is {shown(name)}, which is not a subclass of travas.Mechanism", field="mechanism"
        )
    return cast(Maker, found)


def from_description(description: Mapping[str, Any], references: References = "refuse") -> Mechanism:
    """The mechanism that `Mechanism.describe()` described.

    Args:
        description: `mechanism`, `epsilon`, `delta`, optionally `unit`, and the options of the mechanism.
        references: Whether a mechanism `package.module:Class` is imported and files of rules are read. Only for what the
            user wrote, never for a file that came with a release.

    Returns:
        A mechanism that is equal to the one described, with noise from the operating system.

    >>> from_description({"mechanism": "optimal", "epsilon": "1", "delta": "1e-6"}).describe()["minimum_cases"]
    1
    """
    if not isinstance(description, Mapping):
        raise ParameterError(f"the description of a mechanism is {shown(description)}, not a mapping")
    for field in ("mechanism", "epsilon", "delta"):
        if field not in description:
            raise ParameterError(f"the description of a mechanism has no {field}", field=field)
    name = description["mechanism"]
    maker = find_mechanism(name, references)
    options = {key: value for key, value in description.items() if key not in ("mechanism", "epsilon", "delta", "unit")}
    refuse_unknown(name, maker, options)
    if isinstance(maker, type) and issubclass(maker, Mechanism):
        options = {key: maker.from_plain(key, value, references) for key, value in options.items()}
    return _made(name, maker, description["epsilon"], description["delta"], _unit(description.get("unit")), options)


def mechanism(
    name: str,
    epsilon: Number,
    delta: Number,
    minimum_cases: int | None = None,
    *,
    splits: int | None = None,
    max_length: int | None = None,
    prune: int | None = None,
    alphabet: Sequence[Activity] | None = None,
    rungs: str | Sequence[Abstraction | str] | None = None,
    shares: str | Sequence[Number] | None = None,
    unit: PrivacyUnit = ONE_CASE,
) -> Mechanism:
    """The mechanism of this name. `travas.Optimal(...)` and the others are the same with types.

    Args:
        name: One of travas, an entry point of the group `travas.mechanisms`, or `package.module:Class`.
        epsilon: ε for one unit.
        delta: δ for one unit.
        minimum_cases: optimal, travas, ladder: never release a variant of fewer cases.
        splits: utravas: number of runs.
        max_length: prefix-tree, sacofa: activities of the longest variant.
        prune: prefix-tree, sacofa: noisy counts must exceed it.
        alphabet: prefix-tree, sacofa: the activities, as a public list.
        rungs: ladder: abstractions from fine to coarse.
        shares: ladder: the part of (ε, δ) of each rung, or adaptive.
        unit: Whom the guarantee protects.

    Returns:
        The mechanism. An option that it does not have is refused.
    """
    options = {
        "minimum_cases": minimum_cases,
        "splits": splits,
        "max_length": max_length,
        "prune": prune,
        "alphabet": alphabet,
        "rungs": rungs,
        "shares": shares,
    }
    given = {option: value for option, value in options.items() if value is not None}
    maker = find_mechanism(name, "follow")
    refuse_unknown(name, maker, given)
    return _made(name, maker, epsilon, delta, unit, given)


def _unit(given: Any) -> PrivacyUnit:
    if given is None:
        return ONE_CASE
    if not isinstance(given, Mapping) or set(given) != {"name", "max_cases"}:
        raise ParameterError("the unit of a description must have a name and max_cases, and nothing else", field="unit")
    return PrivacyUnit(given["name"], given["max_cases"])


def _made(
    name: str, maker: Maker, epsilon: Number, delta: Number, unit: PrivacyUnit, options: Mapping[str, Any]
) -> Mechanism:
    for option, needed in options_of(maker).items():
        if needed and option not in options:
            raise ParameterError(
                f"{name} needs {option}, which must not be read from the log: set {option}", field=option
            )
    whole = exact_epsilon(epsilon), exact_delta(delta)
    try:
        made = maker(*whole, unit=unit, **options)
    except ParameterError as error:
        refused = whole[0] > MAX_EPSILON or whole[1] == 0
        if unit.max_cases == 1 or refused or error.field not in ("epsilon", "delta"):
            raise
        raise ParameterError(
            f"{error} (that is the part of one of {unit.max_cases} cases of a {unit.name})", field=error.field
        ) from None
    if not isinstance(made, Mechanism):
        raise ParameterError(f"mechanism is {shown(name)}, which does not make a travas.Mechanism", field="mechanism")
    return made
