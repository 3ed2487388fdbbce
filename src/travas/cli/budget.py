"""`travas budget`: the ledger on the command line."""

from __future__ import annotations

import csv
import functools
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import LedgerError, OutputError, ParameterError
from .console import console, grid, panel, print_json, progress
from .options import AsJson, HelpfulCommand, HelpfulGroup, with_settings

if TYPE_CHECKING:
    from ..budget.account import Account, BudgetSpan, CompositionRule
    from ..budget.ledger import Ledger
    from ..budget.plan import Plan
    from ..settings.project import Project

app = typer.Typer(
    cls=HelpfulGroup, no_args_is_help=True, help="Manage the budgets of data sets and show what was spent."
)
_command = functools.partial(app.command, cls=HelpfulCommand)
_COLUMNS = (
    "number", "time", "dataset", "location", "mechanism", "epsilon", "delta", "unit", "max_cases", "case",
    "period", "minimum_cases", "standing", "software", "reason", "signed_off_by", "reference", "policy",
)  # fmt: skip


@_command()
@with_settings(("epsilon", "delta", "ledger"), ("epsilon", "delta", "ledger"), file=False)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the data set, as used with --dataset.")],
    per_year: Annotated[
        bool, typer.Option("--per-year", help="A new budget of ε and δ in every calendar year; the years add up.")
    ] = False,
    no_limit: Annotated[bool, typer.Option("--no-limit", help="Record releases without limiting them.")] = False,
    composition: Annotated[
        str,
        typer.Option(
            help="basic adds up ε and δ; exact composes the privacy losses (fix ε and δ of all releases in advance).",
            metavar="basic|exact",
        ),
    ] = "basic",
    unit_name: Annotated[
        str | None,
        typer.Option(help="What its persons are called, such as patient, if it protects persons.", metavar="NOUN"),
    ] = None,
    unit_columns: Annotated[
        list[str] | None,
        typer.Option(help="With --unit-name: a column that identifies such a person; repeatable.", metavar="COLUMN"),
    ] = None,
    as_json: AsJson = False,
    *,
    project: Project,
) -> None:
    """Create a data set with ε and δ that its releases together may spend, or set the budget of an existing one.

    A budget cannot be changed; earlier charges count. With --unit-name alone it names the persons of an existing data set,
    and the columns that identify one of them: the costs for all of these columns add up.

    Examples: travas budget create hospital --epsilon 2 --delta 1e-6 --per-year ·
    travas budget create hospital --unit-name patient --unit-columns Patient --unit-columns Patientennummer
    """
    from ..budget.account import Budget, check_name

    check_name(name)
    limits = {"epsilon", "delta"} & set(project.values)
    if no_limit and (limits or per_year):
        raise ParameterError("--no-limit cannot be combined with a budget; use one or the other")
    if unit_columns and unit_name is None:
        raise ParameterError("--unit-columns requires --unit-name; also set --unit-name")
    if no_limit:
        account = project.ledger().create_account(name, unit_name=unit_name)
    elif limits or unit_name is None:
        if len(limits) < 2:
            raise ParameterError("set --epsilon and --delta, the budget of the data set, or --no-limit")
        span: BudgetSpan = "year" if per_year else "all"
        rule = cast("CompositionRule", composition)  # checked by Budget
        options: dict[str, Any] = {"epsilon": project.stated("epsilon"), "delta": project.stated("delta")}
        Budget(**options, composition=rule)  # check before a ledger file is created
        account = project.ledger().create_budget(name, **options, composition=rule, span=span, unit_name=unit_name)
    else:
        account = existing_ledger(project).account(name)
    if unit_columns or (unit_name is not None and not limits and not no_limit):
        account = project.ledger().name_unit(name, str(unit_name), unit_columns or ())
    _print_accounts([account], as_json)


@_command()
@with_settings(("ledger",), ("ledger",), file=False)
def show(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this data set.")] = None,
    history: Annotated[bool, typer.Option("--history", help="List all charged releases in order.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all charges to a new .csv or .json file.", metavar="OUT"),
    ] = None,
    as_json: AsJson = False,
    *,
    project: Project,
) -> None:
    """Show what was spent and what is left, in all and in this year, or the history of all charges.

    Examples: travas budget show hospital · travas budget show --history · travas budget show -o charges.csv
    """
    book = existing_ledger(project)
    accounts = book.accounts() if name is None else [book.account(name)]
    entries = book.history() if name is None else accounts[0].entries
    if output is not None:
        _export(output, accounts, entries)
        return
    if not history:
        _print_accounts(accounts, as_json)
        if not as_json:
            console().print(f"ledger  {book.path}")
    elif as_json:
        print_json({"charges": [entry.as_json() for entry in entries]})
    else:
        _print_history(entries)


def _print_history(entries: Any) -> None:
    from rich.table import Table

    shown = ("number", "time", "dataset", "mechanism", "epsilon", "delta", "unit", "case", "period", "standing")
    table = Table(box=None, pad_edge=False, header_style="bold cyan")
    for heading in ("", "time", "data set", "mechanism", "ε", "δ", "unit", "case", "period", "standing"):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        facts = entry.as_json()
        facts["dataset"] = facts["dataset"] or facts["location"]
        facts["case"] = facts["case"] or "not recorded"
        table.add_row(*(str(facts[key] or "") for key in shown))
    console().print(table if entries else "no charges yet")


