"""The command `demo`: all three kinds of release of the built-in log, with pictures and one summary."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import OutputError
from ..releases.release import kind_of
from .console import Table, answer, phases
from .options import opt

if TYPE_CHECKING:
    from ..pipeline import Outcome

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
    _show(outcomes, output)


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
