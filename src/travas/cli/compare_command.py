"""The command `compare`: how much of a log is preserved. Its output is confidential."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CONFIDENTIAL_HEADING, LogError, ParameterError
from ..sources.reading import DEFAULT_READING, Reading
from .console import console, grid, panel, print_json, progress
from .options import AsJson
from .reading_flags import with_reading

if TYPE_CHECKING:
    from ..evaluation.compare import Comparison
    from ..maps.map_release import MapRelease


@with_reading
def compare(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The original log; the reading options apply to it.")
    ],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The released log, or a .json release.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Compute only this metric; repeatable. See: travas docs metrics.")
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
    from ..evaluation.compare import released_variants
    from ..evaluation.detail_comparison import compare_details, with_details
    from ..evaluation.map_comparison import map_of
    from ..model.abstraction import FULL
    from ..model.totals import NO_DETAILS
    from ..sources.engine import read
    from ..verification.verify import released_abstractions

    reading = _as_released(reading, Path(released))
    process_map = map_of(released)
    if process_map is not None:
        _compare_map(original, process_map, reading, metric, plot, as_json)
        return
    rule, plain = reading.abstraction, replace(reading, abstraction=FULL)
    synthetic = with_details(released) if not metric and rule == FULL else None
    with progress("reading the original log") as watch:
        details = NO_DETAILS if synthetic is None else synthetic.details
        true = read(original, replace(plain, details=details), watch)
    with progress("reading the released log"):
        counts = released_variants(released, plain)
    with progress("measuring"):
        rules = released_abstractions(Path(released)) if rule == FULL else (rule,)
        comparison = compare_logs(true, counts, metric or None, rules)
        compared = None if synthetic is None else compare_details(true, synthetic)
    if plot is not None:
        from ..evaluation.pictures import draw_comparison

        draw_comparison(true, counts, plot)
    if as_json:
        more = {} if compared is None else {"details": compared.as_json()}
        print_json(comparison.as_json() | more | {"confidential": True, "remarks": list(comparison.remarks)})
    else:
        _show_comparison(comparison)
        if compared is not None:
            table = grid()
            for name, text in compared.in_words():
                table.add_row(name, text)
            console().print("\nTimes and attributes", table)
        if plot is not None:
            console().print(f"figure (confidential): {plot}")


def _compare_map(
    original: str, released: MapRelease, reading: Reading, metric: list[str] | None, plot: Path | None, as_json: bool
) -> None:
    """Print how far a process map is from the original log. Confidential."""
    from ..evaluation.map_comparison import compare_map, with_model
    from ..sources.engine import read

    models = set(metric or ()) <= {"fitness", "precision"}
    if not models or plot is not None:
        raise ParameterError(
            "a process map has measures of its own; remove --plot, and all of --metric but fitness and precision"
        )
    with progress("reading the original log") as watch:
        true = read(original, replace(reading, abstraction=released.abstractions[0]), watch)
    comparison = compare_map(true, released)
    if metric:
        with progress("discovering the model and replaying the log"):
            comparison = with_model(comparison, true, released)
    if as_json:
        print_json({"process_map": comparison.as_json(), "confidential": True})
        return
    table = grid()
    for name, text in comparison.in_words():
        table.add_row(name, text)
    panel(table, CONFIDENTIAL_HEADING, "yellow")


def _as_released(reading: Reading, release: Path) -> Reading:
    """Return the reading stated by the guarantee file of the release, overridden by the options that are set."""
    from ..model.abstraction import FULL
    from ..outputs.guarantee_file import guarantee_path
    from ..verification.verify import load, released_reading

    path = guarantee_path(release)
    if not path.is_file():
        return reading
    recorded = released_reading(release)
    try:
        if recorded is not None:
            settings = {field.name: getattr(reading, field.name) for field in fields(Reading)}
            changed = {name: value for name, value in settings.items() if value != getattr(DEFAULT_READING, name)}
            return replace(replace(recorded, abstraction=FULL), **changed)
        unit = load(path).get("unit")  # version 1
        if reading.unit is not None or not isinstance(unit, dict) or unit.get("name", "case") == "case":
            return reading
        return replace(reading, unit=unit["name"], max_cases=unit.get("max_cases"), counted=unit.get("counted"))
    except ParameterError as error:
        raise LogError(f"{path}: {error}") from None


def _show_comparison(comparison: Comparison) -> None:
    """Print a comparison as a table: each metric with its value and meaning. Confidential."""
    from rich.table import Table

    from ..evaluation.compare import find_metric
    from ..evaluation.metrics import EdgeDifference

    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    table = grid("right")
    for name, value in comparison.values.items():
        if isinstance(value, int | float):
            shown = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
            table.add_row(name.replace("_", " "), shown, find_metric(name).meaning)
        elif isinstance(value, EdgeDifference):
            steps = f"{len(value.lost):,} lost"
            table.add_row(
                "directly-follows steps", steps, f"of {len(value.lost) + value.kept:,}; {len(value.added):,} are new"
            )
    out.print(table)
    if "top_variants" in comparison.values:
        table = Table(title="Most frequent variants", title_justify="left", box=None)
        for column in ("original", "released"):
            table.add_column(column, justify="right", no_wrap=True, min_width=8)
        table.add_column("variant", overflow="ellipsis", no_wrap=True)
        for trace, count, other in comparison.values["top_variants"]:
            table.add_row(f"{count:,}", f"{other:,}", " → ".join(map(str, trace)))
        out.print()
        out.print(table)
    for remark in comparison.remarks:
        out.print(f"note: {remark}")
