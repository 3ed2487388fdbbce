"""The command line: it calls the library and adds nothing but words, colours and exit codes."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..budget.ledger import Ledger
from ..errors import CONFIDENTIAL_HEADING, BudgetError, ChargedError, TravasError, VerificationError
from ..mechanisms import mechanism as mechanism_by_name
from ..model.release import Frequencies, Release, check_frequencies
from ..model.variants import Variants
from ..pipeline import Request, run
from ..privacy.guarantee import Standing
from ..privacy.numbers import as_text, rounded_up
from ..sources.columns import Reading, some
from . import commands, diagnostics
from .budget import app as budget_app
from .budget import charged, print_charge
from .console import console, panel, print_json, stages
from .console import grid as facts_grid
from .diagnostics import print_notes, share_of
from .options import AsJson, Choose, Delta, Epsilon, LedgerFile, Log, with_mechanism, with_reading

app = typer.Typer(
    name="travas",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Release the trace variants of an event log under differential privacy, with a verified guarantee.",
    epilog="Start with: [bold]travas demo[/bold]",
)
app.add_typer(budget_app, name="budget")


_FLAGS = {"guarantee": "--accept-no-guarantee"}
"""Options whose names differ from those of the parameters."""


@app.command()
@with_reading
@with_mechanism
def anonymize(
    log: Log,
    epsilon: Epsilon,
    delta: Delta,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to: .xes, .xes.gz, .csv, .parquet or .json.", metavar="OUT")
    ],
    frequencies: Annotated[
        str, typer.Option(help="Counts that go into the event log.", metavar="|".join(get_args(Frequencies)))
    ] = "estimated",
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Name of the data set in the ledger. Default: the account of this file or table. Required with --query.",
            metavar="NAME",
        ),
    ] = None,
    ledger: LedgerFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    accept_no_guarantee: Annotated[
        bool,
        typer.Option("--accept-no-guarantee", help="Write a release that protects nobody for sure; it is stamped."),
    ] = False,
    as_json: AsJson = False,
    *,
    reading: Reading,
    choose: Choose,
) -> None:
    """Turn an event log into a release and its guarantee file.

    Example: travas anonymize hospital.xes.gz --epsilon 1 --delta 1e-6 -o release.xes.gz
    """
    request = Request(
        source=log,
        mechanism=choose(epsilon, delta, reading.privacy_unit),
        reading=reading,
        output=output,
        existing="replace" if force else "fail",
        frequencies=check_frequencies(frequencies),
        ledger=Ledger(ledger) if ledger else Ledger.default(),
        dataset=dataset,
        guarantee="not required" if accept_no_guarantee else "required",
    )
    with stages() as watch:
        outcome = run(request, watch)
    if as_json:
        print_json(
            _facts(outcome.release, output)
            | {"ledger": outcome.account and charged(outcome.account)}
            | {"confidential_notes": list(outcome.variants.notes)}
        )
    else:
        _print_release(outcome.release, output, outcome.variants)
        if outcome.account is not None:
            print_charge(outcome.account)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for the files.", metavar="DIR")] = Path(
        "demo-release"
    ),
) -> None:
    """Make a synthetic hospital log, release it at ε = 1, δ = 1e-6, and draw a picture. No real data involved."""
    from ..errors import MissingExtraError
    from ..sources.example_log import write_hospital_log

    again = (output / "hospital.csv").exists()  # the demo's own: anything else of that name is refused
    log = write_hospital_log(output / "hospital.csv")
    target = output / "release.xes.gz"
    request = Request(
        source=log,
        mechanism=mechanism_by_name("optimal", "1", "1e-6"),
        output=target,
        existing="replace" if again else "fail",
    )
    with stages() as watch:
        outcome = run(request, watch)
    released = outcome.release
    _print_release(released, target, outcome.variants)
    try:
        picture = released.draw(output / "release.png")
        console().print(f"picture    {picture}")
    except MissingExtraError as error:
        console().print(f"no picture: {error}")
    console().print(f"check it   travas verify {target}.guarantee.json {target}")


app.command("inspect")(diagnostics.inspect_log)
app.command()(diagnostics.compare)
app.command()(diagnostics.forecast)
app.command()(diagnostics.experiment)
app.command()(commands.verify)
app.command()(commands.report)
app.command()(commands.serve)


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


# ------------------------------------------------------------------------------------------------- words and colours


def _facts(released: Release, output: Path) -> dict[str, Any]:
    from ..outputs.guarantee_file import guarantee_path

    guarantee = released.guarantee
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        "variants": len(released.variants),
        "cases": sum(released.counts),
        "frequencies": released.frequencies,
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": rounded_up(guarantee.delta_spent),
        "standing": str(guarantee.standing),
        "abstractions": list(map(str, released.abstractions)),
        "unit": guarantee.unit.name,
        "max_cases": guarantee.unit.max_cases,
        "counted": released.mechanism.counted if not guarantee.unit.is_case else "cases",
    }


def _print_release(released: Release, output: Path, variants: Variants) -> None:
    from ..evaluation.compare import covered_cases
    from ..mechanisms.ladder import Ladder
    from ..model.variants import summary

    facts = _facts(released, output)
    table = facts_grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("variants", f"{facts['variants']:,}")
    table.add_row("cases", f"{facts['cases']:,}  ({released.frequencies})")
    estimate = released.estimate
    if estimate.missing_cases is not None and estimate.missing_cases_interval is not None:
        low, high = estimate.missing_cases_interval
        number = f"about {estimate.missing_cases:,.0f} ({low:,.0f} to {high:,.0f})"
        believed = f"{number} cases have variants not released"
        if released.mechanism.noun != "cases":
            believed = f"{number} times a {facts['unit']} has a variant that is not released"
        table.add_row("believed", believed)
    table.add_row(
        "promise",
        f"ε = {facts['epsilon']}, δ = {facts['delta']} for {released.guarantee.protects}: {facts['standing']}",
    )
    if not variants.unit.is_case:
        table.add_row("counted", share_of(variants.unit, variants.counted))
    table.add_row("mechanism", facts["mechanism"])
    if released.is_abstracted:
        for place, rule in enumerate(released.abstractions):
            if times := released.rungs.count(place):
                table.add_row("abstraction", f"{rule}: {some(times, 'variants')}")
    for reason in released.guarantee.assumptions:
        table.add_row("assumed", reason)
    established = released.guarantee.standing is not Standing.NOT_ESTABLISHED
    panel(table, "Released" if established else "Released WITHOUT a guarantee", "green" if established else "red")
    true = summary(variants)
    table = facts_grid()
    sizes = ((true.cases, "counted" if variants.counted == "units" else "cases"), (true.variants, "variants"))
    table.add_row("read", ", ".join(some(*size) for size in (*sizes, (true.events, "events"))))
    if isinstance(released.mechanism, Ladder):
        rungs = [released.mechanism.rungs[place] for place in sorted(set(released.rungs))]
        share = covered_cases(variants, released, rungs)
        table.add_row("covered", f"{share:.1%} of the cases")
    else:
        table.add_row("kept", f"{len(released.variants) / max(true.variants, 1):.1%} of the variants")
    panel(table, CONFIDENTIAL_HEADING, "yellow")
    print_notes(variants)


def main() -> None:
    """Run the command line. A user's mistake is one line on standard error and exit code 2, a spent budget 3.

    A reader of our output who leaves early (`| head`) makes it 141, quietly: 1 is for what does not hold.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no ε gets a question mark
    try:
        code = _run()
    except BrokenPipeError:
        nowhere, code = os.open(os.devnull, os.O_WRONLY), 141
        for number in (1, 2):  # what is left to print must not fail again at the end
            os.dup2(nowhere, number)
    sys.exit(code)


def _run() -> int:
    try:
        code = app(prog_name="travas", standalone_mode=False)
        if code == 130:  # typer's answer to an interrupt
            raise KeyboardInterrupt
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich and typer would end with 1
            raise stop.__context__ from None
        raise
    except ChargedError as error:
        return _fail(str(error), 130 if error.interrupted else 4)
    except VerificationError as error:
        return _fail(str(error), 1)
    except BudgetError as error:
        return _fail(str(error), 3)
    except TravasError as error:
        return _fail(str(error) + _flag(error), 2)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        return _fail(f"{error.format_message()} (see {context.command_path if context else 'travas'} --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"the system refused: {error.strerror or type(error).__name__}", 2)


def _flag(error: TravasError) -> str:
    """The option that belongs to the field of an error."""
    if not error.field:
        return ""
    return f" (option {_FLAGS.get(error.field, '--' + error.field.replace('_', '-'))})"


def _fail(message: str, code: int) -> int:
    from ..sources.engine import without_secrets

    one_line = " ".join(without_secrets(message).splitlines())
    typer.echo(f"travas: {one_line}", err=True)
    return code
