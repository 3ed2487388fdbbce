"""The commands that make releases: `anonymize`, `synthesize` and `map` of one log, `release` and `init` of a project."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import ParameterError
from .console import console, phases, print_caution, print_json, progress, rows_of
from .options import (
    AsJson,
    Confidential,
    Force,
    HiddenJson,
    LogArgument,
    Quiet,
    changes,
    here,
    names_of,
    opt,
    with_settings,
)

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..pipeline import Outcome
    from ..releases.process_map import MapRelease
    from ..releases.release import Kind
    from ..releases.synthetic_log import SyntheticRelease
    from ..settings.project import Project
    from ..sources.doctor.diagnosis import LogDiagnosis

_COMMANDS: dict[Kind, str] = {"variants": "anonymize", "synthetic log": "synthesize", "process map": "map"}
_ALL = names_of("log", "reading", "privacy", "mechanism", "output", "account", "period", without=("folder", "every"))
_FIRST = ("epsilon", "delta", "output", "case", "activity", "timestamp", "unit", "max_cases", "dataset", "reason")

From = Annotated[
    Path | None,
    opt(
        "Write this release again, from its measurements: no log is read, nothing is charged.",
        "RELEASE",
        "--from",
        hidden=True,
    ),
]


@with_settings(_ALL, (*_FIRST, "mechanism"))
def anonymize(
    log: LogArgument = None,
    force: Force = False,
    confidential: Confidential = False,
    quiet: Quiet = False,
    as_json: HiddenJson = False,
    *,
    project: Project,
) -> None:
    """Write a differentially private release of the variants of an event log, and its guarantee file.

    For full traces of logs in which few cases are alike, see travas synthesize; for a process map, travas map.

    Example: travas anonymize hospital.xes.gz --epsilon 1 --delta 1e-6 -o release.xes.gz
    """
    _make("variants", log, project, force, as_json, confidential)


@with_settings(_ALL, (*_FIRST, "attributes"))
def synthesize(
    log: LogArgument = None,
    release: From = None,
    cases: Annotated[str | None, opt("With --from: number of cases. Default: as measured.", "N", hidden=True)] = None,
    seed: Annotated[
        str | None, opt("With --from: seed of the generation. Default: that of the release.", "NUMBER", hidden=True)
    ] = None,
    force: Force = False,
    confidential: Confidential = False,
    quiet: Quiet = False,
    as_json: HiddenJson = False,
    *,
    project: Project,
) -> None:
    """Write a synthetic log of full traces, generated from noisy measurements of a log, and its guarantee file.

    Traces may appear that are not in the log. Times are also generated if the log has a time column, and so are the named
    case attributes, within the same (ε, δ). The measurements are written beside the log: anyone can generate more from them.

    Examples: travas synthesize hospital.csv --epsilon 1 --delta 1e-6 -o synthetic.json ·
    travas synthesize hospital.csv --attributes sex --attributes age=20,40,60,80 --zone Europe/Berlin … ·
    travas synthesize --from synthetic.json --cases 10000 --seed 1 -o more.xes.gz
    """
    if release is None:
        if cases is not None or seed is not None:
            raise ParameterError("--cases and --seed require --from; make a release first, then generate from it")
        _make("synthetic log", log, project, force, as_json, confidential)
        return
    from ..trusted.numbers import typed_whole_number

    number, new_seed = typed_whole_number(cases, "cases"), typed_whole_number(seed, "seed")
    source = cast("SyntheticRelease", _verified(release, log, project, "synthetic log"))
    with progress("generating"):
        made = source.regenerate(cases=number, seed=source.seed if new_seed is None else new_seed)
    _write_again(made, release, project, force, as_json)


@with_settings(_ALL, (*_FIRST, "parts"))
def process_map(
    log: LogArgument = None,
    release: From = None,
    model: Annotated[
        str | None,
        opt(
            r"Also discover a model with pm4py's inductive miner and write it next to OUT. Needs travas\[models].",
            "bpmn|pnml|ptml",
            hidden=True,
        ),
    ] = None,
    force: Force = False,
    confidential: Confidential = False,
    quiet: Quiet = False,
    as_json: HiddenJson = False,
    *,
    project: Project,
) -> None:
    """Write a process map: in how many cases each activity directly follows another, with 95 % intervals.

    Activities that are too rare become one node, other. Logs with hundreds of activities: group them first, by
    --abstraction 'group:RULES.csv' or 'only:LIST.txt'. A .json map can be written in any other format later, with --from.

    Examples: travas map hospital.csv --epsilon 1 --delta 1e-6 --parts durations -o map.json ·
    travas map --from map.json -o map.html
    """
    from ..releases.process_map import map_release

    target = _model_file(model, project, force)
    if release is None:
        outcome = _make("process map", log, project, force, as_json, confidential)
        with outcome.after_release():
            _write_model(map_release(outcome.release), target, force, as_json)
        return
    made = map_release(_verified(release, log, project, "process map"))
    _write_again(made, release, project, force, as_json)
    _write_model(made, target, force, as_json)


def _make(kind: Kind, log: str | None, project: Project, force: bool, as_json: bool, confidential: bool) -> Outcome:
    """Make a release of a log and print it."""
    from ..explain import check_stated_cases
    from ..settings.project import OFFERED
    from .output import run_and_print

    if log is not None:
        project = here(project, {"log": log})
    if "mechanism" not in project.values:
        project = project.with_values({"mechanism": OFFERED[kind][0]})
    request = project.request()
    made = request.mechanism.kind
    if made != kind:
        raise ParameterError(
            f"mechanism is {project.stated('mechanism')!r}, which releases a {made}: use travas {_COMMANDS[made]}",
            field="mechanism",
        )
    cases = check_stated_cases(cast("int | None", project.values.get("stated_cases")))
    return run_and_print(replace(request, existing=_existing(force)), cases, as_json, confidential)


def _existing(force: bool) -> Existing:
    return "replace" if force else "fail"


# ------------------------------------------------------------------------------- a release written again, by `--from`


def _verified(release: Path, log: str | None, project: Project, kind: Kind) -> Any:
    """Open a `.json` release, or a synthetic log with its measurements beside it, and verify it."""
    from ..outputs.guarantee_file import guarantee_path
    from ..verification.opened import open_release
    from ..verification.verify import verify

    stated = ["the log"] if log is not None else [name for name in project.values if name not in ("output", "profile")]
    if stated:
        raise ParameterError(f"--from reads no log and charges nothing; remove {stated[0]}")
    project.required("output")
    with progress("verifying the release"):
        made = open_release(release)
        if made.mechanism.kind != kind:
            raise ParameterError(f"{release}: is not a {kind}; use the file of one", field="from")
        verify(guarantee_path(release), release)
    return made


def _write_again(made: Any, release: Path, project: Project, force: bool, as_json: bool) -> None:
    """Write what was made from a release, without overwriting any of its files, and print it. All of it is public."""
    from ..outputs.inputs import check_not_same
    from ..outputs.readme_file import release_files
    from ..outputs.write import write_release
    from ..releases.release import check_profile
    from .output import release_facts, show_release

    kind, output = made.mechanism.kind, project.path(project.required("output"))
    files = release_files(release, kind)
    check_not_same(release_files(output, kind), files, "release that is read, or one of its files")
    write_release(made, output, _existing(force), check_profile(project.stated("profile", "travas")))
    if as_json:
        print_json(release_facts(made, output, None))
    else:
        show_release(made, output, None)


def _model_file(model: str | None, project: Project, force: bool) -> Path | None:
    """Where the model goes; refuses a format or a missing extra before anything is read."""
    if model is None:
        return None
    from ..errors import check_choice
    from ..evaluation.pm4py_models import check_model
    from ..releases.process_map import ModelFormat

    check_choice(model, ModelFormat, "model")
    target = project.path(project.required("output")).with_suffix(f".{model}")
    check_model(target, _existing(force))
    return target


def _write_model(made: MapRelease, target: Path | None, force: bool, as_json: bool) -> None:
    if target is None:
        return
    if made.pairs:
        with progress("discovering the model"):
            made.model(target, _existing(force))
    if not as_json:
        console().print(f"model      {target if made.pairs else 'none: the map has no pairs'}")


# ------------------------------------------------------------------------------------------------------- projects

ProjectFile = Annotated[Path, typer.Argument(metavar="PROJECT", help="The project file.")]
Changes = Annotated[
    list[str] | None, opt("Set any setting: travas docs reference/settings; repeatable.", "KEY=VALUE", "--set")
]


def release(
    file: ProjectFile = Path("travas.toml"),
    period: Annotated[
        str | None,
        opt("The period: 2026-02, 2026-Q1, 2026-W07 … Default: the last whose grace period has passed.", "PERIOD"),
    ] = None,
    changed: Changes = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make the release of a project, or of one of its periods: release, guarantee, README, report and charge.

    A period that was released before is refused.

    Example: travas release travas.toml --period 2026-02
    """
    from ..settings.project import Project
    from ..settings.series import add_report, make_release
    from ..settings.table import BY_NAME
    from .output import print_charge, release_facts, show_release

    project = here(Project.load(file), changes(changed or (), BY_NAME))
    if period is not None:
        project = project.with_values({"period": period})
    with phases() as watch:
        made = make_release(project, watch, print_caution)
    with made.outcome.after_release():
        add_report(project, made)
        released, account = made.outcome.release, made.outcome.account
        parts = list(zip(made.outcome.releases, made.outcome.outputs, strict=True))
        files = {name: str(getattr(made, name)) for name in ("folder", "report", "readme")}
        if as_json:
            facts = release_facts(released, made.release, made.stated_cases, account)
            of_parts = [release_facts(*part, made.stated_cases) for part in parts if released.segment]
            print_json(facts | files | {"period": made.period} | ({"segments": of_parts} if of_parts else {}))
            return
        for part in parts:
            show_release(*part, made.stated_cases)
        console().print(rows_of([("period", made.period or "the whole log"), *files.items()]))
        if account is not None:
            print_charge(account)
        console().print(f"next       travas verify {shlex.quote(str(made.release))}; read and hand over {made.report}")


