"""The pages of the leaderboard from the finished runs of its grids: `make leaderboard`.

python benchmarks/leaderboard.py RESULTS_FOLDER DOCS_FOLDER
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from heatmaps import rendered
from leaderboard_results import NOTHING, ORIGINS, SIMILARITY, Results, Row, delta_text, is_level, results_in
from matplotlib.figure import Figure

COLUMNS = {
    SIMILARITY: "similarity",
    "absolute_log_difference_length": "difference",
    "case_coverage": "cases covered",
    "fake_variants": "fake variants",
}


def main_page(results: Results) -> Iterator[str]:
    """The page that a reader understands: one table, one picture, the losses, and how it was measured."""
    small, large = results.deltas
    yield "# Leaderboard\n"
    yield "How similar is a release to its original log?"
    yield (
        f"Means over {len(results.logs)} public logs at ε = 1: 1 is the same distribution of variants, 0 an empty release."
    )
    yield f"δ = {delta_text(small)} can be defended; δ = {delta_text(large)} is that of the TraVaS paper.\n"
    yield from _short_table(results)
    yield "\n*Best or level*: on how many logs the 95 % interval of the mean overlaps that of the most similar mechanism."
    yield (
        "Without an established guarantee, ε and δ are not what was spent: *utravas-published* and *sacofa-published* look "
        "at the log for free.\n"
    )
    yield f"![Similarity of every mechanism on every log at ε = 1, δ = {delta_text(small)}.](images/leaderboard.png)\n"
    yield from _in_short(results)
    yield "\n## Where ours lose\n"
    yield from _losses(results)
    yield from _how_measured(results)
    yield from _mechanisms(results)


def _short_table(results: Results) -> Iterator[str]:
    heads = [f"similarity, δ = {delta_text(delta)} | best or level" for delta in results.deltas]
    yield f"| mechanism | guarantee | {' | '.join(heads)} |"
    yield "|---|---|" + "--:|" * 2 * len(results.deltas)
    for label in _by_mean(results):
        cells = []
        for delta in results.deltas:
            tables = [results.ranked(log, delta) for log in results.logs]
            mine = [next(row for row in table if row["label"] == label) for table in tables]
            level = sum(is_level(row, table[0]) for row, table in zip(mine, tables, strict=True))
            cells.append(f"{fmean(row['mean'] for row in mine):.3f} | {level} of {len(mine)}")
        yield f"| {label} | {results.standing[label]} | {' | '.join(cells)} |"


def _mean(results: Results, label: str, delta: float) -> float:
    rows = [row for log in results.logs for row in results.ranked(log, delta) if row["label"] == label]
    return fmean(row["mean"] for row in rows)


def _by_mean(results: Results) -> list[str]:
    """The mechanisms with a guarantee first, the most similar at the smallest δ first."""
    at = results.deltas[0]
    return sorted(ORIGINS, key=lambda label: (not results.is_guaranteed(label), -_mean(results, label, at)))


def _in_short(results: Results) -> Iterator[str]:
    """The outcome in a few sentences, from the numbers."""
    guaranteed = [label for label in ORIGINS if results.is_guaranteed(label)]
    for delta in results.deltas:
        best = max(guaranteed, key=lambda label: _mean(results, label, delta))
        ahead = [log for log in results.logs if not results.is_guaranteed(results.ranked(log, delta)[0]["label"])]
        yield (
            f"- At δ = {delta_text(delta)}, *{best}* is the most similar on average of all with a guarantee "
            f"({_mean(results, best, delta):.3f}, *optimal*, the default, {_mean(results, 'optimal', delta):.3f}); a mechanism "
            f"without an established guarantee is ahead on {len(ahead)} of {len(results.logs)} logs{_list(ahead)}."
        )


def _list(logs: list[str]) -> str:
    return f" ({', '.join(logs)})" if logs else ""


def _losses(results: Results) -> Iterator[str]:
    """Where a mechanism that is not ours is the most similar, and where the default is clearly not the best of ours."""
    yield "| log | δ | ahead | guarantee | similarity | our best | similarity | |"
    yield "|---|--:|---|---|--:|---|--:|---|"
    for delta in results.deltas:
        for log in results.logs:
            table = results.ranked(log, delta)
            best, ours = table[0], next(row for row in table if ORIGINS[row["label"]].startswith("ours"))
            if ours is not best:
                level = "intervals overlap" if is_level(ours, best) else ""
                cells = (log, delta_text(delta), best["label"], results.standing[best["label"]], f"{best['mean']:.3f}")
                yield f"| {' | '.join(cells)} | {ours['label']} | {ours['mean']:.3f} | {level} |"
    for delta in results.deltas:
        behind = [log for log in results.logs if _is_default_behind(results.ranked(log, delta))]
        yield (
            f"\nAt δ = {delta_text(delta)}, the default is clearly behind *ladder* or *synthesis* on {len(behind)} of "
            f"{len(results.logs)} logs{_list(behind)}."
        )


def _is_default_behind(table: list[Row]) -> bool:
    ours = next(row for row in table if ORIGINS[row["label"]].startswith("ours"))
    return not is_level(next(row for row in table if row["label"] == "optimal"), ours)


def _how_measured(results: Results) -> Iterator[str]:
    runs = results.runs["run"].max()
    yield "\n## How it was measured\n"
    yield (
        "`make leaderboard` runs [experiments/leaderboard.toml](../experiments/leaderboard.toml) and, for logs with more than "
        "5,000 variants, [experiments/leaderboard-large.toml](../experiments/leaderboard-large.toml), and writes these pages."
    )
    yield "It resumes where it stopped, and noise is seeded, so that it gives the same numbers again."
    yield (
        f"{len(results.runs):,} runs, {int(str(runs)) + 1} for each mechanism, log and δ; a run that failed counts as an "
        "empty release."
    )
    if results.missing:
        yield f"Not finished, and not on this page: {', '.join(results.missing)}."
    yield "\nSimilarity is exact ([metrics](metrics.md)), but for large logs: there, fixed samples of 3,000 cases are compared."
    reached = ", ".join(f"{log} {results.ceilings[log]:.3f}" for log in results.sampled)
    yield (
        f"Two samples of one log differ, so that the original itself reaches less than 1 ({reached}), and releases with many "
        "variants, such as synthetic logs, are rated too low."
    )
    yield "\nMore metrics, intervals, and which runs failed: [leaderboard.csv](data/leaderboard.csv)."


def _mechanisms(results: Results) -> Iterator[str]:
    yield "\n## Mechanisms\n\n| mechanism | | guarantee |\n|---|---|---|"
    for label, origin in ORIGINS.items():
        yield f"| {label} | {origin} | {results.standing[label]} |"
    yield (
        "\nThe maximum length and the threshold of the trees were read from the logs, and their alphabet is that of the log: "
        "no budget covers that, so that they are shown at their best, without an established guarantee."
    )
    yield (
        "SaCoFa and uTraVaS as published spend budget that they do not count ([SaCoFa](mechanisms/sacofa.md), "
        "[uTraVaS](mechanisms/utravas.md)): what they keep beyond the others is not available at this ε and δ."
    )
    yield "PRIPEL changes times and attributes and is compared elsewhere: [utility](benchmarks.md#compared-with-pripel)."


# ------------------------------------------------------------------------------------------------------- log by log


def rows_of_logs(results: Results) -> Iterator[list[str]]:
    """All metrics of every mechanism on every log: means with half the width of their 95 % intervals."""
    yield ["log", "delta", "mechanism", *COLUMNS.values()]
    for log in results.files:
        for delta in results.deltas:
            for row in results.ranked(log, delta):
                cells = [_measured(results, row, metric) for metric in COLUMNS]
                yield [log, delta_text(delta), str(row["label"]), *cells]


def _measured(results: Results, row: Row, metric: str) -> str:
    """The mean of a metric with half the width of its interval."""
    key = ("log", "label", "delta")
    same = (r for r in results.rows if r["metric"] == metric and all(r[name] == row[name] for name in key))
    value = next(same, None)
    if value is None or value["mean"] is None:
        return "–"
    half = 0.0 if value["low"] is None else (value["high"] - value["low"]) / 2
    if metric == "fake_variants":
        return f"{value['mean']:,.1f} ± {half:,.1f}"
    return f"{value['mean']:.3f} ± {half:.3f}" if abs(value["mean"]) < 10 else f"{value['mean']:,.0f} ± {half:,.0f}"


# --------------------------------------------------------------------------------------------------------- the picture


def picture(results: Results) -> bytes:
    """Similarity by mechanism and log at the smallest δ: easy logs left, mechanisms with a guarantee above the line."""
    delta = results.deltas[0]
    value = {(row["label"], log): row["mean"] for log in results.logs for row in results.ranked(log, delta)}
    labels = _by_mean(results)
    logs = sorted(results.logs, key=lambda log: -fmean(value[label, log] for label in labels))
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    axes: Any = figure.subplots()
    image = axes.imshow(
        [[value[label, log] for log in logs] for label in labels], cmap="cividis", vmin=0, vmax=1, aspect="auto"
    )
    for row, label in enumerate(labels):
        for column, log in enumerate(logs):
            ink = "w" if value[label, log] < 0.5 else "k"
            axes.text(column, row, f"{value[label, log]:.2f}", ha="center", va="center", fontsize=8, color=ink)
    axes.axhline(sum(map(results.is_guaranteed, labels)) - 0.5, color="w", linewidth=4)
    axes.set_xticks(range(len(logs)), logs, rotation=35, ha="right")
    axes.set_yticks(range(len(labels)), labels)
    figure.colorbar(image, ax=axes, pad=0.01, label="similarity, higher is better")
    title = f"Similarity to the original at ε = 1, δ = {delta_text(delta)}; below the line: guarantee {NOTHING}"
    figure.suptitle(title, fontsize=11)
    return rendered(figure)


if __name__ == "__main__":
    found, docs = results_in(Path(sys.argv[1])), Path(sys.argv[2])
    (docs / "leaderboard.md").write_text("\n".join(main_page(found)) + "\n", encoding="utf-8")
    with (docs / "data" / "leaderboard.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows_of_logs(found))
    (docs / "images" / "leaderboard.png").write_bytes(picture(found))
