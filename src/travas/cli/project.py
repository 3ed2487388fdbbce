"""The commands of projects: `doctor` and `init` write one for a log, `release` makes its releases."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import CONFIDENTIAL, CONFIDENTIAL_HEADING, ParameterError, TravasError
from ..settings.table import BY_NAME, SECTIONS
from ..trusted.numbers import as_text, exact, exact_epsilon
from .console import Table, answer, console, is_quiet, phases, print_caution, progress
from .options import (
    AS_JSON,
    COLUMNS,
    FORCE,
    QUIET,
    READING,
    SET,
    arg,
    changes,
    existing,
    here,
    names_of,
    opt,
    with_settings,
)

if TYPE_CHECKING:
    from ..log.log import Log
    from ..settings.project import Project
    from ..sources.doctor.diagnosis import LogDiagnosis

_NOT_PROPOSED = (
    "Not proposed, because it must not be chosen by looking at the log: epsilon, delta, max_cases, edges of attributes, "
    "alphabets, groups."
)
_BEGIN = {"epsilon": "1", "delta": "1e-6", "output": "release.xes.gz"}
"""What a new project begins with, whatever the log is."""


@with_settings(("log", *names_of(*SECTIONS)), COLUMNS)
def doctor(
    output: Path | None = opt("Write a project with what was found, for travas release.", "FILE", "--output", "-o"),
    force: bool = FORCE,
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Examine a log, print how it is read and how large it is, and the next command. The output is confidential.

    Nothing is charged. With -o, the settings that were found or stated are written to a project file; its ε and δ do
    not depend on the log: change them before the release.

    Examples: travas doctor export.csv -o travas.toml ·
    travas doctor export.csv -o travas.toml --dataset hospital --end-activity discharge --reason "Decided on 3 May."
    """
    _diagnose(project, output, force, as_json)


