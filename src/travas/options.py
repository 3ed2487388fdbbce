"""The options of the command line that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer

from .logs.columns import DuplicateCases, OnMissing, Order, Reading
from .mechanisms import MECHANISMS

Log = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Event log: .xes, .csv or .parquet (.xes.gz and .csv.gz too); a folder or 'glob' of CSV or Parquet files; "
        "or a URL: postgresql://HOST/DB, duckdb:///FILE with --table or --query; spark: (see docs/engines.md).",
    ),
]
Epsilon = Annotated[str, typer.Option(help="ε, exactly as written: 1, 0.5, 1/3. At most 20.", metavar="NUMBER")]
Delta = Annotated[str, typer.Option(help="δ, exactly as written: 1e-6. From 1e-20 to below 1.", metavar="NUMBER")]
MechanismName = Annotated[str, typer.Option(help=f"One of: {', '.join(MECHANISMS)}.", metavar="NAME")]
MinimumCases = Annotated[str, typer.Option(help="Never release a variant of fewer cases.", metavar="T")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def _reading_option(kind: Any, default: Any, about: str, choices: Any = None) -> tuple[Any, Any]:
    metavar = "|".join(get_args(choices)) if choices else None
    return Annotated[kind, typer.Option(help=about, metavar=metavar, rich_help_panel="Reading the log")], default


_READING_OPTIONS = {
    "case": _reading_option(str | None, None, "Column of the case (in XES: trace attribute)."),
    "activity": _reading_option(list[str] | None, None, "Column of the activity; given several times, it is a tuple."),
    "timestamp": _reading_option(str | None, None, "Column of the timestamp."),
    "timestamp_format": _reading_option(str | None, None, "Such as '%d.%m.%Y %H:%M'. Not needed for ISO 8601."),
    "order": _reading_option(
        str | None, None, "Order of a case's events. Default: file for XES, time for tables with a timestamp.", Order
    ),
    "ties": _reading_option(
        str | None, None, "Events of a case at one time: file, activity (by name; default in databases) or a column."
    ),
    "on_missing": _reading_option(str, "fail", "Events without case, activity or needed timestamp.", OnMissing),
    "duplicate_cases": _reading_option(str, "fail", "Traces of one name in XES.", DuplicateCases),
    "delimiter": _reading_option(str | None, None, "Of a CSV file (tab: a tabulator). Found by itself."),
    "quote": _reading_option(str | None, None, "Of a CSV file, or none. Found by itself."),
    "encoding": _reading_option(str | None, None, "Of a CSV file. Found by itself."),
    "table": _reading_option(str | None, None, "Of a database: the table of events, such as public.events."),
    "query": _reading_option(str | None, None, "Of a database, instead of a table: a SELECT that gives the events."),
}


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes a `reading` the options that make one."""

    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        options = {name: values.pop(name) for name in _READING_OPTIONS}
        options["activities"] = tuple(options.pop("activity") or ())
        options["delimiter"] = {"tab": "\t", "\\t": "\t"}.get(options["delimiter"], options["delimiter"])
        command(**values, reading=Reading(**options))

    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "reading"]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in _READING_OPTIONS.items()
    ]
    wrapped.__signature__ = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + more)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in own + more}
    return wrapped
