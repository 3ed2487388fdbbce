"""The command `forecast`: what a release would keep. Its output is confidential only with a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from .. import explain
from ..errors import CONFIDENTIAL, CONFIDENTIAL_HEADING, ParameterError
from ..mechanisms.mechanism import Mechanism
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.numbers import as_text, typed_whole_number
from .console import bar, console, grid, panel, percent, print_json, progress
from .mechanism_flags import StatedMechanism, build, flags_of, with_mechanism
from .options import AsJson, StatedCases, refuse_options, stated_number
from .reading_flags import with_reading

if TYPE_CHECKING:
    from ..evaluation.forecast import Chance, Forecast


@with_reading
@with_mechanism
def forecast(
    log: Annotated[
        str | None, typer.Argument(metavar="LOG", help="Forecast for this log (confidential). Default: for any log.")
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
        str | None,
        typer.Option(help="With --kinds: approximate number of activities. Never counted.", metavar="N"),
    ] = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
    stated: StatedMechanism,
) -> None:
    """Show what a release at (ε, δ) would keep, by case count of a variant. The output is confidential only with a log.

    Supports only the mechanisms optimal and travas: what others keep depends on more than the case count. With --kinds it
    compares variants, a ladder, a synthetic log and a process map instead, and says when to use which.

    Examples: travas forecast --epsilon 1 --delta 1e-6 --plot kept.png · travas forecast hospital.xes.gz ·
    travas forecast --kinds --epsilon 1 --delta 1e-6 --stated-cases 5000
    """
    from ..evaluation.forecast import ABSTRACTIONS, DELTAS, EPSILONS, chances, draw_chances, draw_forecast
    from ..evaluation.forecast import forecast as forecast_log

    cases, activities = stated_number(stated_cases), typed_whole_number(stated_activities, "stated_activities")
    if log is None:
        if attrs.evolve(reading, unit=None, max_cases=None) != DEFAULT_READING:
            raise ParameterError("the reading options require a log; pass one, or remove them")
        if abstractions is not None:
            raise ParameterError("--abstractions requires a log; pass one, or remove the option")
    if kinds:
        from .kinds_output import compare_kinds

        refuse_options(flags_of(stated), "--kinds compares mechanisms with their default options")
        if len(epsilon or ()) != 1 or len(delta or ()) != 1 or plot is not None or abstractions is not None:
            raise ParameterError("--kinds requires one --epsilon and one --delta, without --plot and --abstractions")
        compare_kinds(log, (epsilon or [""])[0], (delta or [""])[0], cases, activities, reading, as_json)
        return
    refuse_options({"--stated-activities": activities}, "the number of activities is used by --kinds only")
    if log is None and (not epsilon or not delta):
        raise ParameterError("--epsilon and --delta are required without a log")
    with progress("building and verifying the noise tables"):
        rules = [build(stated, e, d, reading.privacy_unit) for e in epsilon or EPSILONS for d in delta or DELTAS]
    reasons = (explain.weak_protection(rule.epsilon, rule.delta, cases, rule.unit.noun) for rule in rules)
    weak = list(dict.fromkeys(why for parts in reasons for why in parts))
    if log is None:
        curves = [(rule, chances(rule)) for rule in rules]
        if plot is not None:
            draw_chances(curves, plot)
        _show_chances(curves, weak, as_json)
    else:
        from ..sources.engine import read

        with progress("reading the log") as watch:
            variants = read(log, reading, watch)
        result = forecast_log(variants, rules, abstractions or ABSTRACTIONS)
        if plot is not None:
            draw_forecast(result, plot)
        _show_forecast(result, weak, as_json)
    if plot is not None and not as_json:
        console().print(f"figure: {plot}{f' {CONFIDENTIAL}' if log else ''}")


def _show_chances(curves: list[tuple[Mechanism, list[Chance]]], weak: list[str], as_json: bool) -> None:
    """Print keep probability and interval by case count. Not confidential, because no log is read."""
    if as_json:
        shown = [
            {
                "mechanism": rule.name,
                "epsilon": as_text(rule.epsilon),
                "delta": as_text(rule.delta),
                "chances": [
                    {"cases": at.cases, "kept": float(at.kept), "interval": [at.low, at.high]} for at in points
                ],
            }
            for rule, points in curves
        ]
        print_json({"confidential": False, "forecast": shown, "warnings": weak})
        return
    console().print("Probability that a variant is released, and the 95 % interval of its number of cases if it is")
    console().print()
    for rule, points in curves:
        table = grid()
        for at in points:
            text = f"{percent(float(at.kept))}, {at.low:,} to {at.high:,}"
            table.add_row(f"{at.cases:,} case{'s' if at.cases > 1 else ''}", bar(float(at.kept)), text)
        panel(table, f"{rule.name} at ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}", "cyan")
        for line in explain.meaning(rule.epsilon, rule.delta, rule.unit.noun):
            console().print(line)
        console().print()
    for line in weak:
        console().print(line)


def _show_forecast(forecast: Forecast, weak: list[str], as_json: bool) -> None:
    """Print the expected shares of the original log and a recommendation. Confidential."""
    from rich.table import Table

    from ..evaluation.forecast import LOOKING, WHATS

    if as_json:
        cells = [
            {
                "epsilon": as_text(cell.epsilon),
                "delta": as_text(cell.delta),
                "abstraction": str(cell.abstraction),
                "cases": float(cell.cases),
                "variants": float(cell.variants),
                "events": float(cell.events),
            }
            for cell in forecast.cells
        ]
        print_json(
            {
                "confidential": True,
                "expected": cells,
                "recommendation": list(forecast.recommendation()),
                "warning": LOOKING,
                "warnings": weak,
            }
        )
        return
    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    for what in WHATS:
        table = Table(box=None, title=f"Expected share of the {what} kept", title_justify="left")
        head, *rows = forecast.shares(what)
        for column in head:
            table.add_column(column, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        out.print(table)
    out.print()
    for line in (*forecast.recommendation(), *weak, LOOKING):
        out.print(line)
