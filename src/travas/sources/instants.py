"""Timestamps of tables: text, parsed value by value into sortable columns."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import numpy as np
import polars as pl

from ..errors import ParameterError
from ..log.calendar import DAY, FIRST_INSTANT, LAST_INSTANT
from ..trusted.samplers import Integers
from .period import microseconds
from .reading import NUMBERED

TIME, NANOSECONDS, AWARE, IS_TEXT = "time", "nanoseconds", "aware", "is text"

_NUMBER = r"[+-]?[0-9]{1,16}(?:[.,][0-9]{1,20})?"
"""Whole or decimal, with a point or a comma."""

ZONED = r":[0-9]{2}.*(Z|z|[+-][0-9:]{2,6})$"
"""A time with a zone."""

_MICROSECONDS = pl.Datetime("us")
_CLOCKS = product("T ", ("%H:%M:%S%.f", "%H:%M"), ("%#z", ""))
_ISO_FORMATS = [*("%Y-%m-%d" + "".join(clock) for clock in _CLOCKS), "%Y-%m-%d"]


def time_columns(column: pl.Expr, kind: pl.DataType, timestamp_format: str | None) -> dict[str, pl.Expr]:
    """Return the columns of a time: its instant, what is finer than microseconds in ISO 8601, and whether it has a zone.

    Text is parsed value by value, by `timestamp_format` or as ISO 8601; without a time zone it is UTC. The instant of other
    text is null; `IS_TEXT` says where there is any text.
    """
    if kind.is_temporal() or kind.is_numeric():
        is_aware = isinstance(kind, pl.Datetime) and kind.time_zone is not None
        return {TIME: column.fill_nan(None) if kind.is_float() else column, AWARE: pl.lit(is_aware)}
    text = column.cast(pl.String)
    text = pl.when(text != "").then(text)
    recognised_instants(pl.Series(dtype=pl.String), timestamp_format)  # raises if the format is not valid

    def parsed(texts: pl.Series) -> pl.Series:
        return recognised_instants(texts, timestamp_format)

    moment = text.map_batches(parsed, return_dtype=_MICROSECONDS, is_elementwise=True)
    read = {TIME: moment, IS_TEXT: text.is_not_null()}
    if timestamp_format is not None:
        return read | {AWARE: pl.lit("%z" in timestamp_format or timestamp_format.startswith("epoch-"))}
    finer = text.str.extract(r"[.,][0-9]{6}([0-9]{1,3})").str.pad_end(3, "0").cast(pl.Int16).fill_null(0)
    return read | {NANOSECONDS: finer, AWARE: text.str.contains(ZONED)}


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
    kind = times.dtype
    numbers: Integers = times.to_physical().cast(pl.Int64).to_numpy()
    if isinstance(kind, pl.Date):
        days: Integers = np.clip(numbers, FIRST_INSTANT // DAY, LAST_INSTANT // DAY)
        return days * DAY
    unit = kind.time_unit if isinstance(kind, pl.Datetime) else "us"
    if unit == "ns":  # the years 1677 to 2262
        return numbers // 1000
    factor = 1000 if unit == "ms" else 1
    clipped: Integers = np.clip(numbers, FIRST_INSTANT // factor, LAST_INSTANT // factor)
    clipped *= factor
    return clipped


def _parsed(texts: pl.Series, form: str) -> pl.Series:
    """Parse by a format of `strptime` or of numbers, as for XES; text that does not match is null."""
    if form in NUMBERED:
        start, unit = NUMBERED[form]
        number = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        is_number = texts.str.contains(f"^(?:{_NUMBER})$").fill_null(False)
        micros = ((number - start) * unit).set(~is_number, None)
        return micros.cast(pl.Int64, strict=False).cast(_MICROSECONDS)
    form = form.replace(".%f", "%.f")
    if "%f" in form:  # only Python's parser supports a fraction that does not follow a point
        return texts.map_elements(lambda text: _strptime(text, form), return_dtype=pl.Int64).cast(_MICROSECONDS)
    try:
        parsed = texts.str.to_datetime(form, time_unit="us", strict=False)
    except pl.exceptions.PolarsError:
        raise ParameterError(
            f"timestamp_format is {form!r}, which is not a valid format; try '%Y-%m-%d %H:%M:%S'",
            field="timestamp_format",
        ) from None
    if isinstance(parsed.dtype, pl.Datetime) and parsed.dtype.time_zone is not None:
        parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return parsed.cast(_MICROSECONDS)


def _strptime(text: str, form: str) -> int | None:
    try:
        moment = datetime.strptime(text, form.replace("%.f", ".%f"))
    except ValueError:
        return None
    return microseconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
