"""The size of a Parquet file in memory, from its footer and page headers alone, without unpacking a page.

A page cannot unpack to more than its header says, since that is the room a reader makes for it, and it cannot hold more
values than it says. Runs of one value make a tiny file of billions of values, so each value counts, not bytes alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ...errors import LogError
from ...privacy.numbers import is_whole_number
from ..compression import allowed, too_large
from .thrift import ThriftError, read_struct

BYTES_A_VALUE = 16
"""The minimum size of a value in memory: a view of a string, or a number with its validity."""

_FOOTER, _PAGE_HEADER = 1 << 28, 1 << 16
_MOST_VALUES = 1 << 62


def check_parquet(path: Path) -> None:
    """Raise LogError if a file unpacks to too much.

    Args:
        path: The file.
    """
    limit = allowed(path.stat().st_size)
    if parquet_size(path) > limit:
        raise too_large(path, limit)


def parquet_size(path: Path, row_groups: int | None = None) -> int:
    """Add up what the pages of a Parquet file become in memory.

    Args:
        path: The file.
        row_groups: Of how many row groups the page headers are read; of all, if None. The others count as the footer says.

    Returns:
        The number of bytes, at least 16 for each value.
    """
    try:
        with path.open("rb") as stream:
            return _size(stream, path.stat().st_size, row_groups)
    except (ThriftError, KeyError, TypeError, AttributeError, OverflowError):
        raise LogError(
            f"{path}: cannot be read as Parquet (damaged metadata); check that the file is complete"
        ) from None


def _size(stream: BinaryIO, whole: int, row_groups: int | None) -> int:
    size = 0
    for number, group in enumerate(_footer(stream, whole).get(4, ())):
        walk = row_groups is None or number < row_groups
        for column in group.get(1, ()):
            size += _column(stream, column[3], _number(group[3]), walk)
    return size


def _column(stream: BinaryIO, about: dict[int, Any], rows: int, walk: bool) -> int:
    """What a column chunk becomes: the larger of what the footer and what its page headers say."""
    declared = _number(about[6]) + BYTES_A_VALUE * max(_number(about[5]), rows)
    # 0: there is no such page. Readers start at the dictionary, which is before the data.
    data, dictionary = _number(about[9]), _number(about.get(11, 0))
    if 0 < data < dictionary:
        raise ThriftError
    start = dictionary or data
    if not walk or not start:
        return declared
    pages = _pages(stream, start, start + _number(about[7]))
    return max(declared, sum(_number(page[2]) + BYTES_A_VALUE * _values(page) for page in pages))


def _footer(stream: BinaryIO, whole: int) -> dict[int, Any]:
    """The file's metadata, which its last eight bytes lead to. No page is at its start: a column at 0 has none."""
    head = stream.read(4)
    stream.seek(max(whole - 8, 0))
    tail = stream.read(8)
    length = int.from_bytes(tail[:4], "little")
    if whole < 12 or head != b"PAR1" or tail[4:] != b"PAR1" or length > min(whole - 12, _FOOTER):
        raise ThriftError
    stream.seek(whole - 8 - length)
    return read_struct(stream.read(length))[0]


def _pages(stream: BinaryIO, start: int, end: int) -> Iterator[dict[int, Any]]:
    """The headers of the pages of one column chunk."""
    while start < end:
        stream.seek(start)
        header, length = read_struct(stream.read(_PAGE_HEADER))
        yield header
        start += length + _number(header[3])


def _values(page: dict[int, Any]) -> int:
    """The number of values of a page, by its kind: data, dictionary, or data of version 2."""
    about = next((page[kind] for kind in (5, 7, 8) if kind in page), None)
    return 0 if about is None else _number(about[1])


def _number(value: Any) -> int:
    """A size or a count, which is not negative."""
    if not is_whole_number(value) or not 0 <= value < _MOST_VALUES:
        raise ThriftError
    return value
