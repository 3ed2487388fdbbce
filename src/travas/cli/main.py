"""The command line: calls the library, prints results and errors, and sets exit codes."""

from __future__ import annotations

import io
import math
import os
import signal
import sys
import time
import traceback
from functools import partial
from types import FrameType
from typing import Annotated, Any

import typer

from ..cli import (
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
from .budget_command import app as budget_app
from .console import print_json, silence
from .exit_codes import EXIT_CODES, INTERRUPTED
from .help_pages import HelpfulCommand, HelpfulGroup
from .option_names import option_name

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
_DEBUG = "TRAVAS_DEBUG"
_PATIENCE = 3.0
"""For how many seconds another Ctrl-C changes nothing."""


_command = partial(app.command, cls=HelpfulCommand)
_start = partial(_command, rich_help_panel="Start")
_start()(demo_command.demo)
_start(epilog=EXIT_CODES)(doctor_command.doctor)
_start()(serve_command.serve)
_start()(docs_command.docs)
_release = partial(_command, rich_help_panel="Release", epilog=EXIT_CODES)
_release()(anonymize_command.anonymize)
_release()(synthesize_command.synthesize)
_release("map")(map_command.process_map)
_release()(init_command.init)
_release()(release_command.release)
app.add_typer(budget_app, name="budget", rich_help_panel="Release")
_check = partial(_command, rich_help_panel="Check a release")
_check()(verify_command.verify)
_check()(report_command.report)
_original = partial(_command, rich_help_panel="Examine the original log (confidential)")
_original("inspect")(inspect_command.inspect_log)
_original()(forecast_command.forecast)
_original()(compare_command.compare)
_original()(audit_command.audit)
_command(rich_help_panel="Research")(experiment_command.experiment)


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
    except ChargedError as error:
        return _fail(_with_options(error), INTERRUPTED if error.interrupted else 4, error)
    except VerificationError as error:
        return _fail(str(error), 1, error)
    except BudgetError as error:
        return _fail(_with_options(error), 3, error)
    except TravasError as error:
        return _fail(_with_options(error), 2, error)
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
    if os.environ.get(_DEBUG):
        print(CONFIDENTIAL_HEADING, file=sys.stderr)
        traceback.print_exception(error)
    return _fail(
        f"unexpected {type(error).__name__}: this is a bug in travas; please report it, without the log "
        f"({_DEBUG}=1 shows where it happened: confidential, it may quote the log)",
        1,
    )


def _with_options(error: TravasError) -> str:
    """Return the message of an error and the options that correspond to its fields, if the command has them."""
    known = _options(sys.argv[1:])
    fields = [field for field in (error.field, *error.other_fields) if field]
    names = [(option_name(field), f"--{field}") for field in fields]  # a project calls the parts of a map --parts
    flags = [flag for both in names for flag in dict.fromkeys(both) if flag.partition(" ")[0] in known]
    return extended(str(error), f" (option{'s' if len(flags) > 1 else ''} {', '.join(flags)})" if flags else "")


def _options(arguments: list[str]) -> set[str]:
    """Return the options of the command that these arguments call."""
    command: Any = typer.main.get_command(app)
    for argument in arguments:
        command = getattr(command, "commands", {}).get(argument, command)
    return {option for parameter in command.params for option in parameter.opts}


def _fail(message: str, code: int, error: TravasError | None = None) -> int:
    """Print an error: one line on standard error and, with --json, one object on standard output (docs/automation.md)."""
    from ..sources.log_location import without_secrets

    one_line = " ".join(without_secrets(message).splitlines())
    typer.echo(f"travas: {one_line}", err=True)
    if "--json" in sys.argv[1:]:
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
