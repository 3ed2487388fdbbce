"""Process maps on sixteen public logs, next to maps derived from other releases: `make bench-map`.

Error: Σ|released − true|/Σ true of the numbers of cases of directly-follows pairs, start and end included; pairs of the
node `other` count as missing. Kept: the share of the true mass whose pair is there. TV: total variation of the shares of
pairs. Coverage: the share of kept pairs whose interval covers the true number. δ = 1e-6, 10 runs.

The others: maps of the cases of `optimal`, of the ladder, of a synthetic log, and a cap of 20 distinct pairs per case
instead of the one that the map chooses (`cap 20`).

Every cell is kept in a journal, `benchmarks/data/map.jsonl`: a second run continues where the first one stopped.
`LOGS="sepsis receipt" RUNS=3 EPSILONS=1 MAPS="map,optimal" make bench-map` runs a part of it.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from statistics import mean
from typing import Any
from unittest.mock import patch
from zlib import crc32

from harness import DATA, SCRATCH, finish, row

from synthesis import LOGS
from travas import MapRelease, Variants, mechanism, read
from travas.privacy.noise import Seeded

JOURNAL = SCRATCH / "map.jsonl"
DELTA = "1e-6"
MAPS = ("map", "cap 20", "optimal", "ladder", "synthesis")
BARS = {"sepsis": 0.20, "bpic2012": 0.03, "receipt": 0.11, "bpic2015-1": 0.73, "road-traffic-fines": 0.002}
COVERAGE = 0.92

Job = tuple[str, str, str, int]
"""Log, kind of map, ε and run."""

Pair = tuple[Any, Any]


@lru_cache(maxsize=1)
def log_of(name: str) -> Variants:
    return read(next(DATA.glob(f"{name}.*")))


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


def cell(job: Job) -> dict[str, Any]:
    """The journal's line for one run."""
    name, kind, epsilon, run = job
    seed, truth = Seeded(crc32(f"{job}".encode())), truth_of(name)
    with patch("travas.mechanisms.process_map.choose_cap", lambda *_: 20) if kind == "cap 20" else patch.dict({}):
        rule = mechanism("map" if kind == "cap 20" else kind, epsilon, DELTA).with_random_bytes(seed)
        release = rule.release(log_of(name))
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
    total, released = sum(truth.values()), sum(found.values())
    both = {*truth, *found}
    return {
        "log": name,
        "map": kind,
        "epsilon": epsilon,
        "run": run,
        "error": sum(abs(found.get(pair, 0) - truth.get(pair, 0)) for pair in both) / total,
        "kept": sum(truth.get(pair, 0) for pair in found) / total,
        "variation": sum(abs(found.get(p, 0) / max(released, 1) - truth.get(p, 0) / total) for p in both) / 2,
        "false": float(sum(pair not in truth for pair in found)),
        "coverage": mean(covered) if covered else None,
    }


def jobs() -> Iterator[Job]:
    for epsilon in os.environ.get("EPSILONS", "1 0.5 2").split():
        for name in os.environ.get("LOGS", " ".join(LOGS)).split():
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


def main() -> None:
    values: defaultdict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for (name, kind, epsilon, _), entry in measure(list(jobs())).items():
        values[name, epsilon, kind].append(entry)
    columns = ("error", "kept", "variation", "false", "coverage")
    print("\n| log | ε | map | " + " | ".join(columns) + " |\n|---|--:|---|" + "--:|" * len(columns))
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for key, runs in values.items():
        known = {name: [run[name] for run in runs if run[name] is not None] for name in columns}
        found[key] = {name: mean(numbers) for name, numbers in known.items() if numbers}
        shown = [f"{found[key][name]:.4f}" if name in found[key] else "" for name in columns]
        print(f"| {key[0]} | {key[1]} | {key[2]} | " + " | ".join(shown) + " |")
    print()
    for (name, epsilon, kind), means in found.items():
        if kind == "map" and epsilon == "1":
            if name in BARS:
                row(f"error of {name}", means["error"], BARS[name], "≤", "")
            row(f"coverage of {name}", means["coverage"], COVERAGE, "≥", "")
    finish()


if __name__ == "__main__":
    main()
