"""`travas budget`: the ledger on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import typer

from ..errors import LedgerError, ParameterError, number_of
from .console import Table, answer, progress
from .options import AS_JSON, HelpfulCommand, HelpfulGroup, arg, flag, opt, with_settings

if TYPE_CHECKING:
    from ..budget.account import Account, CompositionRule
    from ..budget.ledger import Ledger
    from ..settings.project import Project

app = typer.Typer(cls=HelpfulGroup, no_args_is_help=True, help="Manage budgets of data sets and show what was spent.")
_COLUMNS = ("number", "time", "dataset", "mechanism", "epsilon", "delta", "unit", "case", "period", "standing")
"""The columns of the history of charges."""


@app.command(cls=HelpfulCommand)
@with_settings(("epsilon", "delta", "ledger"), ("epsilon", "delta", "ledger"), file=False)
def create(
    name: str = arg("NAME", "The name of the data set, as used with --dataset."),
    per_year: bool = flag("A new budget of ε and δ in every calendar year; the years add up.", "--per-year"),
    no_limit: bool = flag("Record releases without limiting them.", "--no-limit"),
    composition: str = opt("exact composes the losses of releases fixed in advance.", "basic|exact", default="basic"),
    unit_name: str | None = opt("What its persons are called, such as patient, if it protects persons.", "NOUN"),
    unit_columns: list[str] | None = opt("With --unit-name: a column that identifies them; repeatable.", "COLUMN"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Create a data set with ε and δ that its releases together may spend, or set the budget of an existing one.

    A budget cannot be changed; earlier charges count. With --unit-name alone it names the persons of an existing data set,
    and the columns that identify one of them: the costs for all of these columns add up.

    Examples: travas budget create hospital --epsilon 2 --delta 1e-6 --per-year ·
    travas budget create hospital --unit-name patient --unit-columns Patient --unit-columns Patientennummer
    """
    from ..budget.account import check_unit_name

    limits = {"epsilon", "delta"} & set(project.values)
    if no_limit and (limits or per_year):
        raise ParameterError("--no-limit cannot be combined with a budget; use one or the other")
    if unit_columns and unit_name is None:
        raise ParameterError("--unit-columns requires --unit-name; also set --unit-name")
    if not (limits or no_limit or unit_name):
        raise ParameterError("a budget needs --epsilon and --delta; to record releases without a limit, set --no-limit")
    if unit_name is not None:
        check_unit_name(unit_name)  # before the budget, which cannot be changed
    ledger = project.ledger() if limits or no_limit else existing_ledger(project)
    if no_limit:
        account = ledger.create_account(name)
    elif limits:
        account = ledger.create_budget(
            name,
            epsilon=project.required("epsilon"),
            delta=project.required("delta"),
            composition=cast("CompositionRule", composition),  # checked by the ledger
            span="year" if per_year else "all",
        )
    if unit_name is not None:
        account = ledger.name_unit(name, unit_name, unit_columns or ())
    _print_accounts([account], as_json)


@app.command(cls=HelpfulCommand)
@with_settings(("ledger",), ("ledger",), file=False)
def show(
    name: str | None = arg("NAME", "Only this data set.", None),
    history: bool = flag("List all charged releases in order.", "--history"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Show what was spent and what is left, in all and in this year, or the history of all charges.

    Examples: travas budget show hospital · travas budget show --history
    """
    book = existing_ledger(project)
    accounts = book.accounts() if name is None else [book.account(name)]
    if not history:
        _print_accounts(accounts, as_json, f"ledger  {book.path}")
        return
    charges = [entry.as_json() for entry in (book.history() if name is None else accounts[0].entries)]
    shown = [
        {**charge, **charge["spending"]}
        | {"time": charge["time"][:16], "dataset": charge["dataset"] or charge["location"]}
        | {"unit": charge["spending"]["unit"]["name"], "period": charge["period"] and charge["period"]["name"]}
        for charge in charges
    ]
    columns = [key for key in _COLUMNS if any(charge[key] for charge in shown)]
    rows = [[str(charge[key] or "") for key in columns] for charge in shown]
    answer(as_json, {"charges": charges}, Table("", rows, head=("", *columns[1:])))


@app.command("plan", cls=HelpfulCommand)
@with_settings(("epsilon", "delta"), ("epsilon", "delta"), file=False)
def plan_releases(
    releases: int = opt("Number of planned releases.", "NUMBER", default=...),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Show what each of several planned releases may spend, and what it would keep. Reads neither a log nor a ledger.

    Example: travas budget plan --releases 12 --epsilon 2 --delta 1e-6
    """
    from ..budget.plan import WAYS, plan
    from ..explain import numbers
    from ..trusted.numbers import rounded_down

    with progress("composing"):
        planned = plan(releases, epsilon=project.required("epsilon"), delta=project.required("delta"))
    facts, rows = planned.as_json(), []
    for way, remark in WAYS.items():
        share, (epsilon, delta) = facts[way], (rounded_down(part, 4) for part in getattr(planned, way))
        rows.append((way, numbers(epsilon, delta), remark))
        if share["cases_for_50_percent"] is not None:
            half, most = share["cases_for_50_percent"], share["cases_for_95_percent"]
            rows.append(("", f"a variant needs {half:,} cases (above 50 %), {most:,} cases (above 95 %)", ""))
    title = f"{number_of(releases, 'releases')} within {numbers(*planned.periods)}: each may spend"
    answer(as_json, facts, Table(title, rows))


# -------------------------------------------------------------------------------------------------- printed output


def existing_ledger(project: Project) -> Ledger:
    """Open an existing ledger. A mistyped path is an error and does not create a ledger."""
    from ..budget.ledger import Ledger, default_path

    path = project.path(project.stated("ledger")) if "ledger" in project.values else default_path()
    if not path.exists():
        raise LedgerError(f"{path}: no such ledger; the first release or `travas budget create` creates it")
    return Ledger(path)


def _print_accounts(accounts: list[Account], as_json: bool, *notes: str) -> None:
    from ..budget.account import as_plain
    from ..budget.policy import left_this_year
    from ..explain import numbers

    facts, tables = [], []
    for account in accounts:
        left = left_this_year(account)
        facts.append(account.as_json() | {"left_this_year": left and as_plain(left)})
        once = "; of different periods only the largest one counts" if account.has_periods else ""
        rows = [("releases", f"{len(account.entries):,}"), ("sum", f"{account.total}{once}")]
        if account.unit is not None:
            rows.append(("unit", f"one {account.unit.name}: {', '.join(account.unit_columns) or 'no column yet'}"))
        if account.budget is not None:
            span = " in every year" if account.budget.span == "year" else ""
            rows.append(("budget", f"{account.budget}{span}, {account.budget.composition} composition"))
            rows.append(("left" if account.left else "used", account.remainder))
        if left is not None:
            rows.append(("this year", f"{numbers(*left)} left"))
        tables.append(Table(account.label, rows, "green" if account.budget else "cyan"))
    answer(as_json, {"datasets": facts}, *tables, *([] if tables else ["no charges yet"]), *notes)
