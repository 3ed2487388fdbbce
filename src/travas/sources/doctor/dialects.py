"""How text tables are written: encoding, delimiter and quote, from all of their bytes."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import polars as pl

from ...errors import LogError
from ..csv_files import dialect_of, table_of
from ..files import content
from ..reading import Reading
from .diagnosis import Observation

_LINES, _HEAD = 200, 1 << 18
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a space", ":": "a colon"}
_DELIMITERS = ",;\t|^~: "
_LETTERS = "äöüßéèêàçñõãáíóúâôëïœæøåÄÖÜÉÈÀÇÑÕÃÁÍÓÚÂÔ’“”–€"
_BOMS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def text_table(paths: Sequence[Path], reading: Reading) -> tuple[Reading, list[Observation], pl.DataFrame | None]:
    """Return the settings with which text tables are read, what was found, and their rows; None if they cannot be read."""
    findings: list[Observation] = []
    if reading.encoding is None:
        encoding, text = _encoding(paths)
        findings.append(Observation("encoding", text, "choice" if encoding else "fact"))
        reading = attrs.evolve(reading, encoding=encoding)
    if reading.delimiter is None:
        reading, finding = _delimiter(content(paths[0], lambda _: None)[:_HEAD], reading)
        findings.append(finding)
    table, fault = _read(paths, reading)
    for quote in () if table is not None or reading.quote is not None else ("none", "'", '"'):
        if (table := _read(paths, attrs.evolve(reading, quote=quote))[0]) is not None:
            what = "nothing is quoted" if quote == "none" else f"the quote is {quote}"
            findings.append(Observation("quotes", f"{what}: {fault}", "choice"))
            return attrs.evolve(reading, quote=quote), findings, table
    if table is None:
        findings.append(Observation("quotes", fault, "problem"))
    return reading, findings, table


def _encoding(paths: Sequence[Path]) -> tuple[str | None, str]:
    """Return the encoding to set, or None if the reader finds it; and what to say about it."""
    said = "ASCII"
    for path in paths:
        data = content(path, lambda _: None)
        if (mark := next((mark for mark in _BOMS if data.startswith(mark)), None)) is not None:
            said = f"{_BOMS[mark]} with a byte order mark"
            continue
        if b"\0" in (start := data[:4096]):
            name = "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
            return name, f"no byte order mark, but every other byte is zero: {name}"
        if data.isascii():
            continue
        try:
            data.decode()
            said = "UTF-8"
        except UnicodeDecodeError as error:
            counts = np.bincount(np.frombuffer(data, np.uint8), minlength=256)
            best = max(("cp1252", "cp850", "latin-1", "cp1250"), key=lambda name: _score(counts, name))
            line = data.count(b"\n", 0, error.start) + 1
            word = _word(data, error.start, best)
            return best, f"not UTF-8 (line {line:,}); as {best} it reads {word!r}; check that this is right"
    return None, said


def _score(counts: np.ndarray, encoding: str) -> int:
    """Return how many bytes above ASCII are letters of Western European languages, minus those that are not."""
    letters = (bytes([byte]).decode(encoding, errors="replace") for byte in range(128, 256))
    signs = [1 if letter in _LETTERS else -1 for letter in letters]
    return int(counts[128:] @ np.array(signs))


def _word(data: bytes, position: int, encoding: str) -> str:
    """Return the cell-like piece of text around a byte."""
    marks = (b",", b";", b"\t", b"\n", b"|")
    start = max(data.rfind(mark, 0, position) for mark in marks) + 1
    ends = [end for mark in marks if (end := data.find(mark, position, position + 40)) >= 0]
    return data[start : min(ends, default=position + 40)][:40].decode(encoding, errors="replace").strip()


def _delimiter(head: bytes, reading: Reading) -> tuple[Reading, Observation]:
    """Propose a delimiter other than that of the header if only it gives all rows the same number of cells."""
    detected = dialect_of(head, reading)
    lines = head.decode(detected.encoding, errors="replace").lstrip("\ufeff").splitlines()[:_LINES]
    widths = {each: _widths(lines, each, detected.quote) for each in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda each: widths[each])
    if best == detected.delimiter or widths[best] <= widths[detected.delimiter]:
        name = _NAMES.get(detected.delimiter, repr(detected.delimiter))
        return reading, Observation("delimiter", f"{name}, from the header")
    name = _NAMES.get(best, repr(best))
    finding = Observation("delimiter", f"{name}; the header suggests {detected.delimiter!r}", "choice")
    return attrs.evolve(reading, delimiter=best), finding


def _widths(lines: list[str], delimiter: str, quote: str | None) -> tuple[float, int]:
    """Return which share of the rows has the same number of cells as the header, and that number; 0 if it is 1."""
    csv.field_size_limit(2**31 - 1)  # the default is 128 kB
    cells = csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, quotechar=quote or '"')
    widths = [len(row) for row in cells if row]
    if not widths or widths[0] < 2:
        return 0.0, 0
    return Counter(widths)[widths[0]] / len(widths), min(widths[0], 3)


def _read(paths: Sequence[Path], reading: Reading) -> tuple[pl.DataFrame | None, str]:
    try:
        return pl.concat([table_of(path, reading, lambda _: None) for path in paths], how="diagonal"), ""
    except LogError as error:
        return None, str(error)
