"""Timestamps as text: valid formats, and parsing a single value."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ..errors import ParameterError

_SAMPLE = datetime(2001, 2, 3, 16, 5, 6, 789000, tzinfo=UTC)
_FRACTION = re.compile(r"[.,]([0-9]+)")


def parse_timestamp(text: str, form: str | None) -> int:
    """Return nanoseconds since 1970; without a time zone the timestamp is UTC. Raises ValueError."""
    return parse_zoned(text, form)[0]


def parse_zoned(text: str, form: str | None) -> tuple[int, bool]:
    """Return nanoseconds since 1970, and whether the timestamp has a zone. Raises ValueError."""
    moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    is_aware = moment.tzinfo is not None
    moment = moment if is_aware else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    micros = (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds
    finer = 0
    if form is None and (match := _FRACTION.search(text)) and len(match[1]) > 6:
        finer = int(match[1][6:9].ljust(3, "0"))
    return micros * 1000 + finer, is_aware


def check_format(form: str) -> None:
    """Raise ParameterError unless this is a format of `datetime.strptime`, before any log is opened."""
    try:
        datetime.strptime(_SAMPLE.strftime(form), form)
    except (ValueError, re.error, UnicodeError, OverflowError):
        raise ParameterError(
            f"timestamp_format is {form!r}, which is not a format of strptime; try '%Y-%m-%d %H:%M:%S'",
            field="timestamp_format",
        ) from None
