"""Lines of Markdown with two sentences: one sentence per line keeps diffs readable."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NOT_PROSE = re.compile(r"\s*(?:\||#|!|<|\[\^|\*[^*]+\*$)")
"""Tables, headings, pictures, HTML, footnotes, and captions: lines in italics."""
_LABEL = re.compile(r"\s*(?:[-*>] |\d+\. )?(?:\*\*[^*]+\*\* ?)?(?:\*[^*]+\* ?)?")
"""The mark of a list item, and a bold or italic label such as *Proof.*"""
_HIDDEN = re.compile(r"`[^`]*`|\]\([^)]*\)|\([^()]*\)|“[^”]*”|\"[^\"]*\"|\b(?:e\.g|i\.e|et al|etc|cf|vs|No)\.")
"""Code, links, what is in brackets or quotes, and abbreviations."""
_BOUNDARY = re.compile(r"(?:[.!?][*_]*|∎) +(?=[*_(\[“\"]*(?:[^\W_a-z]|\d|\x00))")
"""The end of a sentence before a capital letter, a number or something hidden."""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of the lines of prose: not those of code, tables, headings and captions."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence and not _NOT_PROSE.match(line):
            yield number, line


def ends(line: str) -> list[int]:
    """Return where sentences of a line end that are followed by another one."""
    start = _LABEL.match(line)
    assert start is not None
    masked = _HIDDEN.sub(lambda hidden: "\x00" * len(hidden[0]), line)
    return [found.end() for found in _BOUNDARY.finditer(masked, start.end())]
