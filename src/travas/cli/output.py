"""What a command prints about a release: public facts, and confidential ones only if asked for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import explain
from ..errors import CONFIDENTIAL, CONFIDENTIAL_HEADING, number_of
from ..outputs.guarantee_file import guarantee_path
from ..releases.release import Kind, Release, ReleasedLog, VariantRelease, counted_of, kind_of
from ..report.decision import decision_on
from ..trusted.guarantee import Standing
from ..trusted.numbers import as_text, rounded_up
from .console import Rows, Table, answer, named

if TYPE_CHECKING:
    from ..budget.account import Account
    from ..log.log import Log
    from ..pipeline import Outcome
    from ..releases.synthetic_log import SyntheticRelease

_NAMES: dict[Kind, str] = {"variants": "Released", "synthetic log": "Synthetic log", "process map": "Process map"}


def show_outcome(outcome: Outcome, cases: int | None, as_json: bool, files: dict[str, Any], report: str = "") -> None:
    """Print what was released, where further files are, what was charged, and what to do next."""
    made = zip(outcome.releases, outcome.outputs, strict=True)
    facts = [release_facts(released, output, cases, outcome.account) for released, output in made]
    parts: list[Table | str] = list(map(release_table, outcome.releases, facts))
    parts.append(Table("", [(name, str(value or "the whole log")) for name, value in files.items()]))
    if outcome.account is not None:
        parts += _charge(outcome.account)
    name = shlex.quote(str(outcome.outputs[0]))
    handed_over = report or f"for the data protection officer: travas report {name} -o report.html"
    if outcome.release.guarantee.standing is not Standing.NOT_ESTABLISHED:
        parts.append(f"next       travas verify {name}; {handed_over}")
    segments = {"segments": facts} if outcome.release.segment else {}
    answer(as_json, facts[0] | files | segments, *parts)


def log_size(log: Log) -> Rows:
    """Return the size of an original log, with a unit as far as it is counted. Confidential."""
    rows: Rows = [] if log.unit.is_case else [("counted", explain.counted_per(log.unit, log.counted))]
    for name, value in asdict(log.summary()).items():
        rows.append((name.replace("_", " "), f"{value:.1%}" if isinstance(value, float) else f"{value:,}"))
    return rows


def print_size(log: Log) -> None:
    """Print the size of the original log and what was left out, on standard error."""
    lines = [f"{name}: {value}" for name, value in log_size(log)]
    print(CONFIDENTIAL_HEADING, *lines, *(f"{CONFIDENTIAL} {note}" for note in log.notes), sep="\n", file=sys.stderr)


def release_facts(released: Release, output: Path, cases: int | None, account: Account | None = None) -> dict[str, Any]:
    """Return the facts of a release of any kind for `--json`. All of them are public."""
    guarantee, content, decision = released.guarantee, cast(Any, released), decision_on(released, cases)
    numbers = (
        {"variants": len(content.variants), "cases": sum(content.counts)}
        if isinstance(released, ReleasedLog)
        else {"activities": len(content.activities), "pairs": len(content.pairs)}
    )
    state = account and {"dataset": account.dataset, "releases": len(account.entries), "state": account.remainder}
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        **({"segment": released.segment} if released.segment else {}),
        "kind": kind_of(released.mechanism),
        **numbers,
        "content": list(map(str, decision.content)),
        "notes": list(decision.missing),
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": rounded_up(guarantee.delta_spent),
        "standing": str(guarantee.standing),
        "unit": guarantee.unit.name,
        "max_cases": guarantee.unit.max_cases,
        "warnings": list(decision.warnings),
        "ledger": state,
    }


def release_table(released: Release, facts: Mapping[str, Any]) -> Table:
    """Return what the screen shows of a release of any kind. All of it is public."""
    guarantee, mechanism = released.guarantee, released.mechanism
    rows = [
        *((name, facts[name]) for name in ("segment", "release", "guarantee") if name in facts),
        *named("content", facts["content"]),
        *named("note", facts["notes"]),
        *_more_rows(released),
        ("privacy", explain.in_a_phrase(guarantee)),
        *named("warning", facts["warnings"]),
    ]
    if not guarantee.unit.is_case:
        rows.append(("counted", explain.counted_per(guarantee.unit, counted_of(mechanism))))
    rows += named("assumed", guarantee.assumptions)
    about, colour = (", with warnings", "yellow") if facts["warnings"] else ("", "green")
    if guarantee.standing is Standing.NOT_ESTABLISHED:
        about, colour = " WITHOUT a guarantee", "red"
    return Table(f"{_NAMES[kind_of(mechanism)]}{about}", rows, colour)


def _charge(account: Account) -> list[Table | str]:
    charged_releases = f"{number_of(len(account.entries), 'releases')}, in total {account.total}"
    name = account.dataset or "none (counted by location)"
    rows = [("data set", name), ("charged", charged_releases), ("budget", account.remainder)]
    only_here = (
        "note: without a data set name, only releases of this file are added up; "
        "set dataset if other files are about the same people"
    )
    return [Table("Ledger", rows), *([only_here] if account.dataset is None and len(account.entries) == 1 else [])]


# ------------------------------------------------------------------------------------------------ by kind of release


def _more_rows(released: Release) -> Rows:
    """What only one kind of release has: its rungs, or what is known about generated times and attributes."""
    if isinstance(released, VariantRelease) and released.is_abstracted:
        times = [(rule, released.rungs.count(rung)) for rung, rule in enumerate(released.abstractions)]
        return named("abstraction", [f"{rule}: {number_of(n, 'variants')}" for rule, n in times if n])
    if kind_of(released.mechanism) != "synthetic log":
        return []
    made = cast("SyntheticRelease", released)
    nothing = "nothing: generated again from measurements that were released before"
    return [
        *explain.details_in_words(made.quality()),
        *named("charged", [nothing] if made.generation == "again" else []),
    ]
