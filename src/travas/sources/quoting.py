"""Strict CSV quoting: an independent scan of the whole file before anything is parsed.

A quote opens a cell right after a delimiter or a line break, and closes it right before one; inside, a quote is doubled
(RFC 4180). Any other quote is a fault, and so are a NUL byte and, outside quotes, a carriage return without a line feed.
A file without a fault is a header followed by records, and no record depends on another. A lenient parser is different:
a stray quote in one record and another one in a later record turn everything between them into one cell.

Number the quotes from 0. Even ones open and odd ones close; a doubled quote is an odd one followed by an even one. So
it suffices to look at one neighbour of every quote: the byte before an even one and the byte after an odd one. In
UTF-8, the bytes of a delimiter, a quote or a line break are never part of another character.

Bytes are compared by numpy; the results are bits, 64 to a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FaultKind = Literal["stray quote", "open quote", "carriage return", "nul"]

_LINE_FEED, _CARRIAGE_RETURN = ord("\n"), ord("\r")
_WORD_BYTES = 8
_SHIFTS = (1, 2, 4, 8, 16, 32)
_Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Fault:
    """A violation of strict CSV: its byte offset, and that of the last quote before it, if any."""

    kind: FaultKind
    offset: int
    quote_before: int | None = None


def first_fault(blocks: Iterable[bytes], delimiter: str, quote: str | None) -> Fault | None:
    """Find the first violation of strict CSV.

    Args:
        blocks: The file in UTF-8, without a byte order mark, in pieces of any size.
        delimiter: One ASCII character.
        quote: One ASCII character, or None if nothing is quoted.

    Returns:
        The first fault, or None.
    """
    scan = _Scan(ord(delimiter), None if quote is None else ord(quote))
    for block in blocks:
        if fault := scan.feed(block):
            return fault
    return scan.close()


class _Scan:
    """The state between blocks: the last two bytes, of which one is checked, and whether a cell is open."""

    def __init__(self, delimiter: int, quote: int | None) -> None:
        self._delimiter, self._quote = delimiter, quote
        self._tail = b"\n"  # the file begins like a line
        self._start = 0  # offset of the first byte to check
        self._inside = 0
        self._last_quote: int | None = None

    def feed(self, block: bytes) -> Fault | None:
        data = self._tail + block
        checked = data[1:-1]
        fault = self._first_fault(data, checked)
        if self._quote is not None and (last := checked.rfind(self._quote)) >= 0:
            self._last_quote = self._start + last
        self._tail = data[-2:]
        self._start += len(checked)
        return fault

    def close(self) -> Fault | None:
        """Check the last byte: the end of the file ends a cell, but does not complete a carriage return."""
        fault = self.feed(bytes([self._delimiter]))
        if fault is None and self._inside and self._last_quote is not None:
            return Fault("open quote", self._last_quote)
        return fault

    def _first_fault(self, data: bytes, checked: bytes) -> Fault | None:
        position = self._bad_position(data, checked)
        nul = checked.find(0)
        if nul >= 0 and (position is None or nul < position):
            return Fault("nul", self._start + nul)
        if position is None:
            return None
        if checked[position] == _CARRIAGE_RETURN:
            return Fault("carriage return", self._start + position)
        earlier = checked.rfind(checked[position], 0, position)
        return Fault("stray quote", self._start + position, self._start + earlier if earlier >= 0 else self._last_quote)

    def _bad_position(self, data: bytes, checked: bytes) -> int | None:
        """Return the first invalid quote or carriage return; both neighbours of a checked byte are in the data."""
        array = np.frombuffer(data, np.uint8)
        before, here, after = array[:-2], array[1:-1], array[2:]
        bare = None
        if _CARRIAGE_RETURN in checked:
            bare = (here == _CARRIAGE_RETURN) & (after != _LINE_FEED)
        if self._quote is None or self._quote not in checked:
            return None if bare is None or self._inside or not bare.any() else int(bare.argmax())
        quotes = _words(here == self._quote)
        inside = self._inside_before(quotes)
        opens = _words((before == self._delimiter) | (before == _LINE_FEED) | (before == self._quote))
        closes = _words(
            (after == self._delimiter) | (after == _LINE_FEED) | (after == self._quote) | (after == _CARRIAGE_RETURN)
        )
        bad = quotes & ((inside & ~closes) | ~(inside | opens))
        if bare is not None:
            bad |= _words(bare) & ~inside
        return _lowest_bit(bad)

    def _inside_before(self, quotes: _Words) -> _Words:
        """Return for each byte whether the number of quotes before it is odd."""
        parity = quotes.copy()  # first of each bit and those below it
        for shift in _SHIFTS:
            parity ^= parity << np.uint64(shift)
        ends = np.bitwise_xor.accumulate(parity >> np.uint64(63)) ^ np.uint64(self._inside)
        starts = np.concatenate([np.array([self._inside], np.uint64), ends[:-1]])
        self._inside = int(ends[-1])
        return parity ^ quotes ^ (np.uint64(0) - starts)


def _words(mask: NDArray[np.bool_]) -> _Words:
    """Pack one bit per byte, the first one lowest."""
    packed = np.packbits(mask, bitorder="little")
    padded = np.zeros(-(-len(packed) // _WORD_BYTES) * _WORD_BYTES, np.uint8)
    padded[: len(packed)] = packed
    return padded.view("<u8")


def _lowest_bit(words: _Words) -> int | None:
    if not words.any():
        return None
    index = int((words != 0).argmax())
    word = int(words[index])
    return 64 * index + (word & -word).bit_length() - 1
