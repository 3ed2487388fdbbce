"""Timestamps of tables: text, parsed value by value into sortable columns."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from itertools import product

import numpy as np
import polars as pl

from ..log.calendar import DAY, FIRST_INSTANT, LAST_INSTANT, microseconds
from ..trusted.samplers import Integers
from .reading import NUMBERED

TIME = "time"

_NUMBER = r"[+-]?[0-9]{1,16}(?:[.,][0-9]{1,20})?"
"""Whole or decimal, with a point or a comma."""

ZONED = r":[0-9]{2}.*(Z|z|[+-][0-9:]{2,6})$"
"""A time with a zone."""

_MICROSECONDS = pl.Datetime("us")
_CLOCKS = product("T ", ("%H:%M:%S%.f", "%H:%M"), ("%#z", ""))
_ISO_FORMATS = [*("%Y-%m-%d" + "".join(clock) for clock in _CLOCKS), "%Y-%m-%d"]


def instant_of(column: pl.Expr, kind: pl.DataType, timestamp_format: str | None) -> pl.Expr:
    """Return the instant of a time; text is parsed value by value, without a time zone it is UTC, and other text is null."""
    if kind.is_temporal() or kind.is_numeric():
        return column.fill_nan(None) if kind.is_float() else column

    def parsed(texts: pl.Series) -> pl.Series:
        return recognised_instants(texts, timestamp_format)

    return column.cast(pl.String).map_batches(parsed, return_dtype=_MICROSECONDS, is_elementwise=True)


def has_zone(column: pl.Expr, kind: pl.DataType, timestamp_format: str | None) -> pl.Expr:
    """Return whether a time has a time zone."""
    if kind.is_temporal() or kind.is_numeric():
        return pl.lit(isinstance(kind, pl.Datetime) and kind.time_zone is not None)
    if timestamp_format is not None:
        return pl.lit("%z" in timestamp_format or timestamp_format.startswith("epoch-"))
    return column.cast(pl.String).str.contains(ZONED)


def recognised_instants(texts: pl.Series, timestamp_format: str | None) -> pl.Series:
    """Parse those texts that are timestamps, to microseconds; other text is null. No text has two of the formats."""
    texts = texts.alias(TIME)  # its own name, such as ^t$, would be a pattern for Polars
    formats = _ISO_FORMATS if timestamp_format is None else [timestamp_format]
    first = texts.drop_nulls().head(1)
    likely = next((form for form in formats if _parsed(first, form).null_count() == 0), formats[0])
    parsed = _parsed(texts, likely)
    for form in formats:
        rest = (parsed.is_null() & texts.is_not_null()).arg_true()
        if rest.is_empty():
            break
        parsed = parsed.scatter(rest, _parsed(texts.gather(rest), form))
    return parsed


def whole_microseconds(times: pl.Series) -> Integers:
    """Return microseconds since 1970, between the years 1 and 9999; finer parts of a second are cut off."""
    numbers: Integers = times.to_physical().cast(pl.Int64).to_numpy()
    unit = "d" if isinstance(times.dtype, pl.Date) else getattr(times.dtype, "time_unit", "us")
    if unit == "ns":
        numbers = numbers // 1000
    factor = {"d": DAY, "ms": 1000}.get(unit, 1)
    nearest: Integers = np.clip(numbers, FIRST_INSTANT // factor, LAST_INSTANT // factor) * factor
    return nearest


def _parsed(texts: pl.Series, form: str) -> pl.Series:
    """Parse by a format of `strptime` or of numbers, as for XES; text that does not match is null."""
    if form in NUMBERED:
        start, unit = NUMBERED[form]
        number = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        is_number = texts.str.contains(f"^(?:{_NUMBER})$").fill_null(False)
        micros = ((number - start) * unit).set(~is_number, None)
        return micros.cast(pl.Int64, strict=False).cast(_MICROSECONDS)
    form = form.replace(".%f", "%.f")
    with suppress(pl.exceptions.PolarsError):
        if "%f" not in form:
            return texts.str.to_datetime(form, time_unit="us", strict=False).cast(_MICROSECONDS)
    # Python's parser also supports hours without minutes, and a fraction that does not follow a point
    return texts.map_elements(lambda text: _strptime(text, form), return_dtype=pl.Int64).cast(_MICROSECONDS)


def _strptime(text: str, form: str) -> int | None:
    try:
        moment = datetime.strptime(text, form.replace("%.f", ".%f"))
    except ValueError:
        return None
    return microseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
