"""Strict CSV quoting: an independent scan of the whole file before anything is parsed.

A quote opens a cell right after a delimiter or a line break, and closes it right before one; inside, a quote is doubled
(RFC 4180). Any other quote is a fault, and so are a NUL byte and, outside quotes, a carriage return without a line feed.
A file without a fault is a header followed by records, and no record depends on another. A lenient parser is different:
a stray quote in one record and another one in a later record turn everything between them into one cell.

Number the quotes from 0. Even ones open and odd ones close; a doubled quote is an odd one followed by an even one. So
it suffices to look at one neighbour of every quote: the byte before an even one and the byte after an odd one. In
UTF-8, the bytes of a delimiter, a quote or a line break are never part of another character.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

FaultKind = Literal["stray quote", "open quote", "carriage return", "nul"]

_LINE_FEED, _CARRIAGE_RETURN = ord("\n"), ord("\r")


@dataclass(frozen=True)
class Fault:
    """A violation of strict CSV: its byte offset, and that of the last quote before it, if any."""

    kind: FaultKind
    offset: int
    quote_before: int | None = None


def first_fault(blocks: Iterable[bytes], delimiter: str, quote: str | None) -> Fault | None:
    """Return the first violation of strict CSV in a file: UTF-8 without a byte order mark, in blocks of any size."""
    mark, sign = ord(delimiter), -1 if quote is None else ord(quote)
    tail, start, number, last = b"\n", 0, 0, -1  # the file begins like a line; the bytes and quotes seen so far
    for block in chain(blocks, [delimiter.encode()]):  # and its end ends a cell
        data = tail + block
        array = np.frombuffer(data, np.uint8)
        before, here, after = array[:-2], array[1:-1], array[2:]
        quotes = np.flatnonzero(here == sign)
        opening, closing = quotes[number % 2 :: 2], quotes[1 - number % 2 :: 2]
        follows, precedes = before[opening], after[closing]
        opens = (follows == mark) | (follows == _LINE_FEED) | (follows == sign)
        closes = (precedes == mark) | (precedes == _LINE_FEED) | (precedes == _CARRIAGE_RETURN) | (precedes == sign)
        bare = np.flatnonzero((here == _CARRIAGE_RETURN) & (after != _LINE_FEED)) if b"\r" in data else opening[:0]
        bare = bare[(np.searchsorted(quotes, bare) + number) % 2 == 0]
        nul = data.find(0, 1, len(data) - 1)
        found: dict[int, FaultKind] = {nul - 1: "nul"} if nul > 0 else {}
        found |= {int(position): "stray quote" for position in (*opening[~opens][:1], *closing[~closes][:1])}
        found |= {int(position): "carriage return" for position in bare[:1]}
        if found:
            position = min(found)
            earlier = int(np.searchsorted(quotes, position)) - 1
            quote_before = start + int(quotes[earlier]) if earlier >= 0 else last
            is_quote = found[position] == "stray quote" and quote_before >= 0
            return Fault(found[position], start + position, quote_before if is_quote else None)
        last = start + int(quotes[-1]) if len(quotes) else last
        tail, start, number = data[-2:], start + len(here), number + len(quotes)
    return Fault("open quote", last) if number % 2 else None
