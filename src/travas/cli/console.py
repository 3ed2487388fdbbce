"""Output of the command line: tables, progress bars, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import typer

from ..errors import CONFIDENTIAL_HEADING
from ..evaluation.compare import Comparison, find_metric
from ..evaluation.metrics import EdgeDifference
from ..model import explain
from ..model.mechanism import Mechanism, Progress
from ..pipeline import Phase
from ..privacy.numbers import as_text
from .interrupts import finish

if TYPE_CHECKING:
    from ..evaluation.forecast import Chance, Forecast


def percent(share: float) -> str:
    if 0.9999 <= share < 1:
        return ">99.99%"
    return f"{share:.2%}" if share >= 0.0001 else f"{share:.1e}"


def bar(share: float) -> str:
    return "█" * round(share * 40)


def grid(justify: Literal["left", "right"] = "left") -> Any:
    """Return a table without borders with the columns name, value and remark. Long text is wrapped."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold", justify=justify)
    grid.add_column(overflow="fold")
    return grid


_QUIET = ContextVar("quiet", default=False)
"""Whether `--quiet` was given: nothing is printed but errors and JSON."""


def silence(wanted: bool) -> bool:
    """Set whether nothing is printed but errors and JSON. Returns the same value."""
    _QUIET.set(wanted)
    return wanted


_ON_STANDARD_ERROR = ContextVar("results on standard error", default=False)
"""Whether a release goes to standard output, so that results do not."""


def results_to_standard_error(wanted: bool) -> None:
    """Set whether results are printed on standard error, because a release goes to standard output."""
    _ON_STANDARD_ERROR.set(wanted)


def console() -> Any:
    """Return the console for results. It has no colours unless it is a terminal."""
    from rich.console import Console

    elsewhere = _ON_STANDARD_ERROR.get()
    return Console(stderr=elsewhere, soft_wrap=True, highlight=False, markup=False, emoji=False, quiet=_QUIET.get())


def panel(content: Any, title: str, colour: str) -> None:
    out = console()
    out.print(title, style=f"bold {colour}")
    out.print(content)
    out.print()


def print_json(content: dict[str, Any]) -> None:
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Show a progress bar on standard error; silent if it is not a terminal."""
    if not sys.stderr.isatty() or _QUIET.get():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task(what, total=None)
        yield lambda share: bar.update(task, total=1.0, completed=share)


def show_chances(curves: list[tuple[Mechanism, list[Chance]]], as_json: bool) -> None:
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
        print_json({"confidential": False, "forecast": shown})
        return
    console().print("Probability that a variant is released, and the 95 % interval of its number of cases if it is")
    console().print()
    for rule, points in curves:
        table = grid()
        for at in points:
            text = f"{percent(float(at.kept))}, {at.low:,} to {at.high:,}"
            table.add_row(f"{at.cases:,} case{'s' if at.cases > 1 else ''}", bar(float(at.kept)), text)
        panel(table, f"{rule.name} at ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}", "cyan")
        for line in explain.meaning(rule.epsilon, rule.delta, rule.unit.name):
            console().print(line)
        console().print()


def show_forecast(forecast: Forecast, as_json: bool) -> None:
    """Print the expected shares of the original log and a recommendation. Confidential."""
    from rich.table import Table

    from ..evaluation.forecast import LOOKING

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
            }
        )
        return
    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    for what in ("cases", "variants"):
        table = Table(box=None, title=f"Expected share of the {what} kept", title_justify="left")
        for column in ("ε", "δ", *map(str, dict.fromkeys(cell.abstraction for cell in forecast.cells))):
            table.add_column(column, justify="right", no_wrap=True)
        rows: dict[tuple[str, str], list[str]] = {}
        for cell in forecast.cells:
            shares = rows.setdefault((as_text(cell.epsilon), as_text(cell.delta)), [])
            shares.append(f"{float(getattr(cell, what)):.0%}")
        for parameters, shares in rows.items():
            table.add_row(*parameters, *shares)
        out.print(table)
    out.print()
    for line in (*forecast.recommendation(), LOOKING):
        out.print(line)


def show_comparison(comparison: Comparison) -> None:
    """Print a comparison as a table: each metric with its value and meaning. Confidential."""
    from rich.table import Table

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


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """Show one progress bar on standard error for work in stages; silent if it is not a terminal."""
    with ExitStack() as bars:
        current, update = "", None

        def watch(stage: str, share: float) -> None:
            nonlocal current, update
            if stage == Phase.DONE:
                bars.close()
                finish()
                return
            if stage != current or update is None:
                bars.close()
                current, update = stage, bars.enter_context(progress(stage))
            update(share)

        yield watch
