"""The unpacked size of Arrow IPC files, from their metadata: a file that unpacks to too much is refused before it is read.

The footer lists the batches; the metadata of a batch lists its buffers; a compressed buffer begins with its unpacked
size, which readers allocate. The metadata are FlatBuffers: https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import LogError
from ..compression import allowed, memory_limit, too_large

_MAGIC, _FEATHER_1 = b"ARROW1", b"FEA1"
_DICTIONARY, _RECORD = 2, 3
"""Kinds of messages."""

_DATA, _LENGTH, _BUFFERS, _COMPRESSION = 1, 0, 2, 3
_HEADER_KIND, _HEADER = 1, 2
_FOOTER_DICTIONARIES, _FOOTER_RECORDS = 2, 3
"""Indexes of fields."""

_BLOCK = 24
_BUFFER = 16
_ROWS_PER_BYTE = 8


def check_arrow(paths: Sequence[Path]) -> None:
    """Raise LogError if a file is not Arrow IPC, or unpacks to too much.

    Args:
        paths: The files.
    """
    for path in paths:
        limit = allowed(path.stat().st_size, memory_limit())
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:4] == _FEATHER_1:
                raise LogError(f"{path}: Feather version 1, which is not supported; write it again as version 2")
            if content[: len(_MAGIC)] != _MAGIC or content[-len(_MAGIC) :] != _MAGIC:
                raise LogError(f"{path}: not an Arrow or Feather file, or incomplete; write it again")
            try:
                size = _unpacked_size(content)
            except (struct.error, ValueError, IndexError, OverflowError, RecursionError):
                raise LogError(f"{path}: the Arrow metadata are damaged; write the file again") from None
            if size > limit:
                raise too_large(path, limit)


def _unpacked_size(content: mmap.mmap) -> int:
    end = len(content) - len(_MAGIC) - 4
    (length,) = struct.unpack_from("<i", content, end)
    if not 0 < length <= end:
        raise ValueError("footer")
    start = end - length
    footer = _Table.root(content, start)
    size = 0
    for field in (_FOOTER_DICTIONARIES, _FOOTER_RECORDS):
        for block in footer.vector(field, _BLOCK):
            offset, metadata, _, body = struct.unpack_from("<qiiq", content, block)
            if not 0 <= offset <= offset + metadata <= offset + metadata + body <= len(content):
                raise ValueError("block")
            size += _batch_size(content, offset, offset + metadata, body)
    return size


def _batch_size(content: mmap.mmap, offset: int, body: int, body_length: int) -> int:
    (mark,) = struct.unpack_from("<I", content, offset)
    message = _Table.root(content, offset + (8 if mark == 0xFFFFFFFF else 4))
    kind, batch = message.byte(_HEADER_KIND), message.table(_HEADER)
    if kind == _DICTIONARY and batch is not None:
        batch = batch.table(_DATA)
    elif kind != _RECORD:
        raise ValueError("message")
    if batch is None:
        raise ValueError("batch")
    size = body_length
    if batch.field(_COMPRESSION):
        for buffer in batch.vector(_BUFFERS, _BUFFER):
            at, length = struct.unpack_from("<qq", content, buffer)
            if at < 0 or length < 0 or at + length > body_length:
                raise ValueError("buffer")
            if length >= 8:
                size += max(struct.unpack_from("<q", content, body + at)[0], 0)
    if batch.long(_LENGTH) > _ROWS_PER_BYTE * max(size, 1):
        raise ValueError("rows")
    return size


@dataclass(frozen=True)
class _Table:
    """A FlatBuffers table at a position of the content."""

    content: mmap.mmap
    position: int

    @classmethod
    def root(cls, content: mmap.mmap, start: int) -> _Table:
        return cls(content, start + struct.unpack_from("<I", content, start)[0])

    def field(self, index: int) -> int:
        """Return the position of a field; 0 if it is not set."""
        (back,) = struct.unpack_from("<i", self.content, self.position)
        entries = self.position - back
        if entries < 0:
            raise ValueError("table")
        (size,) = struct.unpack_from("<H", self.content, entries)
        entry = 4 + 2 * index
        if entry + 2 > size:
            return 0
        (offset,) = struct.unpack_from("<H", self.content, entries + entry)
        return self.position + int(offset) if offset else 0

    def byte(self, index: int) -> int:
        offset = self.field(index)
        return self.content[offset] if offset else 0

    def long(self, index: int) -> int:
        offset = self.field(index)
        return int(struct.unpack_from("<q", self.content, offset)[0]) if offset else 0

    def table(self, index: int) -> _Table | None:
        offset = self.field(index)
        return _Table.root(self.content, offset) if offset else None

    def vector(self, index: int, width: int) -> Iterator[int]:
        """Yield the positions of the structs of a vector."""
        offset = self.field(index)
        if not offset:
            return
        start = offset + struct.unpack_from("<I", self.content, offset)[0]
        (number,) = struct.unpack_from("<I", self.content, start)
        if start + 4 + number * width > len(self.content):
            raise ValueError("vector")
        yield from range(start + 4, start + 4 + number * width, width)
