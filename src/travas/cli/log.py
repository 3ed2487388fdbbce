"""The commands that examine the original log: `doctor`, `forecast` and `compare`. What they print of it is confidential."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import CONFIDENTIAL, CONFIDENTIAL_HEADING, ParameterError, number_of
from .console import bar, console, grid, panel, percent, phases, print_json, progress
from .options import AsJson, Force, LogArgument, here, names_of, opt, with_settings

if TYPE_CHECKING:
    from ..evaluation.compare import Comparison
    from ..evaluation.forecast import Chance, Forecast
    from ..evaluation.kinds import Trial
    from ..log.log import Log
    from ..mechanisms.mechanism import Mechanism
    from ..settings.project import Project
    from ..sources.doctor.diagnosis import LogDiagnosis
    from ..sources.reading import Reading

_NOT_PROPOSED = (
    "Not proposed, because it must not be chosen by looking at the log: epsilon, delta, max_cases, edges of attributes, "
    "alphabets, groups."
)
READING = names_of("log", "reading")
COLUMNS = ("case", "activity", "timestamp", "unit", "max_cases")


# ---------------------------------------------------------------------------------------------------------- doctor


@with_settings(READING, COLUMNS)
def doctor(
    log: LogArgument = None,
    output: Annotated[
        Path | None, opt("Write the settings that were found to this project.", "FILE", "--output", "-o")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    *,
    project: Project,
) -> None:
    """Examine a log, print how it is read and how large it is, and the next command. The output is confidential.

    Nothing is charged. With -o, the settings that were found are written to a project file.

    Example: travas doctor export.csv -o travas.toml
    """
    from ..outputs.atomic import check_target

    project = project if log is None else here(project, {"log": log})
    source = project.source
    if output is not None:
        check_target(output, "replace" if force else "fail")
    read_log, diagnosis = _read(source, examined(source, project))
    if output is not None:
        from ..settings.project import Project as Draft

        known = {name: value for name, value in project.values.items() if name != "log"}
        found = {"log": from_folder(source, output), **proposed(diagnosis, known)}
        Draft(known, output.parent).with_values(found).save(output, "replace" if force else "fail")
    if as_json:
        size = None if read_log is None else _size(read_log)
        print_json(diagnosis.as_json() | {"size": size, "project": None if output is None else str(output)})
        return
    if read_log is not None:
        _print_size(read_log)
    print_findings(diagnosis, ("fact", "choice", "problem"))
    _next_step(diagnosis, output)


def examined(source: str, project: Project) -> LogDiagnosis:
    """Examine a log, as far as a project does not say how it is read."""
    from ..sources.doctor.diagnosis import LogDiagnosis, Observation
    from ..sources.doctor.examination import doctor as examine
    from ..sources.files import without_secrets

    reading = project.with_values(dict.fromkeys(name for name in project.values if name not in READING)).reading()
    if is_only_read(source):
        note = Observation("source", "of standard input and Spark the size alone is shown; set the columns yourself")
        return LogDiagnosis(without_secrets(source), (note,), reading)
    with progress("examining the log"):
        return examine(source, reading)


def is_only_read(source: str) -> bool:
    """Whether the doctor does not examine a source: standard input and Spark."""
    return source == "-" or source.startswith("spark:")


def from_folder(log: str, file: Path) -> str:
    """Return a log as a file in this folder refers to it: a relative path starts from the file's folder."""
    is_path = "://" not in log and not log.startswith("spark:") and log != "-"
    return os.path.relpath(log, file.absolute().parent) if is_path and not Path(log).is_absolute() else log


