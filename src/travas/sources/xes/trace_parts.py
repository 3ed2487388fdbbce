"""Long traces, read in parts: where a trace is divided and what is too large depend on nothing but the trace.

How much of a trace the parser has read at a given moment depends on what comes before it in the file. So a part does not
end where a block of the file ends, but with the child of the trace that makes the part larger than `PART_SIZE`. The sizes
are those of the elements (`size_of`), which are never larger than their bytes in the file: a trace of at most `PART_SIZE`
bytes is one part, and nothing in it has to be measured.

The parser has its own limit, 10,000,000 bytes of UTF-8 for a tag, to which some of what it has read before counts.
`TagLengths` refuses what comes near.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import LogError
from ..wording import EXPORT_AGAIN
from .xes_scanner import is_utf_8

PART_SIZE = 4 << 20
MAX_ELEMENT_SIZE = 16 << 20
MAX_TAG_BYTES = 9_500_000
_MOST_UTF_8 = 3
"""How many bytes of UTF-8 one byte of another encoding can be."""


class TraceParts:
    """Divides the children of the element that is open in a document, which is a trace or the log, into parts."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.restart(0)

    def restart(self, number: int) -> None:
        """Begin with another open element, of which at most `number` bytes have been read."""
        self._bytes, self._due = number, PART_SIZE
        self._measured = self._size = 0

    def add(self, number: int) -> None:
        """Note that `number` more bytes have been read."""
        self._bytes += number

    @property
    def is_long(self) -> bool:
        """Whether the children of the open element can have more than one part."""
        return self._bytes > PART_SIZE

    @property
    def is_due(self) -> bool:
        """Whether it is time to look for complete parts, so that little waits in memory."""
        return self._bytes > self._due

    def of_open(self, trace: Any) -> Iterator[list[Any]]:
        """Yield the complete parts of a trace whose end was not read yet.

        Raises:
            LogError: A child of the trace is too large; the last one may be open.
        """
        yield from self.of_children(trace[:-1])
        self.check_open(trace)

    def of_children(self, children: list[Any]) -> Iterator[list[Any]]:
        """Yield the complete parts of children whose end was read; what follows the last part belongs to the next one.

        Raises:
            LogError: One of them is too large.
        """
        part = children[: self._measured]
        for child in children[self._measured :]:
            part.append(child)
            self._size += self._checked(child)
            if self._size > PART_SIZE:
                yield part
                part, self._size = [], 0
        self._measured = len(part)

    def check_open(self, element: Any) -> None:
        """Refuse the last child of the open element if it is too large already; it may be open as well."""
        self._due = self._bytes + PART_SIZE
        self.check(element[-1:])

    def check(self, elements: Iterable[Any]) -> None:
        """Refuse elements that are too large."""
        for element in elements:
            self._checked(element)

    def _checked(self, element: Any) -> int:
        if (size := size_of(element)) > MAX_ELEMENT_SIZE:
            raise LogError(f"{self._where}: an element is larger than {MAX_ELEMENT_SIZE >> 20} MB; {EXPORT_AGAIN}")
        return size


class TagLengths:
    """Refuses a tag, with the text behind it, that is too long: no `<` in very many bytes."""

    def __init__(self, where: str) -> None:
        self._where, self._open = where, 0

    def add(self, chunk: bytes, head: bytes) -> None:
        """Read the next bytes of a document, which are too few for a long tag between two others.

        Args:
            chunk: The bytes.
            head: The first bytes of the document.

        Raises:
            LogError: A tag is too long.
        """
        begin = chunk.find(b"<")
        length = self._open + (len(chunk) if begin < 0 else begin)
        is_narrow = length * _MOST_UTF_8 > MAX_TAG_BYTES and not is_utf_8(head)
        if is_narrow or length > MAX_TAG_BYTES:
            most = MAX_TAG_BYTES // _MOST_UTF_8 if is_narrow else MAX_TAG_BYTES
            remedy = "save the file as UTF-8, or export it again" if is_narrow else EXPORT_AGAIN
            raise LogError(f"{self._where}: a value is over {most / 1e6:.1f} MB; {remedy}")
        self._open = length if begin < 0 else len(chunk) - chunk.rfind(b"<")


def size_of(element: Any) -> int:
    """Return the size of an element with everything in it and the text behind it: no more than its bytes in the file."""
    size = 0
    for each in element.iter("*"):
        values = each.values()
        size += len("<a/>") + len(each.text or "") + len(each.tail or "")
        size += len(' k=""') * len(values) + sum(map(len, values))
    return size
