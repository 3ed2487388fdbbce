"""The command line: calls the library, prints results and errors, and sets exit codes."""

from __future__ import annotations

import io
import math
import signal
import sys
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import typer

from ..errors import (
    CONFIDENTIAL_HEADING,
    BudgetError,
    ChargedError,
    TravasError,
    VerificationError,
    extended,
    is_out_of_memory,
    system_reason,
)
from . import check, log, project, release, tools
from .budget import app as budget_app
from .console import print_json
from .options import HelpfulCommand, HelpfulGroup, flag

INTERRUPTED = 130


CODES = {
    0: "success",
    1: "verification failed or claim contradicted",
    2: "refused",
    3: "over budget",
    4: "failed after the charge",
    INTERRUPTED: "interrupted",
}
EXIT_CODES = f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in CODES.items())}."
"""All codes in one sentence, for `--help`."""

app = typer.Typer(
    name="travas",
    cls=HelpfulGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Release event logs under differential privacy, as variants, synthetic logs or process maps, with a guarantee that "
    "anyone can check.",
    epilog=f"Start with: [bold]travas demo[/bold]. Documentation: [bold]travas docs[/bold]. {EXIT_CODES}",
)
_PATIENCE = 3.0
"""For how many seconds another Ctrl-C changes nothing."""

_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (tools.demo, project.doctor, tools.serve, tools.docs),
    "Release": (release.anonymize, release.synthesize, release.process_map, project.init, project.release),
    "Check a release": (check.verify, check.report),
    "Examine the original log (confidential)": (log.forecast, log.compare),
    "Research": (log.audit, log.experiment),
}
for _panel, _commands in _PANELS.items():
    for _each in _commands:
        _name = "map" if _each is release.process_map else None
        app.command(_name, cls=HelpfulCommand, epilog=EXIT_CODES, rich_help_panel=_panel)(_each)
app.add_typer(budget_app, name="budget", rich_help_panel="Release")


def _version(wanted: bool) -> None:
    if wanted:
        from .._version import __version__

        typer.echo(f"travas {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = flag("Print the version.", "--version", callback=_version),
    debug: bool = flag("Show where an unexpected error happened. Confidential.", "--debug"),
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with one of `CODES`. Errors are one line on standard error."""
    _handle_interrupts()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # prints ? for ε where the encoding lacks it
    sys.exit(_run())


def _handle_interrupts() -> None:
    """Ctrl-C raises KeyboardInterrupt, but not again while the first one is handled: a charge is still reported.

    SIGTERM is the same, through whatever handles Ctrl-C now, because a charge defers it. A shell that starts the program in
    the background ignores Ctrl-C; then only SIGTERM interrupts it.
    """
    raised_at = -math.inf

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal raised_at
        if time.monotonic() - raised_at > _PATIENCE:
            raised_at = time.monotonic()
            raise KeyboardInterrupt

    def terminate(number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        (handler if callable(handler) else interrupt)(number, frame)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, terminate)


def _run() -> int:
    try:
        code = app(prog_name="travas", standalone_mode=False)
        if code == INTERRUPTED:  # typer's exit code for an interrupt
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except TravasError as error:
        codes = {VerificationError: 1, BudgetError: 3, ChargedError: 4}
        interrupted = isinstance(error, ChargedError) and error.interrupted
        return _fail(_with_options(error), INTERRUPTED if interrupted else codes.get(type(error), 2), error)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        return _fail(f"{error.format_message()} (see {context.command_path if context else 'travas'} --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except SystemExit:
        raise
    except BaseException as error:  # a panic of Polars is not an Exception
        return _unexpected(error)


def _unexpected(error: BaseException) -> int:
    """Report what travas did not raise itself, before a charge. The message may contain data: it is not shown."""
    if is_out_of_memory(error):
        return _fail("out of memory; use a machine with more memory, or a database (travas docs engines)", 2)
    if isinstance(error, OSError):
        return _fail(f"operating system error: {system_reason(error)}", 2)
    if "--debug" in sys.argv:
        print(CONFIDENTIAL_HEADING, file=sys.stderr)
        traceback.print_exception(error)
    return _fail(
        f"unexpected {type(error).__name__}: this is a bug in travas; please report it, without the log "
        "(travas --debug … shows where it happened: confidential, it may quote the log)",
        1,
    )


def _with_options(error: TravasError) -> str:
    """Return the message of an error and the options that correspond to its fields, if the command has them."""
    command: Any = typer.main.get_command(app)
    for argument in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(argument, command)
    known = {option for parameter in command.params for option in parameter.opts}
    fields = dict.fromkeys((error.field, *error.other_fields))
    flags = ["--force" if field == "existing" else "--" + field.replace("_", "-") for field in fields]
    names = [flag for flag in flags if flag in known]
    return extended(str(error), f" (option{'s' if len(names) > 1 else ''} {', '.join(names)})" if names else "")


def _fail(message: str, code: int, error: TravasError | None = None) -> int:
    """Print an error: one line on standard error and, with --json, one object on standard output (docs/every-month.md)."""
    from ..sources.files import without_secrets

    one_line = " ".join(without_secrets(message).splitlines())
    typer.echo(f"travas: {one_line}", err=True)
    if "--json" in sys.argv[1:]:
        facts = {
            "code": code,
            "kind": type(error).__name__ if error is not None else "Error",
            "message": one_line,
            "field": getattr(error, "field", "") or None,
            "charged": isinstance(error, ChargedError),
            "confidential": getattr(error, "confidential", False),
        }
        print_json({"error": facts})
    return code
