"""The paper's figures beside ours, and the bars of the study: `make reproduce` runs the grid first.

python benchmarks/reproduce.py RESULTS.parquet     the tables of docs/data/reproduced-study.csv, and what is out of three errors
python benchmarks/reproduce.py --thresholds GRID   the maximum lengths and thresholds of experiments/defensible.toml
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl
from harness import DATA

from travas import read
from travas.log.traces import CODE_BYTES
from travas.mechanisms import MECHANISMS
from travas.mechanisms.prefix_tree import Tree, TwoSidedNoise
from travas.trusted.numbers import ONE, exact

METRICS = {
    "similarity": "relative_log_similarity",
    "difference": "absolute_log_difference_penalty",
    "fitness": "fitness",
    "precision": "precision",
}


def published() -> dict[tuple[str, ...], dict[str, Any]]:
    entries = json.loads((DATA.parent / "published" / "results.json").read_text())
    return {tuple(entry[part] for part in ("log", "method", "epsilon", "delta")): entry for entry in entries}


def number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"


def tables(results: pl.DataFrame) -> None:
    """Ours, printed, and recomputed where it is known, cell by cell; then how many cells agree."""
    entries = published()
    agree: defaultdict[str, list[bool]] = defaultdict(list)
    outside = []
    for log in results["log"].unique(maintain_order=True):
        print(f"\n### {log}\n")
        print(
            "| method | ε | δ | similarity: ours | recomputed | printed | difference: ours | recomputed | printed |",
            end="",
        )
        print(" fitness: ours | printed | precision: ours | printed |\n|---|--:|--:|" + "--:|" * 10)
        mine = results.filter(pl.col("log") == log, pl.col("label") != "original")
        for (label, epsilon, delta), runs in mine.group_by("label", "epsilon", "delta", maintain_order=True):
            entry = entries.get((log, str(label), f"{epsilon:g}", f"{delta:g}"), {})
            printed, recomputed = entry.get("printed") or {}, entry.get("recomputed") or {}
            cells = [str(label), f"{epsilon:g}", f"{delta:g}"]
            for metric in METRICS.values():
                values = runs[metric].drop_nulls().to_list()
                mean = fmean(values) if values else math.nan
                error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
                cells.append(f"{number(mean)} ± {number(error)}")
                if metric in ("relative_log_similarity", "absolute_log_difference_penalty"):
                    cells.append(number(recomputed.get(metric)))
                cells.append(number(printed.get(metric.removesuffix("_penalty"))))
                if metric == "relative_log_similarity" and recomputed:
                    spread = math.hypot(error, recomputed.get(f"{metric}_se") or 0.0)
                    near = abs(mean - recomputed[metric]) <= 3 * max(spread, 1e-9)
                    agree[f"{log} {label}"].append(near)
                    if not near and label in ("TraVaS", "uTraVaS"):
                        outside.append((log, *cells[:3], round(mean, 3), recomputed[metric]))
            print(f"| {' | '.join(cells)} |")
    print("\nSimilarity within three standard errors of the difference from the recomputed published value:\n")
    for name, near in agree.items():
        print(f"- {name}: {sum(near)} of {len(near)} cells")
    print("\nOutside, of TraVaS and uTraVaS:", *map(str, outside) or ["none"], sep="\n- ")
    totals = {m: sum(sum(v) for k, v in agree.items() if k.endswith(f" {m}")) for m in ("TraVaS", "uTraVaS")}
    sys.exit(not (totals["TraVaS"] >= 48 and totals["uTraVaS"] >= 45))


def thresholds(grid: Path) -> None:
    """For every log of the grid: the maximum length, and a threshold for each ε and δ."""
    import tomllib

    content = tomllib.loads(grid.read_text())
    for label in ("prefix-tree", "sacofa"):
        print(f"\n[mechanisms.{label}]")
        for name, file in content["logs"].items():
            log = read(DATA / file)
            lengths = sorted(len(key) // CODE_BYTES for key in log.keys)
            length = min(25, lengths[math.ceil(0.8 * len(lengths)) - 1])
            rows = [
                [threshold(label, epsilon, delta, length, len(log.alphabet)) for delta in content["delta"]]
                for epsilon in content["epsilon"]
            ]
            print(f"\n[mechanisms.{label}.on.{name}]\nmax_length = {length}\nprune = {json.dumps(rows)}")


def threshold(label: str, epsilon: str, delta: str, length: int, activities: int) -> int:
    """The least P with |A|·P[noise > P] < 1/4."""
    kind = MECHANISMS[label]
    assert issubclass(kind, Tree)
    noise: TwoSidedNoise = kind(exact(epsilon, "epsilon"), exact(delta, "delta"), length, 0).noise
    assert noise.table is not None
    table = noise.table.table
    middle = table.length // 2 + 1
    return next(p for p in range(table.length) if 4 * activities * (ONE - table.cumulative(middle + p)) < ONE)


if __name__ == "__main__":
    if sys.argv[1] == "--thresholds":
        thresholds(Path(sys.argv[2]))
    else:
        tables(pl.read_parquet(sys.argv[1]))
