"""`travas budget`: the ledger on the command line."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from ..budget.account import Account, Budget, CompositionRule, check_name
from ..budget.ledger import Ledger, default_path
from ..budget.plan import plan as make_plan
from ..budget.plan import rounded_down
from ..errors import LedgerError, OutputError, ParameterError
from ..outputs.atomic import atomic_output, check_target
from ..privacy.numbers import as_text, exact_delta, exact_epsilon, rounded_up
from ..sources.source import location_of
from .console import console, grid, panel, print_json, progress
from .options import AsJson, LedgerFile

app = typer.Typer(no_args_is_help=True, help="Budgets of data sets, and what was spent of them.")

COLUMNS = (
    "number", "time", "dataset", "location", "mechanism", "epsilon", "delta", "unit", "max_cases", "case",
    "minimum_cases", "standing", "software",
)  # fmt: skip
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only this data set.")]
Epsilon = Annotated[str, typer.Option(help="ε that all releases together may spend.", metavar="NUMBER")]
Delta = Annotated[str, typer.Option(help="δ that all releases together may spend.", metavar="NUMBER")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set, as --dataset will call it.")],
    epsilon: Annotated[
        str | None, typer.Option(help="ε that all releases together may spend.", metavar="NUMBER")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="δ that all releases together may spend.", metavar="NUMBER")] = None,
    no_limit: Annotated[
        bool, typer.Option("--no-limit", help="No budget: releases are recorded, not limited.")
    ] = False,
    composition: Annotated[
        str,
        typer.Option(
            help="How releases add up: sums, or by their tables (then fix ε and δ of all releases in advance).",
            metavar="|".join(get_args(CompositionRule)),
        ),
    ] = "basic",
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Create a data set with a budget, or set the budget of one. It is never changed; earlier charges count.

    Example: travas budget create hospital --epsilon 2 --delta 1e-6
    """
    check_name(name)
    if no_limit:
        if epsilon is not None or delta is not None:
            raise ParameterError("--no-limit is set together with --epsilon or --delta; use one or the other")
        book = Ledger(ledger) if ledger else Ledger.default()
        _print_accounts([book.create_account(name)], as_json)
        return
    if epsilon is None or delta is None:
        raise ParameterError("set --epsilon and --delta, the budget of the data set, or --no-limit")
    rule = cast(CompositionRule, composition)  # checked where the budget is made
    Budget(exact_epsilon(epsilon), exact_delta(delta), rule)  # before a ledger is made for nothing
    book = Ledger(ledger) if ledger else Ledger.default()
    account = book.create_budget(name, epsilon=epsilon, delta=delta, composition=rule)
    _print_accounts([account], as_json)


@app.command()
def assign(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="An account without a budget: as `travas budget show` lists it, or a file."),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="An existing data set.")],
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Move everything that was and will be charged to one account to a named data set. This is recorded and final.

    Example: travas budget assign hospital.csv hospital
    """
    book = existing_ledger(ledger)
    labels = {account.label for account in book.accounts()}
    where = old if old in labels else location_of(old) or old
    _print_accounts([book.assign(where, name)], as_json)


@app.command()
def show(name: Name = None, ledger: LedgerFile = None, as_json: AsJson = False) -> None:
    """Show what is spent and left.

    Example: travas budget show hospital
    """
    book = existing_ledger(ledger)
    accounts = [book.account(name)] if name is not None else book.accounts()
    _print_accounts(accounts, as_json)
    if not as_json:
        console().print(f"ledger  {book.path}")


@app.command()
def history(name: Name = None, ledger: LedgerFile = None, as_json: AsJson = False) -> None:
    """List every release that was charged, in order.

    Example: travas budget history hospital
    """
    book = existing_ledger(ledger)
    entries = book.account(name).entries if name is not None else book.history()
    if as_json:
        print_json({"charges": [entry.as_json() for entry in entries]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold cyan")
    for heading in ("", "time", "data set", "mechanism", "ε", "δ", "unit", "case", "standing"):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        facts = entry.as_json()
        facts["dataset"] = facts["dataset"] or facts["location"]
        facts["case"] = facts["case"] or "not recorded"
        shown = ("number", "time", "dataset", "mechanism", "epsilon", "delta", "unit", "case", "standing")
        table.add_row(*(str(facts[key]) for key in shown))
    console().print(table if entries else "nothing was charged yet")


@app.command()
def export(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new .csv or .json file. Default: print it.", metavar="OUT")
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Write every charge as CSV, or with all budgets as JSON.

    Example: travas budget export -o charges.csv
    """
    book = existing_ledger(ledger)
    if output is not None and output.suffix not in (".csv", ".json"):
        raise OutputError(f"{output}: unsupported file extension; supported: .csv, .json", field="output")
    if output is not None:
        check_target(output, "fail")
    charges = [entry.as_json() for entry in book.history()]
    if as_json or (output is not None and output.suffix == ".json"):
        budgets = [_facts(account) for account in book.accounts() if account.budget]
        text = json.dumps({"budgets": budgets, "charges": charges}, indent=2, ensure_ascii=False) + "\n"
    else:
        stream = io.StringIO()
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(charges)
        text = stream.getvalue()
    if output is None:
        typer.echo(text, nl=False)
        return
    with atomic_output(output, "fail") as partial:
        partial.write_text(text, encoding="utf-8", newline="")


