"""The page of the leaderboard from the finished runs of experiments/leaderboard.toml: `make leaderboard`.

python benchmarks/leaderboard.py RESULTS.parquet PAGE.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
from harness import DATA

from travas.evaluation.experiment import finished
from travas.evaluation.experiment_summary import goodness, summary
from travas.evaluation.grid import ORIGINAL, Grid, read_grid

GRID = Path(__file__).parents[1] / "experiments" / "leaderboard.toml"
SIMILARITY = "relative_log_similarity"
COLUMNS = {
    SIMILARITY: "similarity",
    "absolute_log_difference_length": "difference",
    "case_coverage": "cases covered",
    "fake_variants": "fake variants",
}
ORIGINS = {
    "optimal": "ours: the largest probability of release that (ε, δ) allows",
    "ladder": "ours: rare variants are generalised step by step",
    "synthesis": "ours: traces generated from noisy measurements",
    "travas": "published: TraVaS, Algorithm 1",
    "utravas": "published: uTraVaS, in a sound form",
    "prefix-tree": "published: the prefix tree that TraVaS was compared with, in a sound form",
    "sacofa": "published: SaCoFa, in a sound form",
    "utravas-published": "published: uTraVaS, which selects the most similar of many releases",
    "sacofa-published": "published: SaCoFa, whose rules are read from the log",
    "nothing": "baseline: an empty release",
}
Row = dict[str, Any]

HEAD = (
    "# Leaderboard\n",
    "All mechanisms of the project that release logs, on the public logs, at parameters of the TraVaS paper (ε = 1, δ = 0.01) "
    "and at parameters that can be defended (ε = 1, δ = 1e-6).",
    "`make leaderboard` runs [experiments/leaderboard.toml](../experiments/leaderboard.toml) and writes this page; it resumes "
    "where it stopped, and noise is seeded, so that it gives the same numbers again.",
    "Values are means of {runs} runs, with half the width of their 95 % intervals; a run that failed counts as an empty release.",
    "Mechanisms are ranked by *similarity*; it and *difference* are exact ([metrics](metrics.md)).",
    "Higher similarity and coverage are better, lower difference and fewer fake variants are.\n",
)


def standings(grid: Grid) -> dict[str, str]:
    """What the guarantee of each mechanism is, as it is run here."""
    built = {cell.label: cell for cell in grid.cells() if cell.label != ORIGINAL}
    return {label: str(cell.build().guarantee().standing) for label, cell in built.items()}


def facts(standing: dict[str, str]) -> Iterator[str]:
    """The mechanisms, whose they are, and what their guarantee is here."""
    yield "\n## Mechanisms\n\n| mechanism | | guarantee |\n|---|---|---|"
    for name, origin in ORIGINS.items():
        yield f"| {name} | {origin} | {standing.get(name, 'it reveals nothing')} |"
    yield (
        "\nThe maximum length and the threshold of the trees were read from the logs, and their alphabet is that of the log: "
        "no budget covers that, so that they are shown at their best, without an established guarantee."
    )
    yield (
        "SaCoFa and uTraVaS as published spend budget that they do not count ([SaCoFa](mechanisms/sacofa.md), "
        "[uTraVaS](mechanisms/utravas.md)): what they keep beyond the others is not available at this ε and δ."
    )
    yield "PRIPEL changes times and attributes and is compared elsewhere: [synthesis](synthesis.md#compared-with-pripel)."


def ranked(rows: list[Row], log: str, delta: float) -> list[Row]:
    """The mechanisms on one log at one δ, the most similar first."""
    mine = [row for row in rows if (row["log"], row["delta"]) == (log, delta)]
    best = {row["label"]: row for row in mine if row["metric"] == SIMILARITY}
    return sorted(best.values(), key=lambda row: -goodness(row["mean"], row["better"]))


def is_level(row: Row, best: Row) -> bool:
    """Whether the intervals of two means overlap."""
    return bool(row["high"] >= best["low"] or row["mean"] == best["mean"])


def overview(rows: list[Row], logs: list[str], delta: float, standing: dict[str, str]) -> Iterator[str]:
    """The mechanisms over all finished logs."""
    tables = {log: ranked(rows, log, delta) for log in logs}
    labels = [label for label in ORIGINS if label != "nothing"]
    yield f"\n### ε = 1, δ = {text(delta)}\n"
    yield "| mechanism | guarantee | mean similarity | mean rank | best or level | lowest similarity |"
    yield "|---|---|--:|--:|--:|--:|"
    lines = []
    for label in labels:
        mine = {
            log: (place, row)
            for log, table in tables.items()
            for place, row in enumerate(table, 1)
            if row["label"] == label
        }
        level = sum(is_level(row, tables[log][0]) for log, (_, row) in mine.items())
        worst = min(mine, key=lambda log: mine[log][1]["mean"])
        mean = fmean(row["mean"] for _, row in mine.values())
        rank = fmean(place for place, _ in mine.values())
        lowest = f"{mine[worst][1]['mean']:.3f} ({worst})"
        cells = (label, standing[label], f"{mean:.3f}", f"{rank:.1f}", f"{level} of {len(mine)}", lowest)
        lines.append((-mean, f"| {' | '.join(cells)} |"))
    yield from (line for _, line in sorted(lines))
    yield "| nothing | | 0.000 | | | 0.000 |"


def losses(rows: list[Row], logs: list[str], delta: float, standing: dict[str, str]) -> Iterator[str]:
    """Where none of our mechanisms is the most similar, or the default clearly is not."""
    for log in logs:
        table = ranked(rows, log, delta)
        best, ours = table[0], next(row for row in table if ORIGINS[row["label"]].startswith("ours"))
        default = next(row for row in table if row["label"] == "optimal")
        if ours is not best:
            level = ", but their intervals overlap" if is_level(ours, best) else ""
            yield f"- {log}, δ = {text(delta)}: {named(best, standing)} is ahead of our best, {named(ours, standing)}{level}."
        elif not is_level(default, best):
            yield f"- {log}, δ = {text(delta)}: {named(best, standing)} is ahead of the default, {named(default, standing)}."


def named(row: Row, standing: dict[str, str]) -> str:
    """A mechanism with its similarity, and whether it guarantees anything."""
    without = ", no established guarantee" if standing[row["label"]] == "not established" else ""
    return f"{row['label']} ({row['mean']:.3f}{without})"


def text(delta: float) -> str:
    return f"{delta:g}".replace("e-0", "e-")


def of_log(rows: list[Row], log: str, deltas: list[float], failed: pl.DataFrame) -> Iterator[str]:
    """The tables of one log."""
    yield f"\n### {log}"
    for delta in deltas:
        yield f"\nε = 1, δ = {text(delta)}:\n\n| mechanism | {' | '.join(COLUMNS.values())} |"
        yield "|---|" + "--:|" * len(COLUMNS)
        for row in ranked(rows, log, delta):
            label = row["label"]
            values = {r["metric"]: r for r in rows if (r["log"], r["label"], r["delta"]) == (log, label, delta)}
            cells = " | ".join(measured(values[metric]) for metric in COLUMNS)
            yield f"| {label} | {cells} |"
    for (label,), runs in failed.filter(pl.col("log") == log).group_by("label", maintain_order=True):
        yield f"\n{len(runs)} of the runs of {label} failed, the first because {runs['error'][0]}."


def measured(row: Row) -> str:
    """A mean with half the width of its interval."""
    if row["mean"] is None:
        return "–"
    half = 0.0 if row["low"] is None else (row["high"] - row["low"]) / 2
    if row["metric"] == "fake_variants":
        return f"{row['mean']:,.1f} ± {half:,.1f}"
    return f"{row['mean']:.3f} ± {half:.3f}" if abs(row["mean"]) < 10 else f"{row['mean']:,.0f} ± {half:,.0f}"


def page(grid: Grid, results: pl.DataFrame) -> str:
    """The page, of the logs of which every run is finished."""
    expected = {log.name: sum(cell.log.name == log.name for cell in grid.cells()) for log in grid.logs}
    counts = dict(results["log"].value_counts().iter_rows())
    logs = [name for name, number in expected.items() if counts.get(name, 0) == number]
    missing = [name for name in expected if name not in logs]
    done = results.filter(pl.col("log").is_in(logs))
    rows = [row for row in summary(grid, done).to_dicts() if row["label"] != ORIGINAL]
    deltas = sorted({row["delta"] for row in rows}, reverse=True)
    failed = done.filter(pl.col("error").is_not_null())
    lines = [line.format(runs=max(grid.metrics.values())) for line in HEAD]
    files = ", ".join(f"{log.name} (`{log.path.name}`)" for log in grid.logs if log.name in logs)
    lines.append(f"**What was run**: {len(done):,} runs on {len(logs)} of {len(expected)} logs: {files}.")
    if missing:
        lines.append(f"Not finished, and not on this page: {', '.join(missing)}.")
    standing = standings(grid)
    lines += [*facts(standing), "\n## Over all logs"]
    for delta in deltas:
        lines += overview(rows, logs, delta, standing)
    lines.append("\n*Best or level*: the interval of the mean overlaps that of the most similar mechanism.")
    lines.append("\n## Where ours, or the default, lose\n")
    lines += [line for delta in deltas for line in losses(rows, logs, delta, standing)] or ["Nowhere."]
    lines.append("\n## By log")
    for log in logs:
        lines += of_log(rows, log, deltas, failed)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    wanted = read_grid(GRID, DATA)
    Path(sys.argv[2]).write_text(page(wanted, finished(wanted, sys.argv[1])), encoding="utf-8")
