"""`travas budget`: the ledger on the command line."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from ..budget.account import Account, Budget, CompositionRule, check_name
from ..budget.ledger import Ledger, default_path
from ..budget.plan import Plan, kept
from ..budget.plan import plan as make_plan
from ..errors import LedgerError, OutputError, ParameterError
from ..outputs.atomic import atomic_output, check_target
from ..trusted.numbers import as_text, rounded_down, rounded_up, typed_whole_number
from .console import console, grid, panel, print_json, progress
from .help_pages import HelpfulCommand, HelpfulGroup
from .options import AsJson, LedgerFile, ledger_of

app = typer.Typer(
    cls=HelpfulGroup, no_args_is_help=True, help="Manage the budgets of data sets and show what was spent."
)

COLUMNS = (
    "number", "time", "dataset", "location", "mechanism", "epsilon", "delta", "unit", "max_cases", "case",
    "period", "minimum_cases", "standing", "software", "reason", "signed_off_by", "reference", "policy",
)  # fmt: skip
Name = Annotated[str | None, typer.Argument(metavar="NAME", help="Only this data set.")]
TotalEpsilon = Annotated[str, typer.Option(help="ε that all releases together may spend.", metavar="NUMBER")]
TotalDelta = Annotated[str, typer.Option(help="δ that all releases together may spend.", metavar="NUMBER")]


@app.command(cls=HelpfulCommand)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the data set, as used with --dataset.")],
    epsilon: Annotated[
        str | None, typer.Option(help="ε that all releases together may spend.", metavar="NUMBER")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="δ that all releases together may spend.", metavar="NUMBER")] = None,
    no_limit: Annotated[bool, typer.Option("--no-limit", help="Record releases without limiting them.")] = False,
    composition: Annotated[
        str,
        typer.Option(
            help="basic adds up ε and δ; exact composes the privacy losses (fix ε and δ of all releases in advance).",
            metavar="|".join(get_args(CompositionRule)),
        ),
    ] = "basic",
    unit_name: Annotated[
        str | None,
        typer.Option(help="What its persons are called, such as patient, if it protects persons.", metavar="NOUN"),
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Create a data set, or set the budget of an existing one. A budget cannot be changed; earlier charges count.

    Example: travas budget create hospital --epsilon 2 --delta 1e-6
    """
    check_name(name)
    if no_limit:
        if epsilon is not None or delta is not None:
            raise ParameterError("--no-limit cannot be combined with --epsilon or --delta; use one or the other")
        _print_accounts([ledger_of(ledger).create_account(name, unit_name=unit_name)], as_json)
        return
    if epsilon is None or delta is None:
        raise ParameterError("set --epsilon and --delta, the budget of the data set, or --no-limit")
    rule = cast(CompositionRule, composition)  # checked by Budget
    Budget(epsilon, delta, rule)  # check before a ledger file is created
    account = ledger_of(ledger).create_budget(name, epsilon=epsilon, delta=delta, composition=rule, unit_name=unit_name)
    _print_accounts([account], as_json)


