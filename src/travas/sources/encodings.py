"""Encodings of text files: those in which no character changes how the following ones are read."""

from __future__ import annotations

import codecs

from ..errors import ParameterError

_UNICODE = {f"utf-{size}{kind}" for size in (16, 32) for kind in ("", "-le", "-be")} | {"utf-8", "utf-8-sig"}
_SEVERAL_BYTES = {
    *("big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213", "euc_jp", "euc_kr"),
    *("gb18030", "gb2312", "gbk", "johab", "shift_jis", "shift_jis_2004", "shift_jisx0213"),
}
"""A line feed is never the second byte of a character, so that what is wrong in one line stays there."""

_ALL_PAIRS = bytes(byte for first in range(256) for second in range(256) for byte in (first, second))


def check_encoding(name: str) -> None:
    """Refuse what is not an encoding of text, and encodings with a state that crosses lines (ISO 2022, UTF-7, HZ)."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError):
        raise ParameterError(
            f"encoding is {name!r}, which does not exist; try utf-8 or cp1252", field="encoding"
        ) from None
    if known not in _UNICODE | _SEVERAL_BYTES and (known.endswith("escape") or not _one_byte_each(known)):
        raise ParameterError(
            f"encoding is {name!r}, which is not supported; try utf-8, utf-16 or cp1252", field="encoding"
        )


def _one_byte_each(name: str) -> bool:
    """Whether every byte is a character of its own, whatever precedes it, and a comma and a line feed are among them."""
    try:
        characters = [bytes([byte]).decode(name, errors="replace") for byte in range(256)]
        text = _ALL_PAIRS.decode(name, errors="replace")
    except (LookupError, ValueError):
        return False
    return text == "".join(characters[byte] for byte in _ALL_PAIRS) and {",", "\n"} <= set(characters)
