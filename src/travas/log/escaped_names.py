r"""Escaping of names in file formats that cannot represent every character: one public, reversible rule.

XML has no control characters but tab, line feed and carriage return, and neither U+FFFE nor U+FFFF; readers of CSV
refuse NUL. In XES and CSV, such a character is written as `\u{HEX}`, its code point in upper-case hexadecimal digits
without leading zeros. A backslash that is followed by `u{` in the name itself is written as `\u{5C}`, so that no two
names are written in the same way. In CSV, the same is done with a first character that would make a spreadsheet take
the name for a formula. Every other name is written as it is.
"""

from __future__ import annotations

import re

ESCAPED = "travas:names"
"""The attribute of an XES log whose names are escaped; without it, names are unchanged."""

NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A regular expression for the characters that XML cannot represent."""

_TO_ESCAPE = re.compile(NOT_XML + r"|\\(?=u\{)")
_FORMULA = re.compile("[=+@\\-\t\r](?=.)", re.DOTALL)
_ESCAPE = re.compile(r"\\u\{([0-9A-F]{1,5}|10[0-9A-F]{4})\}")


def escape_name(name: str) -> str:
    r"""Escape a name for XML.

    Args:
        name: Any text.

    Returns:
        The name, unchanged unless it contains `\u{` or a character that XML cannot represent.

    >>> print(escape_name("x-ray"), escape_name("a" + chr(1)), escape_name(r"\u{1}"))
    x-ray a\u{1} \u{5C}u{1}
    """
    return _TO_ESCAPE.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", name)


def escape_cell(name: str) -> str:
    r"""Escape a name for CSV: as `escape_name`, and a first character with which a spreadsheet would begin a formula.

    >>> print(escape_cell("=1+2"), escape_cell("a=b"), escape_cell("-"))
    \u{3D}1+2 a=b -
    """
    written = escape_name(name)
    return f"\\u{{{ord(written[0]):X}}}{written[1:]}" if _FORMULA.match(written) else written


def original_name(text: str) -> str:
    """Reverse `escape_name` and `escape_cell` for a name in a file; half a character, which UTF-8 has not, stays escaped."""
    name = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return text if any("\ud800" <= character <= "\udfff" for character in name) else name
