"""Attributes and service times of events on public logs: `make bench-context`, or `make bench-context PARTS=service`.

At ε = 1 and δ = 1e-6, with times, three runs each: what a release is off by, next to what is had without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import mean
from typing import cast

import numpy as np
from harness import DATA, finish, row
from numpy.typing import NDArray

from travas import Reading, Synthesis, SyntheticRelease, Times, read
from travas.evaluation.details import (
    event_attribute_distance,
    fetched_cases,
    released_cases,
    time_distance,
    wasserstein,
)
from travas.log.log import Log
from travas.log.options import SERVICE_TIMES, Attribute
from travas.log.questions import SERVICE_COLUMN
from travas.mechanisms.mechanism import with_random_bytes
from travas.releases.release import details_of
from travas.sources.encoded_cases import EncodedCases
from travas.trusted.samplers import Seeded

Floats = NDArray[np.float64]
DELTA, RUNS = "1e-6", int(os.environ.get("RUNS", "3"))
EVENT_ATTRIBUTES = {
    "sepsis": "org:group",
    "bpic2020-domestic-declarations": "org:role",
    "bpic2020-prepaid-travel-cost": "org:role",
    "bpic2020-request-for-payment": "org:role",
    "receipt": "org:group",
    "bpic2012": "org:resource",
}


def released(rule: Synthesis, log: Log) -> list[SyntheticRelease]:
    made = [with_random_bytes(rule, Seeded(run)).release(log) for run in range(RUNS)]
    return [release for release in made if isinstance(release, SyntheticRelease)]


def log_of(name: str, rule: Synthesis, reading: Reading | None = None) -> Log:
    import attrs

    return read(next(DATA.glob(f"{name}.*")), attrs.evolve(reading or Reading(), details=details_of(rule)))


def attributes() -> None:
    """Given the activity: events near the original's values, and the mean distance with its baseline."""
    for name, attribute in EVENT_ATTRIBUTES.items():
        rule = Synthesis(1, DELTA, times=Times(), event_attributes=[attribute])
        log = log_of(name, rule)
        assert log.totals is not None
        cases = fetched_cases(log.totals)
        found = [
            event_attribute_distance(cases, released_cases(made), Attribute(attribute)) for made in released(rule, log)
        ]
        apart, baseline = mean(each.by_activity for each in found), mean(each.baseline for each in found)
        note = f"distance {apart:.3f}, baseline {baseline:.3f}"
        row(f"{name} {attribute}: near", mean(each.near for each in found), 0.8, "≥", "", note)


PAIRS = "bpic2012"
"""The only one of the public logs with starts and completions."""


def service() -> None:
    """How far service times are from the original's, with a baseline: those of all activities together."""
    rule = Synthesis(1, DELTA, times=Times(), event_attributes=[SERVICE_TIMES])
    log = log_of(PAIRS, rule, Reading(lifecycle="pairs"))
    assert log.totals is not None
    cases = fetched_cases(log.totals)
    found = [released_cases(made) for made in released(rule, log)]
    own = service_times(cases)
    together = dict.fromkeys(own, np.concatenate([*own.values()]))
    off, near = zip(*(service_distance(cases, service_times(each)) for each in found), strict=True)
    base_off, base_near = service_distance(cases, together)
    row(f"{PAIRS} service times, doublings", mean(off), base_off, "≤", "", f"baseline {base_off:.2f}")
    row(f"{PAIRS} service times, medians", mean(near), base_near, "≥", "", f"baseline {base_near:.2f}")
    steps = mean(time_distance(cases, each, "UTC").medians for each in found)
    row(f"{PAIRS} durations of steps, medians", steps, 0.8, "≥", "")


def service_times(cases: EncodedCases) -> dict[str, Floats]:
    """log2(1 + seconds) of the events of every activity that have service times."""
    seconds = cast(Floats, cases.values[SERVICE_COLUMN])
    known = ~np.isnan(seconds)
    own = {str(name): np.log2(1 + seconds[known & (cases.codes == code)]) for code, name in enumerate(cases.alphabet)}
    return {name: doublings for name, doublings in own.items() if len(doublings)}


def service_distance(cases: EncodedCases, others: dict[str, Floats]) -> tuple[float, float]:
    """By events: the mean Wasserstein distance in doublings, and the share with a median within a factor of two."""
    own = service_times(cases)
    events = sum(map(len, own.values()))
    apart = sum(
        len(times) * (wasserstein(times, others[name]) if name in others else np.inf) for name, times in own.items()
    )
    near = sum(
        len(times)
        for name, times in own.items()
        if name in others and abs(np.median(times) - np.median(others[name])) <= 1
    )
    return apart / events, near / events


PARTS: dict[str, Callable[[], None]] = {"attributes": attributes, "service": service}

if __name__ == "__main__":
    for part in os.environ.get("PARTS", " ".join(PARTS)).split():
        PARTS[part]()
    finish()
