"""The commands that measure the original log, or a release of it: `forecast`, `compare`, `audit`, `experiment`. Confidential."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import CONFIDENTIAL_HEADING, CONFIDENTIAL_UNLESS_PUBLIC, ParameterError
from ..releases.release import name_of
from .console import Rows, Table, answer, named, phases, progress
from .options import AS_JSON, COLUMNS, READING, arg, names_of, opt, with_settings

if TYPE_CHECKING:
    from ..evaluation.audit import Audit, Finding
    from ..mechanisms.mechanism import Mechanism
    from ..settings.project import Project


# -------------------------------------------------------------------------------------------------------- forecast


@with_settings(
    names_of("log", "reading", "privacy", "mechanism", "rules", without=("epsilon", "delta", "guarantee")),
    ("mechanism", "unit", "max_cases", "stated_cases"),
)
def forecast(
    log: str | None = arg("LOG", "Forecast for this log (confidential). Default: for any log.", None),
    epsilon: list[str] | None = opt("ε; with a log repeatable. Default with a log: 0.5, 1, 2, 4.", "NUMBER"),
    delta: list[str] | None = opt("δ; with a log repeatable. Default with a log: 1e-4, 1e-6, 1e-8.", "NUMBER"),
    abstractions: str | None = opt("With a log: the abstractions to compare, from fine to coarse.", "LIST"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Show what each kind of release at (ε, δ) would keep, and when to use which: variants, ladder, synthetic log, map.

    With a log it shows the shares of its cases and variants that a release of variants would keep; then the output is
    confidential. By case count of a variant: travas verify --epsilon --delta.

    Examples: travas forecast --epsilon 1 --delta 1e-6 --stated-cases 5000 · travas forecast hospital.xes.gz
    """
    from ..evaluation.forecast import ABSTRACTIONS, DELTAS, EPSILONS

    cases = project.stated_cases
    if log is None:
        for name in {*project.values} & {*READING} - {"unit", "max_cases"}:
            raise ParameterError(f"{name} requires a log; pass one, or remove {name}", field=name)
        if {*project.values} & {*names_of("mechanism", "rules")}:
            raise ParameterError("kinds of release are compared with default options; remove the mechanism")
        if abstractions or not (epsilon and delta and len(epsilon) == len(delta) == 1):
            raise ParameterError("kinds of release require one --epsilon and one --delta, without --abstractions")
        _of_kinds(as_json, project, epsilon[0], delta[0], cases)
        return
    with progress("building and verifying the noise tables"):
        stated = [{"epsilon": e, "delta": d} for e in epsilon or EPSILONS for d in delta or DELTAS]
        rules = [project.with_values(parameters).mechanism() for parameters in stated]
    _of_log(as_json, log, project, rules, abstractions or ABSTRACTIONS, _weak(rules, cases))


def _weak(rules: Iterable[Mechanism], cases: int | None) -> list[str]:
    """The reasons against some parameters, each once."""
    from ..explain import weak_protection

    reasons = (weak_protection(rule.epsilon, rule.delta, cases, rule.unit.noun) for rule in rules)
    return list(dict.fromkeys(chain.from_iterable(reasons)))


def _of_log(
    as_json: bool, log: str, project: Project, rules: list[Mechanism], abstractions: str, weak: list[str]
) -> None:
    """The expected shares of the original log. Confidential."""
    from ..evaluation.forecast import LOOKING, SHARES, forecast
    from ..trusted.numbers import as_text

    with progress("reading the log"):
        expected = forecast(log, rules, abstractions, project.reading())
    cells = [
        {"epsilon": as_text(cell.epsilon), "delta": as_text(cell.delta), "abstraction": str(cell.abstraction)}
        | {share: float(getattr(cell, share)) for share in SHARES}
        for cell in expected.cells
    ]
    tables = []
    for what in SHARES:
        head, *rows = expected.shares(what)
        tables.append(Table(f"Expected share of the {what} kept", rows, "yellow", head))
    facts = {"confidential": True, "expected": cells, "warning": LOOKING, "warnings": weak}
    answer(as_json, facts, CONFIDENTIAL_HEADING, *tables, *weak, LOOKING)


def _of_kinds(as_json: bool, project: Project, epsilon: str, delta: str, cases: int | None) -> None:
    """What each kind of release can do at (ε, δ)."""
    from ..evaluation.forecast import advice, mechanisms, outlook
    from ..explain import numbers

    with progress("building and verifying the noise"):
        made = mechanisms(epsilon, delta, project.reading().privacy_unit)
        views, rule = {each: outlook(one, cases) for each, one in made.items()}, made["variants"]
        words = [*advice(made, cases), *_weak([rule], cases)]
    kinds = [{"kind": each, "mechanism": name_of(made[each]), "facts": list(found)} for each, found in views.items()]
    facts = {"confidential": False, "epsilon": epsilon, "delta": delta, "kinds": kinds, "advice": words}
    rows = [row for each, found in views.items() for row in named(each, found)]
    answer(as_json, facts, Table(f"Kinds of release at {numbers(rule.epsilon, rule.delta)}", rows), *words)


# --------------------------------------------------------------------------------------------------------- compare


