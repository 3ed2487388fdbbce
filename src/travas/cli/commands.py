"""The commands `report` and `serve`."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ParameterError
from .console import console, progress
from .options import LedgerFile, PolicyFile, SignedOffBy, StatedCases

if TYPE_CHECKING:
    from ..web.entrance import Entrance


def report(
    guarantee: Annotated[Path, typer.Argument(metavar="GUARANTEE", help="OUT.guarantee.json")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release that the guarantee file is about.")],
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

    Example: travas report release.json.guarantee.json release.json -o report.html --reason "Decided on 3 May"
    """
    from ..budget.policy import Policy
    from ..report.report_file import write_report
    from .budget_command import existing_ledger

    if ledger is not None and dataset is None:
        raise ParameterError("--ledger requires --dataset; also set --dataset NAME")
    account = None if dataset is None else existing_ledger(ledger).account(dataset)
    with progress("verifying the release"):
        path = write_report(
            guarantee, release, output, reason, account, "replace" if force else "fail", stated_cases,
            Policy.applying(policy), signed_off_by,
        )  # fmt: skip
    console().print(f"report     {path}")


def serve(
    port: Annotated[int, typer.Option(help="Port of the web app; 0 uses any free port.", metavar="NUMBER")] = 8080,
    host: Annotated[str, typer.Option(help="Address to bind; the network can reach all but loopback.")] = "127.0.0.1",
    folder: Annotated[list[Path] | None, typer.Option(help="Folder with logs that may be opened; repeatable.")] = None,
    upload_limit: Annotated[float, typer.Option(help="Largest upload, in GB.", metavar="NUMBER")] = 8,
    minutes_kept: Annotated[
        float, typer.Option(help="How long uploads are kept after the page is closed.", metavar="NUMBER")
    ] = 15,
    ledger: LedgerFile = None,
    archive: Annotated[
        Path | None,
        typer.Option(help="Folder in which releases are kept; by default beside the ledger.", metavar="FOLDER"),
    ] = None,
    max_sessions: Annotated[
        int, typer.Option(help="Maximum number of concurrent browser sessions.", metavar="NUMBER")
    ] = 20,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link instead of opening a browser.")] = False,
) -> None:
    """Start the local web app. It works offline; stop it with Ctrl-C.

    Example: travas serve --folder /data/logs
    """
    from ..budget.ledger import Ledger
    from ..web.server import serve as serve_page
    from ..web.settings import GIGABYTE, Settings, listening

    limit = int(upload_limit * GIGABYTE) if math.isfinite(upload_limit) else 0
    host = "127.0.0.1" if host == "localhost" else host  # a browser might ask the other localhost, which is IPv6
    book = Ledger(ledger) if ledger else Ledger.default()
    with listening(host, port) as listener:
        used = listener.getsockname()[1]
        settings = Settings(host, used, tuple(folder or ()), limit, minutes_kept, max_sessions)
        no_open = no_open or not has_browser()
        serve_page(settings, listener, book, archive, partial(_ready, no_open), partial(_renewed, no_open))


def has_browser() -> bool:
    """Whether there is a browser with windows. Those of a terminal have no scripts, and the web app needs them."""
    import os
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    return "BROWSER" in os.environ or type(found) is not webbrowser.GenericBrowser


def _ready(no_open: bool, entrance: Entrance) -> None:
    """Print the link and open a browser. Other users can see command lines, so the browser opens a private file."""
    where = entrance.link if no_open else entrance.address
    console().print(f"travas is running at {where} (press Ctrl-C to stop)", soft_wrap=True)
    if not no_open:
        import threading
        import webbrowser

        address = entrance.file.as_uri()
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some wait until it is closed
        console().print(f"If no browser opens, open {entrance.file} in a browser, or use --no-open.", soft_wrap=True)


def _renewed(no_open: bool, entrance: Entrance) -> None:
    if no_open:
        console().print(f"The link has been used. For another browser: {entrance.link}", soft_wrap=True)
