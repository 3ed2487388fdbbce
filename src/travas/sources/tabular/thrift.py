"""Structs in Thrift's compact encoding, used by the metadata of Parquet. Parsing terminates quickly for any bytes."""

from __future__ import annotations

from typing import Any

_DEEPEST = 24
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_WHOLE = (4, 5, 6)


class ThriftError(ValueError):
    """The bytes are not a struct."""


def read_struct(data: bytes) -> tuple[dict[int, Any], int]:
    """Read the struct at the beginning of some bytes.

    Args:
        data: The bytes; there may be more behind the struct.

    Returns:
        Its fields by their numbers, and how many bytes it takes. ThriftError if it is none.
    """
    reader = _Reader(data)
    try:
        return reader.struct(0), reader.position
    except IndexError:
        raise ThriftError from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def byte(self) -> int:
        value = self.data[self.position]
        self.position += 1
        return value

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ThriftError

    def whole(self) -> int:
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        return self.skip(self.unsigned())

    def skip(self, length: int) -> bytes:
        if length > len(self.data) - self.position:
            raise ThriftError
        self.position += length
        return self.data[self.position - length : self.position]

    def struct(self, depth: int) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ThriftError
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.whole()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in _WHOLE:
            return self.whole()
        if kind == _BINARY:
            return self.binary()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self.list_(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self.byte()
        if kind == _DOUBLE:
            return self.skip(8)
        if kind == _MAP:
            return self.map_(depth + 1)
        raise ThriftError

    def list_(self, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            raise ThriftError
        head = self.byte()
        length = self.unsigned() if head >> 4 == 15 else head >> 4
        if length > len(self.data) - self.position:  # every element takes a byte at least
            raise ThriftError
        return [self.value(head & 15, depth) for _ in range(length)]

    def map_(self, depth: int) -> dict[Any, Any]:
        if depth > _DEEPEST:
            raise ThriftError
        length = self.unsigned()
        if length > len(self.data) - self.position:
            raise ThriftError
        kinds = self.byte() if length else 0
        pairs = [(self.value(kinds >> 4, depth), self.value(kinds & 15, depth)) for _ in range(length)]
        return dict(enumerate(pairs))
