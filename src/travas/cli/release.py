"""The commands that release a log, one for each kind of release: `anonymize`, `synthesize` and `map`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import ParameterError
from ..releases.release import kind_of
from ..settings.table import SECTIONS
from .console import answer, phases, print_caution, progress
from .options import CONFIDENTIALLY, FORCE, HIDDEN_JSON, existing, names_of, opt, with_settings

if TYPE_CHECKING:
    from ..releases.release import Kind
    from ..releases.synthetic_log import SyntheticRelease
    from ..settings.project import Project

_COMMANDS: dict[Kind, str] = {"variants": "anonymize", "synthetic log": "synthesize", "process map": "map"}
_ALL = ("log", *names_of(*SECTIONS, without=("folder", "every")))
_FIRST = ("epsilon", "delta", "output", "case", "activity", "timestamp", "unit", "max_cases", "dataset", "reason")

FROM = opt("Write this release again: no log is read, nothing is charged.", "RELEASE", "--from", hidden=True)


@with_settings(_ALL, (*_FIRST, "mechanism"))
def anonymize(
    force: bool = FORCE, as_json: bool = HIDDEN_JSON, confidential: bool = CONFIDENTIALLY, *, project: Project
) -> None:
    """Write a differentially private release of the variants of an event log, and its guarantee file.

    For full traces of logs in which few cases are alike, see travas synthesize; for a process map, travas map.

    Example: travas anonymize hospital.xes.gz --epsilon 1 --delta 1e-6 -o release.xes.gz
    """
    _make("variants", project, force, as_json, confidential)


@with_settings(_ALL, (*_FIRST, "attributes"))
def synthesize(
    release: Path | None = FROM,
    cases: int | None = opt("With --from: number of cases. Default: as measured.", "N", hidden=True),
    seed: int | None = opt("With --from: seed of the generation. Default: that of the release.", "N", hidden=True),
    force: bool = FORCE,
    as_json: bool = HIDDEN_JSON,
    confidential: bool = CONFIDENTIALLY,
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
        _make("synthetic log", project, force, as_json, confidential)
        return
    source = cast("SyntheticRelease", _verified(release, project, "synthetic log"))
    with progress("generating"):
        made = source.regenerate(cases=cases, seed=source.seed if seed is None else seed)
    _write_again(made, release, project, force, as_json)


@with_settings(_ALL, (*_FIRST, "parts"))
def process_map(
    release: Path | None = FROM,
    force: bool = FORCE,
    as_json: bool = HIDDEN_JSON,
    confidential: bool = CONFIDENTIALLY,
    *,
    project: Project,
) -> None:
    """Write a process map: in how many cases each activity directly follows another, with 95 % intervals.

    Activities that are too rare become one node, other. Logs with hundreds of activities: group them first, by
    --abstraction 'group:RULES.csv' or 'only:LIST.txt'. A .json map can be written in any other format later, with --from.

    Examples: travas map hospital.csv --epsilon 1 --delta 1e-6 --parts durations -o map.json ·
    travas map --from map.json -o map.html
    """
    if release is None:
        _make("process map", project, force, as_json, confidential)
    else:
        _write_again(_verified(release, project, "process map"), release, project, force, as_json)


def _make(kind: Kind, project: Project, force: bool, as_json: bool, confidential: bool) -> None:
    """Make a release of a log and print it; if asked for, also the size of the log."""
    from ..pipeline import run
    from ..settings.project import OFFERED
    from .output import print_size, show_outcome

    if "mechanism" not in project.values:
        project = project.with_values({"mechanism": OFFERED[kind][0]})
    request = replace(project.request(), existing=existing(force))
    made = kind_of(request.mechanism)
    if made != kind:
        raise ParameterError(
            f"mechanism is {project.stated('mechanism')!r}, which releases a {made}: use travas {_COMMANDS[made]}",
            field="mechanism",
        )
    cases = project.stated_cases
    with phases() as watch:
        outcome = run(request, watch, print_caution)
    with outcome.after_release():
        show_outcome(outcome, cases, as_json, {})
        if confidential:
            print_size(outcome.variants)


# ------------------------------------------------------------------------------- a release written again, by `--from`


def _verified(release: Path, project: Project, kind: Kind) -> Any:
    """Open a `.json` release, or a synthetic log with its measurements beside it, and verify it."""
    from ..outputs.guarantee_file import guarantee_path
    from ..verification.opened import open_release
    from ..verification.verify import verify

    if stated := [name for name in project.values if name != "output"]:
        raise ParameterError(f"--from reads no log and charges nothing; remove {stated[0]}")
    project.required("output")
    with progress("verifying the release"):
        made = open_release(release)
        if kind_of(made.mechanism) != kind:
            raise ParameterError(f"{release}: is not a {kind}; use the file of one", field="from")
        verify(guarantee_path(release), release)
    return made


def _write_again(made: Any, release: Path, project: Project, force: bool, as_json: bool) -> None:
    """Write what was made from a release, without overwriting any of its files, and print it. All of it is public."""
    from ..outputs.inputs import check_not_same
    from ..outputs.readme_file import release_files
    from ..outputs.write import write_release
    from .output import release_facts, release_table

    kind, output = kind_of(made.mechanism), project.path(project.required("output"))
    files = release_files(release, kind)
    check_not_same(release_files(output, kind), files, "the release that is read, or one of its files")
    write_release(made, output, existing(force))
    facts = release_facts(made, output, None)
    answer(as_json, facts, release_table(made, facts))
