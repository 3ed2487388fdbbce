"""The command line: calls the library, prints results and errors, and sets exit codes."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import Annotated, Any

import typer

from ..errors import CONFIDENTIAL_HEADING, BudgetError, ChargedError, TravasError, VerificationError, is_out_of_memory
from . import (
    anonymize_command,
    audit_command,
    compare_command,
    demo_command,
    docs_command,
    doctor_command,
    experiment_command,
    forecast_command,
    init_command,
    inspect_command,
    map_command,
    release_command,
    report_command,
    serve_command,
    synthesize_command,
    verify_command,
)
from .budget_command import app as budget_app
from .console import is_output_failure, print_json, silence
from .exit_codes import EXIT_CODES
from .interrupts import INTERRUPTED, finish

app = typer.Typer(
    name="travas",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Release event logs under differential privacy, as variants, synthetic logs or process maps, with a guarantee that "
    "anyone can check.",
    epilog=f"Start with: [bold]travas demo[/bold]. Documentation: [bold]travas docs[/bold]. {EXIT_CODES}",
)
app.add_typer(budget_app, name="budget")


_DEBUG = "TRAVAS_DEBUG"
_FLAGS = {
    "guarantee": "--accept-no-guarantee",
    "existing": "--force",
    "activities": "--activity",
    "rungs": "--ladder",
    "end_activities": "--end-activity",
    "parts": "--with",
    "duplicate_events": "--drop-duplicates",
    "times": "--without times",
}
"""Options whose names differ from the parameter names."""


app.command(epilog=EXIT_CODES)(anonymize_command.anonymize)
app.command()(demo_command.demo)
app.command(epilog=EXIT_CODES)(synthesize_command.synthesize)
app.command(epilog=EXIT_CODES)(init_command.init)
app.command(epilog=EXIT_CODES)(release_command.release)
app.command("map", epilog=EXIT_CODES)(map_command.process_map)
app.command(epilog=EXIT_CODES)(doctor_command.doctor)
app.command("inspect")(inspect_command.inspect_log)
app.command()(compare_command.compare)
app.command()(audit_command.audit)
app.command()(forecast_command.forecast)
app.command()(experiment_command.experiment)
app.command()(verify_command.verify)
app.command()(report_command.report)
app.command()(serve_command.serve)
app.command()(docs_command.docs)


def _version(wanted: bool) -> None:
    if wanted:
        from .._version import __version__

        typer.echo(f"travas {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with a code of `exit_codes`. Errors are one line on standard error."""
    silence(False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # prints ? for ε where the encoding lacks it
    try:
        code = _run()
    except BrokenPipeError:
        nowhere, code = os.open(os.devnull, os.O_WRONLY), 141
        for number in (1, 2):  # flushing at exit must not fail again
            os.dup2(nowhere, number)
    sys.exit(code)


def _run() -> int:
    try:
        try:
            code = app(prog_name="travas", standalone_mode=False)
            if code == INTERRUPTED:  # typer's exit code for an interrupt
                raise KeyboardInterrupt
            if sys.stdout is not None:  # None if it was closed at startup
                sys.stdout.flush()
        finally:
            finish()
        return code if isinstance(code, int) else 0
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich and typer would exit with 1
            raise stop.__context__ from None
        raise
    except ChargedError as error:
        return _fail(str(error), INTERRUPTED if error.interrupted else 4, error)
    except VerificationError as error:
        return _fail(str(error), 1, error)
    except BudgetError as error:
        return _fail(str(error), 3, error)
    except TravasError as error:
        return _fail(str(error) + _flag(error), 2, error)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        return _fail(f"{error.format_message()} (see {context.command_path if context else 'travas'} --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        raise
    except BaseException as error:  # a panic of Polars is no Exception
        return _unexpected(error)


def _unexpected(error: BaseException) -> int:
    """Report what travas did not raise itself. The message may contain data: it is not shown.

    A bug has the exit code 70, `EX_SOFTWARE`: 1 would say that a guarantee does not hold.
    """
    if is_out_of_memory(error):
        return _fail("out of memory; use a machine with more memory, or a database (travas docs engines)", 5)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        if is_output_failure(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # flushing at exit must not fail again
            return _fail(f"the result could not be printed ({reason}); files that were written remain", 6)
        return _fail(f"operating system error: {reason}", 2)
    if os.environ.get(_DEBUG):
        print(CONFIDENTIAL_HEADING, file=sys.stderr)
        traceback.print_exception(error)
    return _fail(
        f"unexpected {type(error).__name__}: this is a bug in travas; please report it, without the log "
        f"({_DEBUG}=1 shows where it happened: confidential, it may quote the log)",
        70,
    )


def _flag(error: TravasError) -> str:
    """Return the options that correspond to the fields of an error, if the command has them."""
    known = _options(sys.argv[1:])
    fields = [field for field in (error.field, *error.other_fields) if field]
    flags = [_FLAGS.get(field, f"--{field}".replace("_", "-")) for field in fields]
    flags = [flag for flag in flags if flag.partition(" ")[0] in known]
    return f" (option{'s' if len(flags) > 1 else ''} {', '.join(flags)})" if flags else ""


def _options(arguments: list[str]) -> set[str]:
    """Return the options of the command that these arguments call."""
    command: Any = typer.main.get_command(app)
    for argument in arguments:
        command = getattr(command, "commands", {}).get(argument, command)
    return {option for parameter in command.params for option in parameter.opts}


def _fail(message: str, code: int, error: TravasError | None = None) -> int:
    """Print an error: one line on standard error and, with --json, one object on standard output (docs/automation.md)."""
    from ..sources.engine import without_secrets

    one_line = " ".join(without_secrets(message).splitlines())
    typer.echo(f"travas: {one_line}", err=True)
    if "--json" in sys.argv[1:] and code not in (6, 141):
        facts = {
            "code": code,
            "kind": type(error).__name__ if error is not None else "Error",
            "message": one_line,
            "field": (error.field or None) if error is not None else None,
            "charged": isinstance(error, ChargedError),
            "confidential": error.confidential if error is not None else False,
        }
        print_json({"error": facts})
    return code
