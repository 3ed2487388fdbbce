"""The events of XES files as a table, for the doctor: names, times, transitions and attributes that may name a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

import polars as pl

from ..column_names import plain
from ..reading import ACTIVITY, CASE, LIFECYCLE, TIMESTAMP, TRACE_LEVEL
from ..xes import Values, read_traces
from .diagnosis import Observation, ReadingChoice
from .roles import UNIT_WORDS

_KEYS = (ACTIVITY, TIMESTAMP, LIFECYCLE)


class _Events:
    """Collects traces."""

    def __init__(self) -> None:
        self.is_escaped, self.stray = False, 0
        self.columns: list[list[bytes | None]] = [[] for _ in _KEYS]
        self.own: dict[str, dict[int, bytes]] = {}
        self.lengths: list[int] = []

    def add(self, own: Mapping[bytes, bytes], columns: Sequence[Values], events: int) -> None:
        for collected, values in zip(self.columns, columns, strict=True):
            collected += values
        for key, value in own.items():
            if _is_read(key):
                self.own.setdefault(key.decode(), {})[len(self.lengths)] = value
        self.lengths.append(events)


@lru_cache(1000)
def _is_read(key: bytes) -> bool:
    """Return whether an attribute of traces is their name, or may identify a person."""
    return key.decode() == ACTIVITY or plain(key.decode()) in UNIT_WORDS


def xes_table(paths: Sequence[Path]) -> tuple[pl.DataFrame, list[Observation], list[ReadingChoice]]:
    """Return the events of XES files with the column names of pm4py, what there is to say about traces, and choices."""
    events = _Events()
    for path in paths:
        read_traces(path, _KEYS, events)
    owner = pl.Series(
        list(chain.from_iterable([n] * length for n, length in enumerate(events.lengths))), dtype=pl.Int64
    )
    table = {key: _texts(values) for key, values in zip(_KEYS, events.columns, strict=True)}
    names = events.own.pop(ACTIVITY, {})
    for key, values in {ACTIVITY: names, **events.own}.items():
        of_trace = _texts([values.get(number) for number in range(len(events.lengths))])
        table[f"{TRACE_LEVEL}{key}"] = of_trace.gather(owner)
    findings, choices = _trace_findings(
        Counter(names.get(number, b"").decode() for number in range(len(events.lengths)))
    )
    if table[LIFECYCLE].null_count() == len(owner):
        del table[LIFECYCLE]
    return pl.DataFrame({CASE: table.pop(CASE), **table}), findings, choices


def _texts(values: Sequence[bytes | None]) -> pl.Series:
    return pl.Series(values, dtype=pl.Binary).cast(pl.String)


def _trace_findings(names: Counter[str]) -> tuple[list[Observation], list[ReadingChoice]]:
    findings, choices = [Observation("size", f"{sum(names.values()):,} traces")], []
    if unnamed := names.pop("", 0):
        text = f"{unnamed:,} traces have no name; set duplicate_cases to 'separate' if every trace is a case"
        findings.append(Observation("case", text, "problem", "duplicate_cases"))
    if repeated := sum(number > 1 for number in names.values()):
        options = (("merge", "traces with the same name are one case"), ("separate", "every trace is a case"))
        choices.append(ReadingChoice("duplicate_cases", options))
        findings.append(
            Observation("case", f"{repeated:,} names are those of several traces: with merge they are one case each, with "
                    "separate every trace is a case", "choice")
        )  # fmt: skip
    return findings, choices
