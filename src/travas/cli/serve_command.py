"""The command `serve`: the local web app."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import console
from .options import with_settings

if TYPE_CHECKING:
    from ..settings.project import Project
    from ..web.entrance import Entrance


@with_settings(("ledger",), ("ledger",), file=False)
def serve(
    port: Annotated[str, typer.Option(help="Port of the web app; 0 uses any free port.", metavar="NUMBER")] = "8080",
    host: Annotated[
        str,
        typer.Option(
            help="Address to bind; any address other than loopback is reachable from the network.", metavar="ADDRESS"
        ),
    ] = "127.0.0.1",
    folder: Annotated[
        list[Path] | None, typer.Option(help="Folder with logs that may be opened; repeatable.", metavar="FOLDER")
    ] = None,
    upload_limit: Annotated[float, typer.Option(help="Maximum size of an upload, in GB.", metavar="NUMBER")] = 8,
    minutes_kept: Annotated[
        float, typer.Option(help="Minutes for which uploads are kept after the page is closed.", metavar="NUMBER")
    ] = 15,
    archive: Annotated[
        Path | None,
        typer.Option(help="Folder in which releases are kept. Default: next to the ledger.", metavar="FOLDER"),
    ] = None,
    max_sessions: Annotated[
        str, typer.Option(help="Maximum number of concurrent browser sessions.", metavar="NUMBER")
    ] = "20",
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link instead of opening a browser.")] = False,
    *,
    project: Project,
) -> None:
    """Start the local web app. It works offline; stop it with Ctrl-C.

    Example: travas serve --folder /data/logs
    """
    from ..trusted.numbers import typed_whole_number
    from ..web.server import serve as serve_page
    from ..web.settings import GIGABYTE, Settings, listening

    wanted, sessions = typed_whole_number(port, "port"), typed_whole_number(max_sessions, "max_sessions")
    limit = int(upload_limit * GIGABYTE) if math.isfinite(upload_limit) else 0
    host = "127.0.0.1" if host == "localhost" else host  # a browser might use the IPv6 address of localhost
    book = project.ledger()
    with listening(host, wanted) as listener:
        used = listener.getsockname()[1]
        settings = Settings(host, used, tuple(folder or ()), limit, minutes_kept, sessions)
        no_open = no_open or not has_browser()
        serve_page(settings, listener, book, archive, partial(_ready, no_open), partial(_renewed, no_open))


def has_browser() -> bool:
    """Whether there is a browser with windows. Browsers in a terminal do not run scripts, which the web app needs."""
    import os
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return "BROWSER" in os.environ or type(browser) is not webbrowser.GenericBrowser


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