@app.command("plan")
def plan_releases(
    epsilon: Epsilon,
    delta: Delta,
    releases: Annotated[str, typer.Option(help="How many releases are to come.", metavar="NUMBER")],
    as_json: AsJson = False,
) -> None:
    """Say what each of several releases may spend. No log and no ledger is read.

    Example: travas budget plan --releases 12 --epsilon 2 --delta 1e-6
    """
    if not re.fullmatch(r"[0-9]{1,9}", releases, re.ASCII):
        raise ParameterError(f"releases is {releases[:40]!r}: it must be a whole number from 1")
    with progress("composing"):
        found = make_plan(int(releases), epsilon=epsilon, delta=delta)
    exact = found.exact and {"epsilon": as_text(found.exact[0]), "delta": as_text(found.exact[1])}
    sums = {"epsilon": as_text(found.basic[0]), "delta": as_text(found.basic[1])}
    if as_json:
        whole = {"releases": found.releases, "epsilon": as_text(found.epsilon), "delta": as_text(found.delta)}
        print_json(whole | {"basic": sums, "exact": exact})
        return
    table = grid()
    table.add_row("basic", f"ε = {_short(found.basic[0])}, δ = {_short(found.basic[1])}", "valid in any case")
    if found.exact is None:
        table.add_row("exact", "not computed: pip install 'travas[accounting]'")
    else:
        more = found.exact[0] / found.basic[0] - 1
        gain = f"{float(more):.0%} more ε" if more >= Fraction(1, 100) else "no gain worth it"
        exact_pair = f"ε = {_short(found.exact[0])}, δ = {_short(found.exact[1])}"
        table.add_row("exact", exact_pair, f"{gain}; with `optimal`, all fixed in advance")
    title = (
        f"What each of {found.releases} releases may spend of ε = {as_text(found.epsilon)}, δ = {as_text(found.delta)}"
    )
    panel(table, title, "cyan")


# ------------------------------------------------------------------------------------------------- words and colours


def existing_ledger(ledger: Path | None) -> Ledger:
    """The ledger that is there. Looking makes none: a mistyped name is an error."""
    path = ledger or default_path()
    if not path.exists():
        raise LedgerError(f"{path}: there is no ledger yet; the first release or `travas budget create` makes it")
    return Ledger(path)


def _short(value: Fraction) -> str:
    """Exact where that is short, else a decimal that is not above it."""
    text = as_text(value)
    return text if "/" not in text and len(text) <= 12 else as_text(rounded_down(value, 4))


def _facts(account: Account) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "dataset": account.dataset,
        "location": account.location,
        "releases": len(account.entries),
        "spent": {"epsilon": as_text(account.spent[0]), "delta": as_text(account.spent[1])},
        "budget": None,
        "left": None,
    }
    if account.budget is not None and account.delta_used is not None:
        facts["budget"] = {
            "epsilon": as_text(account.budget.epsilon),
            "delta": as_text(account.budget.delta),
            "composition": account.budget.composition,
            "delta_used": rounded_up(account.delta_used),
        }
    if account.left is not None:
        facts["left"] = {"epsilon": as_text(account.left[0]), "delta": as_text(account.left[1])}
    return facts


def charged(account: Account) -> dict[str, Any]:
    """What a release tells machines about its charge: never the location of a log without a name."""
    return {"dataset": account.name, "releases": len(account.entries), "state": account.remainder}


def print_charge(account: Account) -> None:
    """What a release tells people about its charge."""
    facts = charged(account)
    table = grid()
    table.add_row("data set", facts["dataset"] or "none: counted by location")
    spent = f"ε = {as_text(account.spent[0])}, δ = {as_text(account.spent[1])}"
    table.add_row("charged", f"{facts['releases']:,} release{'s' if facts['releases'] > 1 else ''}, in sum {spent}")
    table.add_row("budget", facts["state"])
    panel(table, "Ledger", "cyan")
    if facts["dataset"] is None and facts["releases"] == 1:
        console().print(
            "note: the log has no name, so only releases of this very file or table are added up; "
            "use --dataset NAME if the same people are elsewhere, too"
        )


def _print_accounts(accounts: list[Account], as_json: bool) -> None:
    if as_json:
        print_json({"datasets": [_facts(account) for account in accounts]})
        return
    for account in accounts:
        table = grid()
        table.add_row("releases", f"{len(account.entries):,}")
        table.add_row("sum", f"ε = {as_text(account.spent[0])}, δ = {as_text(account.spent[1])}")
        if account.budget is not None:
            table.add_row("budget", f"{account.budget}, {account.budget.composition} composition")
            table.add_row("left" if account.left else "used", account.remainder)
        panel(table, account.label, "green" if account.budget else "cyan")
    if not accounts:
        console().print("nothing was charged yet")
