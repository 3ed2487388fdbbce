"""The command `release`: makes the release of a period of a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..project.project_options import FILE_NAME, Values
from .console import console, grid, phases, print_json
from .options import AsJson, Quiet
from .project_flags import ProjectPath, with_project_options
from .release_output import release_facts, show_release

if TYPE_CHECKING:
    from ..project.project_release import ReleasedPeriod


@with_project_options()
def release(
    project: ProjectPath = Path(FILE_NAME),
    period: Annotated[
        str | None,
        typer.Option(
            help="The period: 2026-02, 2026-Q1, 2026-W07 … Default: the last whose grace period has passed.",
            metavar="PERIOD",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    flags: Values,
) -> None:
    """Make the release of a period of a project: release, guarantee, README, report and charge.

    A period that was released before is refused. Options come from flags, then TRAVAS_… variables, then the file.

    Example: travas release --period 2026-02
    """
    from ..project.project_file import Project
    from ..project.project_release import add_report, make_release, project_period

    opened = Project.load(project, flags)
    released_period = project_period(opened, period)
    with phases() as watch:
        made = make_release(opened, released_period, watch)
    with made.outcome.after_release():
        add_report(opened, made)
        _show(made, None if released_period is None else released_period.name, as_json)


def _show(made: ReleasedPeriod, period: str | None, as_json: bool) -> None:
    from .budget_command import charged, print_charge

    released, account = made.outcome.release, made.outcome.account
    files = {name: str(getattr(made, name)) for name in ("folder", "report", "readme")}
    if as_json:
        facts = release_facts(released, made.release, made.stated_cases) | files
        print_json(facts | {"period": period, "ledger": account and charged(account)})
        return
    show_release(released, made.release, made.stated_cases)
    table = grid()
    for name, value in ({"period": period or "the whole log"} | files).items():
        table.add_row(name, value)
    console().print(table)
    if account is not None:
        print_charge(account)
