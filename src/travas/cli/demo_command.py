"""The command `demo`: all three kinds of release of the built-in log, with pictures and one summary."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import MissingExtraError, OutputError
from .console import Table, answer, console, phases

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..pipeline import Outcome

FILES = {"variants": "demo-variants.xes.gz", "synthetic log": "demo-synthetic.xes.gz", "process map": "demo-map.json"}
"""The files of the demo by the kind of release. The examples of the documentation write none of these names."""


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for the files.", metavar="DIR")] = Path(
        "demo-release"
    ),
) -> None:
    """Make all three kinds of release of a built-in log at ε = 1, δ = 1e-6, and draw them. No real data are involved.

    Example: travas demo
    """
    from ..outputs.atomic import check_target
    from ..outputs.write import write_hospital_log
    from ..report.demo_page import DemoPictures, demo_html, is_demo_page

    # The page is written last, into a folder without any of these files: where it is, they are of an earlier demo.
    existing: Existing = "replace" if is_demo_page(output / "index.html") else "fail"
    if output.is_dir():
        for target in _targets(output):
            if existing == "fail" and os.path.lexists(target):
                raise OutputError(f"{target}: already exists; choose another directory", field="output")
            check_target(target, existing)
    write_hospital_log(output / "hospital.csv")
    outcomes = _released(output, existing)
    pictures = DemoPictures.of(outcomes[0].variants, *(cast(Any, outcome.release) for outcome in outcomes))
    missing = ""
    try:
        for name, svg in pictures.files().items():
            _write(output / name, svg, existing)
    except MissingExtraError as error:
        missing = str(error)
    _write(output / "index.html", demo_html(pictures), existing)
    _show(outcomes, output)
    if missing:
        console().print(f"\nno SVG files: {missing}")


def _targets(output: Path) -> list[Path]:
    """Return all files that the demo writes, but the log."""
    from ..outputs.readme_file import release_files
    from ..report.demo_page import PICTURES

    releases = [path for name in FILES.values() for path in release_files(output / name)]
    return [*releases, *(output / name for name in PICTURES), output / "index.html"]


def _released(output: Path, existing: Existing) -> list[Outcome]:
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
            target = output / FILES[rule.kind]
            request = Request(ExampleLog(), rule, output=target, existing=existing, times="if recorded")
            outcomes.append(run(request, watch))
    return outcomes


def _write(path: Path, text: str, existing: Existing) -> None:
    from ..outputs.atomic import atomic_output

    with atomic_output(path, existing) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def _show(outcomes: list[Outcome], output: Path) -> None:
    variants, synthetic, mapped = (cast(Any, outcome.release) for outcome in outcomes)
    ways = f"{len(variants.variants):,} ways through the hospital that enough stays have in common"
    stays = f"{sum(synthetic.counts):,} generated stays with times: read totals and shares, not single stays"
    steps = f"in how many stays one activity directly follows another: {len(mapped.pairs):,} steps with 95 % intervals"
    rows = []
    for kind, words in zip(FILES, (ways, stays, steps), strict=True):
        rows += [(kind, str(output / FILES[kind])), ("", words)]
    answer(
        False,
        {},
        Table("Three releases of a hospital log of 4,000 stays, which is made up", rows, "green"),
        "Anyone who has one of these files learns almost the same whether a given stay was in the log or not.",
        "How much is 'almost'? ε = 1, δ = 1e-6: travas docs choosing-epsilon-and-delta",
        "From a real log you would make only one of them, because what several releases reveal adds up.\n",
        f"look       {output / 'index.html'}",
        f"check      travas verify {output / FILES['variants']}",
        "your log   travas doctor LOG, then travas anonymize LOG; without a terminal: travas serve",
    )
