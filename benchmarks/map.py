"""Process maps on sixteen public logs, next to maps derived from other releases: `make bench-map`.

Error: Σ|released − true|/Σ true of the numbers of cases of directly-follows pairs, start and end included; pairs of the
node `other` count as missing. Kept: the share of the true mass whose pair is there. TV: total variation of the shares of
pairs. Coverage: the share of kept pairs whose interval covers the true number. δ = 1e-6, 10 runs.
Medians: the share of the kept mass between activities whose median duration is within a factor 2, 1 s added to both.

The others: maps of the cases of `optimal`, of the ladder, of a synthetic log, and a cap of 20 distinct pairs per case
instead of the one that the map chooses (`cap 20`). `durations` is the map with durations.

Every cell is kept in a journal, `benchmarks/data/map.jsonl`: a second run continues where the first one stopped.
`LOGS="sepsis receipt" RUNS=3 EPSILONS=1 MAPS="map,optimal" make bench-map` runs a part of it.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from statistics import mean, median
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np
from harness import DATA, SCRATCH, finish, row, spread

from synthesis import LOGS
from travas import Log, MapRelease, Mechanism, Reading, read
from travas.log.questions import Details
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.sources.encoded_cases import EncodedTotals
from travas.trusted.samplers import Seeded

JOURNAL = SCRATCH / "map.jsonl"
DELTA = "1e-6"
MAPS = ("map", "durations", "cap 20", "optimal", "ladder", "synthesis")
BARS = {"sepsis": 0.20, "bpic2012": 0.03, "receipt": 0.11, "bpic2015-1": 0.73, "road-traffic-fines": 0.002}
COVERAGE = 0.92
BARS_WITH_DURATIONS = {"sepsis": (0.24, 0.75)}
"""The greatest error, and the least share of medians within a factor 2."""

MEASURES = ("error", "kept", "variation", "false", "coverage", "medians")

Job = tuple[str, str, str, int]
"""Log, kind of map, ε and run."""

Pair = tuple[Any, Any]


@lru_cache(maxsize=1)
def log_of(name: str) -> Log:
    return read(next(DATA.glob(f"{name}.*")), Reading(details=Details(times="if recorded")))


@lru_cache(maxsize=1)
def truth_of(name: str) -> dict[Pair, int]:
    return cases_of(dict(log_of(name).items()))


def cases_of(log: Any) -> dict[Pair, int]:
    """In how many cases each pair occurs; None is start or end."""
    pairs: Counter[Pair] = Counter()
    for trace, cases in log.items():
        for pair in set(zip((None, *trace), (*trace, None), strict=True)):
            pairs[pair] += cases
    return pairs


@lru_cache(maxsize=1)
def medians_of(name: str) -> dict[Pair, float]:
    """The median time between two activities, in seconds."""
    totals = log_of(name).totals
    cases = totals.cases if isinstance(totals, EncodedTotals) else None
    times = None if cases is None else cases.times
    if cases is None or times is None:
        raise SystemExit(f"{name} has no times")
    steps: defaultdict[Pair, list[float]] = defaultdict(list)
    owner = np.repeat(np.arange(len(cases.lengths)), cases.lengths)
    inner = np.flatnonzero(owner[1:] == owner[:-1])
    seconds = np.maximum(times[inner + 1] - times[inner], 0) / 1e6
    for before, after, duration in zip(cases.codes[inner], cases.codes[inner + 1], seconds.tolist(), strict=True):
        steps[cases.alphabet[before], cases.alphabet[after]].append(duration)
    return {pair: median(durations) for pair, durations in steps.items()}


def close_medians(release: MapRelease, name: str) -> float | None:
    """The share of the kept mass between activities whose median is within a factor 2."""
    truth, medians = truth_of(name), medians_of(name)
    kept = close = 0
    for pair in release.pairs:
        key = pair.before.activity, pair.after.activity
        if pair.duration is not None and key in medians:
            kept += truth[key]
            close += truth[key] * (0.5 <= (1 + pair.duration.median) / (1 + medians[key]) <= 2)
    return close / kept if kept else None


def rule_of(kind: str, epsilon: str) -> Mechanism:
    if kind == "durations":
        return mechanism("map", epsilon, DELTA, parts=["durations"])
    return mechanism("map" if kind == "cap 20" else kind, epsilon, DELTA)


def cell(job: Job) -> dict[str, Any]:
    """The journal's line for one run."""
    name, kind, epsilon, run = job
    seed, truth = Seeded(crc32(f"{job}".encode())), truth_of(name)
    with patch("travas.mechanisms.process_map.choose_cap", lambda *_: 20) if kind == "cap 20" else patch.dict({}):
        release = spread(with_random_bytes(rule_of(kind, epsilon), seed).release(log_of(name)))
    covered = []
    found: dict[Pair, float] = {}
    if isinstance(release, MapRelease):
        for pair in release.pairs:
            if "other" not in (pair.before.kind, pair.after.kind):
                key = pair.before.activity, pair.after.activity
                found[key] = pair.cases.value
                covered.append(pair.cases.low <= truth.get(key, 0) <= pair.cases.high)
    else:
        counts: Counter[Any] = Counter()
        for trace, count in zip(release.variants, release.counts, strict=True):
            counts[trace] += count
        found = {pair: float(number) for pair, number in cases_of(counts).items()}
    total, both = sum(truth.values()), {*truth, *found}
    return {
        "log": name,
        "map": kind,
        "epsilon": epsilon,
        "run": run,
        "error": sum(abs(found.get(pair, 0) - truth.get(pair, 0)) for pair in both) / total,
        "kept": sum(truth.get(pair, 0) for pair in found) / total,
        "variation": variation(found, truth),
        "false": float(sum(pair not in truth for pair in found)),
        "coverage": mean(covered) if covered else None,
        "medians": close_medians(release, name) if isinstance(release, MapRelease) and kind == "durations" else None,
    }


