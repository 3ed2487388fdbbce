"""The command `docs`: the documentation that the package or the clone contains."""

from __future__ import annotations

from pathlib import Path
from pydoc import pager

import typer

from ..errors import ParameterError, shown
from .console import console
from .options import arg, flag

PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = ((PACKAGE / "site", ".html"), (PACKAGE / "docs", ".md"), (PACKAGE.parents[1] / "docs", ".md"))
"""Where `make docs` puts the site, which a wheel contains; else the pages as text, in a wheel without the site or a clone."""


def docs(
    page: str = arg("PAGE", "The page, such as unit or mechanisms/optimal.", "index"),
    path: bool = flag("Print the path of the page instead of opening it.", "--path"),
) -> None:
    """Open the documentation, in a browser or in the terminal. It is part of the package and needs no internet.

    Example: travas docs choosing-epsilon-and-delta
    """
    from .serve_command import has_browser

    file = page_file(page)
    if not path and file.suffix == ".md":
        pager(file.read_text(encoding="utf-8"))
    elif path or not has_browser():
        typer.echo(file)
    else:
        import webbrowser

        webbrowser.open(file.as_uri())
        console().print(f"opened {file}", soft_wrap=True)


def page_file(page: str) -> Path:
    """Return the file of a page of the documentation."""
    folder, suffix = next((each for each in FOLDERS if (each[0] / f"index{each[1]}").is_file()), FOLDERS[0])
    names = {file.relative_to(folder).with_suffix("").as_posix(): file for file in folder.rglob(f"*{suffix}")}
    wanted = page.strip("/").removesuffix(".md").removesuffix(".html")
    for name in (wanted, f"{wanted}/index"):
        if name in names:
            return names[name]
    if wanted.startswith("reference") and suffix == ".md":
        raise ParameterError(
            "the reference is part of the site only (in a clone: make docs); all settings: travas anonymize --help-all",
            field="page",
        )
    from difflib import get_close_matches

    near = get_close_matches(wanted, names, n=1, cutoff=0.3)
    hint = f"did you mean {near[0]}?" if near else "see the start page: travas docs"
    raise ParameterError(f"there is no page {shown(page)}; {hint}", field="page")
