"""The command `doctor`: everything about how a log can be read, at once. Its output is confidential."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import CONFIDENTIAL_HEADING
from ..sources.reading import Reading
from .console import console, grid, panel, print_json, progress
from .option_names import option_name
from .options import AsJson, LogArgument
from .reading_flags import with_reading

if TYPE_CHECKING:
    from ..sources.doctor.diagnosis import LogDiagnosis

_NOT_PROPOSED = (
    "Not proposed, because it must not be chosen by looking at the log: epsilon, delta, max-cases, bins, alphabets, "
    "groups."
)
_MARKS = {"fact": "", "choice": "choice", "problem": "problem"}


@with_reading
def doctor(log: LogArgument, as_json: AsJson = False, *, reading: Reading) -> None:
    """Examine a log and print the options that read it. The output is confidential; nothing is written or charged.

    Example: travas doctor export.csv
    """
    from ..sources.doctor.examination import doctor as examine

    with progress("examining the log"):
        diagnosis = examine(log, reading)
    if as_json:
        print_json(diagnosis.as_json())
    else:
        _show(diagnosis)


def _show(diagnosis: LogDiagnosis) -> None:
    table = grid()
    for finding in diagnosis.findings:
        option = f" (option {option_name(finding.field)})" if finding.field else ""
        table.add_row(finding.topic, finding.text + option, _MARKS[finding.level])
    panel(table, CONFIDENTIAL_HEADING, "yellow")
    out = console()
    if diagnosis.problems:
        out.print("Fix the problems above, or use the options that they name. Then:")
    lines, tables = diagnosis.command_lines(), diagnosis.toml()
    if tables == ("[reading]",):
        out.print("To release this log, no options of the reading are needed:")
        out.print(f"  {lines[0]}\n")
        out.print(_NOT_PROPOSED)
        return
    out.print("To release this log, choose one of:" if len(lines) > 1 else "To release this log:")
    for line in lines:
        out.print(f"  {line}")
    out.print()
    out.print("The same options work for all other commands. In travas.toml:")
    for text in tables:
        out.print(text)
        out.print()
    out.print(_NOT_PROPOSED)