@with_settings(names_of(*SECTIONS), COLUMNS)
def init(
    log: str = arg("LOG", "The event log, as for travas anonymize."),
    output: Path = opt("The project file.", "FILE", "--output", "-o", default=Path("travas.toml")),
    force: bool = FORCE,
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Write a project file: travas doctor -o, after five questions in a terminal if no setting is stated.

    Example: travas init hospital.csv --set dataset=hospital --set reason="Decided on 3 May."
    """
    from ..outputs.atomic import check_target

    if sys.stdin.isatty() and not (project.values or as_json or is_quiet()):
        check_target(output, existing(force))
        project = _asked(project)
    _diagnose(here(project, {"log": log}), output, force, as_json)


_QUESTIONS = ("dataset", "unit", "max_cases", "epsilon", "end_activity", "reason")


def _asked(project: Project) -> Project:
    """Complete a new project by questions; the person and the largest number of cases are one."""
    for name in _QUESTIONS:
        if name != "max_cases" or "unit" in project.values:
            console().print(f"\n{BY_NAME[name].help}")
            project = _answered(project, name)
    return project


def _answered(project: Project, name: str) -> Project:
    """The project with the answer to a question, which is asked until the answer is valid."""
    while True:
        given = str(typer.prompt(name, default=_BEGIN.get(name, ""), show_default=name in _BEGIN)).strip()
        parts = tuple(part.strip() for part in given.split(";") if part.strip())
        try:
            answered = project.with_values({name: parts if name == "end_activity" else given or None})
            if name == "epsilon":
                exact_epsilon(answered.required(name))
            _ = (answered.with_values({"max_cases": 1}) if name == "unit" and given else answered).unit
            return answered
        except ParameterError as error:
            console().print(str(error))


def _diagnose(project: Project, output: Path | None, force: bool, as_json: bool) -> None:
    """Examine the log of a project, print what was found and, if there is an output, write the project with it."""
    from ..outputs.atomic import check_target
    from ..pipeline import unmatched
    from ..settings.series import with_period
    from .output import log_size

    if output is not None:
        check_target(output, existing(force))
        project.text()  # refuses a password before the log is opened
    read_log, diagnosis = _read(project, _examined(project))
    draft = _draft(project, diagnosis, output or Path("travas.toml"))
    reading = with_period(draft).reading()  # refuses periods without a rule that closes a case
    if output is not None:
        draft.save(output, existing(force))
    facts = diagnosis.as_json() | {"command_lines": [*_commands(project, diagnosis)]}
    facts |= {"project": output and str(output), "next": output and _release_command(output)}
    facts["size"], parts = None, list[Table | str]()
    if read_log is not None:
        unit = {"unit": read_log.unit.name, "max_cases": read_log.unit.max_cases, "counted": read_log.counted}
        facts["size"] = asdict(read_log.summary()) | unit | {"notes": list(read_log.notes)}
        parts += [Table(CONFIDENTIAL_HEADING, log_size(read_log), "yellow")]
        parts += [f"{CONFIDENTIAL} {note}" for note in (*read_log.notes, *unmatched(reading, read_log))]
    answer(as_json, facts, *parts, *_found(diagnosis, draft, output, facts["command_lines"]), _NOT_PROPOSED)


def release(
    file: Path = arg("PROJECT", "The project file. Default: travas.toml.", Path("travas.toml")),
    period: str | None = opt("The period, such as 2026-02. Default: the last whose grace period has passed.", "PERIOD"),
    changed: list[str] | None = SET,
    quiet: bool = QUIET,
    as_json: bool = AS_JSON,
) -> None:
    """Make the release of a project, or of one of its periods: release, guarantee, README, report and charge.

    A period that was released before is refused.

    Example: travas release travas.toml --period 2026-02
    """
    from ..outputs.readme_file import release_files
    from ..settings.project import Project
    from ..settings.series import make_release
    from .output import show_outcome

    stated = changes(changed or (), BY_NAME) | ({} if period is None else {"period": period})
    project = here(Project.load(file), stated)
    with phases() as watch:
        made = make_release(project, watch, print_caution)
    with made.outcome.after_release():
        report, [readme, *_] = made.reports[0], release_files(made.outcome.outputs[0])
        files = {"period": made.period, "folder": str(made.folder), "report": str(report), "readme": str(readme)}
        show_outcome(made.outcome, project.stated_cases, as_json, files, f"read and hand over {report}")


# ------------------------------------------------------------------------------------------------ what the doctor finds


def _examined(project: Project) -> LogDiagnosis:
    """Examine a log, as far as a project does not say how it is read."""
    from ..sources.doctor.examination import doctor as examine

    reading = project.with_values(dict.fromkeys(name for name in project.values if name not in READING)).reading()
    with progress("examining the log"):
        return examine(project.source, reading)


def _read(project: Project, diagnosis: LogDiagnosis) -> tuple[Log | None, LogDiagnosis]:
    """Read the log as it is proposed; if it cannot be read like that, this is one more problem."""
    from ..sources.doctor.diagnosis import Observation
    from ..sources.engine import read

    if diagnosis.problems:
        return None, diagnosis
    try:
        with progress("reading the log") as watch:
            return read(project.source, diagnosis.reading, watch), diagnosis
    except TravasError as error:
        problem = Observation("reading", str(error), "problem")
        return None, replace(diagnosis, findings=(*diagnosis.findings, problem))


def _draft(project: Project, diagnosis: LogDiagnosis, file: Path) -> Project:
    """A project in this file: what is set, and how the doctor proposes to read the log, but for what the values leave open."""
    moved = project.moved(file.parent)
    periods = {"every": "month", "grace": "7d"} if {"end_activity", "gap"} & set(project.values) else {}
    return moved.with_values({**_BEGIN, **periods, **diagnosis.settings, **moved.values})


def _release_command(project: Path) -> str:
    return "travas release" + ("" if project == Path("travas.toml") else f" {shlex.quote(str(project))}")


def _commands(project: Project, diagnosis: LogDiagnosis) -> Iterator[str]:
    """The command that releases this log, but for what must not be chosen by looking at it; one for each open choice."""
    from ..sources.files import without_secrets

    for chosen in [{name: value} for name, values in diagnosis.choices.items() for value in values] or [{}]:
        command = ["travas", "anonymize", without_secrets(project.source)]
        for name, value in (diagnosis.settings | chosen).items():
            for each in value if isinstance(value, tuple) else (value,):
                command += [BY_NAME[name].flag, each]
        yield f"{shlex.join(command)} --epsilon EPSILON --delta DELTA -o OUT"


def _found(diagnosis: LogDiagnosis, draft: Project, file: Path | None, lines: Sequence[str]) -> Iterator[Table | str]:
    """What the doctor found, which is confidential, and how this log is released."""
    rows = []
    for finding in diagnosis.findings:
        rows.append((finding.topic, finding.text, "" if finding.level == "fact" else finding.level))
    yield Table(CONFIDENTIAL_HEADING, rows, "yellow")
    before = "fix the problems above, or use the options that they name; then " if diagnosis.problems else ""
    if file is None:
        yield f"next       {before}release this log{', by one of' if len(lines) > 1 else ''}:"
        yield from (f"  {line}" for line in lines)
        yield "\nA synthetic log of full traces: travas synthesize; a process map: travas map; the same options."
        return
    if "mechanism" not in draft.values:
        yield "kinds      where few cases are alike, little is released: travas forecast compares the kinds of release"
    yield f"project    {file}"
    for name in diagnosis.choices.keys() - draft.values.keys():
        meanings = "; ".join(f"{value}: {meaning}" for value, meaning in diagnosis.choices[name].items())
        yield f"choose     {name}, which the values leave open ({meanings})"
    if dataset := draft.stated("dataset"):
        limits = (f"--{name} {as_text(4 * exact(draft.required(name), name))}" for name in ("epsilon", "delta"))
        budget = f"travas budget create {shlex.quote(dataset)} {' '.join(limits)}"
        yield f"budget     {budget}, if the ledger does not have it: four such releases"
    yield f"next       {before}read it, change it, then: {_release_command(file)}"
