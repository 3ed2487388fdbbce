"""Supported encodings of text files: those in which no character changes how the following ones are decoded."""

from __future__ import annotations

import codecs
import re

from ..errors import LogError, ParameterError
from .messages import EXPORT_AGAIN

_UNICODE = {f"utf-{size}{kind}" for size in (16, 32) for kind in ("", "-le", "-be")} | {"utf-8", "utf-8-sig"}
_SEVERAL_BYTES = {
    *("big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213", "euc_jp", "euc_kr"),
    *("gb18030", "gb2312", "gbk", "johab", "shift_jis", "shift_jis_2004", "shift_jisx0213"),
}
"""Multi-byte encodings in which a line feed is never the second byte, so that an error stays within its line."""

_ONE_BYTE = re.compile(r"ascii|iso8859-\d+|cp\d{3,4}|koi8-[rtu]|mac-\w+|hp-roman8|kz1048|palmos|ptcp154|tis-620")

_XML_NAMES = {"ucs-2": "utf-16", "iso-10646-ucs-2": "utf-16", "windows-874": "cp874"}
"""Names that Python does not know."""

_MARKS = b"\xef\xbb\xbf\xff\xfe"
_EBCDIC = "<?xm".encode("cp037")
_DECLARED = tuple(b"<?xml" + space for space in (b" ", b"\t", b"\r", b"\n"))
_DECLARATION = re.compile(
    rb"""<\?xml\s+version\s*=\s*(?:"[^"]*"|'[^']*')"""
    rb"""(?:\s+encoding\s*=\s*(?:"([^"]*)"|'([^']*)'))?"""
    rb"""(?:\s+standalone\s*=\s*(?:"[^"]*"|'[^']*'))?\s*\?>"""
)


def check_encoding(name: str) -> None:
    """Raise ParameterError for unknown encodings and for those with a state across lines (ISO 2022, UTF-7, HZ)."""
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError):
        raise ParameterError(
            f"encoding is {name!r}, which does not exist; try utf-8 or cp1252", field="encoding"
        ) from None
    if codec not in _UNICODE | _SEVERAL_BYTES and not _ONE_BYTE.fullmatch(codec):
        raise ParameterError(
            f"encoding is {name!r}, which is not supported; try utf-8, utf-16 or cp1252", field="encoding"
        )


def check_xml_encoding(where: str, start: bytes) -> None:
    """Refuse an XML document in an encoding that is not supported, before the parser fails without a remedy.

    `start` is the first bytes, without NUL bytes, so that UTF-16 reads like ASCII. Nothing is checked before the
    declaration is complete. EBCDIC is refused, because some of its forms have a state.
    """
    if start.startswith(_EBCDIC):
        name = "EBCDIC"
    elif not (text := start.lstrip(_MARKS)).startswith(_DECLARED) or b"?>" not in text:
        return
    elif (declaration := _DECLARATION.match(text)) is None:
        raise LogError(f"{where}: the XML declaration is malformed; {EXPORT_AGAIN}")
    elif not (name := (declaration[1] or declaration[2] or b"").decode("latin-1")):
        return
    try:
        check_encoding(_XML_NAMES.get(name.lower(), name))
    except ParameterError:
        raise LogError(
            f"{where}: the XML declaration has the encoding {name!r}, which is not supported; convert the file to UTF-8"
        ) from None