_QUESTIONS = {
    "dataset": "Name of the data set in the ledger. Everything that is released about the same people is added up under it.",
    "unit": "Column that identifies the person. Empty: one case is protected, not a person who has several.",
    "max_cases": "Maximum number of cases counted per person. Public; a larger number needs more noise.",
    "epsilon": "ε of one release. At ε = 1, whoever guesses whether a case was in the log is right in 73 % at best; at 2, 88 %.",
    "end_activity": "Activities that close a case, with semicolons. Then releases of different months cost once. Empty: one "
    "release of the whole log.",
    "reason": "Why these parameters are right. It is printed in the report.",
}
_DEFAULTS = {"epsilon": "1", "delta": "1e-6", "output": "release.xes.gz", "folder": "releases"}
_PERIODS = {"every": "month", "grace": "7d"}


def init(
    log: Annotated[str, typer.Argument(metavar="LOG", help="The event log, as for travas anonymize.")],
    output: Annotated[Path, opt("The project file.", "FILE", "--output", "-o")] = Path("travas.toml"),
    changed: Changes = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a project file, travas.toml, that describes releases completely.

    The doctor examines the log and proposes how to read it. In a terminal it asks five questions; with --set it asks none
    and takes defaults.

    Example: travas init hospital.csv --set dataset=hospital --set end_activity=discharge --set reason="Decided on 3 May."
    """
    from ..outputs.atomic import check_target
    from ..settings.project import Project
    from ..settings.table import BY_NAME
    from .log import examined, from_folder, is_only_read, print_findings, proposed

    check_target(output, _existing(force))
    stated = changes(changed or (), BY_NAME)
    project, diagnosis = Project(home=output.parent), None
    project = project.with_values({"log": from_folder(log, output), **stated})
    project.text()  # refuses a password before the log is opened
    if "://" not in log and not is_only_read(log):
        diagnosis = examined(log, Project().with_values(stated))
        project = project.with_values(proposed(diagnosis, stated))
    asks = sys.stdin.isatty() and not changed and not as_json and not quiet
    project = _answered(project, stated, diagnosis, asks)
    project.save(output, _existing(force))
    command = "travas release" + ("" if output == Path("travas.toml") else f" {shlex.quote(str(output))}")
    if as_json:
        findings = [] if diagnosis is None else diagnosis.as_json()["findings"]
        print_json({"project": str(output), "next": command, "confidential_findings": findings})
        return
    if diagnosis is not None:
        print_findings(diagnosis, ("choice", "problem"))
    dataset = shlex.quote(project.stated("dataset"))
    console().print(f"project    {output}")
    console().print(
        f"budget     travas budget create {dataset} --epsilon 1 --delta 1e-6, if the ledger does not have it"
    )
    console().print(f"next       read it, change it, then: {command}")


def _answered(project: Project, stated: dict[str, Any], diagnosis: LogDiagnosis | None, asks: bool) -> Project:
    """Complete a new project by defaults, and by questions if there is someone to ask."""
    name = Path(project.stated("log").partition("?")[0]).name.partition(".")[0] or "log"
    values: dict[str, Any] = {"dataset": name, **_DEFAULTS, **stated}
    for choice in diagnosis.choices if diagnosis is not None and asks else ():
        meanings = "; ".join(f"{value}: {meaning}" for value, meaning in choice.options)
        values[choice.name] = _ask(choice.name, f"The values are ambiguous. {meanings}.", choice.options[0][0])
    for question, explanation in _QUESTIONS.items() if asks else ():
        if question != "max_cases" or values.get("unit"):
            answer = _ask(question, explanation, str(values.get(question, "")))
            parts = tuple(part.strip() for part in answer.split(";") if part.strip())
            values[question] = parts if question == "end_activity" else answer or None
    if values.get("end_activity") or values.get("gap"):
        values = _PERIODS | values
    return project.with_values({name: value for name, value in values.items() if value})


def _ask(name: str, explanation: str, default: str) -> str:
    console().print(f"\n{explanation}")
    return str(typer.prompt(name, default=default, show_default=bool(default))).strip()
