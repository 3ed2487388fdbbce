"""The commands for people who do not use a terminal: the report and the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from .errors import ParameterError
from .options import LedgerFile
from .terminal import console, progress


def report(
    guarantee: Annotated[Path, typer.Argument(metavar="GUARANTEE", help="OUT.guarantee.json")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release it belongs to.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to: .html.", metavar="REPORT.html")],
    reason: Annotated[str, typer.Option(help="Why these parameters: a sentence for the record.", metavar="TEXT")] = "",
    dataset: Annotated[
        str | None, typer.Option(help="Name of the data set in the ledger, for its history.", metavar="NAME")
    ] = None,
    ledger: LedgerFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a report that exists.")] = False,
) -> None:
    """Verify a release and write the report for the data protection officer: one HTML file, printable, nothing private.

    Example: travas report release.json.guarantee.json release.json -o report.html --reason "Decided on 3 May"
    """
    from .budget import check_name
    from .budget_cli import existing_ledger
    from .dossier import write_report

    if ledger is not None and dataset is None:
        raise ParameterError("--ledger is given, but of which data set? give --dataset NAME")
    account = None if dataset is None else existing_ledger(ledger).account(check_name(dataset))
    with progress("verifying the release"):
        path = write_report(guarantee, release, output, reason, account, "replace" if force else "fail")
    console().print(f"report     {path}")


def serve(
    port: Annotated[int, typer.Option(help="Of the page.", metavar="NUMBER")] = 8080,
    host: Annotated[str, typer.Option(help="Address; another than loopback asks for a token.")] = "127.0.0.1",
    folder: Annotated[
        list[Path] | None, typer.Option(help="Folder whose logs may be opened; may be given several times.")
    ] = None,
    upload_limit: Annotated[float, typer.Option(help="Largest upload, in GB.", metavar="NUMBER")] = 8,
    minutes_kept: Annotated[
        float, typer.Option(help="How long uploads are kept after the page is left.", metavar="NUMBER")
    ] = 15,
    ledger: LedgerFile = None,
    token: Annotated[
        bool, typer.Option("--token", help="Ask for a token on loopback too: others log in to this machine.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:
    """Open the local web page, from a log to a signed-off release. Works without internet. Ends with Ctrl-C.

    Example: travas serve --folder /data/logs
    """
    from .ledger import Ledger
    from .web.server import serve as serve_page
    from .web.settings import GIGABYTE, Settings, fresh_token

    limit = int(upload_limit * GIGABYTE) if math.isfinite(upload_limit) else 0
    secret = fresh_token() if token else ""
    settings = Settings(host, port, tuple(folder or ()), limit, minutes_kept, secret)
    book = Ledger(ledger) if ledger else Ledger.default()
    serve_page(settings, book, lambda: _ready(settings.address, no_open))


def _ready(address: str, no_open: bool) -> None:
    console().print(f"travas is at {address}  (Ctrl-C ends it)")
    if not no_open:
        import webbrowser

        webbrowser.open(address)
