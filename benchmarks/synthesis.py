"""Synthetic logs against `optimal` and the ladder, on sixteen public logs: `make bench-synthesis`.

Similarity to the original, total variation of directly-follows frequencies (start and end included) and of runs of three
activities, relative Wasserstein distance of lengths and, at ε = 1, how far fitness and precision of a model of the released
log are from those of the original's own model. δ = 1e-6; 10 runs at ε = 1 and 3 at the others, 5 and 3 for the mechanisms
beside it. Where a log has more than 3,000 variants, one fixed sample of 3,000 of its cases is compared instead.

Every cell is kept in a journal, `benchmarks/data/synthesis.jsonl`: a second run continues where the first one stopped.
Delete it after a change of the mechanism: it does not know the code that measured its cells.
`LOGS="sepsis bpic2012" RUNS=3 EPSILONS=1 MODELS=0 WORKERS=1 make bench-synthesis` runs a part of it. Columns with an arrow: the
ladder's error, then that of the synthetic log.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from itertools import accumulate, product
from math import sqrt
from statistics import mean, stdev
from typing import Any
from zlib import crc32

from harness import DATA, SCRATCH, finish, publish, row, spread
from sampled_metrics import Counts, sampled

from travas import Log, read
from travas.evaluation.metrics import relative_log_similarity
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

JOURNAL = SCRATCH / "synthesis.jsonl"
DELTA = "1e-6"
MOST_ACTIVITIES = 100  # for models
SECONDS = 2 * 60 * 60
LOGS = (
    "sepsis",
    "bpic2013-incidents",
    "bpic2012",
    "bpic2015-1",
    "bpic2011-hospital",
    "road-traffic-fines",
    "bpic2013-closed-problems",
    "bpic2015-3",
    "bpic2015-5",
    "receipt",
    "bpic2020-prepaid-travel-cost",
    "bpic2020-domestic-declarations",
    "bpic2020-request-for-payment",
    "hospital-billing",
    "bpic2017-w",
    "bpic2014-filtered",
)
UNIQUE = ("sepsis", "bpic2011-hospital", "bpic2015-1", "bpic2015-3", "bpic2015-5")
BARS = {
    "sepsis": 0.760,
    "bpic2013-incidents": 0.955,
    "bpic2012": 0.878,
    "bpic2015-1": 0.39,
    "bpic2011-hospital": 0.44,
    "receipt": 0.937,
    "bpic2020-prepaid-travel-cost": 0.924,
}
MECHANISMS = ("optimal", "ladder", "synthesis")

Job = tuple[str, str, str, int]
"""Log, mechanism, ε and run."""


# ------------------------------------------------------------------------------------------------------- one cell


@lru_cache(maxsize=1)
def log_of(name: str) -> Log:
    return read(next(DATA.glob(f"{name}.*")))


def grams(log: Counts, length: int) -> dict[Any, float]:
    """Shares of the runs of this many activities, start and end included."""
    found: Counter[Any] = Counter()
    for trace, cases in log.items():
        padded = (*[None] * (length - 1), *trace, *[None] * (length - 1))
        for start in range(len(padded) - length + 1):
            found[padded[start : start + length]] += cases
    total = sum(found.values())
    return {gram: count / total for gram, count in found.items()}


def total_variation(one: dict[Any, float], other: dict[Any, float]) -> float:
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other}) / 2


def length_error(original: Counts, released: Counts) -> float:
    """Wasserstein distance of the lengths, divided by the mean length of the original."""
    longest = max(map(len, [*original, *released]))
    curves = []
    for log in (original, released):
        shares = [0.0] * (longest + 1)
        for trace, cases in log.items():
            shares[len(trace)] += cases / sum(log.values())
        curves.append(list(accumulate(shares)))
    total = sum(original.values())
    average = sum(len(trace) * cases for trace, cases in original.items()) / total
    return float(sum(abs(a - b) for a, b in zip(*curves, strict=True))) / average


def model_distance(original: Counts, released: Counts) -> tuple[float, float]:
    """How far fitness and precision of the released log's model are from those of the original's own model."""
    from travas.evaluation.pm4py_models import fitness_and_precision

    own, other = fitness_and_precision(original, original), fitness_and_precision(original, released)
    return abs(own[0] - other[0]), abs(own[1] - other[1])


def cell(job: Job) -> dict[str, Any]:
    """The journal's line for one run."""
    name, rule, epsilon, run = job
    log = log_of(name)
    started = time.perf_counter()
    seed = Seeded(crc32(f"{job}".encode()))
    release = spread(with_random_bytes(mechanism(rule, epsilon, DELTA), seed).release(log))
    seconds = time.perf_counter() - started
    original, released = dict(log.items()), Counter[Trace]()
    for trace, count in zip(release.variants, release.counts, strict=True):
        released[trace] += count
    found: dict[str, Any] = {"log": name, "mechanism": rule, "epsilon": epsilon, "run": run, "seconds": seconds}
    if not released:
        return found | {"similarity": 0.0, "follows": 1.0, "3-grams": 1.0, "lengths": 1.0, "real": 0.0}
    real = sum(count for trace, count in released.items() if trace in original) / sum(released.values())
    found |= {
        "similarity": relative_log_similarity(sampled(original), sampled(released)),
        "follows": total_variation(grams(original, 2), grams(released, 2)),
        "3-grams": total_variation(grams(original, 3), grams(released, 3)),
        "lengths": length_error(original, released),
        "real": real,
    }
    if epsilon == "1" and run < 3 and len(log.alphabet) <= MOST_ACTIVITIES and os.environ.get("MODELS") != "0":
        fitness, precision = model_distance(original, released)
        found |= {"fitness": fitness, "precision": precision}
    return found


