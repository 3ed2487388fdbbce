"""Mechanisms by name, by description, and in other packages: entry points and typed dotted paths."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any, cast

from ..errors import ParameterError, TravasError, shown
from ..log.plain import from_plain
from ..trusted.guarantee import ONE_CASE, PrivacyUnit
from ..trusted.numbers import MAX_EPSILON, Number, exact_delta, exact_epsilon
from .mechanism import Mechanism, References

Maker = Callable[..., Mechanism]
"""A subclass of `Mechanism`, or a function that makes one: called with epsilon, delta, unit and the options."""

_CLASSES = {
    "optimal": "selection.Optimal",
    "travas": "selection.Travas",
    "utravas": "utravas.UTravas",
    "prefix-tree": "prefix_tree.PrefixTree",
    "sacofa": "sacofa.SaCoFa",
    "ladder": "ladder.Ladder",
    "synthesis": "synthesis.Synthesis",
    "map": "process_map.ProcessMap",
}


class _Mechanisms(Mapping[str, type[Mechanism]]):
    """The modules are imported when needed, so that commands start fast."""

    def __getitem__(self, name: str) -> type[Mechanism]:
        module, _, kind = _CLASSES[name].partition(".")
        return cast(type[Mechanism], getattr(import_module(f".{module}", __package__), kind))

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


MECHANISMS = _Mechanisms()
"""The mechanisms of travas that have a proof, by name."""

_MECHANISM_GROUP = "travas.mechanisms"


def find_mechanism(name: str, references: References = "refuse") -> Maker:
    """Return the class or function that builds the mechanism of this name."""
    if isinstance(name, str) and name in MECHANISMS:
        return MECHANISMS[name]
    maker = extension(name, _MECHANISM_GROUP, "mechanism", tuple(MECHANISMS), references)
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


# ------------------------------------------------------------------------------------------ other packages


_DOTTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_GIVEN = ("epsilon", "delta", "unit", "random_bytes")


def extension(name: object, group: str, what: str, known: Sequence[str], references: References) -> Any:
    """Load the object of another package that a name refers to."""
    from importlib.metadata import entry_points

    if not isinstance(name, str):
        raise ParameterError(f"{what} is {shown(name)}: it must be a name", field=what)
    points = tuple(entry_points(group=group))
    for point in points:
        if name in (point.name, point.value):  # the recorded name of a class is its dotted path
            with _named(what, f"{point.name!r}, registered as {point.value}:"):
                return point.load()
    if ":" in name:
        return _imported(name, what, references)
    registered = [point.name for point in points]
    near = get_close_matches(name, [*known, *registered], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join([*known, *sorted(registered)])}"
    raise ParameterError(f"{what} is {shown(name)}, which does not exist; {hint}", field=what)


@contextmanager
def _named(what: str, name: str) -> Iterator[None]:
    """Name what cannot be imported, with the message of an error about a name, and the type alone of any other."""
    try:
        yield
    except Exception as error:  # importing runs the code of another package
        is_about_a_name = isinstance(error, ImportError | AttributeError | TravasError)
        why = (str(error) if is_about_a_name else "") or type(error).__name__
        raise ParameterError(f"{what} is {name} {why}", field=what) from None


def _imported(name: str, what: str, references: References) -> Any:
    if references == "refuse":
        raise ParameterError(f"{what} is {shown(name)}, a dotted path, which is not imported from here", field=what)
    if not _DOTTED.fullmatch(name):
        raise ParameterError(f"{what} is {shown(name)}: write package.module:Class", field=what)
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # the user typed the name: a file in the current folder will do
    with _named(what, f"{shown(name)}, which cannot be imported:"):
        return getattr(import_module(module), attribute)


def options_of(maker: Maker) -> dict[str, bool]:
    """Return the options of a mechanism, and whether each is required."""
    parameters = inspect.signature(maker).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p.default is p.empty for p in parameters if p.name not in _GIVEN and p.kind in kinds}
