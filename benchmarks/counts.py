"""Own and spread counts of released variants: the error of a count and the similarity of the log. `make bench-counts`.

For the paper's 50 cells, and at ε = 1, δ = 1e-6 on all public logs: the mean of |count − true cases| / true cases over the
released variants, and the exact relative log similarity (of logs with many variants, that of samples). RUNS seeded draws.
Writes docs/data/counts.csv and prints its means; docs/benchmarks.md has those by ε and δ.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import crc32

import polars as pl
from harness import DATA, HERE, spread
from sampled_metrics import similarity_of_samples

from travas import Log, read
from travas.evaluation.metrics import relative_log_similarity
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

RUNS = int(os.environ.get("RUNS", 3))
PAPER = ("bpic2013-incidents", "sepsis")
EPSILON, DELTA = ("2", "1", "0.1", "0.01", "0.001"), ("0.5", "0.1", "0.05", "0.01", "0.001")
MANY = 5_000  # variants; above, similarity is that of samples
RESULTS = HERE.parent / "docs" / "data" / "counts.csv"


@lru_cache(maxsize=1)
def log_of(path: Path) -> Log:
    return read(path)


def error(log: Log, release: Any) -> float:
    true = dict(log.items())
    pairs = zip(release.variants, release.counts, strict=True)
    return fmean(abs(count - true[trace]) / true[trace] for trace, count in pairs)


def similarity(log: Log, release: Any) -> float:
    return (similarity_of_samples if len(log) > MANY else relative_log_similarity)(log, release)


def rows() -> Iterator[dict[str, object]]:
    paths = {path.name.partition(".")[0]: path for path in sorted(DATA.glob("*.gz"))}
    cells = [("paper", name, e, d) for name in PAPER for e in EPSILON for d in DELTA]
    cells += [("public", name, "1", "1e-6") for name in paths]
    for study, name, epsilon, delta in cells:
        log = log_of(paths[name])
        for run in range(RUNS):
            seed = Seeded(crc32(f"{name} {epsilon} {delta} {run}".encode()))
            own = with_random_bytes(mechanism("optimal", epsilon, delta), seed).release(log)
            row = {"study": study, "log": name, "epsilon": epsilon, "delta": delta, "run": run}
            row |= {"released": len(own.variants), "true_cases": int(log.counts.sum())}
            for kind, release in (("own", own), ("spread", spread(own))):
                row[f"{kind}_cases"] = sum(release.counts)
                row[f"{kind}_error"] = round(error(log, release), 4) if own.variants else None
                row[f"{kind}_similarity"] = round(similarity(log, release), 4) if own.variants else 0.0
            yield row


def main() -> None:
    found = pl.DataFrame(list(rows()), infer_schema_length=None)
    found.write_csv(RESULTS)
    cells = found.group_by("study", "log", "epsilon", "delta", maintain_order=True).mean()
    print("| log | ε | δ | released | error: own | spread | similarity: own | spread |\n|---|--:|--:|" + "--:|" * 5)
    for row in cells.iter_rows(named=True):
        errors = ("–" if (of := row[f"{kind}_error"]) is None else f"{of:.2f}" for kind in ("own", "spread"))
        similar = (f"{row[f'{kind}_similarity']:.3f}" for kind in ("own", "spread"))
        at = (row["log"], row["epsilon"], row["delta"], f"{row['released']:,.0f}")
        print(f"| {' | '.join((*at, *errors, *similar))} |")


if __name__ == "__main__":
    main()