# ---------------------------------------------------------------------------------------------------- all of them


def jobs() -> Iterator[Job]:
    chosen = os.environ.get("LOGS", " ".join(LOGS)).split()
    epsilons = os.environ.get("EPSILONS", "1 0.5 2 4").split()
    for epsilon in epsilons:
        runs = int(os.environ.get("RUNS", "10" if epsilon == "1" else "3"))
        for name in chosen:
            for rule in MECHANISMS:
                for run in range(runs if rule == "synthesis" else min(runs, 5)):
                    yield name, rule, epsilon, run


def journal() -> dict[Job, dict[str, Any]]:
    lines = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    entries = [json.loads(line) for line in lines]
    return {(e["log"], e["mechanism"], e["epsilon"], e["run"]): e for e in entries}


def measure(wanted: list[Job]) -> dict[Job, dict[str, Any]]:
    """What the journal has of the wanted cells, and the rest measured now, until time is up."""
    done = journal()
    missing = [job for job in wanted if job not in done]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} cells are in {JOURNAL}", flush=True)
    stop = time.monotonic() + SECONDS
    with ProcessPoolExecutor(int(os.environ.get("WORKERS", "2"))) as pool, JOURNAL.open("a") as out:
        running = {pool.submit(cell, job): job for job in missing}
        for future in as_completed(running):
            done[running[future]] = future.result()
            out.write(json.dumps(future.result()) + "\n")
            out.flush()
            if time.monotonic() > stop:
                pool.shutdown(cancel_futures=True)
                print("two hours are over: run it again to continue", flush=True)
                break
    return {job: done[job] for job in wanted if job in done}


def averages(done: dict[Job, dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, tuple[float, float]]]:
    """Mean and standard error of every measure, by log, mechanism and ε."""
    values: defaultdict[tuple[str, str, str], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (name, rule, epsilon, _), entry in done.items():
        for key, value in entry.items():
            if isinstance(value, float):
                values[name, rule, epsilon][key].append(value)
    return {
        key: {name: (mean(v), stdev(v) / sqrt(len(v)) if len(v) > 1 else 0.0) for name, v in found.items()}
        for key, found in values.items()
    }


ERRORS = ("follows", "3-grams", "lengths", "fitness", "precision")


def main() -> None:
    found = averages(measure(wanted := list(jobs())))
    names = list(dict.fromkeys(name for name, _, _, _ in wanted))
    epsilons = list(dict.fromkeys(epsilon for _, _, epsilon, _ in wanted))
    rows = []
    for name, epsilon in product(names, epsilons):
        of = {rule: found.get((name, rule, epsilon), {}) for rule in MECHANISMS}
        if all(of.values()):
            own, other = of["synthesis"], of["ladder"]
            shown = [f"{each['similarity'][0]:.3f} ± {each['similarity'][1]:.3f}" for each in of.values()]
            both = [own.keys() & other.keys() >= {key} for key in ERRORS]
            beside = [
                f"{other[key][0]:.2f} → {own[key][0]:.2f}" if has else "" for key, has in zip(ERRORS, both, strict=True)
            ]
            rows.append((name, epsilon, *shown, *beside, f"{own['real'][0]:.0%}", f"{own['seconds'][0]:.1f}"))
            print(*rows[-1], sep=" | ", flush=True)
    head = ("log", "ε", *MECHANISMS, *ERRORS, "real", "seconds")
    used = [index for index in range(len(head)) if any(cells[index] for cells in rows)]  # without MODELS=0: all
    if len(rows) == len(LOGS) * len(epsilons):
        publish("synthesis", [head[index] for index in used], [[cells[index] for index in used] for cells in rows])
    bars(found, names, epsilons)
    finish("synthesis-bars" if len(names) == len(LOGS) else "")


def bars(
    found: dict[tuple[str, str, str], dict[str, tuple[float, float]]], names: list[str], epsilons: list[str]
) -> None:
    def of(name: str, rule: str, epsilon: str = "1") -> float:
        return found[name, rule, epsilon]["similarity"][0]

    def complete(name: str, epsilon: str = "1") -> bool:
        return all((name, rule, epsilon) in found for rule in MECHANISMS)

    print()
    for name, bar in BARS.items():
        if complete(name):
            row(f"similarity of {name} at ε = 1", of(name, "synthesis"), bar, "≥", "")
    if complete("sepsis"):
        row("directly-follows error of sepsis", found["sepsis", "synthesis", "1"]["follows"][0], 0.20, "≤", "")
    for group, logs, bar in (("unique logs", UNIQUE, 0.16), ("all logs", LOGS, 0.07)):
        if all(map(complete, logs)):
            gain = mean(of(name, "synthesis") - of(name, "ladder") for name in logs)
            row(f"mean gain over the ladder, {group}", gain, bar, "≥", "")
    for name in filter(complete, names):
        row(f"{name} below optimal at ε = 1", of(name, "optimal") - of(name, "synthesis"), 0.010, "≤", "")


if __name__ == "__main__":
    main()
