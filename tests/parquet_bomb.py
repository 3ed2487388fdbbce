"""Parquet files that are small and become huge, written byte by byte: no library would write them, or without the memory."""

from __future__ import annotations

import struct
from pathlib import Path

_INT, _LONG, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_BLOCK = 128 << 10

Field = tuple[int, int, bytes]


def write_bomb(
    path: Path, unpacked: int, values: int | None = None, head: bytes = b"PAR1", dictionary: bool = False
) -> Path:
    """Write a table of one column of empty strings, four zero bytes each, whose only page unpacks to `unpacked` bytes.

    With `values`, the footer states this number instead of the true one. The page begins after the head, which is that
    of a Parquet file. With `dictionary`, it is stated to be a dictionary, after data that take up as much of the file.
    """
    unpacked -= unpacked % _BLOCK
    body, rows = _zeros(unpacked), unpacked // 4
    declared = rows if values is None else values
    about = _struct([_int(1, rows), _int(2, 0), _int(3, 3), _int(4, 3)])
    page = _struct([_int(1, 0), _int(2, unpacked), _int(3, len(body)), (5, _STRUCT, about)]) + body
    column = _struct(
        [
            _int(1, 6),
            (2, _LIST, _list(_INT, [_zigzag(0)])),
            (3, _LIST, _list(_BINARY, [_binary("activity")])),
            _int(4, 6),
            _long(5, declared),
            _long(6, 4 * declared),
            _long(7, len(page)),
            _long(9, len(head)),
            *([_long(11, len(head) + len(page))] if dictionary else []),
        ]
    )
    chunk = _struct([_long(2, len(head)), (3, _STRUCT, column)])
    group = _struct([(1, _LIST, _list(_STRUCT, [chunk])), _long(2, 4 * declared), _long(3, declared)])
    root = _struct([(4, _BINARY, _binary("schema")), _int(5, 1)])
    leaf = _struct([_int(1, 6), _int(3, 0), (4, _BINARY, _binary("activity")), _int(6, 0)])
    footer = _struct(
        [_int(1, 1), (2, _LIST, _list(_STRUCT, [root, leaf])), _long(3, declared), (4, _LIST, _list(_STRUCT, [group]))]
    )
    path.write_bytes(
        head + (_harmless(len(page)) if dictionary else b"") + page + footer + struct.pack("<I", len(footer)) + b"PAR1"
    )
    return path


def _harmless(size: int) -> bytes:
    """An empty page of this size."""
    about = _struct([_int(1, 0), _int(2, 0), _int(3, 3), _int(4, 3)])
    heads = (_struct([_int(1, 0), _int(2, 0), _int(3, body), (5, _STRUCT, about)]) for body in range(size))
    return next(head + bytes(body) for body, head in enumerate(heads) if len(head) + body == size)


def _zeros(size: int) -> bytes:
    """A zstd frame of zeros: each block is one byte that is to be repeated."""
    head = b"\x28\xb5\x2f\xfd" + bytes([0b10_0_00000, 7 << 3]) + struct.pack("<I", size)
    blocks = size // _BLOCK
    block = (_BLOCK << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    last = (_BLOCK << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"
    return head + block * (blocks - 1) + last


def _struct(fields: list[Field]) -> bytes:
    encoded, last = b"", 0
    for number, kind, value in fields:
        encoded += bytes([(number - last) << 4 | kind]) + value
        last = number
    return encoded + b"\0"


def _list(kind: int, elements: list[bytes]) -> bytes:
    return bytes([len(elements) << 4 | kind]) + b"".join(elements)


def _binary(text: str) -> bytes:
    return _varint(len(text)) + text.encode()


def _int(number: int, value: int) -> Field:
    return number, _INT, _zigzag(value)


def _long(number: int, value: int) -> Field:
    return number, _LONG, _zigzag(value)


def _zigzag(value: int) -> bytes:
    return _varint(value << 1)


def _varint(value: int) -> bytes:
    encoded = b""
    while value >= 0x80:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])
