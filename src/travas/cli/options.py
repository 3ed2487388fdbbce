"""Options shared by several commands."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..errors import LogError, ParameterError
from ..mechanisms import MECHANISMS, from_description
from ..model.mechanism import Mechanism
from ..model.release import Profile
from ..outputs.standard_output import StandardOutput
from ..privacy.guarantee import PrivacyUnit
from ..sources.closing import Period
from ..sources.formats import Format
from ..sources.reading import DuplicateCases, OnMissing, Order, Reading
from ..sources.row_selection import Lifecycle, parse_where
from .console import results_to_standard_error, silence

Log = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Event log: .xes, .csv, .tsv or .txt (also .gz, .zst), .xlsx, .parquet, .feather or .arrow; .zip with one log; "
        "a folder or 'glob' of files of one format; - for standard input with --format; "
        "or a URL: postgresql://HOST/DB or duckdb:///FILE with --table or --query; spark: (travas docs engines).",
    ),
]
Epsilon = Annotated[str, typer.Option(help="ε as an exact number: 1, 0.5 or 1/3. At most 20.", metavar="NUMBER")]
Delta = Annotated[
    str,
    typer.Option(
        help="δ as an exact number: 1e-6. At least 1e-20 and below 1; 0 only for prefix trees.", metavar="NUMBER"
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        help="The ledger file. Default: TRAVAS_LEDGER, or travas/ledger.db in the data folder (Linux: ~/.local/share).",
        metavar="FILE",
    ),
]
Description = dict[str, Any]
"""The description of a mechanism from the options, without ε, δ and the unit."""

StatedCases = Annotated[
    int | None,
    typer.Option(
        help="Approximate number of cases, used to warn if δ is too large. Never counted from the log.",
        metavar="N",
        min=1,
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file to write: .xes, .xes.gz, .csv, .csv.gz, .parquet or .json; - for standard output with "
        "--output-format and --guarantee-file.",
        metavar="OUT",
    ),
]
OutputFormat = Annotated[
    str | None,
    typer.Option(help="The format of -o -: xes, xes.gz, csv, csv.gz, parquet or json.", metavar="FORMAT"),
]
GuaranteeFile = Annotated[
    Path | None,
    typer.Option(help="Where the guarantee of -o - goes, which has no file of its own.", metavar="FILE"),
]
TableProfile = Annotated[
    str,
    typer.Option(
        "--profile",
        help="Lay out a table for a program: pm4py (.csv, .csv.gz or .parquet; times in UTC) or excel (.csv; UTF-16, tabs).",
        metavar="|".join(get_args(Profile)),
    ),
]
Dataset = Annotated[
    str | None,
    typer.Option(
        help="Name of the data set in the ledger. Default: the account of this file or table. Required with --query.",
        metavar="NAME",
    ),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        help="The policy file, or default. Default: TRAVAS_POLICY, or travas/policy.toml in the data folder, if it exists.",
        metavar="FILE",
    ),
]
Reason = Annotated[str, typer.Option(help="Why the release is made with these parameters; recorded.", metavar="TEXT")]
SignedOffBy = Annotated[str, typer.Option(help="Who has signed off the release; recorded.", metavar="NAME")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing output.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Print nothing but errors, and JSON with --json.", callback=silence)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result, or the error, as one JSON object.")]


def whole_number(option: str, text: str | None, digits: int = 12) -> int | None:
    """The whole number that an option states; None if it is not set."""
    if text is not None and not re.fullmatch(rf"-?[0-9]{{1,{digits}}}", text, re.ASCII):
        raise ParameterError(f"{option} is {text!r}: it must be a whole number of at most {digits} digits")
    return None if text is None else int(text)


def output_target(
    output: Path, output_format: str | None, guarantee_file: Path | None, as_json: bool
) -> Path | StandardOutput:
    """Where a release goes. If that is standard output, nothing else is printed there."""
    results_to_standard_error(str(output) == "-")
    if str(output) != "-":
        if output_format is not None or guarantee_file is not None:
            raise ParameterError(
                "output_format and guarantee_file are for standard output; leave them out, or set output to '-'",
                field="output_format" if output_format is not None else "guarantee_file",
            )
        return output
    if output_format is None or guarantee_file is None:
        raise ParameterError(
            "output is '-', which has no name; also set output_format, such as csv, and guarantee_file, where the "
            "guarantee goes",
            field="output_format",
            other_fields=("guarantee_file",),
        )
    if as_json:
        raise ParameterError("output is '-' and --json is set, but both use standard output; use a file name")
    return StandardOutput(output_format, guarantee_file)


def read_alphabet(path: Path | None) -> tuple[str, ...] | None:
    """Read activities from a file, one per line; empty lines are ignored."""
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
        raise LogError(f"{path}: contains no activity; use a text file of activities, one per line")
    return tuple(names)


def _panel(kind: Any, panel: str, about: str, metavar: str | None = None, values: Sequence[str] = ()) -> Any:
    """An option in a panel of the help; the shell completes its values."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return Annotated[
        kind,
        typer.Option(help=about, metavar=metavar, rich_help_panel=panel, autocompletion=complete if values else None),
    ]


