"""A made-up log with times and attributes, the same on every machine."""

from functools import cache

import numpy as np
import polars as pl

FIRST_DAY = 1_577_664_000
"""Monday, 30 December 2019, in seconds from 1970."""


@cache
def timed_frame(cases: int = 4_000, seed: int = 5) -> pl.DataFrame:
    """Cases that start on working days of 2020 between 8 and 16 o'clock UTC; a test takes hours, a visit minutes."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str, str, int, str | None, float]] = []
    for case in range(cases):
        day = int(random.integers(0, 52)) * 7 + int(random.integers(0, 5))
        moment = FIRST_DAY + day * 86_400 + int(random.integers(8 * 3600, 16 * 3600))
        tests = int(random.integers(0, 3))
        outcome = "release" if random.random() < 0.7 else "transfer"
        sex = None if random.random() < 0.1 else "f" if outcome == "release" else "m"
        age = float(random.integers(20, 60) if outcome == "release" else random.integers(60, 90))
        for activity in ("register", "visit", *["test"] * tests, outcome):
            moment += {"visit": 300, "test": 20_000}.get(activity, 60) * int(random.integers(1, 4))
            rows.append((f"c{case}", activity, moment, sex, age))
    names = ["case_id", "activity", "timestamp", "sex", "age"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    return table.with_columns(pl.from_epoch("timestamp", "s").dt.replace_time_zone("UTC"))
