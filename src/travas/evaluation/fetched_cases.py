"""The cases behind variants as numbers, fetched from a database where necessary. Confidential."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..model.totals import Totals
from ..model.traces import Activity, Codes
from ..sources.encoded_cases import Coded, EncodedCases, EncodedTotals

if TYPE_CHECKING:
    from ..sources.engines.totals_expression import RemoteTotals


def fetched_cases(totals: Totals) -> EncodedCases:
    """Return the cases that were counted, with their times and attributes.

    Args:
        totals: What answers questions about them: a file holds its cases, a database is asked for all its events.

    Returns:
        The cases.
    """
    if isinstance(totals, EncodedTotals):
        return totals.cases
    return _fetched(cast("RemoteTotals", totals))


def _fetched(totals: RemoteTotals) -> EncodedCases:
    from ..sources.engines.details_expression import MICROSECONDS
    from ..sources.engines.variants_expression import CASE

    rows, parts, details = totals.counted_events(), totals.query.parts, totals.details
    codes, alphabet = [], Codes()
    for row in rows:
        names = tuple(_text(row[part]) for part in parts)
        activity: Activity = names[0] if len(names) == 1 else names
        codes.append(alphabet[activity])
    grouped = [(case, sum(1 for _ in events)) for case, events in groupby(rows, key=lambda row: row[CASE])]
    times = np.array([row[MICROSECONDS] for row in rows], dtype=np.int64) if details.times == "read" else None
    attributes, numbers = {}, {}
    for name in details.attributes:
        values = totals.counted_values(name)
        attributes[name] = _coded([values.get(case) for case, _ in grouped])
    for name in details.numbers:
        values = totals.counted_values(name)
        column = [values.get(case) for case, _ in grouped]
        numbers[name] = np.array([np.nan if value is None else float(value) for value in column])
    lengths = np.array([length for _, length in grouped], dtype=np.int64)
    coded = np.array(codes, dtype=np.uint32)
    return EncodedCases(list(alphabet), coded, lengths, times, totals.is_zoned, attributes, numbers)


def _coded(values: list[Any]) -> Coded:
    texts: dict[str, int] = {}
    codes = [-1 if value is None else texts.setdefault(_text(value), len(texts)) for value in values]
    return Coded(np.array(codes, dtype=np.int32), list(texts))


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else bytes(value).decode()
