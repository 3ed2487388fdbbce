"""The finished runs of the leaderboard: which logs are complete, and how the mechanisms rank on each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from harness import DATA

from travas.evaluation.experiment import ORIGINAL, Grid, finished, read_grid, summary

FOLDER = Path(__file__).parents[1] / "experiments"
SIMILARITY = "relative_log_similarity"
SAMPLED = "sampled_metrics:similarity_of_samples"
ORIGINS = {
    "optimal": "ours: the largest probability of release that (ε, δ) allows; the default",
    "ladder": "ours: rare variants are generalised step by step",
    "synthesis": "ours: traces generated from noisy measurements",
    "travas": "published: TraVaS, Algorithm 1",
    "utravas": "published: uTraVaS, in a sound form",
    "prefix-tree": "published: the prefix tree that TraVaS was compared with, in a sound form",
    "sacofa": "published: SaCoFa, in a sound form",
    "utravas-published": "published: uTraVaS, which selects the most similar of many releases",
    "sacofa-published": "published: SaCoFa, whose rules are read from the log",
}
NOTHING = "not established"
Row = dict[str, Any]
"""The mean of one metric of one mechanism on one log at one δ."""


@dataclass(frozen=True)
class Results:
    """The results of the logs of which every run is finished.

    Attributes:
        rows: The means; a similarity of samples is a similarity here.
        ceilings: The similarity of the original to itself, by log: below 1 where samples are compared.
        runs: One row per run.
        files: The file of every finished log.
        missing: The logs that are not finished.
        standing: The standing of the guarantee of each mechanism.
    """

    rows: list[Row]
    ceilings: dict[str, float]
    runs: pl.DataFrame
    files: dict[str, str]
    missing: list[str]
    standing: dict[str, str]

    @property
    def logs(self) -> list[str]:
        return list(self.files)

    @property
    def sampled(self) -> list[str]:
        """The logs of which samples are compared."""
        return [log for log in self.logs if self.ceilings[log] < 1]

    @property
    def deltas(self) -> list[float]:
        """The smallest δ, which can be defended, first."""
        return sorted({row["delta"] for row in self.rows})

    def ranked(self, log: str, delta: float) -> list[Row]:
        """The similarities of the mechanisms on one log at one δ, the best first."""
        mine = [row for row in self.rows if (row["log"], row["delta"], row["metric"]) == (log, delta, SIMILARITY)]
        return sorted(mine, key=lambda row: -row["mean"])

    def is_guaranteed(self, label: str) -> bool:
        return self.standing[label] != NOTHING


def results_in(folder: Path) -> Results:
    """The results of both grids, from the files that `make leaderboard` writes."""
    parts = [_part(read_grid(FOLDER / f"{name}.toml", DATA), folder / f"{name}.parquet") for name in GRIDS]
    return Results(
        rows=[row for part in parts for row in part.rows],
        ceilings={log: value for part in parts for log, value in part.ceilings.items()},
        runs=pl.concat([part.runs for part in parts], how="diagonal_relaxed"),
        files={log: file for part in parts for log, file in part.files.items()},
        missing=[log for part in parts for log in part.missing],
        standing=parts[0].standing,
    )


GRIDS = ("leaderboard", "leaderboard-large")


def _part(grid: Grid, path: Path) -> Results:
    results = finished(grid, path)
    expected = {log.name: sum(cell.log.name == log.name for cell in grid.cells()) for log in grid.logs}
    counts = dict(results["log"].value_counts().iter_rows())
    complete = [name for name, number in expected.items() if counts.get(name, 0) == number]
    runs = results.filter(pl.col("log").is_in(complete)).rename({SAMPLED: SIMILARITY}, strict=False)
    means = [row | {"metric": row["metric"].replace(SAMPLED, SIMILARITY)} for row in _means(grid, results, complete)]
    return Results(
        rows=[row for row in means if row["label"] != ORIGINAL],
        ceilings={row["log"]: row["mean"] for row in means if (row["label"], row["metric"]) == (ORIGINAL, SIMILARITY)},
        runs=runs,
        files={log.name: log.path.name for log in grid.logs if log.name in complete},
        missing=[name for name in expected if name not in complete],
        standing=_standings(grid),
    )


def _means(grid: Grid, results: pl.DataFrame, logs: list[str]) -> list[Row]:
    return summary(grid, results.filter(pl.col("log").is_in(logs))).to_dicts()


def _standings(grid: Grid) -> dict[str, str]:
    """What the guarantee of each mechanism is, as it is run here."""
    built = {cell.label: cell for cell in grid.cells() if cell.label != ORIGINAL}
    return {label: str(cell.build().guarantee().standing) for label, cell in built.items()}


def is_level(row: Row, best: Row) -> bool:
    """Whether the intervals of two means overlap."""
    return bool(row["high"] >= best["low"] or row["mean"] == best["mean"])


def delta_text(delta: float) -> str:
    return f"{delta:g}".replace("e-0", "e-")
