"""Attributes of events on public logs: `make bench-context`, or `make bench-context PARTS=attributes`.

At ε = 1 and δ = 1e-6, with times, three runs each: what a release is off by, next to what is had without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import mean

from harness import DATA, finish, row

from travas import Reading, Synthesis, SyntheticRelease, Times, read
from travas.evaluation.details import event_attribute_distance, fetched_cases, released_cases
from travas.log.log import Log
from travas.log.options import Attribute
from travas.mechanisms.mechanism import with_random_bytes
from travas.releases.release import details_of
from travas.trusted.samplers import Seeded

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


PARTS: dict[str, Callable[[], None]] = {"attributes": attributes}

if __name__ == "__main__":
    for part in os.environ.get("PARTS", " ".join(PARTS)).split():
        PARTS[part]()
    finish()