def _export(output: Path, accounts: list[Account], entries: Any) -> None:
    """Write all charges as CSV, or all charges and budgets as JSON."""
    from ..outputs.atomic import atomic_output, check_target

    if output.suffix not in (".csv", ".json"):
        raise OutputError(f"{output}: unsupported file extension; supported: .csv, .json", field="output")
    check_target(output, "fail")
    charges = [entry.as_json() for entry in entries]
    stream = io.StringIO()
    if output.suffix == ".json":
        budgets = [_facts(account) for account in accounts if account.budget]
        stream.write(json.dumps({"budgets": budgets, "charges": charges}, indent=2, ensure_ascii=False) + "\n")
    else:
        writer = csv.DictWriter(stream, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(charges)
    with atomic_output(output, "fail") as partial:
        partial.write_text(stream.getvalue(), encoding="utf-8", newline="")


@_command("plan")
@with_settings(("epsilon", "delta"), ("epsilon", "delta"), file=False)
def plan_releases(
    releases: Annotated[str, typer.Option(help="Number of planned releases.", metavar="NUMBER")],
    as_json: AsJson = False,
    *,
    project: Project,
) -> None:
    """Show what each of several planned releases may spend, and what it would keep. Reads neither a log nor a ledger.

    Example: travas budget plan --releases 12 --epsilon 2 --delta 1e-6
    """
    from ..budget.plan import plan
    from ..trusted.numbers import as_text, typed_whole_number

    number = typed_whole_number(releases, "releases")
    with progress("composing"):
        planned = plan(number, epsilon=project.required("epsilon"), delta=project.required("delta"))
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
    from ..budget.plan import kept
    from ..trusted.numbers import as_text

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


def existing_ledger(project: Project) -> Ledger:
    """Open an existing ledger. A mistyped path is an error and does not create a ledger."""
    from ..budget.ledger import Ledger, default_path

    path = project.path(project.stated("ledger")) if "ledger" in project.values else default_path()
    if not path.exists():
        raise LedgerError(f"{path}: no such ledger; the first release or `travas budget create` creates it")
    return Ledger(path)


def _short(value: Fraction) -> str:
    """Format a number exactly if that is short, otherwise as a decimal rounded down."""
    from ..trusted.numbers import as_text, rounded_down

    text = as_text(value)
    return text if "/" not in text and len(text) <= 12 else as_text(rounded_down(value, 4))


def _pair(values: tuple[Fraction, Fraction] | None) -> dict[str, str] | None:
    from ..trusted.numbers import as_text

    return None if values is None else {"epsilon": as_text(values[0]), "delta": as_text(values[1])}


def _facts(account: Account) -> dict[str, Any]:
    from ..trusted.numbers import rounded_up

    budget, used = account.budget, account.delta_used
    limit = budget and (_pair((budget.epsilon, budget.delta)) or {}) | {
        "composition": budget.composition,
        "span": budget.span,
        "delta_used": rounded_up(used or Fraction(0)),
    }
    return {
        "dataset": account.dataset,
        "location": account.location,
        "unit": account.unit_name,
        "unit_columns": list(account.unit_columns),
        "releases": len(account.entries),
        "spent": _pair(account.spent),
        "spent_this_year": _pair(account.this_year.spent),
        "left_this_year": _pair(_left_this_year(account)),
        "budget": limit,
        "left": _pair(account.left),
    }


def _left_this_year(account: Account) -> tuple[Fraction, Fraction] | None:
    """What a budget per year and the policy of the organisation leave of this calendar year; None if neither limits it."""
    from ..budget.policy import Policy

    limits = [pair for pair in [account.left] if pair is not None and account.budget and account.budget.span == "year"]
    if (policy := Policy.of_organisation()) is not None:
        yearly = {rule.name: rule.value for rule in policy.rules if isinstance(rule.value, Fraction)}
        pair = yearly.get("epsilon_per_year"), yearly.get("delta_per_year")
        if pair[0] is not None and pair[1] is not None:
            spent = account.this_year.spent
            limits.append((max(pair[0] - spent[0], Fraction(0)), max(pair[1] - spent[1], Fraction(0))))
    return (min(pair[0] for pair in limits), min(pair[1] for pair in limits)) if limits else None


def _print_accounts(accounts: list[Account], as_json: bool) -> None:
    from ..trusted.numbers import as_text

    if as_json:
        print_json({"datasets": [_facts(account) for account in accounts]})
        return
    for account in accounts:
        table = grid()
        table.add_row("releases", f"{len(account.entries):,}")
        if account.unit is not None:
            columns = ", ".join(account.unit_columns) or "none yet"
            table.add_row("unit", f"one {account.unit_name}", f"columns: {columns}")
        once = "of different periods only the largest one counts" if account.has_periods else ""
        table.add_row("sum", f"ε = {as_text(account.spent[0])}, δ = {as_text(account.spent[1])}", once)
        if account.budget is not None:
            span = " in every year" if account.budget.span == "year" else ""
            table.add_row("budget", f"{account.budget}{span}, {account.budget.composition} composition")
            table.add_row("left" if account.left else "used", account.remainder)
        if (left := _left_this_year(account)) is not None:
            table.add_row("this year", f"ε = {as_text(left[0])}, δ = {as_text(left[1])} left")
        panel(table, account.label, "green" if account.budget else "cyan")
    if not accounts:
        console().print("no charges yet")
