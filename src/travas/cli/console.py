"""Output of the command line: tables, progress bars, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import typer

from ..errors import CONFIDENTIAL

Progress = Callable[[float], None]


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


def rows_of(rows: Iterable[Sequence[str]], justify: Literal["left", "right"] = "left") -> Any:
    """Return a table of these rows."""
    table = grid(justify)
    for row in rows:
        table.add_row(*row)
    return table


_QUIET = ContextVar("quiet", default=False)
"""Whether `--quiet` was given: nothing is printed but errors and JSON."""


def silence(wanted: bool) -> bool:
    """Set whether nothing is printed but errors and JSON. Returns the same value."""
    _QUIET.set(wanted)
    return wanted


def console() -> Any:
    """Return the console for results. It has no colours unless it is a terminal."""
    from rich.console import Console

    return Console(soft_wrap=True, highlight=False, markup=False, emoji=False, quiet=_QUIET.get())


def panel(content: Any, title: str, colour: str) -> None:
    """Print a table, or a list of its rows, below a title."""
    out = console()
    out.print(title, style=f"bold {colour}")
    out.print(rows_of(content) if isinstance(content, list) else content)
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


@contextmanager
def phases() -> Iterator[Callable[[str, float], None]]:
    """Show one progress bar on standard error for work in phases; silent if it is not a terminal."""
    with ExitStack() as bars:
        current, update = "", None

        def watch(phase: str, share: float) -> None:
            nonlocal current, update
            if phase == "done":
                bars.close()
                return
            if phase != current or update is None:
                bars.close()
                current, update = phase, bars.enter_context(progress(phase))
            update(share)

        yield watch


def print_caution(text: str) -> None:
    """Print what seems wrong before a charge, on standard error."""
    if not _QUIET.get():
        print(f"note: {text} {CONFIDENTIAL}", file=sys.stderr)
