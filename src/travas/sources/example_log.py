"""The built-in log: the paper's hospital example (Table 1), enlarged to one with a long tail. All synthetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..trusted.samplers import Seeded

CASES = 4000

PAPER_LOG: dict[tuple[str, ...], int] = {
    ("register", "visit", "blood-test", "release"): 10,
    ("register", "blood-test", "visit", "release"): 8,
    ("register", "visit", "release"): 20,
    ("register", "visit", "blood-test", "blood-test", "release"): 5,
}
"""Table 1 of the TraVaS paper: 43 cases, four variants."""

_DETOURS = ("blood-test", "visit", "x-ray", "surgery", "ultrasound", "consult specialist", "transfer", "night care")


@dataclass(frozen=True)
class ExampleLog:
    """The built-in log as a source. It holds no data: what is read is always `hospital_log()`, so no policy applies to it."""


class _Dice:
    """Small random numbers from a fixed seed: the demo is the same everywhere."""

    def __init__(self, seed: int) -> None:
        self.random_bytes = Seeded(seed)

    def below(self, limit: int) -> int:
        return int.from_bytes(self.random_bytes(8), "little") % limit


def hospital_traces() -> Iterator[tuple[str, ...]]:
    """One trace per case: a paper variant, in three cases of ten with one to six random detours."""
    dice = _Dice(2022)
    urn = [variant for variant, count in PAPER_LOG.items() for _ in range(count)]
    for _ in range(CASES):
        trace = list(urn[dice.below(len(urn))])
        if dice.below(10) < 3:
            for _ in range(1 + min(dice.below(6), dice.below(6))):
                trace.insert(1 + dice.below(len(trace) - 1), _DETOURS[min(dice.below(8), dice.below(8))])
        yield tuple(trace)


def hospital_log() -> str:
    """The log as CSV: cases are interleaved by time as in a real export; some patients come again."""
    dice, again = _Dice(43), _Dice(6)
    patients = 0
    start = datetime(2025, 1, 1, 8)
    rows = []
    for number, trace in enumerate(hospital_traces(), start=1):
        moment = start + timedelta(minutes=dice.below(365 * 24 * 60))
        patient = again.below(patients) + 1 if patients and again.below(4) == 0 else patients + 1
        patients = max(patients, patient)
        for activity in trace:
            rows.append((moment, f"stay-{number:05d}", activity, f"patient-{patient:04d}"))
            moment += timedelta(minutes=1 + dice.below(300))
    lines = [f"{case},{name},{moment.isoformat(sep=' ')},{patient}\n" for moment, case, name, patient in sorted(rows)]
    return "case_id,activity,timestamp,patient\n" + "".join(lines)
