"""The commands that read the original log: inspect, compare, forecast, experiment. Their output is confidential."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CONFIDENTIAL_HEADING, LogError, ParameterError
from ..model.variants import Variants
from ..privacy.guarantee import Counted, PrivacyUnit
from ..sources.reading import DEFAULT_READING, Reading
from .console import console, panel, print_json, progress, show_comparison
from .console import grid as facts_grid
from .mechanism_flags import Description, build, with_mechanism
from .options import AsJson, Log, StatedCases
from .reading_flags import with_reading

if TYPE_CHECKING:
    from ..maps.map_release import MapRelease


@with_reading
def inspect_log(
    log: Log,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Show size and shape of the original log. The output is confidential; do not publish it.

    Example: travas inspect hospital.xes.gz
    """
    from ..model.variants import summary
    from ..sources.engine import read

    with progress("reading the log") as watch:
        variants = read(log, reading, watch)
    facts = asdict(summary(variants))
    if as_json:
        unit = {"unit": variants.unit.name, "max_cases": variants.unit.max_cases, "counted": variants.counted}
        print_json(facts | unit | {"confidential": True, "notes": list(variants.notes)})
        return
    table = facts_grid()
    if not variants.unit.is_case:
        table.add_row("counted", share_of(variants.unit, variants.counted))
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), f"{value:.1%}" if isinstance(value, float) else f"{value:,}")
    panel(table, CONFIDENTIAL_HEADING, "yellow")
    print_notes(variants)


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
        show_comparison(comparison)
        if compared is not None:
            table = facts_grid()
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
    table = facts_grid()
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


@with_reading
@with_mechanism
def forecast(
    log: Annotated[
        str | None, typer.Argument(metavar="[LOG]", help="Forecast for this log (confidential). Default: for any log.")
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(help="ε; repeatable. Default with a log: 0.5, 1, 2, 4.", metavar="NUMBER"),
    ] = None,
    delta: Annotated[
        list[str] | None,
        typer.Option(help="δ; repeatable. Default with a log: 1e-4, 1e-6, 1e-8.", metavar="NUMBER"),
    ] = None,
    abstractions: Annotated[
        str | None, typer.Option(help="With a log: the abstractions to compare, from fine to coarse.", metavar="LIST")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a figure: .png, .svg or .pdf.", metavar="FILE")] = None,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Compare kinds of release: variants, ladder, synthetic log, map.")
    ] = False,
    stated_cases: StatedCases = None,
    stated_activities: Annotated[
        int | None,
        typer.Option(help="With --kinds: approximate number of activities. Never counted.", metavar="N", min=1),
    ] = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
    description: Description,
) -> None:
    """Show what a release at (ε, δ) would keep, by case count of a variant. The output is confidential only with a log.

    Supports only the mechanisms optimal and travas: what others keep depends on more than the case count. With --kinds it
    compares variants, a ladder, a synthetic log and a process map instead, and says when to use which.

    Examples: travas forecast --epsilon 1 --delta 1e-6 --plot kept.png · travas forecast hospital.xes.gz ·
    travas forecast --kinds --epsilon 1 --delta 1e-6 --stated-cases 5000
    """
    from ..evaluation.forecast import ABSTRACTIONS, DELTAS, EPSILONS, chances
    from ..evaluation.forecast import forecast as forecast_log
    from ..evaluation.pictures import draw_chances, draw_forecast
    from ..model.abstraction import parse_ladder
    from .console import show_chances, show_forecast

    if kinds:
        from .kinds_output import compare_kinds

        if len(epsilon or ()) != 1 or len(delta or ()) != 1 or plot is not None or abstractions is not None:
            raise ParameterError("--kinds requires one --epsilon and one --delta, without --plot and --abstractions")
        compare_kinds(log, (epsilon or [""])[0], (delta or [""])[0], stated_cases, stated_activities, reading, as_json)
        return
    if log is None and (not epsilon or not delta):
        raise ParameterError("--epsilon and --delta are required without a log")
    if log is None and abstractions is not None:
        raise ParameterError("--abstractions requires a log; pass one, or remove the option")
    with progress("building and verifying the noise tables"):
        rules = [build(description, e, d, reading.privacy_unit) for e in epsilon or EPSILONS for d in delta or DELTAS]
    if log is None:
        curves = [(rule, chances(rule)) for rule in rules]
        if plot is not None:
            draw_chances(curves, plot)
        show_chances(curves, as_json)
    else:
        from ..sources.engine import read

        with progress("reading the log") as watch:
            variants = read(log, reading, watch)
        result = forecast_log(variants, rules, parse_ladder(abstractions or ABSTRACTIONS))
        if plot is not None:
            draw_forecast(result, plot)
        show_forecast(result, as_json)
    if plot is not None and not as_json:
        console().print(f"figure{' (confidential)' if log else ''}: {plot}")


def experiment(
    grid: Annotated[Path, typer.Argument(metavar="GRID.toml", help="The grid to run; see: travas docs experiments.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Results file. Default: GRID.parquet.", metavar="FILE.parquet")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the logs. Default: as set in the grid.", metavar="DIR")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of processes. Default: all cores.", metavar="NUMBER", min=1)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the results: heatmaps, lines with intervals, metrics against each other.", metavar="DIR"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a grid of logs × mechanisms × ε × δ. Resumes where it stopped. The results are confidential.

    Example: travas experiment experiments/paper.toml --plot docs/images
    """
    from ..evaluation.experiment import experiment as run_experiment
    from ..evaluation.experiment_summary import summary, summary_path, write_summary
    from ..evaluation.grid import read_grid

    wanted = read_grid(grid, data)
    target = output or Path(grid.name).with_suffix(".parquet")
    with progress("running the experiment") as watch:
        table = run_experiment(wanted, target, watch, workers)
    means = write_summary(summary(wanted, table), summary_path(target))
    failed = table.filter(table["error"].is_not_null())
    pictures = []
    if plot is not None:
        from ..evaluation.experiment_pictures import draw_experiment

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
    for error, times in failed["error"].value_counts(sort=True).head(5).iter_rows():
        shown.add_row("failed", f"{times:,} × {error}")
    for picture in pictures:
        shown.add_row("picture", str(picture))
    panel(shown, "CONFIDENTIAL: measured against the original logs, do not publish unless they are public", "yellow")


def share_of(unit: PrivacyUnit, counted: Counted | None) -> str:
    """Describe how much of one unit is counted."""
    what = "cases" if counted == "cases" else "different variants"
    return f"at most {unit.max_cases} {what} per {unit.name}"


def print_notes(variants: Variants) -> None:
    for note in variants.notes:
        console().print(f"[confidential] {note}")
