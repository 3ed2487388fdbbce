"""What each kind of release can do, from the recipe alone, without any data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..errors import ParameterError
from ..evaluation.kinds import advice, mechanisms, outlooks
from ..sources.reading import DEFAULT_READING
from .failures import in_words
from .recipe import Recipe


@dataclass(frozen=True)
class OutlookView:
    """What the page shows: why the recipe is invalid, or facts for each kind and what is recommended.

    `weak`: why ε and δ protect only weakly, if they do.
    """

    why: str = ""
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    advice: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def outlook(recipe: Recipe) -> OutlookView:
    """Return what each kind of release can do. It may be slow and must not run in the event loop."""
    try:
        cases = recipe.cases
        made = mechanisms(recipe.epsilon, recipe.delta, recipe.reading(DEFAULT_READING).privacy_unit)
        facts = tuple((view.alternative, view.facts) for view in outlooks(made, cases))
        return OutlookView("", facts, advice(made, cases), recipe.weak_protection())
    except ParameterError as error:
        return OutlookView(why=in_words(error))