@with_settings(READING, COLUMNS)
def compare(
    original: str = arg("ORIGINAL", "The original log; the settings of the reading apply to it."),
    released: str = arg("RELEASED", "The released log, or a .json release."),
    metrics: list[str] | None = opt("Compute only this metric; repeatable. See: travas docs metrics.", "NAME"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Measure how much of a log is preserved. The output is confidential, because the original log is read.

    Example: travas compare hospital.xes.gz release.xes.gz
    """
    from ..evaluation.compare import COUNTS, HALVES
    from ..evaluation.compare import compare as compare_logs

    with phases() as watch:
        comparison = compare_logs(original, released, metrics or None, reading=project.reading(), watch=watch)
    words: Rows = []
    for name, text, floor in comparison.facts():
        words += named(name, [text, f"halves: {floor}"] if floor else [text])
    numbers = Table("", comparison.numbers(), head=("metric", "released", "halves", "meaning"))
    notes = named("counts", [COUNTS[comparison.frequencies]] if comparison.frequencies else [])
    notes += named("note", comparison.remarks)
    if comparison.halves is not None:
        notes.append(("halves", f"{HALVES.lower()}, compared with each other: differences of that size are chance"))
    facts = comparison.as_json() | {"confidential": True, "remarks": list(comparison.remarks)}
    answer(as_json, facts, CONFIDENTIAL_HEADING, numbers, Table("", words), Table("", notes))


# -------------------------------------------------------------------------------------------------------- research

CONTRADICTED = 1
"""The exit code if the claim is contradicted."""


@with_settings(("epsilon", "delta", *READING), ("epsilon", "delta", *COLUMNS))
def audit(
    original: str = arg("ORIGINAL", "The original log; the settings of the reading apply to it."),
    released: str = arg("RELEASED", "The released log of any tool."),
    canaries: str | None = opt("Made-up cases, each of its own variant, each added with probability 1/2.", "LOG"),
    public: list[str] | None = opt("A column whose values are public: they may reappear; repeatable.", "COLUMN"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Test whether a release contradicts its claim of (ε, δ). The output is confidential, because the original log is read.

    It never says that a release is private. The exit code is 1 if the claim is contradicted, 0 if no contradiction was
    found, and 2 if the audit could not be made.

    Example: travas audit hospital.xes.gz released.csv --epsilon 1 --delta 1e-6
    """
    from ..evaluation.audit import audit as audit_release

    with progress("testing the release"):
        result = audit_release(
            original,
            released,
            epsilon=project.required("epsilon"),
            delta=project.required("delta"),
            reading=project.reading(),
            canaries=canaries,
            public=tuple(public or ()),
        )
    tables = [Table(finding.name, [("assumed", finding.null), *_words(finding, result)]) for finding in result.findings]
    answer(as_json, result.as_json() | {"confidential": True}, CONFIDENTIAL_HEADING, *tables, result.verdict)
    if result.contradictions:
        raise typer.Exit(CONTRADICTED)


def _words(finding: Finding, result: Audit) -> Rows:
    if finding.reason:
        return [("not tested", finding.reason)]
    needed = finding.needed(result.level)
    power = (
        "none: no observation would contradict the claim"
        if needed is None
        else f"{needed:,} of {finding.candidates:,} would contradict the claim"
    )
    verdict = "contradicts the claim" if finding in result.contradictions else "no contradiction"
    return [("found", finding.observed), ("p-value", f"{finding.p_value:.2g}: {verdict}"), ("power", power)]


def experiment(
    file: Path = arg("GRID.toml", "The grid to run; see: travas docs experiments."),
    output: Path | None = opt("Results file. Default: GRID.parquet.", "FILE.parquet", "--output", "-o"),
    data: Path | None = opt("Folder of the logs. Default: as set in the grid.", "DIR"),
    workers: int | None = opt("Number of processes. Default: all cores.", "NUMBER"),
    as_json: bool = AS_JSON,
) -> None:
    """Run a grid of logs × mechanisms × ε × δ. Resumes where it stopped. The results are confidential.

    Example: travas experiment experiments/paper.toml
    """
    from ..evaluation.experiment import experiment as run_experiment
    from ..evaluation.experiment import read_grid, summary
    from ..outputs.atomic import atomic_output

    wanted = read_grid(file, data)
    target = output or Path(file.name).with_suffix(".parquet")
    with progress("running the experiment") as watch:
        table = run_experiment(wanted, target, watch, workers)
    means = target.with_suffix(".summary.csv")
    with atomic_output(means, "replace") as partial:
        summary(wanted, table).write_csv(partial)
    failed = table.filter(table["error"].is_not_null())
    causes = (
        failed.group_by("label", "error", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    )
    facts = {"results": str(target), "summary": str(means), "runs": len(table), "failed": len(failed)}
    rows = [
        ("results", str(target)),
        ("means", f"{means}, with 95 % intervals"),
        ("runs", f"{len(table):,}, {len(failed):,} of them failed and count as empty releases"),
        *named("failed", [f"{times:,} × {label}: {error}" for label, error, times in causes.head(5).iter_rows()]),
    ]
    answer(as_json, facts | {"confidential": True}, Table(CONFIDENTIAL_UNLESS_PUBLIC, rows, "yellow"))