def proposed(diagnosis: LogDiagnosis, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the doctor proposes to read a log, as values of settings; nothing that is stated or left open."""
    from ..sources.doctor.diagnosis import settings_of

    left_open = {choice.name for choice in diagnosis.choices}
    return {
        name: "tab" if value == "\t" else value
        for name, value in settings_of(diagnosis.reading)
        if name not in left_open and name not in stated
    }


def _read(source: str, diagnosis: LogDiagnosis) -> tuple[Log | None, LogDiagnosis]:
    """Read the log as it is proposed; if it cannot be read like that, this is one more problem."""
    from ..errors import TravasError
    from ..sources.doctor.diagnosis import Observation
    from ..sources.engine import read

    if diagnosis.problems:
        return None, diagnosis
    try:
        with progress("reading the log") as watch:
            return read(source, diagnosis.reading, watch), diagnosis
    except TravasError as error:
        if is_only_read(source):
            raise
        problem = Observation("reading", str(error), "problem", error.field)
        return None, replace(diagnosis, findings=(*diagnosis.findings, problem))


def _size(log: Log) -> dict[str, Any]:
    facts = {"unit": log.unit.name, "max_cases": log.unit.max_cases, "counted": log.counted}
    return asdict(log.summary()) | facts | {"notes": list(log.notes)}


def _print_size(log: Log) -> None:
    from ..explain import counted_per

    rows = [] if log.unit.is_case else [("counted", counted_per(log.unit, log.counted))]
    for name, value in asdict(log.summary()).items():
        rows.append((name.replace("_", " "), f"{value:.1%}" if isinstance(value, float) else f"{value:,}"))
    panel(rows, CONFIDENTIAL_HEADING, "yellow")
    for note in log.notes:
        console().print(f"{CONFIDENTIAL} {note}")


def print_findings(diagnosis: LogDiagnosis, levels: tuple[str, ...]) -> None:
    """Print what the doctor found. Confidential."""
    rows = []
    for finding in diagnosis.findings:
        if finding.level in levels:
            option = f" (option --{finding.field.replace('_', '-')})" if finding.field else ""
            rows.append((finding.topic, finding.text + option, "" if finding.level == "fact" else finding.level))
    if rows:
        panel(rows, CONFIDENTIAL_HEADING, "yellow")


def _next_step(diagnosis: LogDiagnosis, output: Path | None) -> None:
    """Print the command that releases this log."""
    out = console()
    if diagnosis.problems:
        out.print("Fix the problems above, or use the options that they name. Then:")
    lines = diagnosis.command_lines()
    if output is not None:
        out.print(f"project    {output}")
        for choice in diagnosis.choices:
            meanings = "; ".join(f"{value}: {meaning}" for value, meaning in choice.options)
            out.print(f"choose     {choice.name}, which the values leave open ({meanings})")
        lines = (f"travas anonymize --project {shlex.quote(str(output))} --epsilon 1 --delta 1e-6 -o release.xes.gz",)
    needed = "" if output is not None or " --" in lines[0].partition(" --epsilon")[0] else "; no options are needed"
    out.print(f"next       to release this log{', choose one of' if len(lines) > 1 else ''}{needed}:")
    for line in lines:
        out.print(f"  {line}")
    out.print("\nA synthetic log of full traces: travas synthesize; a process map: travas map; the same options.")
    out.print(_NOT_PROPOSED)


# -------------------------------------------------------------------------------------------------------- forecast


@with_settings(
    names_of("log", "reading", "privacy", "mechanism", without=("epsilon", "delta", "guarantee")),
    ("mechanism", "unit", "max_cases", "stated_cases"),
)
def forecast(
    log: Annotated[
        str | None, typer.Argument(metavar="LOG", help="Forecast for this log (confidential). Default: for any log.")
    ] = None,
    epsilon: Annotated[list[str] | None, opt("ε; repeatable. Default with a log: 0.5, 1, 2, 4.", "NUMBER")] = None,
    delta: Annotated[list[str] | None, opt("δ; repeatable. Default with a log: 1e-4, 1e-6, 1e-8.", "NUMBER")] = None,
    abstractions: Annotated[
        str | None, opt("With a log: the abstractions to compare, from fine to coarse.", "LIST")
    ] = None,
    kinds: Annotated[
        bool, opt("Compare kinds of release: variants, ladder, synthetic log, map.", None, "--kinds")
    ] = False,
    stated_activities: Annotated[
        str | None, opt("With --kinds: approximate number of activities. Never counted.", "N")
    ] = None,
    as_json: AsJson = False,
    *,
    project: Project,
) -> None:
    """Show what a release at (ε, δ) would keep, by case count of a variant. The output is confidential only with a log.

    Supports only the mechanisms optimal and travas: what others keep depends on more than the case count. With --kinds it
    compares variants, a ladder, a synthetic log and a process map instead, and says when to use which.

    Examples: travas forecast --epsilon 1 --delta 1e-6 · travas forecast hospital.xes.gz ·
    travas forecast --kinds --epsilon 1 --delta 1e-6 --stated-cases 5000
    """
    from .. import explain
    from ..evaluation.forecast import ABSTRACTIONS, DELTAS, EPSILONS, chances
    from ..evaluation.forecast import forecast as forecast_log
    from ..trusted.numbers import typed_whole_number

    cases = explain.check_stated_cases(cast("int | None", project.values.get("stated_cases")))
    activities = typed_whole_number(stated_activities, "stated_activities")
    if log is None:
        for name in (*READING, "abstractions" if abstractions is not None else "log"):
            if name == "abstractions" or (name in project.values and name not in ("unit", "max_cases", "log")):
                raise ParameterError(f"{name} requires a log; pass one, or remove {name}", field=name)
    if kinds:
        if any(name in names_of("mechanism") for name in project.values):
            raise ParameterError("--kinds compares mechanisms with their default options; remove the mechanism")
        if len(epsilon or ()) != 1 or len(delta or ()) != 1 or abstractions is not None:
            raise ParameterError("--kinds requires one --epsilon and one --delta, without --abstractions")
        _compare_kinds(log, (epsilon or [""])[0], (delta or [""])[0], cases, activities, project.reading(), as_json)
        return
    if activities is not None:
        raise ParameterError("the number of activities is used by --kinds only; remove --stated-activities")
    if log is None and (not epsilon or not delta):
        raise ParameterError("--epsilon and --delta are required without a log")
    with progress("building and verifying the noise tables"):
        stated = [{"epsilon": e, "delta": d} for e in epsilon or EPSILONS for d in delta or DELTAS]
        rules = [project.with_values(parameters).mechanism() for parameters in stated]
    reasons = (explain.weak_protection(rule.epsilon, rule.delta, cases, rule.unit.noun) for rule in rules)
    weak = list(dict.fromkeys(why for parts in reasons for why in parts))
    if log is None:
        _show_chances([(rule, chances(rule)) for rule in rules], weak, as_json)
    else:
        from ..sources.engine import read

        with progress("reading the log") as watch:
            variants = read(log, project.reading(), watch)
        _show_forecast(forecast_log(variants, rules, abstractions or ABSTRACTIONS), weak, as_json)


def _show_chances(curves: list[tuple[Mechanism, list[Chance]]], weak: list[str], as_json: bool) -> None:
    """Print keep probability and interval by case count. Not confidential, because no log is read."""
    from .. import explain
    from ..trusted.numbers import as_text

    if as_json:
        shown = []
        for rule, points in curves:
            facts = {"mechanism": rule.name, "epsilon": as_text(rule.epsilon), "delta": as_text(rule.delta)}
            kept = [{"cases": at.cases, "kept": float(at.kept), "interval": [at.low, at.high]} for at in points]
            shown.append(facts | {"chances": kept})
        print_json({"confidential": False, "forecast": shown, "warnings": weak})
        return
    console().print("Probability that a variant is released, and the 95 % interval of its number of cases if it is")
    console().print()
    for rule, points in curves:
        rows = []
        for at in points:
            text = f"{percent(float(at.kept))}, {at.low:,} to {at.high:,}"
            rows.append((number_of(at.cases, "cases"), bar(float(at.kept)), text))
        panel(rows, f"{rule.name} at ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}", "cyan")
        for line in explain.meaning(rule.epsilon, rule.delta, rule.unit.noun):
            console().print(line)
        console().print()
    for line in weak:
        console().print(line)


def _show_forecast(forecast: Forecast, weak: list[str], as_json: bool) -> None:
    """Print the expected shares of the original log. Confidential."""
    from rich.table import Table

    from ..evaluation.forecast import LOOKING, WHATS
    from ..trusted.numbers import as_text

    if as_json:
        shares = ("cases", "variants", "events")
        cells = [
            {"epsilon": as_text(cell.epsilon), "delta": as_text(cell.delta), "abstraction": str(cell.abstraction)}
            | {share: float(getattr(cell, share)) for share in shares}
            for cell in forecast.cells
        ]
        print_json({"confidential": True, "expected": cells, "warning": LOOKING, "warnings": weak})
        return
    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    for what in WHATS:
        table = Table(box=None, title=f"Expected share of the {what} kept", title_justify="left")
        head, *rows = forecast.shares(what)
        for column in head:
            table.add_column(column, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        out.print(table)
    out.print()
    for line in (*weak, LOOKING):
        out.print(line)


def _compare_kinds(
    log: str | None,
    epsilon: str,
    delta: str,
    stated_cases: int | None,
    stated_activities: int | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Print what each kind of release can do at (ε, δ), and, confidentially, how it performs on a log."""
    from .. import explain
    from ..evaluation.forecast import LOOKING
    from ..evaluation.kinds import advice, mechanisms, outlooks, trials
    from ..trusted.numbers import as_text

    with progress("building and verifying the noise"):
        made = mechanisms(epsilon, delta, reading.privacy_unit)
        views = outlooks(made, stated_cases)
        rule = views[0].mechanism
        weak = explain.weak_protection(rule.epsilon, rule.delta, stated_cases, rule.unit.noun)
        words = (*advice(made, stated_cases, stated_activities), *weak)
    with progress("trying each kind of release on the log"):
        tried = [] if log is None else trials(log, made, reading)
    if as_json:
        facts: dict[str, Any] = {"confidential": log is not None, "epsilon": epsilon, "delta": delta}
        facts["kinds"] = [
            {"kind": view.alternative, "mechanism": view.mechanism.name, "facts": list(view.facts)} for view in views
        ]
        facts["advice"] = list(words)
        if tried:
            facts["trials"] = {trial.alternative: trial.facts for trial in tried}
        print_json(facts)
        return
    rows = [("" if index else view.alternative, fact) for view in views for index, fact in enumerate(view.facts)]
    panel(rows, f"Kinds of release at ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}", "cyan")
    for sentence in words:
        console().print(sentence)
    if tried:
        console().print()
        _show_trials(tried)
        console().print(LOOKING)


def _show_trials(tried: list[Trial]) -> None:
    rows: list[tuple[str, str, str]] = []
    for trial in tried:
        facts = trial.facts
        if trial.alternative == "process map":
            kept = f"{facts['kept_mass']:.1%} of the directly-follows mass has its pair in the map"
            rows.append((trial.alternative, f"numbers off by {facts['count_error']:.1%}", kept))
            continue
        similar = "not computed, too many variants" if facts["similarity"] is None else f"{facts['similarity']:.3f}"
        kept = f"{facts['case_coverage']:.1%} of the cases have a released variant"
        number = number_of(int(facts["variants"] or 0), "variants")
        rows.append((trial.alternative, f"similarity {similar}", f"{kept}; {number}"))
    panel(rows, f"{CONFIDENTIAL_HEADING} (means of runs with seeded noise; nothing was released or charged)", "yellow")


# --------------------------------------------------------------------------------------------------------- compare


@with_settings(READING, COLUMNS)
def compare(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The original log; the settings of the reading apply to it.")
    ],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The released log, or a .json release.")],
    metrics: Annotated[
        list[str] | None, opt("Compute only this metric; repeatable. See: travas docs metrics.", "NAME")
    ] = None,
    as_json: AsJson = False,
    *,
    project: Project,
) -> None:
    """Measure how much of a log is preserved. The output is confidential, because the original log is read.

    Example: travas compare hospital.xes.gz release.xes.gz
    """
    from ..evaluation.compare import compare as compare_logs

    with phases() as watch:
        comparison = compare_logs(original, released, metrics or None, reading=project.reading(), watch=watch)
    if as_json:
        print_json(comparison.as_json() | {"confidential": True, "remarks": list(comparison.remarks)})
    else:
        _show_comparison(comparison)


