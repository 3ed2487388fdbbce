"""The command `inspect`: size and shape of the original log. Its output is confidential."""

from __future__ import annotations

from dataclasses import asdict

from ..errors import CONFIDENTIAL_HEADING
from ..explain import counted_per
from ..sources.reading import Reading
from .console import grid, panel, print_json, print_notes, progress
from .options import AsJson, LogArgument
from .reading_flags import with_reading


@with_reading
def inspect_log(
    log: LogArgument,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Show size and shape of the original log. The output is confidential; do not publish it.

    Example: travas inspect hospital.xes.gz
    """
    from ..sources.engine import read

    with progress("reading the log") as watch:
        variants = read(log, reading, watch)
    facts = asdict(variants.summary())
    if as_json:
        unit = {"unit": variants.unit.name, "max_cases": variants.unit.max_cases, "counted": variants.counted}
        print_json(facts | unit | {"confidential": True, "notes": list(variants.notes)})
        return
    table = grid()
    if not variants.unit.is_case:
        table.add_row("counted", counted_per(variants.unit, variants.counted))
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), f"{value:.1%}" if isinstance(value, float) else f"{value:,}")
    panel(table, CONFIDENTIAL_HEADING, "yellow")
    print_notes(variants)
