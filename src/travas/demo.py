"""The built-in log: the paper's hospital example (Table 1), enlarged to a log with a long tail. Synthetic throughout."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from .noise import Seeded

CASES = 4000

PAPER_LOG: dict[tuple[str, ...], int] = {
    ("register", "visit", "blood-test", "release"): 10,
    ("register", "blood-test", "visit", "release"): 8,
    ("register", "visit", "release"): 20,
    ("register", "visit", "blood-test", "blood-test", "release"): 5,
}
"""Table 1 of the TraVaS paper: 43 cases, four variants."""

_DETOURS = ("blood-test", "visit", "x-ray", "surgery", "ultrasound", "consult specialist", "transfer", "night care")


class _Dice:
    """Small random numbers from a fixed seed: the demo is the same everywhere."""

    def __init__(self, seed: int) -> None:
        self.random_bytes = Seeded(seed)

    def below(self, limit: int) -> int:
        return int(np.frombuffer(self.random_bytes(8), np.uint64)[0]) % limit


def hospital_traces() -> Iterator[tuple[str, ...]]:
    """One trace per case: a paper variant, in three cases of ten with one to six detours of its own."""
    dice = _Dice(2022)
    urn = [variant for variant, count in PAPER_LOG.items() for _ in range(count)]
    for _ in range(CASES):
        trace = list(urn[dice.below(len(urn))])
        if dice.below(10) < 3:
            for _ in range(1 + min(dice.below(6), dice.below(6))):
                trace.insert(1 + dice.below(len(trace) - 1), _DETOURS[min(dice.below(8), dice.below(8))])
        yield tuple(trace)


def write_hospital_log(path: Path) -> Path:
    """The log as a CSV file, events of different cases interleaved by time as in a real export."""
    dice = _Dice(43)
    start = datetime(2025, 1, 1, 8)
    rows = []
    for number, trace in enumerate(hospital_traces(), start=1):
        moment = start + timedelta(minutes=dice.below(365 * 24 * 60))
        for activity in trace:
            rows.append((moment, f"patient-{number:05d}", activity))
            moment += timedelta(minutes=1 + dice.below(300))
    rows.sort()
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(("case_id", "activity", "timestamp"))
        writer.writerows((case, activity, moment.isoformat(sep=" ")) for moment, case, activity in rows)
    return path
