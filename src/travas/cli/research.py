"""The research commands: `audit` tests the claim of a release of any tool, `experiment` runs a grid of releases. Confidential."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import CONFIDENTIAL_HEADING, CONFIDENTIAL_UNLESS_PUBLIC
from .console import Rows, Table, answer, named, progress
from .options import AS_JSON, COLUMNS, READING, arg, opt, with_settings

if TYPE_CHECKING:
    from ..evaluation.audit import Audit, Finding
    from ..settings.project import Project

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
    workers: str | None = opt("Number of processes. Default: all cores.", "NUMBER"),
    as_json: bool = AS_JSON,
) -> None:
    """Run a grid of logs × mechanisms × ε × δ. Resumes where it stopped. The results are confidential.

    Example: travas experiment experiments/paper.toml
    """
    from ..evaluation.experiment import experiment as run_experiment
    from ..evaluation.experiment import read_grid, summary
    from ..outputs.atomic import atomic_output
    from ..trusted.numbers import typed_whole_number

    processes = typed_whole_number(workers, "workers")
    wanted = read_grid(file, data)
    target = output or Path(file.name).with_suffix(".parquet")
    with progress("running the experiment") as watch:
        table = run_experiment(wanted, target, watch, processes)
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
