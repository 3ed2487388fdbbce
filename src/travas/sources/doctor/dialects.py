"""How a text table is written: encoding, delimiter and quote, from all of its bytes."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import attrs
import numpy as np
import polars as pl

from ...errors import LogError
from ..csv_files import dialect_of, table_of
from ..reading import Reading
from ..unpacking import chunks
from .diagnosis import Observation

_DELIMITERS = ",;\t|^~: "
_LINES, _HEAD = 200, 1 << 18
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a space", ":": "a colon"}
_LANGUAGE_LETTERS = "äöüßéèêàçñõãáíóúâôëïœæøåÄÖÜÉÈÀÇÑÕÃÁÍÓÚÂÔ’“”–€"


@dataclass(frozen=True)
class TextForm:
    """The settings of a text table that differ from what its header says, what was found, and the table."""

    reading: Reading
    findings: tuple[Observation, ...]
    table: pl.DataFrame | None


def dialect_findings(path: Path, reading: Reading) -> TextForm:
    """Find encoding, delimiter and quote of a text table."""
    scanned = _Bytes.of(path)
    findings: list[Observation] = []
    if reading.encoding is None:
        encoding, text = _encoding(scanned)
        findings.append(Observation("encoding", text, "choice" if encoding else "fact"))
        reading = attrs.evolve(reading, encoding=encoding)
    lines = _lines(scanned.head, dialect_of(scanned.head, reading).encoding)
    if reading.delimiter is None:
        reading, finding = _delimiter(lines, scanned.head, reading)
        findings.append(finding)
    quote, faults, table = _quote(path, reading)
    return TextForm(attrs.evolve(reading, quote=quote), (*findings, *faults), table)


@dataclass(frozen=True)
class _Bytes:
    """What the bytes of a file are like: the first ones, how often each above ASCII occurs, and the first not of UTF-8."""

    head: bytes
    counts: tuple[int, ...]
    fault: bytes | None = None
    fault_offset: int = 0
    fault_line: int = 0

    @classmethod
    def of(cls, path: Path) -> _Bytes:
        decoder = codecs.getincrementaldecoder("utf-8")()
        head, fault, lines = b"", None, 1
        counts = np.zeros(256, np.int64)
        for chunk in chunks(path, lambda _: None, _HEAD):
            head = head or chunk
            pending = decoder.getstate()[0]
            if chunk.isascii() and not pending:
                lines += chunk.count(b"\n")
                continue
            values = np.frombuffer(chunk, np.uint8)
            counts += np.bincount(values[values >= 0x80], minlength=256)
            if fault is None:
                try:
                    decoder.decode(chunk)
                    lines += chunk.count(b"\n")
                except UnicodeDecodeError as error:
                    content = pending + chunk
                    fault = content, error.start, lines + content.count(b"\n", 0, error.start)
        if fault is None and (pending := decoder.getstate()[0]):
            fault = pending, 0, lines
        return cls(head, tuple(map(int, counts)), *(fault or ()))

    @property
    def is_ascii(self) -> bool:
        return not any(self.counts[0x80:])

    def score(self, encoding: str) -> int:
        """Return how many bytes above ASCII are letters of Western European languages, minus those that are not."""
        score = 0
        for byte, number in enumerate(self.counts[0x80:], start=0x80):
            letter = bytes([byte]).decode(encoding, errors="replace")
            score += number if letter in _LANGUAGE_LETTERS else -number
        return score


def _encoding(scanned: _Bytes) -> tuple[str | None, str]:
    """Return the encoding to set, or None if the reader finds it; and what to say about it."""
    for bom, name in ((codecs.BOM_UTF8, "UTF-8"), (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16")):
        if scanned.head.startswith(bom):
            return None, f"{name} with a byte order mark"
    start = scanned.head[:4096]
    if b"\0" in start:
        name = "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
        return name, f"no byte order mark, but every other byte is zero: {name}"
    if scanned.fault is None:
        return None, "ASCII" if scanned.is_ascii else "UTF-8"
    best = max(("cp1252", "cp850", "latin-1", "cp1250"), key=scanned.score)
    word = _word(scanned.fault, scanned.fault_offset, best)
    line = f"line {scanned.fault_line:,}"
    return best, f"not UTF-8 ({line}); as {best} it reads {word!r}; check that this is right"


def _word(data: bytes, position: int, encoding: str) -> str:
    """Return the cell-like piece of text around a byte."""
    start = max(data.rfind(mark, 0, position) for mark in (b",", b";", b"\t", b"\n", b"|")) + 1
    text = data[start : position + 40].decode(encoding, errors="replace")
    return _until(text, ",;\t\n|")[:40].strip()


def _until(text: str, marks: str) -> str:
    """Return the beginning of a text before any of the marks."""
    end = min((position for mark in marks if (position := text.find(mark)) >= 0), default=len(text))
    return text[:end]


def _lines(head: bytes, encoding: str) -> list[str]:
    text = head.decode(encoding, errors="replace").lstrip("\ufeff")
    return text.splitlines()[:_LINES]


def _delimiter(lines: list[str], head: bytes, reading: Reading) -> tuple[Reading, Observation]:
    """Propose a delimiter other than that of the header if only it gives all rows the same number of cells."""
    detected = dialect_of(head, reading)
    widths = {each: _widths(lines, each, detected.quote) for each in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda each: widths[each])
    if best == detected.delimiter or widths[best] <= widths[detected.delimiter]:
        return reading, Observation(
            "delimiter", f"{_NAMES.get(detected.delimiter, repr(detected.delimiter))}, from the header"
        )
    return attrs.evolve(reading, delimiter=best), Observation(
        "delimiter", f"{_NAMES.get(best, repr(best))}; the header suggests {detected.delimiter!r}", "choice"
    )


def _widths(lines: list[str], delimiter: str, quote: str | None) -> tuple[float, int]:
    """Return which share of the rows has the same number of cells as the header, and that number; 0 if it is 1."""
    csv.field_size_limit(2**31 - 1)  # the default is 128 kB
    rows = [
        row for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, quotechar=quote or '"') if row
    ]
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    number = Counter(len(row) for row in rows)[len(rows[0])]
    return number / len(rows), min(len(rows[0]), 3)


def _quote(path: Path, reading: Reading) -> tuple[str | None, tuple[Observation, ...], pl.DataFrame | None]:
    """Propose another quote if the file is not strict CSV with the one of the header."""
    table, fault = _read(path, reading)
    if table is not None:
        return reading.quote, (), table
    for quote in ("none", "'", '"') if reading.quote is None else ():
        table, _ = _read(path, attrs.evolve(reading, quote=quote))
        if table is not None:
            what = "nothing is quoted" if quote == "none" else f"the quote is {quote}"
            return quote, (Observation("quotes", f"{what}: {fault}", "choice"),), table
    return reading.quote, (Observation("quotes", fault, "problem"),), None


def _read(path: Path, reading: Reading) -> tuple[pl.DataFrame | None, str]:
    try:
        return table_of(path, reading, lambda _: None), ""
    except LogError as error:
        return None, str(error)
