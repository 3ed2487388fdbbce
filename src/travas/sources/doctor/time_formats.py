"""Which time formats the values of a column have. All formats that fit all values are returned; none is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
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
_ROWS, _SAMPLE, _TRIED, _DIGITS = 100_000, 2_000, 5, 3
_NEEDED = 0.9
"""The share of values that makes a column one of times; the rest are problems."""


@dataclass(frozen=True)
class TimeValues:
    """How the values of a column can be read as times.

    Attributes:
        formats: The formats that fit all values, `None` for ISO 8601; empty if none does.
        example: A value.
        unfit: How many values do not fit the best format.
        unfit_example: One of them.
        zoned: The share of values with a time zone.
        instants: The values as times in the first format, if it fits all of them.
    """

    formats: tuple[str | None, ...]
    example: str
    unfit: int = 0
    unfit_example: str = ""
    zoned: float = 0.0
    instants: pl.Series | None = None


def times_of(values: pl.Series) -> TimeValues:
    """Return the formats that fit all values; if none does but one fits most, that one, with the number of others."""
    known = values.is_not_null() & (values != "")
    texts = values.filter(known)
    if texts.is_empty():
        return TimeValues((), "")
    distinct = texts.gather_every(max(len(texts) // _ROWS, 1)).unique().sort()
    sample = distinct.gather_every(max(len(distinct) // _SAMPLE, 1))
    example = str(sample[0])
    shares = {form: _share(recognised_instants(sample, form).is_not_null()) for form in _candidates(sample)}
    best = max(shares.values(), default=0.0)
    if best < _NEEDED:
        return TimeValues((), example)
    zoned = _share(
        texts.str.tail(6).str.contains(r"(Z|[+-][0-9]{2}:?[0-9]{2})$") & texts.str.contains(":", literal=True)
    )
    whole = {form: recognised_instants(values, form) for form, share in shares.items() if share == best}
    complete = tuple(form for form, parsed in whole.items() if len(parsed) - parsed.null_count() == len(texts))
    if complete:
        forms = _distinct(complete)
        return TimeValues(forms, _telling(sample, forms), zoned=zoned, instants=whole[forms[0]])
    form, parsed = min(whole.items(), key=lambda item: item[1].null_count())
    rest = values.filter(parsed.is_null() & known)
    return TimeValues((form,), example, len(rest), str(rest.min()), zoned)


def _telling(sample: pl.Series, forms: tuple[str | None, ...]) -> str:
    """Return a value that the first two formats read differently, if there is one; otherwise the first value."""
    if len(forms) > 1:
        one, other = (recognised_instants(sample, form) for form in forms[:2])
        sample = pl.concat([sample.filter(one != other), sample])
    return str(sample[0])


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


def _distinct(forms: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return formats that read values differently; of those that read them in the same way, the first."""
    by_meaning: dict[str, str | None] = {}
    for form in forms:
        meaning = (form or "").replace("%.f", "").replace(" ", "").replace("%y", "%Y").replace("%B", "%b")
        by_meaning.setdefault(meaning, form)
    return tuple(by_meaning.values())


def examples(text: str, forms: tuple[str | None, ...]) -> tuple[tuple[str, str], ...]:
    """Return what one value means in each format: the format, and the date in words."""
    moments = {form: recognised_instants(pl.Series([text]), form) for form in forms}
    return tuple(
        (form or "", f"{text!r} is {moment.dt.strftime('%-d %B %Y, %H:%M:%S')[0]}") for form, moment in moments.items()
    )