_MECHANISM_OPTIONS = {
    "mechanism": (
        _panel(
            str,
            "Mechanism",
            f"One of: {', '.join(MECHANISMS)}; or an entry point or module:Class of another package. "
            "Releases by synthesis are made with travas synthesize, process maps with travas map.",
            "NAME",
            tuple(MECHANISMS),
        ),
        "optimal",
    ),
    "minimum_cases": (
        _panel(
            str | None,
            "Mechanism",
            "optimal, travas, ladder: never release a variant with fewer cases (persons, with --unit).",
            "T",
        ),
        None,
    ),
    "splits": (
        _panel(str | None, "Mechanism", "utravas: number of runs. Default: computed from ε and δ.", "NUMBER"),
        None,
    ),
    "max_length": (
        _panel(str | None, "Mechanism", "prefix-tree, sacofa: maximum number of activities per variant.", "NUMBER"),
        None,
    ),
    "prune": (
        _panel(str | None, "Mechanism", "prefix-tree, sacofa: threshold that noisy counts must exceed.", "NUMBER"),
        None,
    ),
    "ladder": (
        _panel(
            str | None,
            "Mechanism",
            "Generalise rare variants step by step: default, or abstractions from fine to coarse, such as full,first,prefix:6.",
            "RUNGS",
        ),
        None,
    ),
    "shares": (
        _panel(
            str | None,
            "Mechanism",
            "ladder: share of (ε, δ) per rung, such as 1/2,1/4,1/4, or adaptive. Default: equal; adaptive for --ladder default.",
            "PARTS",
        ),
        None,
    ),
    "alphabet": (
        _panel(
            Path | None,
            "Mechanism",
            "prefix-tree, sacofa: file of activities, one per line. Required for an established guarantee.",
            "FILE",
        ),
        None,
    ),
}


