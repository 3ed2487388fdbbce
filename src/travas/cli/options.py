"""Options shared by several commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..budget.ledger import Ledger
from ..errors import ParameterError
from ..explain import check_stated_cases
from ..releases.release import Profile
from ..trusted.numbers import typed_whole_number
from .console import silence

LogArgument = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Event log: .xes, .csv, .tsv or .txt (also .gz, .zst), .xlsx, .parquet, .feather or .arrow; .zip with one log; "
        "a folder or 'glob' of files of one format; - for standard input with --format; "
        "a DuckDB or SQLite file; or a URL: postgresql://HOST/DB with --table or --query; spark: (travas docs engines).",
    ),
]
Epsilon = Annotated[str, typer.Option(help="ε as an exact number: 1, 0.5 or 1/3. At most 20.", metavar="NUMBER")]
Delta = Annotated[
    str,
    typer.Option(
        help="δ as an exact number: 1e-6. At least 1e-20 and below 1; 0 only for prefix trees.", metavar="NUMBER"
    ),
]
OptionalLog = Annotated[
    str | None, typer.Argument(metavar="LOG", help="The event log, as for travas anonymize; or use --from.")
]
OptionalEpsilon = Annotated[str | None, typer.Option(help="ε as an exact number: 1, 0.5 or 1/3.", metavar="NUMBER")]
OptionalDelta = Annotated[str | None, typer.Option(help="δ as an exact number: 1e-6.", metavar="NUMBER")]
Alphabet = Annotated[
    Path | None,
    typer.Option(help="File of activities, one per line, if they are public. Not from the log.", metavar="FILE"),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        help="The ledger file. Default: TRAVAS_LEDGER, or travas/ledger.db in the data folder (Linux: ~/.local/share).",
        metavar="FILE",
    ),
]
StatedCases = Annotated[
    str | None,
    typer.Option(
        help="Approximate number of cases, used to warn if δ is too large. Never counted from the log.",
        metavar="N",
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file to write: .xes, .xes.gz, .csv, .csv.gz, .parquet or .json.",
        metavar="OUT",
    ),
]
TableProfile = Annotated[
    str,
    typer.Option(
        "--profile",
        help="Lay out a table for a program: pm4py (.csv, .csv.gz or .parquet; times in UTC, no empty text).",
        metavar="|".join(get_args(Profile)),
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
SignedOffBy = Annotated[str, typer.Option(help="Who has signed off the release; recorded.", metavar="NAME")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing output.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Print nothing but errors, and JSON with --json.", callback=silence)
]
Confidential = Annotated[
    bool,
    typer.Option(
        "--confidential",
        help="Also print how much of the original log was released, on standard error. Do not publish it.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result, or the error, as one JSON object.")]


def stated_number(cases: str | None) -> int | None:
    """The number of cases that --stated-cases states, None if it is not set."""
    return check_stated_cases(typed_whole_number(cases, "stated_cases"))


def refuse_options(options: Mapping[str, object], why: str) -> None:
    """Refuse options that have no meaning here."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{why}; remove {name}")


def ledger_of(path: Path | None) -> Ledger:
    """Open the ledger that an option names, by default that of the user. It is created if it does not exist."""
    return Ledger.default() if path is None else Ledger(path)


def panel_option(kind: Any, panel: str, about: str, metavar: str | None = None, values: Sequence[str] = ()) -> Any:
    """An option in a panel of the help; the shell completes its values."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return Annotated[
        kind,
        typer.Option(help=about, metavar=metavar, rich_help_panel=panel, autocompletion=complete if values else None),
    ]


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
