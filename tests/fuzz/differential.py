"""Random logs with awkward names, written as CSV and XES, read by travas and by csv, pandas and pm4py."""

from __future__ import annotations

import contextlib
import csv
import io
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pandas as pd
import pm4py

from travas import Reading, read

NAMES = ("a", "A", "a b", "ä", "1", "1.0", "01", "NA", "null", "x,y", 'q"q', "&<>", "true", "ε", "🙂", "-", "None")
Row = tuple[str, str, str]


def random_log(chance: random.Random) -> list[Row]:
    """Events as case, activity and time, in any order; the times of a case differ."""
    rows = []
    for case in range(chance.randint(1, 12)):
        seconds = chance.sample(range(60), chance.randint(1, 6))
        rows += [(f"case {case}", chance.choice(NAMES), f"2024-01-01T00:00:{second:02d}+00:00") for second in seconds]
    chance.shuffle(rows)
    return rows


def counted(rows: list[Row]) -> Counter[tuple[str, ...]]:
    """The variants of events, by time."""
    traces: dict[str, list[str]] = {}
    for case, activity, _ in sorted(rows, key=lambda row: row[2]):
        traces.setdefault(case, []).append(activity)
    return Counter(map(tuple, traces.values()))


def differences(folder: Path, seed: int, most: int, seconds: float = float("inf")) -> list[str]:
    """Which logs are read differently, and by whom.

    Args:
        folder: Where the files are written.
        seed: Which logs.
        most: The largest number of logs.
        seconds: The time after which to stop.

    Returns:
        One text for each difference.
    """
    chance, found = random.Random(seed), []
    end = time.monotonic() + seconds
    for number in range(most):
        if time.monotonic() > end:
            break
        rows = random_log(chance)
        table, xes = _write_csv(rows, folder / f"{number}.csv"), _write_xes(rows, folder / f"{number}.xes")
        results = {
            "csv": _of_csv(table),
            "pandas": _of_frame(pd.read_csv(table, dtype=str, keep_default_na=False)),
            "pm4py": _of_frame(_of_pm4py(xes)),
            "travas csv": Counter(dict(read(table).items())),
            "travas xes": Counter(dict(read(xes, Reading(order="time")).items())),
        }
        expected = counted(rows)
        found += [f"log {number} of seed {seed}: {name}" for name, result in results.items() if result != expected]
    return found


def _write_csv(rows: list[Row], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("case_id", "activity", "timestamp"), *rows])
    return path


def _write_xes(rows: list[Row], path: Path) -> Path:
    parts = ['<?xml version="1.0" encoding="UTF-8"?><log>']
    for case in dict.fromkeys(case for case, _, _ in rows):
        parts.append(f'<trace><string key="concept:name" value={quoteattr(case)}/>')
        for _, activity, moment in (row for row in rows if row[0] == case):
            parts.append(f'<event><string key="concept:name" value={quoteattr(activity)}/>')
            parts.append(f'<date key="time:timestamp" value="{moment}"/></event>')
        parts.append("</trace>")
    path.write_text("".join([*parts, "</log>"]), encoding="utf-8")
    return path


def _of_csv(path: Path) -> Counter[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8") as file:
        return counted([(row[0], row[1], row[2]) for row in list(csv.reader(file))[1:]])


def _of_pm4py(path: Path) -> Any:
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar
        frame = pm4py.read_xes(str(path), variant="iterparse")
    return frame.rename(
        columns={"case:concept:name": "case_id", "concept:name": "activity", "time:timestamp": "timestamp"}
    )


def _of_frame(frame: Any) -> Counter[tuple[str, ...]]:
    return counted([(str(row.case_id), str(row.activity), str(row.timestamp)) for row in frame.itertuples(index=False)])
