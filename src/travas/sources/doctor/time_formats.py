"""Which time formats the values of a column have. All formats that fit all values are returned; none is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import polars as pl

from ..instants import recognised_instants

_DATES = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d",
    "%Y%m%d", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%m.%d.%Y", "%Y-%m-%d",
)  # fmt: skip
_CLOCKS = (
    "%H:%M:%S", "%H:%M", "%H:%M:%S%.f", "%I:%M:%S %p", "%I:%M %p", "%I:%M%p", "%H.%M", "%H.%M.%S", "%H%M%S", "%Hh%M",
)  # fmt: skip
_BETWEEN = (" ", "T", ", ", "-", "")
_ZONES = ("", "%z", " %z")
_NUMBERS = {
    "epoch-seconds": (3e8, 5e9),
    "epoch-milliseconds": (3e11, 5e12),
    "epoch-microseconds": (3e14, 5e15),
    "excel": (1e4, 1e5),
}
"""The plausible ranges of numbers: from 1979 to 2128; Excel from 1927 to 2173."""

_DIRECTIVES = {
    "%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%m": "[0-9]{1,2}", "%d": "[0-9]{1,2}", "%H": "[0-9]{1,2}", "%I": "[0-9]{1,2}",
    "%M": "[0-9]{2}", "%S": "[0-9]{2}", "%.f": "[.][0-9]+", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]{3,9}", "%p": "[AaPp][Mm]",
    "%z": "(?:Z|[+-][0-9]{2}:?[0-9]{2})",
}  # fmt: skip
_SAMPLE, _TRIED, _DIGITS = 5_000, 5, 3
_NEEDED = 0.9
"""The share of values that makes a column one of times; the rest are problems."""


@dataclass(frozen=True)
class TimeValues:
    """How the values of a column can be read as times.

    Attributes:
        formats: The formats that fit all values, `None` for ISO 8601; empty if none does.
        example: A value.
        unfit: The values that do not fit the best format.
        instants: The values as times in the first format, if it fits all of them.
    """

    formats: tuple[str | None, ...]
    example: str
    unfit: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))
    instants: pl.Series | None = None


def times_of(values: pl.Series, stated: str | None = None) -> TimeValues:
    """Return the formats that fit all values and read them differently; if none does, the one that fits most.

    A stated format is the only one that is tried.
    """
    texts = values.filter(values != "")
    if texts.is_empty():
        return TimeValues((), "")
    sample = texts.gather_every(max(len(texts) // _SAMPLE, 1)).unique().sort()
    example = str(sample[0])
    tried = _candidates(sample) if stated is None else [stated]
    shares = {form: _share(recognised_instants(sample, form).is_not_null()) for form in tried}
    best = max(shares.values(), default=0.0)
    if best < _NEEDED:
        return TimeValues((), example)
    whole = {form: recognised_instants(values, form) for form, share in shares.items() if share == best}
    complete: dict[str | None, pl.Series] = {}
    for form, parsed in whole.items():
        if len(parsed) - parsed.null_count() == len(texts) and not any(map(parsed.equals, complete.values())):
            complete[form] = parsed
    if complete:
        first, *others = complete.values()
        telling = values.filter(first != others[0]) if others else sample  # read differently
        return TimeValues(tuple(complete), str(telling[0]), instants=first)
    form, parsed = min(whole.items(), key=lambda item: item[1].null_count())
    return TimeValues((form,), example, values.filter(parsed.is_null() & (values != "")))


def _candidates(sample: pl.Series) -> list[str | None]:
    """Return formats worth trying: ISO 8601, numbers in their plausible ranges, and dates that fit the first value."""
    if _share(recognised_instants(sample, None).is_not_null()) >= _NEEDED:
        return [None]
    number = sample.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    numbers = [form for form, (low, high) in _NUMBERS.items() if _share(number.is_between(low, high)) >= _NEEDED]
    if numbers:
        return [*numbers]
    few = [str(text) for text in sample.head(_TRIED) if sum(map(str.isdigit, text)) >= _DIGITS]
    return list(dict.fromkeys(form for text in few for form in _shapes(text)))


def _shapes(text: str) -> Iterator[str]:
    """Yield the formats that a text has by its digits and marks; whether it is a date is not checked."""
    for date in _DATES:
        if (match := _pattern(date).match(text)) is None:
            continue
        rest = text[match.end() :]
        if not rest:
            yield date
        for between, clock, zone in product(_BETWEEN, _CLOCKS, _ZONES):
            if rest.startswith(between) and _pattern(clock + zone).fullmatch(rest[len(between) :]):
                yield f"{date}{between}{clock}{zone}"


@cache
def _pattern(form: str) -> re.Pattern[str]:
    parts = re.split(r"(%\.f|%[A-Za-z])", form)
    return re.compile("".join(_DIRECTIVES.get(part, re.escape(part)) for part in parts), re.ASCII)


def _share(flags: pl.Series) -> float:
    return float(flags.fill_null(False).mean() or 0)  # type: ignore[arg-type]


def meanings(text: str, forms: tuple[str | None, ...]) -> dict[str, str]:
    """Return what a value means in each format: the date in words."""
    moments = {form or "": recognised_instants(pl.Series([text]), form) for form in forms}
    return {form: f"{text!r} is {moment.dt.strftime('%-d %B %Y, %H:%M:%S')[0]}" for form, moment in moments.items()}
