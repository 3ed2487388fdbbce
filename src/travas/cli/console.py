"""Output of the command line: tables, progress bars, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from ..errors import CONFIDENTIAL

Rows = list[tuple[str, ...]]


def named(name: str, texts: Iterable[str]) -> Rows:
    """Return rows of texts, of which the first one has the name."""
    return [("" if index else name, text) for index, text in enumerate(texts)]


@dataclass(frozen=True)
class Table:
    """Rows of cells below a title: without a head, names, values and remarks. Long text is wrapped."""

    title: str
    rows: Sequence[Sequence[str]]
    colour: str = "cyan"
    head: Sequence[str] = ()


def answer(as_json: bool, facts: Mapping[str, Any], *parts: Table | str) -> None:
    """Print a result: its facts as one JSON object, or its tables and sentences."""
    if as_json:
        print_json(facts)
        return
    for part in parts:
        if isinstance(part, str):
            console().print(part)
        elif part.rows:
            _print_table(part)


def _print_table(content: Table) -> None:
    from rich.table import Table as Grid

    from ..plots.svg import printable

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(content.head), header_style="bold")
    for number, name in enumerate(content.head or ("", "", "")):
        grid.add_column(name, style="" if number else "dim", no_wrap=not number, overflow="fold")
    for row in content.rows:
        grid.add_row(*map(printable, row))  # they may have names and values of the log
    out = console()
    if content.title:
        out.print(content.title, style=f"bold {content.colour}")
    if content.head:  # such tables are never cut: the terminal wraps their lines
        out.width = max(out.width, out.measure(grid, options=out.options.update(width=10_000)).maximum)
    out.print(grid)
    out.print()


def is_quiet() -> bool:
    """Whether `--quiet` was given: nothing is printed but errors and JSON."""
    return "--quiet" in sys.argv


def console() -> Any:
    """Return the console for results. It has no colours unless it is a terminal."""
    from rich.console import Console

    return Console(soft_wrap=True, highlight=False, markup=False, emoji=False, quiet=is_quiet())


def print_json(content: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


@contextmanager
def phases() -> Iterator[Callable[[str, float], None]]:
    """Show a progress bar on standard error for work in phases; silent if it is not a terminal."""
    if not sys.stderr.isatty() or is_quiet():
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, share: bar.update(task, description=what, total=1.0 if share else None, completed=share)


@contextmanager
def progress(what: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on standard error; silent if it is not a terminal."""
    with phases() as watch:
        watch(what, 0.0)
        yield lambda share: watch(what, share)


def print_caution(text: str) -> None:
    """Print what seems wrong before a charge, on standard error."""
    if not is_quiet():
        print(f"note: {text} {CONFIDENTIAL}", file=sys.stderr)
