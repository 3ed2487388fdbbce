"""Timestamps as text: valid formats, and parsing a single value."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ..errors import ParameterError

_SAMPLE = datetime(2001, 2, 3, 16, 5, 6, 789000, tzinfo=UTC)
_FRACTION = re.compile(r"[.,]([0-9]+)")


NUMBERED = {
    "epoch-seconds": (0, 1_000_000),
    "epoch-milliseconds": (0, 1_000),
    "epoch-microseconds": (0, 1),
    "excel": (25_569, 86_400_000_000),
}
"""Formats that are numbers: the number of 1970-01-01 and the microseconds of one unit. `excel` counts days from 1900."""

NUMBER = r"[+-]?[0-9]{1,16}(?:[.,][0-9]{1,20})?"
"""Whole or decimal, with a point or a comma."""


def parse_timestamp(text: str, form: str | None) -> int:
    """Return nanoseconds since 1970; without a time zone the timestamp is UTC. Raises ValueError."""
    return parse_zoned(text, form)[0]


def parse_zoned(text: str, form: str | None) -> tuple[int, bool]:
    """Return nanoseconds since 1970, and whether the timestamp has a zone. Raises ValueError."""
    if form in NUMBERED:
        return _numbered(text, form) * 1000, form != "excel"
    moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    is_aware = moment.tzinfo is not None
    moment = moment if is_aware else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    micros = (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds
    finer = 0
    if form is None and (match := _FRACTION.search(text)) and len(match[1]) > 6:
        finer = int(match[1][6:9].ljust(3, "0"))
    return micros * 1000 + finer, is_aware


def _numbered(text: str, form: str) -> int:
    """Return the microseconds of a number. Floats suffice: they only order the events of a case."""
    if not re.fullmatch(NUMBER, text, re.ASCII):
        raise ValueError(form)
    start, unit = NUMBERED[form]
    return int((float(text.replace(",", ".")) - start) * unit)


def check_format(form: str) -> None:
    """Raise ParameterError unless this is a format of `datetime.strptime` or of numbers, before any log is opened."""
    if form in NUMBERED:
        return
    try:
        datetime.strptime(_SAMPLE.strftime(form), form)
    except (ValueError, re.error, UnicodeError, OverflowError):
        raise ParameterError(
            f"timestamp_format is {form!r}, which is not a format of strptime; try '%Y-%m-%d %H:%M:%S', or one of "
            f"{', '.join(NUMBERED)}",
            field="timestamp_format",
        ) from None
