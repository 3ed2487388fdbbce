"""What is released of a log in addition to its traces: times and case attributes, as public options of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import attrs
from attrs.validators import optional

from ..errors import ParameterError, check_encodable, one_of, shown
from ..trusted.numbers import Number, as_text, exact, is_whole_number, whole_number
from ..trusted.samplers import Booleans, Floats, Integers
from .calendar import FIRST_MONDAY, WEEK_DAYS, WEEKS, check_zone
from .questions import SERVICE, SERVICE_EDGES, DetailColumn

Resolution = Literal["second", "minute", "day"]
"""The precision to which generated times are rounded down."""

WEEKEND = (5, 6)

MOST_DAYS = 36_500
"""The longest case that can be stated, in days."""

LARGEST_EDGE = 10**300
"""Edges of bins are compared as binary floating-point numbers of 64 bits."""


def _weekend(days: Sequence[int]) -> tuple[int, ...]:
    are_days = isinstance(days, list | tuple) and all(is_whole_number(day) and 0 <= day < 7 for day in days)
    if not are_days or not 0 < len(set(days)) < 7:
        raise ParameterError(
            f"weekend is {shown(days)}; use 1 to 6 weekdays from 0 (Monday) to 6, such as (5, 6)", field="weekend"
        )
    return tuple(sorted(set(days)))


def weeks_of(recorded: object) -> tuple[int, int]:
    """The first week of a period such as `2013-01-01/2014-12-31`, and the week after its last, from 29 December 1969 on."""
    try:
        first, last = map(date.fromisoformat, recorded.split("/"))  # type: ignore[attr-defined]
        begin, end = ((day - FIRST_MONDAY).days // WEEK_DAYS for day in (first, last))
        if 0 <= begin <= end < WEEKS:
            return begin, end + 1
    except (AttributeError, ValueError, TypeError):
        pass
    raise ParameterError(
        f"recorded is {shown(recorded)}; use the first and the last day, such as 2013-01-01/2014-12-31, from {FIRST_MONDAY} to "
        "the end of 2126",
        field="recorded",
    )


def _longest_case(_: object, __: object, days: int) -> None:
    whole_number(days, "longest_case", 1, MOST_DAYS)


@attrs.frozen
class Times:
    """Times of a synthetic log. All of it is public and chosen without looking at the log.

    Attributes:
        zone: The time zone of weeks, weekdays and hours, such as `Europe/Berlin`.
        resolution: The precision to which generated times are rounded down.
        weekend: The weekend days; Monday is 0.
        recorded: The first and the last day on which cases started, such as `2013-01-01/2014-12-31`, if they are public.
        longest_case: The number of days that no case takes longer than, if it is public.
    """

    zone: str = attrs.field(default="UTC", validator=lambda _, __, zone: check_zone(zone))
    resolution: Resolution = attrs.field(default="second", validator=one_of(Resolution))
    weekend: tuple[int, ...] = attrs.field(default=WEEKEND, converter=_weekend)
    recorded: str | None = attrs.field(default=None, validator=optional(lambda _, __, days: weeks_of(days)))
    longest_case: int | None = attrs.field(default=None, validator=optional(_longest_case))


TimesRule = Literal["required", "if recorded"]
"""Whether a log without a timestamp column is refused by a mechanism that measures times, or released without times."""


def _check_name(_: object, __: object, name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"an attribute is {shown(name)}; use the name of a column", field="attributes")
    check_encodable("attributes", name)


def _edges(bins: Sequence[Number]) -> tuple[Fraction, ...]:
    if isinstance(bins, str | Mapping) or not isinstance(bins, Iterable):
        raise ParameterError(
            f"bins is {shown(bins)}; use a list of increasing edges, such as [0, 18, 65]", field="bins"
        )
    edges = tuple(exact(edge, "bins") for edge in bins)
    if any(abs(edge) > LARGEST_EDGE for edge in edges) or any(float(a) >= float(b) for a, b in pairwise(edges)):
        raise ParameterError(
            f"bins are {', '.join(map(as_text, edges))}; use increasing numbers within ±{LARGEST_EDGE:.0e}",
            field="bins",
        )
    return edges


def _values(values: Sequence[str]) -> tuple[str, ...]:
    listed = isinstance(values, Sequence) and not isinstance(values, str) and all(isinstance(v, str) for v in values)
    if not listed or len(set(values)) < len(values) or {"", OTHER} & set(values):
        raise ParameterError(
            f"values are {shown(values)}; use a list of different texts, without {OTHER!r}", field="attributes"
        )
    check_encodable("attributes", *values)
    return tuple(sorted(values))


OTHER = "other"
"""What stands for all values that were not selected or listed."""


@attrs.frozen
class Attribute:
    """An attribute of a synthetic log: of cases, the first value in every case; or of events.

    Attributes:
        name: The column; in XES, the attribute of the trace, or of the event.
        bins: For numbers: increasing edges, chosen without looking at the log. Without bins values are names.
        values: For names: the values, if they are public. Without them, values that enough cases have are found.
    """

    name: str = attrs.field(validator=_check_name)
    bins: tuple[Fraction, ...] = attrs.field(default=(), converter=_edges)
    values: tuple[str, ...] = attrs.field(default=(), converter=_values)

    def __attrs_post_init__(self) -> None:
        if self.bins and self.values:
            raise ParameterError(f"{shown(self.name)} has bins and values; use one of them", field="attributes")

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the bins as floating-point numbers, as they are compared with values."""
        return tuple(map(float, self.bins))

    @property
    def is_number(self) -> bool:
        """Whether values are numbers, which are counted in bins."""
        return bool(self.bins)

    @property
    def is_selected(self) -> bool:
        """Whether the values are not public, so that some of them are selected."""
        return not self.bins and not self.values

    def column(self, of: Literal["case", "event"]) -> DetailColumn:
        """Return how it is read."""
        return DetailColumn(self.name, "number" if self.is_number else "name", of)

    @classmethod
    def parse(cls, text: str) -> Attribute:
        """An attribute of a text: a name, `NAME=0,10,20` with edges, `NAME=a|b` with values; `NAME=` has an equals sign."""
        name, _, stated = text.rpartition("=")
        if "|" in stated:
            return cls(name or text, values=[value.strip() for value in stated.split("|") if value.strip()])
        return cls(name or text, [edge.strip() for edge in stated.split(",")] if name and stated.strip() else [])


SERVICE_TIMES = Attribute(SERVICE, SERVICE_EDGES)
"""The service times of events, which are measured with the times of a log of starts and completions."""


CASE_PREFIX = "case:"
"""How tables mark attributes of cases; XES has them as attributes of traces, without it."""


@dataclass(frozen=True, eq=False)
class CaseColumn:
    """The values of an attribute, one for each case, or for each event.

    Attributes:
        attribute: The name of the attribute.
        kind: What the values are.
        values: The values, in the order in which the log is written; for texts the index of each in `texts`.
        missing: Whether a case, or event, has no value.
        texts: All texts that occur, if the values are texts.
    """

    attribute: str
    kind: Literal["text", "whole number", "number"]
    values: Integers | Floats
    missing: Booleans
    texts: tuple[str, ...] = ()

    @property
    def column(self) -> str:
        """The name of the column in tables."""
        return case_column(self.attribute)


def case_column(attribute: str) -> str:
    """The name of the column of a case attribute in tables."""
    return attribute if attribute.startswith(CASE_PREFIX) else CASE_PREFIX + attribute
