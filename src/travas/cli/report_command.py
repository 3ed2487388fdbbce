"""The command `report`: the document for the data protection officer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import LogError, ParameterError
from .console import console, progress
from .options import LedgerFile, PolicyFile, SignedOffBy, StatedCases, stated_number


def report(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A release, or its guarantee file; the other is found beside it.")
    ],
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="The other file, if it is somewhere else.")
    ] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.", metavar="REPORT.html")],
    reason: Annotated[str, typer.Option(help="Why these parameters; printed in the report.", metavar="TEXT")] = "",
    dataset: Annotated[
        str | None, typer.Option(help="Name of the data set in the ledger; adds its history.", metavar="NAME")
    ] = None,
    ledger: LedgerFile = None,
    policy: PolicyFile = None,
    signed_off_by: SignedOffBy = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing report.")] = False,
    stated_cases: StatedCases = None,
) -> None:
    """Verify a release and write the report for the data protection officer: one printable, public HTML file.

    Example: travas report release.json -o report.html --reason "Decided on 3 May"
    """
    from ..budget.policy import Policy
    from ..report.report_file import write_report
    from ..verification.opened import pair_of
    from .budget_command import existing_ledger

    number = stated_number(stated_cases)
    guarantee, release = pair_of(file, other)
    if release is None:
        raise LogError(f"{file}: its release is not beside it; also pass the release")
    if ledger is not None and dataset is None:
        raise ParameterError("--ledger requires --dataset; also set --dataset NAME")
    account = None if dataset is None else existing_ledger(ledger).account(dataset)
    with progress("verifying the release"):
        path = write_report(
            guarantee,
            release,
            output,
            reason=reason,
            account=account,
            existing="replace" if force else "fail",
            stated_cases=number,
            policy=Policy.applying(None if policy is None else Policy.load(policy)),
            signed_off_by=signed_off_by,
        )
    console().print(f"report     {path}")
