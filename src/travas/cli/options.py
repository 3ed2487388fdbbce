"""The options of the command line that several commands share."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..errors import LogError, ParameterError
from ..mechanisms import MECHANISMS, from_description
from ..model.mechanism import Mechanism
from ..privacy.guarantee import PrivacyUnit
from ..sources.columns import DuplicateCases, OnMissing, Order, Reading

Log = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Event log: .xes, .csv or .parquet (.xes.gz and .csv.gz too); a folder or 'glob' of CSV or Parquet files; "
        "or a URL: postgresql://HOST/DB, duckdb:///FILE with --table or --query; spark: (see docs/engines.md).",
    ),
]
Epsilon = Annotated[str, typer.Option(help="ε, exactly as written: 1, 0.5, 1/3. At most 20.", metavar="NUMBER")]
Delta = Annotated[
    str, typer.Option(help="δ, exactly as written: 1e-6. From 1e-20 to below 1; 0 for trees only.", metavar="NUMBER")
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        help="The ledger. Default: TRAVAS_LEDGER, or travas/ledger.db in your data folder (Linux: ~/.local/share).",
        metavar="FILE",
    ),
]
Description = dict[str, Any]
"""The description of a mechanism, as far as the options state it: without ε, δ and the unit."""

StatedCases = Annotated[
    int | None,
    typer.Option(
        help="About how many cases the log has, as you state it: warns if δ is large for that. Never counted from the log.",
        metavar="N",
        min=1,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def _whole_number(option: str, text: str | None) -> int | None:
    if text is not None and not re.fullmatch(r"-?[0-9]{1,12}", text, re.ASCII):
        raise ParameterError(f"{option} is {text!r}: it must be a whole number")
    return None if text is None else int(text)


def _alphabet(path: Path | None) -> tuple[str, ...] | None:
    """The activities a file names, one a line; empty lines say nothing."""
    if path is None:
        return None
    try:
        names = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line]
    except OSError as error:
        raise LogError(
            f"{path}: cannot be opened ({error.strerror}); use a text file of activities, one per line"
        ) from None
    except UnicodeDecodeError:
        raise LogError(f"{path}: not UTF-8; use a text file of activities, one per line") from None
    if not names:
        raise LogError(f"{path}: names no activity; use a text file of activities, one per line")
    return tuple(names)


def _panel(kind: Any, panel: str, about: str, metavar: str | None = None) -> Any:
    return Annotated[kind, typer.Option(help=about, metavar=metavar, rich_help_panel=panel)]


_MECHANISM_OPTIONS = {
    "mechanism": (
        _panel(
            str,
            "The mechanism",
            f"One of: {', '.join(MECHANISMS)}. Of another package: its entry point, or module:Class.",
            "NAME",
        ),
        "optimal",
    ),
    "minimum_cases": (
        _panel(
            str | None,
            "The mechanism",
            "optimal, travas, ladder: never release a variant of fewer cases (persons, with --unit).",
            "T",
        ),
        None,
    ),
    "splits": (
        _panel(str | None, "The mechanism", "utravas: number of runs. By default from ε and δ alone.", "NUMBER"),
        None,
    ),
    "max_length": (
        _panel(str | None, "The mechanism", "prefix-tree, sacofa: activities of the longest variant.", "NUMBER"),
        None,
    ),
    "prune": (_panel(str | None, "The mechanism", "prefix-tree, sacofa: noisy counts must exceed it.", "NUMBER"), None),
    "ladder": (
        _panel(
            str | None,
            "The mechanism",
            "Coarser and coarser variants: default, or abstractions from fine to coarse, such as full,first,prefix:6.",
            "RUNGS",
        ),
        None,
    ),
    "shares": (
        _panel(
            str | None,
            "The mechanism",
            "ladder: parts of (ε, δ), such as 1/2,1/4,1/4, or adaptive. Default: equal; adaptive for --ladder default.",
            "PARTS",
        ),
        None,
    ),
    "alphabet": (
        _panel(
            Path | None,
            "The mechanism",
            "prefix-tree, sacofa: activities, one per line. Without it no guarantee is established.",
            "FILE",
        ),
        None,
    ),
}


def with_mechanism(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes the `description` of a mechanism the options that make one."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        name, path = values.pop("mechanism"), values.pop("alphabet")
        rungs, shares = values.pop("ladder"), values.pop("shares")
        numbers = ("minimum_cases", "splits", "max_length", "prune")
        options = {option: _whole_number(option, values.pop(option)) for option in numbers}
        if rungs is not None and name not in ("optimal", "ladder"):
            raise ParameterError(f"mechanism is {name!r} and ladder is also set: set one of the two", field="mechanism")
        chosen = name if rungs is None else "ladder"
        public = {"alphabet": _alphabet(path), "rungs": rungs, "shares": shares}
        given = {option: value for option, value in (public | options).items() if value is not None}
        return {"description": {"mechanism": chosen} | given}

    return _with_options(command, "description", _MECHANISM_OPTIONS, collect)


def build(description: Description, epsilon: str, delta: str, unit: PrivacyUnit) -> Mechanism:
    """The mechanism that the options describe, at (ε, δ) for a unit."""
    of_unit = {"name": unit.name, "max_cases": unit.max_cases}
    return from_description(description | {"epsilon": epsilon, "delta": delta, "unit": of_unit}, references="follow")


def _reading_option(kind: Any, default: Any, about: str, choices: Any = None) -> tuple[Any, Any]:
    return _panel(kind, "Reading the log", about, "|".join(get_args(choices)) if choices else None), default


def _unit_option(about: str, metavar: str) -> tuple[Any, Any]:
    return _panel(str | None, "Who is protected", about, metavar), None


_READING_OPTIONS = {
    "case": _reading_option(str | None, None, "Column of the case (in XES: trace attribute)."),
    "activity": _reading_option(list[str] | None, None, "Column of the activity; repeat it for a tuple of columns."),
    "timestamp": _reading_option(str | None, None, "Column of the timestamp."),
    "timestamp_format": _reading_option(str | None, None, "Such as '%d.%m.%Y %H:%M'. Not needed for ISO 8601."),
    "order": _reading_option(
        str | None,
        None,
        "Order of a case's events. Default: file for XES, time for tables; a table without a timestamp needs file.",
        Order,
    ),
    "ties": _reading_option(
        str | None, None, "Events of a case at one time: file, activity (by name; default in databases) or a column."
    ),
    "on_missing": _reading_option(
        str, "fail", "Events without case, activity or needed timestamp; cases without unit.", OnMissing
    ),
    "duplicate_cases": _reading_option(str, "fail", "Traces of one name in XES.", DuplicateCases),
    "delimiter": _reading_option(str | None, None, "Of a CSV file (tab: a tabulator). Detected by default."),
    "quote": _reading_option(str | None, None, "Of a CSV file, or none. Detected by default."),
    "encoding": _reading_option(str | None, None, "Of a CSV file. Detected by default."),
    "abstraction": _reading_option(
        str, "full", "A rule on every trace before counting, such as 'first | prefix:8': see docs/abstractions.md."
    ),
    "unit": _unit_option("Column of the person (in XES: trace attribute). Default: one case is protected.", "COLUMN"),
    "max_cases": _unit_option("Cases of one person that count, 1 to 1000. Fix it without looking at the log.", "M"),
    "table": _reading_option(str | None, None, "Of a database: the table of events, such as public.events."),
    "query": _reading_option(str | None, None, "Of a database, instead of a table: a SELECT that gives the events."),
}


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes a `reading` the options that make one."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        options = {name: values.pop(name) for name in _READING_OPTIONS}
        options["activities"] = tuple(options.pop("activity") or ())
        options["delimiter"] = {"tab": "\t", "\\t": "\t"}.get(options["delimiter"], options["delimiter"])
        options["max_cases"] = _whole_number("max_cases", options["max_cases"])
        return {"reading": Reading(**options)}

    return _with_options(command, "reading", _READING_OPTIONS, collect)


def _with_options(
    command: Callable[..., None],
    replaced: str,
    options: dict[str, tuple[Any, Any]],
    collect: Callable[[dict[str, Any]], dict[str, Any]],
) -> Callable[..., None]:
    """The command with these options in the place of one parameter, whose value `collect` takes out of theirs."""

    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        made = collect(values)
        command(**values, **made)

    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != replaced]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in options.items()
    ]
    wrapped.__signature__ = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + more)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in own + more}
    return wrapped
