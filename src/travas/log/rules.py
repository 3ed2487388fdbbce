"""Public rules that generated cases obey: how they are stated, and which transitions they make impossible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from ..errors import ParameterError, are_texts, shown, text_tuple
from ..trusted.contributions import cells
from ..trusted.samplers import Booleans
from .calendar import WEEK_DAYS, duration
from .traces import Activity

Pairs = tuple[tuple[int, int], ...]
"""Pairs of activities, by their indices."""

_HOURS = 24
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_OPENING = re.compile("({0})(?:-({0}))? ([0-9]{{2}})-([0-9]{{2}})".format("|".join(_DAYS)), re.ASCII)


def _pair(text: str, sign: str, field: str) -> tuple[str, str]:
    """The two activities of a text such as `A < B`."""
    before, *after = text.split(f" {sign} ")
    if not before or len(after) != 1 or not after[0] or (field == "before" and before == after[0]):
        raise ParameterError(f"{field} has {shown(text)}; use two activities, such as 'A {sign} B'", field=field)
    return before, after[0]


@attrs.frozen
class Rules:
    """Rules that every generated case obeys. All of them are public and chosen without looking at the log.

    Activities that were not measured are ignored.

    Attributes:
        starts_with: Every case starts with one of these activities.
        ends_with: Every case ends with one of these activities.
        at_most_once: Each of these activities occurs at most once in a case.
        before: `A < B`: B never occurs before A has occurred.
        follows: `A > B`: only such an activity B directly follows A; pairs that are not listed do not occur.
        at_least: `A < B: 10m`: at least this time passes from A to a directly following B.
        hours: When events happen, such as `Mon-Fri 07-19, Sat 08-12`, in the zone of the times.

    >>> Rules(before=["triage < treatment"], hours="Mon-Fri 07-19").is_timed
    True
    """

    starts_with: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    ends_with: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    at_most_once: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    before: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    follows: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    at_least: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=are_texts)
    hours: str | None = None

    def __attrs_post_init__(self) -> None:
        _ = self.pairs("before"), self.pairs("follows"), self.waits, self.open_hours  # raises

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the pairs of `before` or `follows`."""
        sign = ">" if name == "follows" else "<"
        return tuple(_pair(text, sign, name) for text in getattr(self, name))

    @property
    def waits(self) -> tuple[tuple[str, str, float], ...]:
        """The pairs of `at_least`, with seconds."""
        made = []
        for text in self.at_least:
            pair, _, least = text.rpartition(":")
            made.append((*_pair(pair, "<", "at_least"), duration("at_least", least.strip()).total_seconds()))
        return tuple(made)

    @property
    def open_hours(self) -> Booleans:
        """Whether events can happen, by hour of the week from Monday on."""
        is_open = np.full((WEEK_DAYS, _HOURS), self.hours is None)
        for text in () if self.hours is None else str(self.hours).split(","):
            found = _OPENING.fullmatch(text.strip())
            first, last = (_DAYS.index(day) for day in (found[1], found[2] or found[1])) if found else (0, 0)
            start, end = (int(found[3]), int(found[4])) if found else (0, 0)
            if first > last or not start < end <= _HOURS:
                raise ParameterError(
                    f"hours is {shown(self.hours)}; use days and hours, such as 'Mon-Fri 07-19, Sat 08-12'",
                    field="hours",
                )
            is_open[first : last + 1, start:end] = True
        return is_open.ravel()

    @property
    def is_timed(self) -> bool:
        """Whether a rule is about times."""
        return bool(self.at_least or self.hours)

    @property
    def activities(self) -> tuple[str, ...]:
        """All activities that the rules name, sorted."""
        named = {*self.starts_with, *self.ends_with, *self.at_most_once}
        pairs = (*self.pairs("before"), *self.pairs("follows"), *(wait[:2] for wait in self.waits))
        return tuple(sorted(named.union(*pairs)))


NO_RULES = Rules()


def codes_of(names: Iterable[str], activities: Sequence[Activity]) -> list[int]:
    """The indices of those activities that were measured; others are ignored."""
    return [activities.index(name) for name in names if name in activities]


def coded_pairs(pairs: Iterable[tuple[str, str]], activities: Sequence[Activity]) -> Pairs:
    """The indices of those pairs of which both activities were measured; others are ignored."""
    coded = (codes_of(pair, activities) for pair in pairs)
    return tuple((pair[0], pair[1]) for pair in coded if len(pair) == 2)


def possible_cells(activities: Sequence[Activity], rules: Rules | None) -> Booleans:
    """Which transitions the rules allow, by state and symbol: Lemma 14 of docs/mechanisms/synthesis.md."""
    allowed = cells(len(activities))
    rules = rules or NO_RULES
    code = np.arange(len(activities))
    if starts := codes_of(rules.starts_with, activities):
        allowed[0, 2 * np.setdiff1d(code, starts)] = False
    if ends := codes_of(rules.ends_with, activities):
        others = np.setdiff1d(code, ends)
        allowed[np.r_[2 * others + 1, 2 * others + 2], -1] = False
    for once in codes_of(rules.at_most_once, activities):
        allowed[:, 2 * once + 1] = allowed[2 * once + 2] = False
    for first, second in coded_pairs(rules.pairs("before"), activities):
        allowed[0, 2 * second] = allowed[2 * second + 1 : 2 * second + 3, 2 * first] = False
    if pairs := coded_pairs(rules.pairs("follows"), activities):
        follows = np.zeros((len(activities), len(activities)), dtype=bool)
        follows[tuple(zip(*pairs, strict=True))] = True
        allowed[1:, :-1] &= np.kron(follows, np.ones((2, 2), dtype=bool))
    return allowed
