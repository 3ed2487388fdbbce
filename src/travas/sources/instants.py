"""Timestamps of tables: text, parsed value by value into sortable columns."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import cast

import numpy as np
import polars as pl

from ..errors import ParameterError
from ..log.calendar import DAY, FIRST_INSTANT, LAST_INSTANT
from ..trusted.samplers import Integers
from .period import microseconds
from .reading import NUMBERED

TIME, NANOSECONDS, AWARE = "time", "nanoseconds", "aware"

_NUMBER = r"[+-]?[0-9]{1,16}(?:[.,][0-9]{1,20})?"
"""Whole or decimal, with a point or a comma."""

_MICROSECONDS = pl.Datetime("us")
_CLOCKS = product("T ", ("%H:%M:%S%.f", "%H:%M"), ("%#z", ""))
_ISO_FORMATS = [*("%Y-%m-%d" + "".join(clock) for clock in _CLOCKS), "%Y-%m-%d"]


class UnknownFormatError(Exception):
    """Text does not match any format. The argument is the text, which is confidential."""


def instants(texts: pl.Series, timestamp_format: str | None) -> list[pl.Series]:
    """Parse timestamps into sortable columns: microseconds, and remaining nanoseconds if there are any.

    Text is parsed value by value, by `timestamp_format` or as ISO 8601; without a time zone it is UTC.
    """
    if texts.dtype.is_temporal() or texts.dtype.is_numeric():
        return [texts]
    parsed = parsed_microseconds(texts, timestamp_format)
    finer = texts.str.extract(r"[.,][0-9]{6}([0-9]{1,3})")
    if timestamp_format is not None or finer.null_count() == len(finer):
        return [parsed]
    return [parsed, finer.str.pad_end(3, "0").cast(pl.Int64).fill_null(0).alias(NANOSECONDS)]


def parsed_microseconds(texts: pl.Series, timestamp_format: str | None) -> pl.Series:
    """Parse timestamps as `instants` does, without what is finer than microseconds; UnknownFormatError for other text."""
    parsed = recognised_instants(texts, timestamp_format)
    if (rest := parsed.is_null() & texts.is_not_null()).any():
        raise UnknownFormatError(texts[int(cast(int, rest.arg_max()))])
    return parsed


def recognised_instants(texts: pl.Series, timestamp_format: str | None) -> pl.Series:
    """Parse those texts that are timestamps, to microseconds; other text is null. No text has two of the formats."""
    formats = _ISO_FORMATS if timestamp_format is None else [timestamp_format]
    first = texts.drop_nulls().head(1)
    likely = next((form for form in formats if _parsed(first, form).null_count() == 0), formats[0])
    parsed = _parsed(texts, likely).alias(TIME)
    for form in formats:
        rest = (parsed.is_null() & texts.is_not_null()).arg_true()
        if rest.is_empty():
            break
        parsed = parsed.scatter(rest, _parsed(texts.gather(rest), form))
    return parsed


def are_aware(times: pl.Series, timestamp_format: str | None) -> pl.Series:
    """Return whether each timestamp, which `instants` parses, has a zone: text value by value, or all by their type."""
    if times.dtype != pl.String:
        is_aware = isinstance(times.dtype, pl.Datetime) and times.dtype.time_zone is not None
    elif timestamp_format is None:
        return times.str.contains(r":[0-9]{2}.*(Z|z|[+-][0-9:]{2,6})$").alias(AWARE)
    else:
        is_aware = "%z" in timestamp_format or timestamp_format.startswith("epoch-")
    return pl.Series(AWARE, [is_aware], dtype=pl.Boolean).new_from_index(0, len(times))


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
