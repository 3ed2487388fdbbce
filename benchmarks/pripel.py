"""PRIPEL as implemented in pm4py, and what of the original log its release contains: `make bench-pripel`.

For comparison only: its guarantee is not established. One run on Sepsis at ε = 1; what was released is looked up in the
original log. pm4py needs diffprivlib for it, which needs an older scikit-learn: the target installs both in a folder of
their own.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable

import numpy as np
import pandas as pd
from harness import DATA

from travas import Reading, read
from travas.evaluation.details import time_distance
from travas.evaluation.metrics import relative_log_similarity
from travas.log.questions import Details
from travas.sources.encoded_cases import EncodedTotals

CASE, ACTIVITY, TIME = "case:concept:name", "concept:name", "time:timestamp"
TEXTS = ("org:group", "Diagnose")
EPSILON, MOST_LENGTH, PRUNING, SEED = 1.0, 30, 20, 1
ZONE = "Europe/Amsterdam"

Found = tuple[int, int]
"""How many released values the original log has, and how many of these it has only once."""


def main() -> None:
    """Release Sepsis by PRIPEL, and print what is found."""
    import pm4py
    import pm4py.privacy

    random.seed(SEED)
    np.random.seed(SEED)
    path = DATA / "sepsis.xes.gz"
    log = pm4py.read_xes(str(path), return_legacy_log_object=True)
    made = pm4py.privacy.anonymize_differential_privacy(log, epsilon=EPSILON, k=MOST_LENGTH, p=PRUNING)
    original, released = (_in_microseconds(frame) for frame in (pm4py.read_xes(str(path)), made))
    print(f"cases: {released[CASE].nunique()} of {original[CASE].nunique()}")
    steps = looked_up(durations(released), durations(original))
    print(f"durations that the original has exactly: {steps[0]} of {len(durations(released))}; only once: {steps[1]}")
    whole = looked_up(cases(released), cases(original))
    print(f"cases whose activities and durations are those of exactly one original case: {whole[1]}")
    for name in TEXTS:
        values = looked_up(released[name].dropna().tolist(), original[name].dropna().tolist())
        print(f"values of {name} that only one original event has: {values[1]}")
    _compare(path.as_posix(), released)


def _in_microseconds(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(**{TIME: pd.to_datetime(frame[TIME], utc=True).astype("datetime64[us, UTC]")})


def durations(frame: pd.DataFrame) -> list[Hashable]:
    """Return every step of every case: two activities and the microseconds between them."""
    by_case = frame.groupby(CASE, sort=False)
    before, seconds = by_case[ACTIVITY].shift(), by_case[TIME].diff()
    later = seconds.notna()
    steps = seconds[later].dt.total_seconds().mul(1e6).round().astype("int64")
    return list(zip(before[later], frame[ACTIVITY][later], steps, strict=True))


def cases(frame: pd.DataFrame) -> list[Hashable]:
    """Return the activities of every case of two events and more, with the time since its first event."""
    groups = (group for _, group in frame.groupby(CASE, sort=False) if len(group) > 1)
    return [(tuple(group[ACTIVITY]), tuple(group[TIME] - group[TIME].iloc[0])) for group in groups]


def looked_up(released: list[Hashable], original: list[Hashable]) -> Found:
    """Look released values up in the original log."""
    counts = Counter(original)
    found = [value for value in released if value in counts]
    return len(found), sum(counts[value] == 1 for value in found)


def _compare(path: str, released: pd.DataFrame) -> None:
    original = read(path, Reading(details=Details("read")))
    events = released[[CASE, ACTIVITY, TIME]].astype({CASE: str})
    made = read(events, Reading(order="file", details=Details("read")))
    if isinstance(original.totals, EncodedTotals) and isinstance(made.totals, EncodedTotals):
        distance = time_distance(original.totals.cases, made.totals.cases, ZONE)
        print(
            f"throughput: {distance.throughput:.1f} doublings; medians within a factor of two: {distance.medians:.0%}"
        )
    print(f"log similarity: {relative_log_similarity(dict(original.items()), dict(made.items())):.2f}")


if __name__ == "__main__":
    main()
