"""The command `serve`: the local web app."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from .console import console
from .options import flag, opt, with_settings

if TYPE_CHECKING:
    from ..settings.project import Project
    from ..web.security import Access


@with_settings(("ledger",), ("ledger",), file=False)
def serve(
    port: str = opt("Port of the web app; 0 uses any free port.", "NUMBER", default="8080"),
    host: str = opt("localhost, under a name of its own, or an address of loopback.", "ADDRESS", default="localhost"),
    folder: list[Path] | None = opt("Folder with logs that may be opened; repeatable.", "FOLDER"),
    archive: Path | None = opt("Folder in which releases are kept. Default: next to the ledger.", "FOLDER"),
    no_open: bool = flag("Print the link instead of opening a browser.", "--no-open"),
    *,
    project: Project,
) -> None:
    """Start the local web app. It works offline; stop it with Ctrl-C.

    Example: travas serve --folder /data/logs
    """
    from ..trusted.numbers import typed_whole_number

    try:
        from ..web.app import serve as serve_app
        from ..web.security import listener
    except ImportError:
        raise MissingExtraError("the web app", "web") from None

    wanted = typed_whole_number(port, "port")
    is_shown = no_open or not has_browser()

    def ready(access: Access, opener: Path) -> None:
        """Print the link, or open a browser. Other users can see command lines, so the browser opens a file of the owner."""
        where = access.link if is_shown else f"{access.origin}/"
        console().print(f"travas is running at {where} (press Ctrl-C to stop)", soft_wrap=True)
        if not is_shown:
            import threading
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(opener.as_uri(),), daemon=True).start()
            console().print(f"If no browser opens, open {opener} in a browser, or use --no-open.", soft_wrap=True)

    def renewed(access: Access) -> None:
        if is_shown:
            console().print(f"The link has been used. For another browser: {access.link}", soft_wrap=True)

    with listener("127.0.0.1" if host == "localhost" else host, wanted) as opened:
        serve_app(opened, host == "localhost", project.ledger(), folder or (), archive, ready, renewed)


def has_browser() -> bool:
    """Whether there is a browser with windows. Browsers in a terminal do not run scripts, which the web app needs."""
    import os
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return "BROWSER" in os.environ or type(browser) is not webbrowser.GenericBrowser