@app.command("unit", cls=HelpfulCommand)
def name_unit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An existing data set.")],
    unit_name: Annotated[str, typer.Argument(metavar="UNIT", help="The noun for one person, such as patient.")],
    columns: Annotated[
        list[str] | None, typer.Argument(metavar="COLUMN", help="Columns that identify such a person in its logs.")
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """State what the persons of a data set are called, and which columns identify one of them. Their costs add up.

    Example: travas budget unit hospital patient Patient Patientennummer
    """
    _print_accounts([existing_ledger(ledger).name_unit(name, unit_name, columns or ())], as_json)


@app.command(cls=HelpfulCommand)
def show(name: Name = None, ledger: LedgerFile = None, as_json: AsJson = False) -> None:
    """Show what was spent and what is left.

    Example: travas budget show hospital
    """
    book = existing_ledger(ledger)
    accounts = [book.account(name)] if name is not None else book.accounts()
    _print_accounts(accounts, as_json)
    if not as_json:
        console().print(f"ledger  {book.path}")


@app.command(cls=HelpfulCommand)
def history(name: Name = None, ledger: LedgerFile = None, as_json: AsJson = False) -> None:
    """List all charged releases in order.

    Example: travas budget history hospital
    """
    book = existing_ledger(ledger)
    entries = book.account(name).entries if name is not None else book.history()
    if as_json:
        print_json({"charges": [entry.as_json() for entry in entries]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold cyan")
    for heading in ("", "time", "data set", "mechanism", "ε", "δ", "unit", "case", "period", "standing"):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        facts = entry.as_json()
        facts["dataset"] = facts["dataset"] or facts["location"]
        facts["case"] = facts["case"] or "not recorded"
        facts["period"] = facts["period"] or ""
        shown = ("number", "time", "dataset", "mechanism", "epsilon", "delta", "unit", "case", "period", "standing")
        table.add_row(*(str(facts[key]) for key in shown))
    console().print(table if entries else "no charges yet")


@app.command(cls=HelpfulCommand)
def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A new .csv or .json file. Default: standard output.", metavar="OUT"),
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Export all charges as CSV, or all charges and budgets as JSON.

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


@app.command("plan", cls=HelpfulCommand)
def plan_releases(
    epsilon: TotalEpsilon,
    delta: TotalDelta,
    releases: Annotated[str, typer.Option(help="Number of planned releases.", metavar="NUMBER")],
    as_json: AsJson = False,
) -> None:
    """Show what each of several planned releases may spend, and what it would keep. Reads neither a log nor a ledger.

    Example: travas budget plan --releases 12 --epsilon 2 --delta 1e-6
    """
    number = typed_whole_number(releases, "releases")
    with progress("composing"):
        planned = make_plan(number, epsilon=epsilon, delta=delta)
    ways = {"basic": planned.basic, "exact": planned.exact, "periods": planned.periods}
    facts = {way: pair and _share(*pair) for way, pair in ways.items()}
    recommended = _recommendation(planned)
    if as_json:
        total = {"releases": planned.releases, "epsilon": as_text(planned.epsilon), "delta": as_text(planned.delta)}
        print_json(total | facts | {"recommendation": recommended})
        return
    table = grid()
    for way, remark in _remarks(planned).items():
        pair, share = ways[way], facts[way]
        if pair is None or share is None:
            table.add_row(way, "not computed: pip install 'travas[accounting]'")
            continue
        table.add_row(way, f"ε = {_short(pair[0])}, δ = {_short(pair[1])}", remark)
        if share["cases_for_50_percent"] is not None:
            half, most = share["cases_for_50_percent"], share["cases_for_95_percent"]
            table.add_row("", f"a variant needs {half:,} cases (above 50 %), {most:,} cases (above 95 %)")
    title = (
        f"Share of each of {planned.releases} releases of ε = {as_text(planned.epsilon)}, δ = {as_text(planned.delta)}"
    )
    panel(table, title, "cyan")
    console().print(recommended)


def _share(epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    """Return what a release may spend, and from how many cases on `optimal` releases a variant."""
    keeps = kept(epsilon, delta)
    return {
        "epsilon": as_text(epsilon),
        "delta": as_text(delta),
        "cases_for_50_percent": keeps and keeps.cases_for_half,
        "cases_for_95_percent": keeps and keeps.cases_for_most,
    }


def _remarks(planned: Plan) -> dict[str, str]:
    more = (planned.exact[0] / planned.basic[0] - 1) if planned.exact else Fraction(0)
    gain = f"{float(more):.0%} more ε" if more >= Fraction(1, 100) else "no significant gain"
    return {
        "basic": "always valid",
        "exact": f"{gain}; for `optimal`, with all releases fixed in advance",
        "periods": "if every release counts the cases closed in another period; unit: case",
    }


def _recommendation(planned: Plan) -> str:
    if planned.releases == 1:
        return "One release may spend everything."
    exact = planned.exact is not None and planned.exact[0] >= planned.basic[0] * Fraction(101, 100)
    other = "exact composition (travas budget create --composition exact)" if exact else "basic composition"
    return (
        "Recommended: releases of periods (--period, travas docs periods), if cases are closed by an activity or a gap and the "
        f"unit is the case; otherwise {other}, or fewer releases."
    )


# -------------------------------------------------------------------------------------------------- printed output


def existing_ledger(ledger: Path | None) -> Ledger:
    """Open an existing ledger. A mistyped path is an error and does not create a ledger."""
    path = ledger or default_path()
    if not path.exists():
        raise LedgerError(f"{path}: no such ledger; the first release or `travas budget create` creates it")
    return Ledger(path)


def _short(value: Fraction) -> str:
    """Format a number exactly if that is short, otherwise as a decimal rounded down."""
    text = as_text(value)
    return text if "/" not in text and len(text) <= 12 else as_text(rounded_down(value, 4))


def _facts(account: Account) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "dataset": account.dataset,
        "location": account.location,
        "unit": account.unit_name,
        "unit_columns": list(account.unit_columns),
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
    """Return the charge of a release for `--json`, without the location of an unnamed log."""
    return {"dataset": account.name, "releases": len(account.entries), "state": account.remainder}


def print_charge(account: Account) -> None:
    """Print the charge of a release."""
    facts = charged(account)
    table = grid()
    table.add_row("data set", facts["dataset"] or "none (counted by location)")
    spent = f"ε = {as_text(account.spent[0])}, δ = {as_text(account.spent[1])}"
    table.add_row("charged", f"{facts['releases']:,} release{'s' if facts['releases'] > 1 else ''}, {spent} in total")
    table.add_row("budget", facts["state"])
    panel(table, "Ledger", "cyan")
    if facts["dataset"] is None and facts["releases"] == 1:
        console().print(
            "note: without a data set name, only releases of this file are added up; "
            "use --dataset NAME if other files are about the same people"
        )


def _print_accounts(accounts: list[Account], as_json: bool) -> None:
    if as_json:
        print_json({"datasets": [_facts(account) for account in accounts]})
        return
    for account in accounts:
        table = grid()
        table.add_row("releases", f"{len(account.entries):,}")
        if account.unit is not None:
            table.add_row(
                "unit", f"one {account.unit_name}", f"columns: {', '.join(account.unit_columns) or 'none yet'}"
            )
        once = "of different periods only the largest one counts" if account.has_periods else ""
        table.add_row("sum", f"ε = {as_text(account.spent[0])}, δ = {as_text(account.spent[1])}", once)
        if account.budget is not None:
            table.add_row("budget", f"{account.budget}, {account.budget.composition} composition")
            table.add_row("left" if account.left else "used", account.remainder)
        panel(table, account.label, "green" if account.budget else "cyan")
    if not accounts:
        console().print("no charges yet")
