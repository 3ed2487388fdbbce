"""The command `init`: writes a project file."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CONFIDENTIAL_HEADING
from ..project.project_options import FILE_NAME, Values
from ..sources.log_location import url_scheme
from .console import console, grid, panel, print_json, progress
from .options import AsJson, Force, Quiet
from .project_flags import ProjectPath, with_project_options

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..sources.doctor.diagnosis import LogDiagnosis


@with_project_options("log")
def init(
    log: Annotated[str, typer.Argument(metavar="LOG", help="The event log, as for travas anonymize.")],
    project: ProjectPath = Path(FILE_NAME),
    no_doctor: Annotated[bool, typer.Option("--no-doctor", help="Do not examine the log.")] = False,
    no_questions: Annotated[
        bool, typer.Option("--no-questions", help="Use flags and defaults, and ask nothing.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    flags: Values,
) -> None:
    """Write a commented project file, travas.toml, that describes releases completely.

    The doctor examines the log and proposes how to read it. In a terminal a few questions are asked, each with a
    default; otherwise flags and defaults are used.

    Example: travas init hospital.csv --dataset hospital --end-activity discharge --grace 7d
    """
    import os

    from ..budget.policy import Policy
    from ..outputs.atomic import atomic_output, check_target
    from ..project.init_questions import answered, proposed
    from ..project.project_file import check_no_password, environment_values, template

    existing: Existing = "replace" if force else "fail"
    check_target(project, existing)
    check_no_password(project, {"log": log, **flags})
    asks = sys.stdin.isatty() and not no_questions and not as_json
    variables = environment_values(os.environ)
    check_no_password(project, {name: text for name, text in variables.items() if name != "log"})
    stated = {**variables, **flags, "log": log if _is_url(log) else _from_folder(log, project)}
    diagnosis = None if no_doctor or _is_url(log) else _examined(log, stated)
    known = {} if diagnosis is None else proposed(diagnosis)
    for choice in diagnosis.choices if diagnosis is not None and asks else ():
        if choice.name not in stated:
            meanings = "; ".join(f"{value}: {meaning}" for value, meaning in choice.options)
            known[choice.name] = _ask(f"The values are ambiguous. {meanings}.", choice.name, choice.options[0][0])
    if "ladder" in stated:
        known["mechanism"] = "ladder"
    values = answered(str(stated["log"]), {**known, **stated}, _ask if asks else None)
    if "policy" not in stated and Policy.of_organisation() is not None:
        del values["policy"]  # that of the organisation applies
    with atomic_output(project, existing) as partial:
        partial.write_text(template(values), encoding="utf-8", newline="\n")
    has_periods = "end_activity" in values or "gap" in values
    following = f"travas release --project {project}"
    if as_json:
        findings = [] if diagnosis is None else diagnosis.as_json()["findings"]
        print_json(
            {"project": str(project), "periods": has_periods, "next": following, "confidential_findings": findings}
        )
        return
    if diagnosis is not None:
        _show_findings(diagnosis)
    console().print(f"project    {project}")
    console().print(f"next       read it, change it, then: {following}")
    if "dataset" in values and "ledger" not in values:
        name = shlex.quote(str(values["dataset"]))
        console().print(
            f"budget     if the ledger does not have it yet: travas budget create {name} --epsilon 1 --delta 1e-6"
        )
    if not has_periods:
        console().print(
            "note: without [period], every release is about all cases, and releases add up (travas docs periods)"
        )


def _from_folder(log: str, project: Path) -> str:
    """Return the path of a log relative to the folder of the project file; an absolute path stays as it is."""
    import os

    return log if Path(log).is_absolute() else os.path.relpath(log, project.absolute().parent)


def _is_url(log: str) -> bool:
    return url_scheme(log) is not None or log == "-"


def _examined(log: str, stated: Values) -> LogDiagnosis:
    """Examine a log, as far as it is not stated how to read it."""
    from ..project.project_file import Project
    from ..sources.doctor.examination import doctor

    with progress("examining the log"):
        return doctor(log, Project(stated, Path()).reading(None))


def _show_findings(diagnosis: LogDiagnosis) -> None:
    """Print what the doctor found that needs a decision. Confidential."""
    open_points = [finding for finding in diagnosis.findings if finding.level != "fact"]
    if not open_points:
        return
    table = grid()
    for finding in open_points:
        table.add_row(finding.topic, finding.text, finding.level)
    panel(table, CONFIDENTIAL_HEADING, "yellow")


def _ask(explanation: str, question: str, default: str) -> str:
    console().print()
    console().print(explanation)
    return str(typer.prompt(question, default=default, show_default=bool(default)))