def variation(found: dict[Pair, float], truth: dict[Pair, int]) -> float:
    """The total variation of the shares of pairs: 1 where nothing was released."""
    total, released = sum(truth.values()), sum(found.values())
    if not released:
        return 1.0
    return sum(abs(found.get(pair, 0) / released - truth.get(pair, 0) / total) for pair in {*truth, *found}) / 2


def jobs() -> Iterator[Job]:
    """Log by log: each one is read once."""
    for name in os.environ.get("LOGS", " ".join(LOGS)).split():
        for epsilon in os.environ.get("EPSILONS", "1 0.5 2").split():
            for kind in os.environ.get("MAPS", ",".join(MAPS)).split(","):
                for run in range(int(os.environ.get("RUNS", "10"))):
                    yield name, kind, epsilon, run


def measure(wanted: list[Job]) -> dict[Job, dict[str, Any]]:
    lines = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    entries = [json.loads(line) for line in lines]
    done = {(e["log"], e["map"], e["epsilon"], e["run"]): e for e in entries}
    with JOURNAL.open("a") as out:
        for job in wanted:
            if job not in done:
                done[job] = cell(job)
                out.write(json.dumps(done[job]) + "\n")
                out.flush()
    return {job: done[job] for job in wanted}


Means = dict[tuple[str, str, str], dict[str, float]]
"""By log, ε and kind of map."""


def averages(done: dict[Job, dict[str, Any]]) -> Means:
    values: defaultdict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for (name, kind, epsilon, _), entry in done.items():
        values[name, epsilon, kind].append(entry)
    found: Means = {}
    for key, runs in values.items():
        known = {name: [run[name] for run in runs if run.get(name) is not None] for name in MEASURES}
        found[key] = {name: mean(numbers) for name, numbers in known.items() if numbers}
    return found


def comparison(found: Means) -> None:
    """Error / total variation of every kind of map, and their means over logs."""
    print("\n| log | ε | " + " | ".join(MAPS) + " |\n|---|--:|" + "--:|" * len(MAPS))
    cells = sorted({(name, epsilon) for name, epsilon, _ in found})
    for name, epsilon in cells:
        of = [found.get((name, epsilon, kind), {}) for kind in MAPS]
        print(
            f"| {name} | {epsilon} | "
            + " | ".join(f"{x['error']:.3f} / {x['variation']:.3f}" if x else "" for x in of)
            + " |"
        )
    for epsilon in sorted({epsilon for _, epsilon in cells}):
        shown = []
        for kind in MAPS:
            of = [means for (_, at, which), means in found.items() if (at, which) == (epsilon, kind)]
            shown.append(f"{mean(x['error'] for x in of):.3f} / {mean(x['variation'] for x in of):.3f}" if of else "")
        print(f"| mean | {epsilon} | " + " | ".join(shown) + " |")


def details(found: Means) -> None:
    """What else is known of the map, and of the one with durations."""
    columns = ("kept", "false", "coverage")
    heads = [*columns, "error with durations", *(f"{name} with durations" for name in (*columns, "medians"))]
    print("\n| log | ε | " + " | ".join(heads) + " |\n|---|--:|" + "--:|" * len(heads))
    for name, epsilon in sorted({(name, epsilon) for name, epsilon, _ in found}):
        plain, timed = (found.get((name, epsilon, kind), {}) for kind in ("map", "durations"))
        values = [*map(plain.get, columns), *map(timed.get, ("error", *columns, "medians"))]
        print(f"| {name} | {epsilon} | " + " | ".join("" if x is None else f"{x:.3f}" for x in values) + " |")


def bars(found: Means) -> None:
    for (name, epsilon, kind), means in found.items():
        if kind == "map" and epsilon == "1":
            if name in BARS:
                row(f"error of {name}", means["error"], BARS[name], "≤", "")
            row(f"coverage of {name}", means["coverage"], COVERAGE, "≥", "")
        if kind == "durations" and epsilon == "1" and name in BARS_WITH_DURATIONS:
            error, medians = BARS_WITH_DURATIONS[name]
            row(f"error of {name} with durations", means["error"], error, "≤", "")
            row(f"medians of {name} within a factor 2", means["medians"], medians, "≥", "")


def main() -> None:
    found = averages(measure(list(jobs())))
    comparison(found)
    details(found)
    print()
    bars(found)
    finish()


if __name__ == "__main__":
    main()
