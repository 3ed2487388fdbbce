"""Plain traces of XES files, read without an XML parser.

Most traces of most logs consist of nothing but `<trace>`, `<event>` and attributes such as
`<string key="concept:name" value="x-ray"/>`. One regular expression checks that a trace is such a plain one, byte by
byte, and takes the values out, which is much faster than a parser that builds a tree. Whatever else XML allows (an entity,
a comment, a nested attribute, a key that occurs twice in an event …) is not plain, and goes to the parser.

The parser sees the rest of the document, so a plain trace may be left out only where the parser is directly inside
`<log>`. This is so behind a piece of the document that

1. begins behind `</trace>` and ends in `</trace>`,
2. contains neither `<!` nor `<?`, and
3. contains the end of a trace that the parser has reported, directly in `<log>`, and after it no trace is open.

By 3 the parser is outside comments, sections and instructions somewhere in the piece, and by 1 and 2 none begins there.
So every `<` after it starts a tag, because XML allows it in no attribute value. The last one is `</trace>`, and nothing
is open then but `<log>`. A plain trace is complete in itself, so behind it the same holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

END = b"</trace>"
_LONGEST = 4 << 20

_SPACE = rb"[ \t\r\n]*+"
_TEXT = rb'[^"<&\x00-\x1f]*+'
_NOT_XML = re.compile("[\ufffe\uffff]")
_UTF_8 = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?:<\?xml\s+version\s*=\s*["']1\.0["'](?:\s+encoding\s*=\s*["'](?i:utf-8)["'])?"""
    rb"""(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>|\s*<[^?\0])"""
)


def _attribute(key: bytes, value: bytes) -> bytes:
    kind = rb"<(?:string|date|int|float|boolean|id)"
    return rb"%s key=\"%s\" value=\"%s\"%s/>%s" % (kind, key, value, _SPACE, _SPACE)


_OWN = re.compile(_attribute(rb"(%s)" % _TEXT, rb"(%s)" % _TEXT))
_HEAD = re.compile(rb"%s<trace>%s(?:%s)*+" % (_SPACE, _SPACE, _attribute(_TEXT, _TEXT)))


@dataclass(frozen=True)
class PlainTrace:
    """The values of a plain trace, as UTF-8.

    Attributes:
        own: The attributes of the trace; of several with one key the first.
        columns: For each key, its value in each event; None where an event does not have it.
        events: The number of events, at least one.
    """

    own: dict[bytes, bytes]
    columns: list[list[bytes | None]]
    events: int


class TraceScanner:
    """Takes the values of some keys out of plain traces."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Prepare to read the values of these keys of events; each is read once."""
        self._width = len(keys)
        names = [re.escape(key.encode()) for key in keys]
        other = rb"(?!(?:%s)\")%s" % (rb"|".join(names), _TEXT)
        kinds = [_attribute(other, _TEXT)]
        # a group that is set already makes the match fail: this key was there before
        kinds += [rb"(?(%d)(?!))" % n + _attribute(name, rb"(%s)" % _TEXT) for n, name in enumerate(names, start=1)]
        self._event = re.compile(rb"<event>%s(?:%s)*+</event>%s" % (_SPACE, rb"|".join(kinds), _SPACE))

    def scan(self, text: bytes) -> PlainTrace | None:
        """Read a trace.

        Args:
            text: What follows the end of a trace, up to and including the end of the next one.

        Returns:
            Its values; None if it is not plain or has no events.
        """
        if len(text) > _LONGEST or not _is_xml_text(text):
            return None
        parts: list[Any] = self._event.split(text)
        step = self._width + 1
        between = parts[::step]
        if between.pop() != END or not between or any(between[1:]) or _HEAD.fullmatch(between[0]) is None:
            return None
        own = dict(reversed(_OWN.findall(between[0])))
        return PlainTrace(own, [parts[index::step] for index in range(1, step)], len(between))


def _is_xml_text(text: bytes) -> bool:
    """Return whether text is UTF-8 without the two characters above the control characters that XML excludes."""
    if text.isascii():
        return True
    try:
        return _NOT_XML.search(text.decode()) is None
    except UnicodeDecodeError:
        return False


def is_utf_8(head: bytes) -> bool:
    """Return whether a document is UTF-8.

    Args:
        head: Its first bytes. Only they tell: the parser states the encoding when it has read everything.
    """
    return _UTF_8.match(head) is not None


def is_scannable(root: Any, head: bytes) -> bool:
    """Return whether the traces of a document can be plain: it is UTF-8, and `<log>` has no prefix, as they have none.

    Args:
        root: The `<log>`.
        head: The first bytes of the document.
    """
    return root.prefix is None and is_utf_8(head)


class TraceEnds:
    """Cuts a document behind the ends of its traces."""

    def __init__(self) -> None:
        self._rest = b""

    def cut(self, chunk: bytes) -> Iterator[bytes]:
        """Yield pieces of the document that end in `</trace>`, and what is too long to wait for its end."""
        text, begin = self._rest + chunk, 0
        end = text.find(END, max(len(self._rest) - len(END), 0))
        while end >= 0:
            yield text[begin : end + len(END)]
            begin = end + len(END)
            end = text.find(END, begin)
        self._rest = text[begin:]
        if len(self._rest) > _LONGEST:
            yield self.rest()

    def rest(self) -> bytes:
        """Return what follows the last end of a trace, and forget it."""
        rest, self._rest = self._rest, b""
        return rest


class ParserPosition:
    """Where the parser is: whether directly inside `<log>`, and at which line and column of the file."""

    def __init__(self) -> None:
        self.is_in_log = self._is_behind_end = False
        self._lines = self._column = 0  # of the file: line ends, and characters after the last one
        self._parsed_lines = 0
        self._resumed = (-1, 0)  # the line of the parser before a gap, and the column of the file behind it
        self._first_gap: int | None = None
        self._has_skipped = False

    def parsed(self, piece: bytes, has_ended: bool) -> None:
        """Note a piece that the parser has read, and whether it has reported the end of a trace and none is open now."""
        self._parsed_lines += self._count(piece)
        is_whole, self._is_behind_end = self._is_behind_end, piece.endswith(END)
        is_whole = is_whole and self._is_behind_end
        self.is_in_log = has_ended and is_whole and b"<!" not in piece and b"<?" not in piece

    def skipped(self, piece: bytes) -> None:
        """Note a piece that the parser does not read."""
        self._count(piece)
        self._has_skipped = True

    def resume(self, piece: bytes) -> bytes:
        """Return what to feed to the parser instead of a piece: after a gap it is on its own line, whose number is known."""
        if self._has_skipped:
            self._parsed_lines += 1
            self._first_gap = self._first_gap or self._parsed_lines
            self._resumed = self._parsed_lines, self._column
            self._has_skipped = False
            piece = b"\n" + piece
        return piece

    def in_file(self, line: int, column: int) -> tuple[int, int]:
        """Return the line and column of the file, for those of the parser in the piece that it reads now, or before any gap."""
        before, behind = self._resumed
        if self._first_gap is None or line <= self._first_gap:
            return line, column
        return line - self._parsed_lines + self._lines, column + (behind if line == before + 1 else 0)

    def _count(self, piece: bytes) -> int:
        lines = piece.count(b"\n")
        width = len(piece[piece.rfind(b"\n") + 1 :].decode(errors="replace"))
        self._column = width if lines else self._column + width
        self._lines += lines
        return lines