def _show_comparison(comparison: Comparison) -> None:
    """Print a comparison as a table: each metric with its value and meaning. Confidential."""
    from rich.table import Table

    from ..evaluation.compare import HALVES, Comparison, find_metric, in_one_line

    floor, words = comparison.halves or Comparison({}), grid()
    for name, text in comparison.in_words().items():
        words.add_row(name, text)
        if name in floor.in_words():
            words.add_row("", f"{HALVES.lower()}: {floor.in_words()[name]}")
    if comparison.process_map is not None:
        panel(words, CONFIDENTIAL_HEADING, "yellow")
        return
    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    table = Table(box=None)
    for column in ("", "released", "halves"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    table.add_column("")
    for name, value in comparison.values.items():
        if shown := in_one_line(value):
            table.add_row(name.replace("_", " "), shown, in_one_line(floor.values.get(name)), find_metric(name).meaning)
    out.print(table)
    if floor.values:
        out.print(f"halves: {HALVES.lower()}, compared with each other: differences of that size are chance")
    if "top_variants" in comparison.values:
        table = Table(title="Most frequent variants", title_justify="left", box=None)
        for column in ("original", "released"):
            table.add_column(column, justify="right", no_wrap=True, min_width=8)
        table.add_column("variant", overflow="ellipsis", no_wrap=True)
        for trace, count, other in comparison.values["top_variants"]:
            table.add_row(f"{count:,}", f"{other:,}", " → ".join(map(str, trace)))
        out.print()
        out.print(table)
    if comparison.counts_in_words:
        out.print(f"counts of the release: {comparison.counts_in_words}")
    for remark in comparison.remarks:
        out.print(f"note: {remark}")
    if comparison.details is not None:
        out.print("\nTimes and attributes", words)
