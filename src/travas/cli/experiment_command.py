"""The command `experiment`: a grid of logs, mechanisms and parameters. Its output is confidential."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import CONFIDENTIAL_UNLESS_PUBLIC
from ..trusted.numbers import typed_whole_number
from .console import grid as facts_grid
from .console import panel, print_json, progress
from .options import AsJson


def experiment(
    grid: Annotated[Path, typer.Argument(metavar="GRID.toml", help="The grid to run; see: travas docs experiments.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Results file. Default: GRID.parquet.", metavar="FILE.parquet")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the logs. Default: as set in the grid.", metavar="DIR")
    ] = None,
    workers: Annotated[
        str | None, typer.Option(help="Number of processes. Default: all cores.", metavar="NUMBER")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the results as heatmaps.", metavar="DIR"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a grid of logs × mechanisms × ε × δ. Resumes where it stopped. The results are confidential.

    Example: travas experiment experiments/paper.toml --plot docs/images
    """
    from ..evaluation.experiment import experiment as run_experiment
    from ..evaluation.experiment import read_grid
    from ..evaluation.results import summary, summary_path, write_summary

    processes = typed_whole_number(workers, "workers")
    wanted = read_grid(grid, data)
    target = output or Path(grid.name).with_suffix(".parquet")
    with progress("running the experiment") as watch:
        table = run_experiment(wanted, target, watch, processes)
    means = write_summary(summary(wanted, table), summary_path(target))
    failed = table.filter(table["error"].is_not_null())
    pictures = []
    if plot is not None:
        from ..evaluation.results import draw_experiment

        pictures = draw_experiment(wanted, table, plot)
    if as_json:
        facts = {
            "results": str(target),
            "summary": str(means),
            "runs": len(table),
            "failed": len(failed),
            "pictures": list(map(str, pictures)),
        }
        print_json(facts | {"confidential": True})
        return
    shown = facts_grid()
    shown.add_row("results", str(target))
    shown.add_row("means", f"{means}, with 95 % intervals")
    shown.add_row("runs", f"{len(table):,}, {len(failed):,} of them failed and count as empty releases")
    causes = (
        failed.group_by("label", "error", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    )
    for label, error, times in causes.head(5).iter_rows():
        shown.add_row("failed", f"{times:,} × {label}: {error}")
    for picture in pictures:
        shown.add_row("picture", str(picture))
    panel(shown, CONFIDENTIAL_UNLESS_PUBLIC, "yellow")
