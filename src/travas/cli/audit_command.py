"""The command `audit`: tests whether a release of any tool contradicts its claim. Its output is confidential."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CONFIDENTIAL_HEADING
from ..sources.reading import Reading
from .console import console, grid, print_json, progress
from .options import AsJson, Delta, Epsilon
from .reading_flags import with_reading

if TYPE_CHECKING:
    from ..evaluation.audit import Audit, Finding

CONTRADICTED = 1
"""The exit code if the claim is contradicted."""


@with_reading
def audit(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The original log; the reading options apply to it.")
    ],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The released log of any tool.")],
    epsilon: Epsilon,
    delta: Delta,
    canaries: Annotated[
        str | None,
        typer.Option(
            help="A log of made-up cases, each of a different variant and each added to the original log with probability 1/2.",
            metavar="LOG",
        ),
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(help="A column whose values are public, so that they may reappear; repeatable.", metavar="COLUMN"),
    ] = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
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
            epsilon=epsilon,
            delta=delta,
            reading=reading,
            canaries=canaries,
            public=tuple(public or ()),
        )
    if as_json:
        print_json(result.as_json() | {"confidential": True})
    else:
        _show(result)
    if result.contradictions:
        raise typer.Exit(CONTRADICTED)


def _show(result: Audit) -> None:
    out = console()
    out.print(CONFIDENTIAL_HEADING, style="bold yellow")
    for finding in result.findings:
        table = grid()
        table.add_row("assumed", finding.null)
        for name, words in _words(finding, result):
            table.add_row(name, words)
        out.print(finding.name, style="bold")
        out.print(table)
    out.print(result.verdict, style="bold red" if result.contradictions else "bold")


def _words(finding: Finding, result: Audit) -> list[tuple[str, str]]:
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
