"""Fitness and precision of models from maps, variants, ladders and synthetic logs: `make bench-map-models`.

The inductive miner discovers a model from each release at ε = 1 and δ = 1e-6; the original log is replayed on it, as
`travas compare --metrics fitness --metrics precision` does. `original` is the original's own model. Means of 5 runs with
seeded noise, and how many of them released something. `LOGS="sepsis receipt" RUNS=2 make bench-map-models` runs a part.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from statistics import mean
from zlib import crc32

from harness import DATA, spread

from travas import Log, MapRelease, read
from travas.evaluation.pm4py_models import fitness_and_precision, map_fitness_and_precision
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

LOGS = (
    "sepsis",
    "receipt",
    "bpic2013-closed-problems",
    "bpic2013-incidents",
    "bpic2020-prepaid-travel-cost",
    "bpic2020-domestic-declarations",
    "bpic2020-request-for-payment",
)
RELEASES = ("map", "optimal", "ladder", "synthesis")
DELTA = "1e-6"

Scores = tuple[float, float]


@lru_cache(maxsize=1)
def log_of(name: str) -> Log:
    return read(next(DATA.glob(f"{name}.*")))


def scores(name: str, kind: str, run: int) -> Scores | None:
    """Fitness and precision; None if nothing was released."""
    log = log_of(name)
    seed = Seeded(crc32(f"{(name, kind, '1', run)}".encode()))
    release = spread(with_random_bytes(mechanism(kind, 1, DELTA), seed).release(log))
    original = dict(log.items())
    if isinstance(release, MapRelease):
        return map_fitness_and_precision(original, release) if release.pairs else None
    released: Counter[Trace] = Counter()
    for trace, count in zip(release.variants, release.counts, strict=True):
        released[trace] += count
    return fitness_and_precision(original, released) if released else None


def rows(name: str, runs: int) -> Iterator[tuple[str, list[Scores]]]:
    original = dict(log_of(name).items())
    yield "original", [fitness_and_precision(original, original)]
    for kind in RELEASES:
        yield kind, [found for run in range(runs) if (found := scores(name, kind, run)) is not None]


def main() -> None:
    runs = int(os.environ.get("RUNS", "5"))
    print("| log | model from | fitness | precision | runs |\n|---|---|--:|--:|--:|")
    for name in os.environ.get("LOGS", " ".join(LOGS)).split():
        for kind, found in rows(name, runs):
            shown = [f"{mean(values):.3f}" for values in zip(*found, strict=True)] or ["", ""]
            print(f"| {name} | {kind} | {' | '.join(shown)} | {len(found)} |", flush=True)


if __name__ == "__main__":
    main()
