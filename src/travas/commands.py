"""The commands for people who do not use a terminal: the report and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .terminal import console, progress


def report(
    guarantee: Annotated[Path, typer.Argument(metavar="GUARANTEE", help="OUT.guarantee.json")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release it belongs to.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to: .html.", metavar="REPORT.html")],
    reason: Annotated[str, typer.Option(help="Why these parameters: a sentence for the record.", metavar="TEXT")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a report that exists.")] = False,
) -> None:
    """Verify a release and write the report for the data protection officer: one HTML file, printable, nothing private.

    Example: travas report release.json.guarantee.json release.json -o report.html --reason "Decided on 3 May"
    """
    from .dossier import write_report

    with progress("verifying the release"):
        path = write_report(guarantee, release, output, reason, existing="replace" if force else "fail")
    console().print(f"report     {path}")
