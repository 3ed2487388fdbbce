"""What spread frequencies keep, against everything published: `make bench-utility`.

Exact metrics, 10 runs a cell, mean ± standard error, empty releases counted as similarity 0. Runs are seeded, so that
the table can be made again; `PARTS=published RUNS=3 make bench-utility` runs a part of it. The published figures are
those of ../shared/published, recomputed with exact metrics.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from math import hypot, sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from zlib import crc32

import numpy as np
from harness import DATA

from travas import Log, read
from travas.evaluation.metrics import _edit_distances, absolute_log_difference, relative_log_similarity
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.releases.release import Frequencies
from travas.trusted.samplers import Seeded

RUNS = int(os.environ.get("RUNS", 10))
PARTS = os.environ.get("PARTS", "coverage published raw").split()
PAPER_LOGS = {"BPIC13": "bpic2013-incidents.xes.gz", "Sepsis": "sepsis.xes.gz"}
OTHER_LOGS = (  # the first four: no metric on them had been looked at when the estimator was settled
    "bpic2013-closed-problems.xes.gz",
    "bpic2020-prepaid-travel-cost.xes.gz",
    "hospital-billing.csv.gz",
    "bpic2015-3.xes.gz",
    "bpic2015-1.xes.gz",
    "bpic2020-request-for-payment.xes.gz",
    "bpic2012.xes.gz",
    "receipt.xes.gz",
)
DEFENSIBLE = [(epsilon, delta) for epsilon in ("0.5", "1", "2", "4") for delta in ("1e-4", "1e-6", "1e-8")]

Measured = tuple[float, float]
Job = tuple[str, str, Frequencies, str, str]


def most(log: Log, release: Any) -> float:
    """The similarity that no frequencies on these released variants can exceed: every true case at its nearest one."""
    if not release.variants:
        return 0.0
    true = dict(log.items())
    longer = np.maximum.outer([len(trace) for trace in true], [len(trace) for trace in release.variants])
    nearest = (_edit_distances(list(true), release.variants) / longer).min(axis=1)
    return float(1 - nearest @ list(true.values()) / sum(true.values()))


def summary(values: list[float]) -> Measured:
    return mean(values), stdev(values) / sqrt(len(values))


def cell(job: Job) -> tuple[float, Measured, Measured]:
    """Of one mechanism with one kind of frequencies at one (ε, δ) on one log: the most possible, similarity, difference."""
    file, name, frequencies, epsilon, delta = job
    log = read(DATA / file)
    rule = mechanism(name, epsilon, delta)
    bound, similarity, difference = [], [], []
    for run in range(RUNS):
        seeded = with_random_bytes(rule, Seeded(crc32(f"{job} {run}".encode())))
        release = dataclasses.replace(seeded.release(log), frequencies=frequencies)
        bound.append(most(log, release))
        similarity.append(relative_log_similarity(log, release))
        difference.append(float(absolute_log_difference(log, release)))
    return mean(bound), summary(similarity), summary(difference)


def published() -> dict[tuple[str, str, str], dict[str, dict[str, Any]]]:
    cells: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for entry in json.loads((DATA.parent / "published" / "results.json").read_text()):
        if entry.get("recomputed"):
            cells.setdefault((entry["log"], entry["epsilon"], entry["delta"]), {})[entry["method"]] = entry[
                "recomputed"
            ]
    return cells


def against_published(pool: ProcessPoolExecutor) -> bool:
    """The bar: better similarity in ≥ 46 of 50 cells, better difference in ≥ 42, nowhere far behind in similarity."""
    cells = published()
    jobs: list[Job] = [(PAPER_LOGS[log], "optimal", "spread", epsilon, delta) for log, epsilon, delta in cells]
    synthetic: list[Job] = [(PAPER_LOGS[log], "synthesis", "noisy", epsilon, delta) for log, epsilon, delta in cells]
    wins = {"similarity": 0, "difference": 0, "SaCoFa similarity": 0, "SaCoFa difference": 0, "synthetic similarity": 0}
    far_behind = []
    print(
        "\n| log | ε | δ | similarity | most possible | best published | | difference | best published | | synthetic log | |\n"
        "|---|--:|--:|--:|--:|--:|---|--:|--:|---|--:|---|"
    )
    beyond = []
    results = zip(cells, pool.map(cell, jobs), pool.map(cell, synthetic), strict=True)
    for key, (bound, similarity, difference), (_, generated, _) in results:
        rivals = {method: found for method, found in cells[key].items() if method != "SaCoFa"}
        best = max(rivals.items(), key=lambda item: item[1]["relative_log_similarity"])
        least = min(rivals.items(), key=lambda item: item[1]["absolute_log_difference_length"])
        other, cost = best[1]["relative_log_similarity"], least[1]["absolute_log_difference_length"]
        wins["similarity"] += similarity[0] > other
        wins["difference"] += difference[0] < cost
        wins["synthetic similarity"] += generated[0] > other
        if bound <= other:
            beyond.append(key)
        error = hypot(similarity[1], best[1].get("relative_log_similarity_se") or 0.0)
        if other - similarity[0] - 2 * error > 0.03:
            far_behind.append(key)
        if "SaCoFa" in cells[key]:
            wins["SaCoFa similarity"] += similarity[0] > cells[key]["SaCoFa"]["relative_log_similarity"]
            wins["SaCoFa difference"] += difference[0] < cells[key]["SaCoFa"]["absolute_log_difference_length"]
        print(
            f"| {' | '.join(key)} | {similarity[0]:.3f} ± {similarity[1]:.3f} | {bound:.3f} | {other:.3f} {best[0]} | "
            f"{'win' if similarity[0] > other else 'loss'} | {difference[0]:,.0f} ± {difference[1]:,.0f} | "
            f"{cost:,.0f} {least[0]} | {'win' if difference[0] < cost else 'loss'} | "
            f"{generated[0]:.3f} ± {generated[1]:.3f} | {'win' if generated[0] > other else 'loss'} |",
            flush=True,
        )
    print(f"\nWins of {len(jobs)}: {_counted(wins)}.")
    print(f"Behind by more than 0.03 beyond two standard errors: {_cells(far_behind)}.")
    print(f"Published similarity above what any frequencies on these releases could reach: {_cells(beyond)}.")
    return wins["similarity"] >= 46 and wins["difference"] >= 42 and not far_behind


def against_raw_travas(pool: ProcessPoolExecutor) -> bool:
    """On logs it was not made on, at defensible parameters: never clearly worse than raw TraVaS, mostly better."""
    keys = [(file, epsilon, delta) for file in OTHER_LOGS for epsilon, delta in DEFENSIBLE]
    ours = pool.map(cell, [(file, "optimal", "spread", *rest) for file, *rest in keys])
    raw = pool.map(cell, [(file, "travas", "noisy", *rest) for file, *rest in keys])
    better = {"similarity": 0, "difference": 0}
    worse = []
    print("\n| log | ε | δ | similarity | raw TraVaS | difference | raw TraVaS |\n|---|--:|--:|--:|--:|--:|--:|")
    for key, (_, *mine), (_, *theirs) in zip(keys, ours, raw, strict=True):
        (similarity, difference), (other, cost) = mine, theirs
        better["similarity"] += similarity[0] > other[0]
        better["difference"] += difference[0] < cost[0]
        if other[0] - similarity[0] > 3 * hypot(similarity[1], other[1]):
            worse.append((*key, "similarity"))
        if difference[0] - cost[0] > 3 * hypot(difference[1], cost[1]):
            worse.append((*key, "difference"))
        print(
            f"| {' | '.join(key)} | {similarity[0]:.3f} ± {similarity[1]:.3f} | {other[0]:.3f} ± {other[1]:.3f} | "
            f"{difference[0]:,.0f} ± {difference[1]:,.0f} | {cost[0]:,.0f} ± {cost[1]:,.0f} |",
            flush=True,
        )
    print(f"\nBetter, of {len(keys)}: {_counted(better)}.")
    print(f"Worse by more than three standard errors: {_cells(worse)}.")
    return not worse and min(better.values()) > len(keys) / 2


def _counted(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _cells(cells: Sequence[tuple[str, ...]]) -> str:
    return "; ".join(" ".join(cell) for cell in cells) or "nowhere"


def covered(path: Path) -> list[bool]:
    """Of three releases at each (ε, δ): whether the cases that it lacks are as many as it believes, within its interval."""
    log = read(path)
    true = dict(log.items())
    found = []
    for (epsilon, delta), seed in product([*DEFENSIBLE, ("0.1", "1e-2"), ("0.1", "1e-4")], range(3)):
        rule = with_random_bytes(mechanism("optimal", epsilon, delta), Seeded(seed))
        release = rule.release(log)
        interval = release.estimate.missing_cases_interval
        if interval is not None:
            missing = sum(true.values()) - sum(true[trace] for trace in release.variants)
            found.append(interval[0] <= missing <= interval[1])
    return found


def coverage(pool: ProcessPoolExecutor) -> bool:
    paths = sorted(DATA.glob("*.gz"))
    print("# Missing cases within their 95 % interval\n\n| log | releases | within |\n|---|--:|--:|")
    every: list[bool] = []
    for path, found in zip(paths, pool.map(covered, paths), strict=True):
        every += found
        print(f"| {path.name.partition('.')[0]} | {len(found)} | {sum(found)} |")
    share = sum(every) / len(every)
    print(f"| **all** | {len(every)} | {sum(every)} = {share:.3f} |\n")
    return share >= 0.95


def main() -> None:
    with ProcessPoolExecutor() as pool:
        parts = {"coverage": coverage, "published": against_published, "raw": against_raw_travas}
        held = [parts[name](pool) for name in PARTS]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
