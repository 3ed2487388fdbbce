"""What the default ladder keeps, against full variants alone, at defensible parameters: `make bench-ladder`.

Relative log similarity to the full original (exact) and the share of cases covered, mean of 5 seeded runs a cell, ± the
standard error. An empty release has similarity 0. `make bench-ladder LOGS=others` takes eight more data sets; of these
the last three had not been looked at when the ladder was settled.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from math import sqrt
from statistics import mean, stdev
from zlib import crc32

import numpy as np
from harness import DATA, spread

from travas import Log, read
from travas.evaluation.metrics import case_coverage, relative_log_similarity
from travas.log.abstraction import Abstraction
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

RUNS = 5
LOGS = (
    "sepsis.xes.gz",
    "bpic2011-hospital.xes.gz",
    "bpic2015-1.xes.gz",
    "bpic2012.xes.gz",
    "bpic2013-incidents.xes.gz",
    "road-traffic-fines.xes.gz",
)
OTHERS = (
    "bpic2015-3.xes.gz",
    "bpic2015-5.xes.gz",
    "bpic2020-prepaid-travel-cost.xes.gz",
    "bpic2020-request-for-payment.xes.gz",
    "hospital-billing.csv.gz",
    "bpic2013-closed-problems.xes.gz",
    "receipt.xes.gz",
    "bpic2017-w.csv.gz",
)
CELLS = [(epsilon, delta) for epsilon in ("0.5", "1", "2", "4") for delta in ("1e-4", "1e-6", "1e-8")]

Job = tuple[str, str, str, str]


@lru_cache(maxsize=1)
def log_of(file: str) -> Log:
    return read(DATA / file)


def abstracted(original: Log, released: Log, abstractions: Sequence[Abstraction]) -> Log:
    """The original as a release under these rules represents it.

    Every case is generalised by the first rule that yields a released trace; a case without one, by the last rule that
    covers any case.
    """
    there = set(released.traces(range(len(released))))
    rungs = np.full(len(original), -1)  # of each variant, the first rule that yields a released trace
    keys = [rule.grouped(original) for rule in abstractions]
    traces = [grouped.variants.traces(range(len(grouped.variants))) for grouped in keys]
    for index, grouped in reversed(list(enumerate(keys))):
        rungs[grouped.among(np.flatnonzero([trace in there for trace in traces[index]]))] = index
    rungs[rungs < 0] = rungs.max() if (rungs >= 0).any() else len(keys) - 1
    counts: Counter[Trace] = Counter()
    for index, grouped in enumerate(keys):
        numbers = grouped.counts(np.where(rungs == index, original.counts, 0)).tolist()
        for trace, number in zip(traces[index], numbers, strict=True):
            counts[trace] += number
    return Log.from_mapping(+counts, original.columns)


def cell(job: Job) -> tuple[float, float, float]:
    """Mean similarity, its standard error, and the mean share of cases covered."""
    file, name, epsilon, delta = job
    log, rule = log_of(file), mechanism(name, epsilon, delta)
    similarity, covered = [], []
    for run in range(RUNS):
        release = spread(with_random_bytes(rule, Seeded(crc32(f"{job} {run}".encode()))).release(log))
        similarity.append(relative_log_similarity(log, release))
        covered.append(case_coverage(abstracted(log, read(release), release.used_abstractions), release))
    return mean(similarity), stdev(similarity) / sqrt(RUNS), mean(covered)


def main(files: tuple[str, ...]) -> bool:
    keys = [(file, epsilon, delta) for file in files for epsilon, delta in CELLS]
    gains: dict[bool, list[float]] = {True: [], False: []}
    print("| log | uniqueness | ε | δ | full | ladder | gain | covered, full | covered, ladder |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with ProcessPoolExecutor(2) as pool:
        jobs = [(file, name, *rest) for file, *rest in keys for name in ("optimal", "ladder")]
        found = pool.map(cell, jobs)
        uniqueness = {file: read(DATA / file).summary().trace_uniqueness for file in files}
        for file, epsilon, delta in keys:
            full, ladder = next(found), next(found)
            gain = ladder[0] - full[0]
            gains[uniqueness[file] > 0.5].append(gain)
            print(
                f"| {file.split('.')[0]} | {uniqueness[file]:.0%} | {epsilon} | {delta} | {full[0]:.3f} ± {full[1]:.3f} | "
                f"{ladder[0]:.3f} ± {ladder[1]:.3f} | {gain:+.3f} | {full[2]:.0%} | {ladder[2]:.0%} |",
                flush=True,
            )
    held = []
    for what, value, bar in (
        ("mean gain, uniqueness above 50 %", mean(gains[True] or [0.06]), 0.06),
        ("mean gain, the others", mean(gains[False] or [0]), -0.015),
        ("least gain of a cell, the others", min(gains[False] or [0]), -0.05),
    ):
        held.append(value >= bar)
        print(f"{'ok ' if held[-1] else 'NO '} {what}: {value:+.3f} (bar ≥ {bar:+.3f})")
    return all(held)


if __name__ == "__main__":
    sys.exit(not main(OTHERS if "others" in sys.argv else LOGS))
