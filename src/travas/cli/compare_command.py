"""The command `compare`: how much of a log is preserved. Its output is confidential."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CONFIDENTIAL, CONFIDENTIAL_HEADING
from ..sources.reading import Reading
from .console import console, grid, panel, phases, print_json
from .options import AsJson
from .reading_flags import with_reading

if TYPE_CHECKING:
    from ..evaluation.compare import Comparison


@with_reading
def compare(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The original log; the reading options apply to it.")
    ],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The released log, or a .json release.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Compute only this metric; repeatable. See: travas docs metrics.", metavar="NAME"),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a figure: .png, .svg or .pdf.", metavar="FILE")] = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Measure how much of a log is preserved. The output is confidential, because the original log is read.

    Example: travas compare hospital.xes.gz release.xes.gz --plot what-survived.png
    """
    from ..evaluation.compare import compare as compare_logs

    with phases() as watch:
        comparison = compare_logs(original, released, metric or None, reading=reading, plot=plot, watch=watch)
    if as_json:
        print_json(comparison.as_json() | {"confidential": True, "remarks": list(comparison.remarks)})
    else:
        _show_comparison(comparison)
        if plot is not None:
            console().print(f"figure: {plot} {CONFIDENTIAL}")


def _show_comparison(comparison: Comparison) -> None:
    """Print a comparison as a table: each metric with its value and meaning. Confidential."""
    from rich.table import Table

    from ..evaluation.compare import HALVES, Comparison, find_metric, in_one_line

    floor, words = comparison.halves or Comparison({}), grid()
    for name, text in comparison.in_words().items():
        words.add_row(name, text)
        if name in floor.in_words():
            words.add_row("", f"{HALVES.lower()}: {floor.in_words()[name]}")
    if comparison.process_map is not None:
        panel(words, CONFIDENTIAL_HEADING, "yellow")
        return
    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    table = Table(box=None)
    for column in ("", "released", "halves"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    table.add_column("")
    for name, value in comparison.values.items():
        if shown := in_one_line(value):
            table.add_row(name.replace("_", " "), shown, in_one_line(floor.values.get(name)), find_metric(name).meaning)
    out.print(table)
    if floor.values:
        out.print(f"halves: {HALVES.lower()}, compared with each other; no release can be expected to be closer")
    if "top_variants" in comparison.values:
        table = Table(title="Most frequent variants", title_justify="left", box=None)
        for column in ("original", "released"):
            table.add_column(column, justify="right", no_wrap=True, min_width=8)
        table.add_column("variant", overflow="ellipsis", no_wrap=True)
        for trace, count, other in comparison.values["top_variants"]:
            table.add_row(f"{count:,}", f"{other:,}", " → ".join(map(str, trace)))
        out.print()
        out.print(table)
    if comparison.counts_in_words:
        out.print(f"counts of the release: {comparison.counts_in_words}")
    for remark in comparison.remarks:
        out.print(f"note: {remark}")
    if comparison.details is not None:
        out.print("\nTimes and attributes", words)
