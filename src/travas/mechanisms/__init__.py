"""Mechanisms by name: the sound forms under the plain names, the published ones beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from ..errors import ParameterError
from ..model.abstraction import Abstraction
from ..model.mechanism import Mechanism
from ..model.variants import Activity
from ..privacy.guarantee import ONE_CASE, PrivacyUnit
from ..privacy.numbers import Number, exact_delta, exact_epsilon
from ..privacy.tables import MAX_EPSILON

_CLASSES = {
    "optimal": "optimal.Optimal",
    "travas": "travas.Travas",
    "utravas": "utravas.UTravas",
    "prefix-tree": "prefix_tree.PrefixTree",
    "sacofa": "sacofa.Sacofa",
    "utravas-published": "utravas.UTravasPublished",
    "sacofa-published": "sacofa.SacofaPublished",
    "ladder": "ladder.Ladder",
}


class _Mechanisms(Mapping[str, type[Mechanism]]):
    """Each is imported when it is wanted, so that no command waits for the others."""

    def __getitem__(self, name: str) -> type[Mechanism]:
        module, _, kind = _CLASSES[name].partition(".")
        return cast(type[Mechanism], getattr(import_module(f".{module}", __name__), kind))

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


MECHANISMS = _Mechanisms()


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
    """The mechanism of this name at (ε, δ) for one unit. An option that it does not have is refused."""
    if name not in MECHANISMS:
        near = get_close_matches(name, MECHANISMS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "take one of: " + ", ".join(MECHANISMS)
        raise ParameterError(f"mechanism is {name!r}, which does not exist: {hint}")
    kind = MECHANISMS[name]
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
    for option in given:
        if option not in kind.options:
            raise ParameterError(f"{name} has no {option}: leave it out; its options are {', '.join(kind.options)}")
    try:
        return kind(exact_epsilon(epsilon), exact_delta(delta), unit=unit, **given)  # type: ignore[arg-type]
    except ParameterError as error:
        whole = exact_epsilon(epsilon) > MAX_EPSILON or exact_delta(delta) == 0
        if unit.max_cases == 1 or whole or not str(error).startswith(("epsilon", "delta")):
            raise
        raise ParameterError(f"{error} (that is what one of {unit.max_cases} cases of a {unit.name} gets)") from None
