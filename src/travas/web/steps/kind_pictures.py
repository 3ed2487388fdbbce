"""One made-up picture for each kind of release. They show no data."""

from __future__ import annotations

from ...plots.chevrons import PALETTE
from ...plots.svg import document, line, text

_WIDTH, _HEIGHT, _SIZE = 220, 92, 10
_INK = "currentColor"
_SKY, _ORANGE, _GREEN = PALETTE[:3]


def _picture(label: str, parts: list[str]) -> str:
    return document(_WIDTH, _HEIGHT, label, parts, _INK, _SIZE)


def _words(x: int, y: int, words: str) -> str:
    return text(x, y, words, colour=_INK, size=_SIZE)


def _chevron(x: int, y: int, colour: str, dashed: bool = False) -> str:
    corners = f"{x},{y} {x + 24},{y} {x + 30},{y + 8} {x + 24},{y + 16} {x},{y + 16} {x + 6},{y + 8}"
    fill = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="3 2"' if dashed else f'fill="{colour}"'
    return f'<polygon points="{corners}" {fill}/>'


def _row(y: int, colours: str, dashed: bool = False) -> list[str]:
    names = {"a": _SKY, "b": _ORANGE, "c": _GREEN}
    return [_chevron(4 + 30 * index, y, names[letter], dashed) for index, letter in enumerate(colours)]


def _interval(y: int, low: int, middle: int, high: int) -> list[str]:
    return [
        line(low, y, high, y, _INK, 1.5),
        f'<circle cx="{middle}" cy="{y}" r="3.5"/>',
    ]


VARIANTS = _picture(
    "Made-up example: three paths, each with a number and its interval",
    [
        *_row(8, "abc"), *_interval(16, 170, 188, 206), *_row(38, "ac"), *_interval(46, 140, 156, 172), *_row(68, "abbc"),
        *_interval(76, 132, 142, 152),
    ],
)  # fmt: skip

SYNTHETIC = _picture(
    "Made-up example: generated cases with days and hours",
    [
        *_row(8, "abc"), _words(132, 20, "Mon 09:12"), *_row(38, "abbc", dashed=True),
        _words(132, 50, "Tue 14:05"), *_row(68, "acb", dashed=True), _words(132, 80, "Wed 08:40"),
    ],
)  # fmt: skip

MAP = _picture(
    "Made-up example: a map of three activities with numbers on its arrows",
    [
        '<g fill="none" stroke="currentColor" stroke-width="1.5"><path d="M62 46 L84 24" /><path d="M136 24 L158 46"/>'
        '<path d="M62 54 C90 84 130 84 158 54"/></g>',
        f'<rect x="8" y="36" width="54" height="22" rx="4" fill="{_SKY}"/>',
        f'<rect x="84" y="10" width="52" height="22" rx="4" fill="{_ORANGE}"/>',
        f'<rect x="158" y="36" width="54" height="22" rx="4" fill="{_GREEN}"/>',
        _words(44, 28, "510"),
        _words(152, 28, "480"),
        _words(100, 88, "90"),
    ],
)
