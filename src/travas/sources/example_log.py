"""The built-in log: the paper's hospital example (Table 1), enlarged to one with a long tail. All synthetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def _dice(seed: int) -> Callable[[int], int]:
    """Return random numbers below a limit, from a fixed seed: the demo is the same everywhere."""
    random_bytes = Seeded(seed)
    return lambda limit: int.from_bytes(random_bytes(8), "little") % limit


def hospital_traces() -> Iterator[tuple[str, ...]]:
    """One trace per case: a paper variant, in three cases of ten with one to six random detours."""
    dice = _dice(2022)
    urn = [variant for variant, count in PAPER_LOG.items() for _ in range(count)]
    for _ in range(CASES):
        trace = list(urn[dice(len(urn))])
        if dice(10) < 3:
            for _ in range(1 + min(dice(6), dice(6))):
                trace.insert(1 + dice(len(trace) - 1), _DETOURS[min(dice(8), dice(8))])
        yield tuple(trace)


def hospital_log() -> str:
    """The log as CSV: cases are interleaved by time as in a real export; some patients come again."""
    dice, again = _dice(43), _dice(6)
    patients = 0
    start = datetime(2025, 1, 1, 8)
    rows = []
    for number, trace in enumerate(hospital_traces(), start=1):
        moment = start + timedelta(minutes=dice(365 * 24 * 60))
        patient = again(patients) + 1 if patients and again(4) == 0 else patients + 1
        patients = max(patients, patient)
        for activity in trace:
            rows.append((moment, f"stay-{number:05d}", activity, f"patient-{patient:04d}"))
            moment += timedelta(minutes=1 + dice(300))
    lines = [f"{case},{name},{moment.isoformat(sep=' ')},{patient}\n" for moment, case, name, patient in sorted(rows)]
    return "case_id,activity,timestamp,patient\n" + "".join(lines)
