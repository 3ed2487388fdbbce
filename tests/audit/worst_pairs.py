"""Neighbouring logs that are hard to protect, and mechanisms with detectable parameters, as lists.

A mechanism joins the audit by an entry in MECHANISMS, a pair of logs by one in PAIRS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sampled_losses import View

import travas
from travas import Measurements, Mechanism, Reading, Synthesis

EPSILON, DELTA = "0.5", "0.05"
"""Small enough to be kept, large enough to be measured with some thousand runs."""

Trace = tuple[str, ...]
Log = dict[Trace, int]
Rows = list[tuple[str, str, str]]
"""Events as case, activity and patient, in order."""

ACTIVITIES = ("a", "b", "c")


def _tree(name: str) -> Mechanism:
    return travas.mechanism(name, EPSILON, DELTA, max_length=2, prune=2, alphabet=ACTIVITIES)


MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "optimal": lambda: travas.mechanism("optimal", EPSILON, DELTA),
    "travas": lambda: travas.mechanism("travas", EPSILON, DELTA),
    "utravas": lambda: travas.mechanism("utravas", EPSILON, DELTA, splits=2),
    "ladder": lambda: travas.mechanism("ladder", EPSILON, DELTA, rungs="full,prefix:1"),
    "prefix-tree": lambda: _tree("prefix-tree"),
    "sacofa": lambda: _tree("sacofa"),
    "synthesis": lambda: travas.mechanism("synthesis", EPSILON, DELTA),
}


@dataclass(frozen=True)
class Pair:
    """Two neighbouring logs, as counts of traces, or as events with a person."""

    name: str
    one: Log | Rows
    other: Log | Rows
    max_cases: int = 0

    @property
    def reading(self) -> Reading:
        """How both are read."""
        return (
            Reading(order="file", unit="patient", max_cases=self.max_cases) if self.max_cases else Reading(order="file")
        )


def _person(variants: int, cases: int) -> Rows:
    """Other patients with one case each, and perhaps one with several."""
    rows = [(f"other {case}", f"v{case % 3}", f"q{case}") for case in range(12)]
    return rows + [(f"own {case}", f"v{case % variants}", "p") for case in range(cases)]


COMMON: Log = {("a", "b"): 6, ("a",): 5}
PAIRS = (
    Pair("a singleton", COMMON, COMMON | {("b", "a"): 1}),
    Pair("counts around the threshold", COMMON | {("b",): 4}, COMMON | {("b",): 5}),
    Pair("frequent counts", {("a", "b"): 60, ("a",): 60}, {("a", "b"): 61, ("a",): 60}),
    Pair("one very long trace", COMMON, COMMON | {("a", "b", "c") * 1000: 1}),
    Pair("one activity 1,000 times", COMMON, COMMON | {("a",) * 1000: 1}),
    Pair("new activities", COMMON, COMMON | {("c", "b"): 1}),
    Pair("a person with several cases of one variant", _person(1, 0), _person(1, 5), 3),
    Pair("a person with several variants", _person(3, 0), _person(3, 6), 3),
    Pair("a case that becomes empty", COMMON, COMMON | {(): 1}),
    Pair("an empty log", {}, {("a",): 1}),
)


def release_in_python(mechanism: Mechanism, log: Log | Rows, pair: Pair) -> View:
    """What one run of the Python function shows; of a synthetic log, the measurements that it is generated from."""
    source: Any = log
    if isinstance(log, list):
        import polars as pl

        source = pl.DataFrame(log, schema=["case_id", "activity", "patient"], orient="row")
    if isinstance(mechanism, Synthesis):
        counted = travas.read(source, pair.reading.for_counts_of(mechanism.counted))
        return shown_by_measurements(mechanism.protecting(counted.unit).measure(counted))
    release = travas.anonymize(source, mechanism, reading=pair.reading, frequencies="noisy")
    return views_of(release.variants, release.noisy, release.rungs, release.cases)


def views_of(
    variants: tuple[Any, ...], noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> View:
    """What a release of variants shows: which, with which counts, which counts of each rung, and the number of cases."""
    differences = tuple(count - noisy[0] for count in noisy)
    return (
        (variants, rungs),
        (variants, noisy, rungs),
        (variants, differences),
        noisy and max(noisy) >> 3,
        cases and cases >> 6,
    )


def shown_by_measurements(sums: Measurements) -> View:
    """The variants and activities that were selected, and sums of the noisy values in steps of two deviations."""
    totals = (int(part.sum()) for part in (sums.lengths, sums.transitions, sums.refinement))
    return tuple(trace for trace, _ in sums.variants), sums.activities, *(total >> 21 for total in totals)


def write_log(log: Log | Rows, path: Path) -> Path:
    """Write the events of a log for the command line and the web app; a case without events has no row."""
    if isinstance(log, dict):
        rows = [
            (f"{number}-{case}", activity, "")
            for number, (trace, cases) in enumerate(log.items())
            for case in range(cases)
            for activity in trace
        ]
    else:
        rows = log
    path.write_text("\n".join(["case_id,activity,patient", *(",".join(row) for row in rows), ""]))
    return path
