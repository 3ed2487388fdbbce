"""The command `docs`: opens the documentation that the package contains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import OutputError, ParameterError, shown
from .console import console
from .options import opt

SITE = Path(__file__).resolve().parents[1] / "site"
"""Where `make docs` puts the site; the wheel contains it."""


def docs(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="The page, such as unit or mechanisms/optimal.")
    ] = "index",
    path: Annotated[bool, opt("Print the path of the page instead of opening it.", None, "--path")] = False,
) -> None:
    """Open the documentation in a browser. It is part of the package and needs no internet.

    Example: travas docs choosing-epsilon-and-delta
    """
    from .serve_command import has_browser

    file = page_file(page)
    if path or not has_browser():
        typer.echo(file)
        return
    import webbrowser

    webbrowser.open(file.as_uri())
    console().print(f"opened {file}", soft_wrap=True)


def page_file(page: str) -> Path:
    """Return the file of a page of the documentation."""
    if not (SITE / "index.html").is_file():
        raise OutputError(
            "this installation does not contain the documentation; in a clone, run: make docs", field="page"
        )
    names = {file.relative_to(SITE).with_suffix("").as_posix(): file for file in SITE.rglob("*.html")}
    wanted = page.strip("/").removesuffix(".md").removesuffix(".html")
    for name in (wanted, f"{wanted}/index"):
        if name in names:
            return names[name]
    from difflib import get_close_matches

    near = get_close_matches(wanted, names, n=1, cutoff=0.3)
    hint = f"did you mean {near[0]}?" if near else "see the start page: travas docs"
    raise ParameterError(f"there is no page {shown(page)}; {hint}", field="page")
