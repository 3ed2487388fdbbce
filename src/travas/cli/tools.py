"""The commands without a log: `demo`, `docs`, the documentation of the package or the clone, and `serve`, the web app."""

from __future__ import annotations

import os
from pathlib import Path
from pydoc import pager
from typing import TYPE_CHECKING, Any, cast

import typer

from ..errors import MissingExtraError, OutputError, ParameterError, shown
from ..releases.release import kind_of
from .console import Table, answer, console, phases
from .options import arg, flag, opt, with_settings

if TYPE_CHECKING:
    from ..pipeline import Outcome
    from ..settings.project import Project
    from ..web.security import Access

FILES = {"variants": "demo-variants.xes.gz", "synthetic log": "demo-synthetic.xes.gz", "process map": "demo-map.json"}
"""The files of the demo by the kind of release. The examples of the documentation write none of these names."""


def demo(output: Path = opt("Directory for the files.", "DIR", "--output", "-o", default=Path("demo-release"))) -> None:
    """Make all three kinds of release of a built-in log at ε = 1, δ = 1e-6, and draw them. No real data are involved.

    Example: travas demo
    """
    from ..outputs.atomic import atomic_output
    from ..outputs.write import write_hospital_log
    from ..report.demo_page import demo_html, is_demo_page

    is_empty = output.is_dir() and not any(output.iterdir())
    if os.path.lexists(output) and not is_empty and not is_demo_page(output / "index.html"):
        raise OutputError(f"{output}: exists and is not an earlier demo; choose another directory", field="output")
    write_hospital_log(output / "hospital.csv")
    outcomes = _released(output)
    page = demo_html(outcomes[0].variants, *(cast(Any, outcome.release) for outcome in outcomes))
    # last: where it is, all files are of an earlier demo
    with atomic_output(output / "index.html", "replace") as partial:
        partial.write_text(page, encoding="utf-8", newline="\n")
    _show(output)


def _released(output: Path) -> list[Outcome]:
    """Make the releases. The demo touches no ledger, and no policy applies to the built-in log, whose data are made up."""
    from ..log.options import Times
    from ..mechanisms.process_map import ProcessMap
    from ..mechanisms.selection import Optimal
    from ..mechanisms.synthesis import Synthesis
    from ..pipeline import Request, run
    from ..sources.example_log import ExampleLog

    outcomes = []
    for rule in (
        Optimal(1, "1e-6"),
        Synthesis(1, "1e-6", times=Times()),
        ProcessMap(1, "1e-6", parts=("durations", "rework", "throughput")),
    ):
        with phases() as watch:
            target = output / FILES[kind_of(rule)]
            request = Request(ExampleLog(), rule, output=target, existing="replace", times="if recorded")
            outcomes.append(run(request, watch))
    return outcomes


def _show(output: Path) -> None:
    answer(
        False,
        {},
        Table(
            "Three releases of a hospital log of 4,000 stays, which is made up",
            [(kind, str(output / file)) for kind, file in FILES.items()],
            "green",
        ),
        "Anyone who has one of these files learns almost the same whether a given stay was in the log or not.",
        "How much is 'almost'? ε = 1, δ = 1e-6: travas docs choosing-epsilon-and-delta",
        "From a real log you would make only one of them, because what several releases reveal adds up.\n",
        f"look       {output / 'index.html'}",
        f"check      travas verify {output / FILES['variants']}",
        "your log   travas doctor LOG, then travas anonymize LOG; without a terminal: travas serve",
    )


# ------------------------------------------------------------------------------------------------------------ docs

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
    raise ParameterError(f"there is no page {shown(page)}; see the start page: travas docs", field="page")


# ----------------------------------------------------------------------------------------------------------- serve


@with_settings(("ledger",), ("ledger",), file=False)
def serve(
    port: int = opt("Port of the web app; 0 uses any free port.", "NUMBER", default=8080),
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
    try:
        from ..web.app import serve as serve_app
        from ..web.security import listener
    except ImportError:
        raise MissingExtraError("the web app", "web") from None

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

    with listener("127.0.0.1" if host == "localhost" else host, port) as opened:
        serve_app(opened, host == "localhost", project.ledger(), folder or (), archive, ready, renewed)


def has_browser() -> bool:
    """Whether there is a browser with windows. Browsers in a terminal do not run scripts, which the web app needs."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return "BROWSER" in os.environ or type(browser) is not webbrowser.GenericBrowser