def with_mechanism(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `description` parameter of a command with the options of a mechanism."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        name, path = values.pop("mechanism"), values.pop("alphabet")
        rungs, shares = values.pop("ladder"), values.pop("shares")
        numbers = ("minimum_cases", "splits", "max_length", "prune")
        options = {option: whole_number(option, values.pop(option)) for option in numbers}
        if rungs is not None and name not in ("optimal", "ladder"):
            raise ParameterError(
                f"mechanism is {name!r} and ladder is also set; set only one of them", field="mechanism"
            )
        mechanism = name if rungs is None else "ladder"
        public = {"alphabet": read_alphabet(path), "rungs": rungs, "shares": shares}
        stated = {option: value for option, value in (public | options).items() if value is not None}
        return {"description": {"mechanism": mechanism} | stated}

    return with_options(command, "description", _MECHANISM_OPTIONS, collect)


def build(description: Description, epsilon: str, delta: str, unit: PrivacyUnit) -> Mechanism:
    """Build the mechanism that the options describe."""
    of_unit = {"name": unit.name, "max_cases": unit.max_cases}
    described = description | {"epsilon": epsilon, "delta": delta, "unit": of_unit}
    return from_description(described, references="follow", missing="default")


def _reading_option(kind: Any, default: Any, about: str, choices: Any = None) -> tuple[Any, Any]:
    values = get_args(choices)
    return _panel(kind, "Reading", about, "|".join(values) or None, values), default


def _unit_option(about: str, metavar: str) -> tuple[Any, Any]:
    return _panel(str | None, "Protected unit", about, metavar), None


def _period_option(about: str, metavar: str) -> tuple[Any, Any]:
    return _panel(str | None, "Period", about, metavar), None


def _period(name: str | None, end_activities: list[str] | None, gap: str | None, grace: str | None) -> Period | None:
    if name is None:
        for option, value in (("end_activity", end_activities), ("gap", gap), ("grace", grace)):
            if value:
                raise ParameterError(f"{option} is set but period is not; also set period", field="period")
        return None
    return Period(name, tuple(end_activities or ()), gap, grace or "0d")


_READING_OPTIONS = {
    "case": _reading_option(str | None, None, "Case column (in XES: trace attribute)."),
    "activity": _reading_option(
        list[str] | None, None, "Activity column; repeatable for activities made of several columns."
    ),
    "timestamp": _reading_option(str | None, None, "Timestamp column."),
    "timestamp_format": _reading_option(
        str | None, None, "Timestamp format, such as '%d.%m.%Y %H:%M'. Default: ISO 8601."
    ),
    "order": _reading_option(
        str | None,
        None,
        "Order of the events of a case. Default: file for XES, time for tables; tables without a timestamp need file.",
        Order,
    ),
    "ties": _reading_option(
        str | None,
        None,
        "Order of simultaneous events of a case: file, activity (by name; default for databases) or a column.",
    ),
    "on_missing": _reading_option(
        str,
        "fail",
        "How to handle events without case, activity or required timestamp, and cases without unit.",
        OnMissing,
    ),
    "duplicate_cases": _reading_option(str, "fail", "How to handle XES traces with the same name.", DuplicateCases),
    "lifecycle": _reading_option(
        str, "all", "Which events are read, by the lifecycle column (in XES: lifecycle:transition).", Lifecycle
    ),
    "where": (
        _panel(
            list[str] | None,
            "Reading",
            "Read only events with this value in this column; repeatable: several values of one column are "
            "alternatives. In XES, case:NAME is a trace attribute.",
            "COLUMN=VALUE",
        ),
        None,
    ),
    "drop_duplicates": (
        Annotated[
            bool,
            typer.Option(
                "--drop-duplicates",
                help="Read events of a case with the same activity and timestamp once.",
                rich_help_panel="Reading",
            ),
        ],
        False,
    ),
    "format": _reading_option(
        str | None, None, "Format of the log. Default: by the file extension; required for standard input.", Format
    ),
    "sheet": _reading_option(str | None, None, "Sheet of an Excel workbook. Default: the only one."),
    "delimiter": _reading_option(
        str | None, None, "Delimiter of CSV files, or tab. Default: detected from the header."
    ),
    "quote": _reading_option(str | None, None, "Quote character of CSV files, or none. Default: from the header."),
    "encoding": _reading_option(
        str | None, None, "Encoding of CSV files. Default: from the byte order mark, else UTF-8."
    ),
    "abstraction": _reading_option(
        str,
        "full",
        "Rule applied to every trace before counting, such as 'first | prefix:8'; see: travas docs abstractions.",
    ),
    "unit": _unit_option(
        "Column (in XES: trace attribute) that identifies the person. Default: protect one case.", "COLUMN"
    ),
    "max_cases": _unit_option("Maximum number of cases counted per person, 1 to 1000; independent of the log.", "M"),
    "period": _period_option("Count only cases closed in this period: 2026-02, 2026-Q1, 2026-W07, 2026 …", "PERIOD"),
    "end_activity": (
        _panel(list[str] | None, "Period", "With --period: the first such activity closes a case; repeatable.", "NAME"),
        None,
    ),
    "gap": _period_option(
        "With --period, instead: a case is closed if nothing happens for this long, such as 30d.", "LENGTH"
    ),
    "grace": _period_option(
        "With --period: all its events are present this long after its end. Default: 0d.", "LENGTH"
    ),
    "table": _reading_option(str | None, None, "Database: the table of events, such as public.events."),
    "query": _reading_option(str | None, None, "Database: a SELECT that returns the events, instead of a table."),
}


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the `reading` parameter of a command with the options of a reading."""

    def collect(values: dict[str, Any]) -> dict[str, Any]:
        options = {name: values.pop(name) for name in _READING_OPTIONS}
        options["activities"] = tuple(options.pop("activity") or ())
        options["period"] = _period(*(options.pop(name) for name in ("period", "end_activity", "gap", "grace")))
        options["delimiter"] = {"tab": "\t", "\\t": "\t"}.get(options["delimiter"], options["delimiter"])
        options["where"] = parse_where(options["where"] or ())
        options["duplicate_events"] = "drop" if options.pop("drop_duplicates") else "keep"
        options["max_cases"] = whole_number("max_cases", options["max_cases"])
        return {"reading": Reading(**options)}

    return with_options(command, "reading", _READING_OPTIONS, collect)


def with_options(
    command: Callable[..., None],
    replaced: str,
    options: dict[str, tuple[Any, Any]],
    collect: Callable[[dict[str, Any]], dict[str, Any]],
) -> Callable[..., None]:
    """Return the command with one parameter replaced by options, from whose values `collect` builds it."""

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
