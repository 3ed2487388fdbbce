"""How a command makes a release, and what it prints about one: public facts, and confidential ones only if asked for."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import explain
from ..budget.account import Account
from ..errors import CONFIDENTIAL, CONFIDENTIAL_HEADING, number_of
from ..log.log import Log
from ..mechanisms.ladder import generalises, rungs_of
from ..outputs.guarantee_file import guarantee_path
from ..pipeline import Outcome, Request, run
from ..releases.release import Kind, Release, VariantRelease, about_timestamps
from ..trusted.guarantee import Guarantee, Standing
from ..trusted.numbers import as_text, rounded_up
from .console import console, panel, phases, print_caution, print_json

if TYPE_CHECKING:
    from ..releases.process_map import MapNode, MapRelease
    from ..releases.synthetic_log import SyntheticRelease

Rows = list[tuple[str, str]]

SHOWN_PAIRS = 12
"""The number of pairs of a map in the table on the screen; the file has all."""

_IN_FILE = {
    "estimated": ", without what is not released",
    "spread": ", for similarity studies: each count has a share of what is not released",
    "noisy": "",
}


def run_and_print(request: Request, stated_cases: int | None, as_json: bool, confidential: bool) -> Outcome:
    """Make a release with an output; print it, what was charged and, if asked for, what is confidential."""
    with phases() as watch:
        outcome = run(request, watch, print_caution)
    with outcome.after_release():
        made, account = list(zip(outcome.releases, outcome.outputs, strict=True)), outcome.account
        if as_json:
            facts = [release_facts(released, output, stated_cases, account) for released, output in made]
            print_json(facts[0] if request.reading.by is None else {"segments": facts})
        else:
            for released, output in made:
                show_release(released, output, stated_cases)
            if account is not None:
                print_charge(account)
            print_next(made[0][1])
        if confidential:
            print_confidential(outcome.release, outcome.variants)
    return outcome


def print_confidential(released: Release, variants: Log) -> None:
    """Print how much of the original log was released, and what is odd about it, on standard error."""
    from ..evaluation.compare import covered_cases

    original, pairs = variants.summary(), explain.pairs(released.mechanism)
    sizes = (original.cases, pairs), (original.variants, "variants"), (original.events, "events")
    lines = [CONFIDENTIAL_HEADING, "read: " + ", ".join(number_of(*size) for size in sizes)]
    if isinstance(released, VariantRelease) and generalises(released.mechanism):
        rungs = [rungs_of(released.mechanism)[rung] for rung in sorted(set(released.rungs))]
        lines.append(f"covered: {covered_cases(variants, released, rungs):.1%} of the cases")
    elif isinstance(released, VariantRelease):
        lines.append(f"kept: {len(released.variants) / max(original.variants, 1):.1%} of the variants")
    lines += [f"{CONFIDENTIAL} {note}" for note in variants.notes]
    print("\n".join(lines), file=sys.stderr)


def print_next(output: Path) -> None:
    """Print what to do after a release."""
    name = shlex.quote(str(output))
    console().print(
        f"next       travas verify {name}; for the data protection officer: travas report {name} -o report.html"
    )


def release_facts(
    released: Release, output: Path, stated_cases: int | None, account: Account | None = None
) -> dict[str, Any]:
    """Return the facts of a release of any kind for `--json`. All of them are public."""
    guarantee = released.guarantee
    facts, _ = _content(released)
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        **({"segment": released.segment} if released.segment else {}),
        **facts,
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": rounded_up(guarantee.delta_spent),
        "standing": str(guarantee.standing),
        "unit": guarantee.unit.name,
        "max_cases": guarantee.unit.max_cases,
        "warnings": [
            *explain.weak_protection(guarantee.epsilon, guarantee.delta, stated_cases, guarantee.unit.noun),
            *explain.warnings_of(released),
        ],
        "ledger": account and charged(account),
    }


def charged(account: Account) -> dict[str, Any]:
    """Return the charge of a release for `--json`, without the location of an unnamed log."""
    return {"dataset": account.name, "releases": len(account.entries), "state": account.remainder}


def print_charge(account: Account) -> None:
    """Print the charge of a release."""
    spent = f"ε = {as_text(account.spent[0])}, δ = {as_text(account.spent[1])}"
    charged_releases = f"{number_of(len(account.entries), 'releases')}, {spent} in total"
    name = account.name or "none (counted by location)"
    panel([("data set", name), ("charged", charged_releases), ("budget", account.remainder)], "Ledger", "cyan")
    if account.name is None and len(account.entries) == 1:
        console().print(
            "note: without a data set name, only releases of this file are added up; "
            "use --dataset NAME if other files are about the same people"
        )


def show_release(released: Release, output: Path, stated_cases: int | None) -> None:
    """Print the facts of a release of any kind. All of them are public."""
    facts, guarantee = release_facts(released, output, stated_cases), released.guarantee
    _, rows = _content(released)
    segment = [("segment", released.segment)] if released.segment else []
    rows = [*segment, ("release", facts["release"]), ("guarantee", facts["guarantee"]), *rows]
    rows.append(("privacy", _protection(guarantee)))
    rows += [("warning", warning) for warning in facts["warnings"]]
    if not guarantee.unit.is_case:
        rows.append(("counted", explain.counted_per(guarantee.unit, released.mechanism.counted)))
    if released.mechanism.kind == "variants":
        rows.append(("mechanism", facts["mechanism"]))
    rows += [("assumed", reason) for reason in guarantee.assumptions]
    panel(rows, *_heading(released.mechanism.kind, guarantee, facts["warnings"]))
    if released.mechanism.kind == "process map":
        _show_pairs(cast("MapRelease", released))


def _heading(kind: Kind, guarantee: Guarantee, warnings: Sequence[str]) -> tuple[str, str]:
    """The heading of a release and its colour: whether it has a guarantee, and whether there are warnings."""
    names: dict[Kind, str] = {"variants": "Released", "synthetic log": "Synthetic log", "process map": "Process map"}
    name = names[kind]
    if guarantee.standing is Standing.NOT_ESTABLISHED:
        return f"{name} WITHOUT a guarantee", "red"
    return (f"{name}, with warnings", "yellow") if warnings else (name, "green")


def _protection(guarantee: Guarantee) -> str:
    parameters = f"ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}"
    return f"{parameters} for {guarantee.holds_for}: {guarantee.standing}"


# ------------------------------------------------------------------------------------------------ by kind of release


def _content(released: Release) -> tuple[dict[str, Any], Rows]:
    """What a kind of release contains: facts for `--json`, and rows for the screen."""
    match released.mechanism.kind:
        case "variants":
            return _variants(cast(VariantRelease, released))
        case "synthetic log":
            return _synthetic(cast("SyntheticRelease", released))
        case "process map":
            return _map(cast("MapRelease", released))


def _variants(released: VariantRelease) -> tuple[dict[str, Any], Rows]:
    mechanism, interval, pairs = (
        released.mechanism,
        released.estimate.missing_cases_interval,
        explain.pairs(released.mechanism),
    )
    facts = {
        "variants": len(released.variants),
        "cases_in_file": sum(released.counts),
        "not_released_interval": None if interval is None else [round(end) for end in interval],
        "frequencies": released.frequencies,
        "abstractions": list(map(str, released.abstractions)),
        "counted": "cases" if mechanism.unit.is_case else mechanism.counted,
    }
    rows = [("variants", f"{facts['variants']:,}")]
    if (missing := explain.of_missing(released.estimate, pairs)) is not None:
        rows.append(("not released", missing))
    rows.append(
        ("in the file", f"{facts['cases_in_file']:,} {pairs} ({released.frequencies}){_IN_FILE[released.frequencies]}")
    )
    if released.is_abstracted:
        times = [(rule, released.rungs.count(rung)) for rung, rule in enumerate(released.abstractions)]
        rows += [("abstraction", f"{rule}: {number_of(number, 'variants')}") for rule, number in times if number]
    return facts, rows


def _synthetic(released: SyntheticRelease) -> tuple[dict[str, Any], Rows]:
    from ..log.options import BudgetShares
    from ..releases.synthetic_log import NOTICE

    quality, shares = released.quality(), released.mechanism.parameters().get("shares")
    low, high = round(quality.cases.low), round(quality.cases.high)
    cases = sum(released.counts)
    facts = {
        "kind": released.mechanism.kind,
        "synthetic": NOTICE,
        "generation": released.generation,
        "cases_generated": cases,
        "share_from_released_variants": round(released.share_released, 4),
        "variants": len(released.variants),
        "cases_measured": [low, high],
        "noise_share": round(quality.noise_share, 4),
        "pairs": sum(pair.used for pair in quality.pairs),
        "pairs_mostly_noise": len(quality.mostly_noise),
        "timestamps": about_timestamps(released.mechanism),
        "attributes": [column.attribute for column in released.case_columns],
        "shares": shares,
    }
    rows = [("content", NOTICE), ("generated", f"{cases:,} cases of {len(released.variants):,} variants")]
    if cases:
        rows.append(("of these", f"{released.share_released:.1%} have a variant that was released as such"))
    rows += [
        ("measured", f"{low:,} to {high:,} {explain.original_cases(released.mechanism)} (95 %)"),
        ("quality", quality.in_words()),
        *explain.details_in_words(quality),
    ]
    if shares is not None:
        rows.append(("budget", BudgetShares(shares["times"], shares["attributes"]).in_words()))
    if released.generation == "again":
        rows.append(("charged", "nothing: generated again from measurements that were released before"))
    return facts, rows


def _map(released: MapRelease) -> tuple[dict[str, Any], Rows]:
    from ..releases.process_map import NOTICE

    low, high = math.floor(released.total.low), math.ceil(released.total.high)
    facts = {
        "kind": released.mechanism.kind,
        "map": NOTICE,
        "activities": len(released.activities),
        "pairs": len(released.pairs),
        "expected_false_pairs": round(released.expected_false_pairs, 2),
        "cases_measured": [low, high],
        "parts": list(released.parts),
    }
    return facts, [
        ("map", f"{len(released.activities):,} activities, {len(released.pairs):,} directly-follows pairs"),
        ("measured", f"{low:,} to {high:,} {explain.original_cases(released.mechanism)} (95 %)"),
        ("false pairs", f"about {released.expected_false_pairs:.1f} expected by noise alone"),
    ]


def _show_pairs(released: MapRelease) -> None:
    """Print the most frequent pairs of a map."""
    if not released.pairs:
        return
    pairs = sorted(released.pairs, key=lambda pair: -pair.cases.value)[:SHOWN_PAIRS]
    rows = []
    for pair in pairs:
        number = f"{round(pair.cases.value):,} ({math.floor(pair.cases.low):,} to {math.ceil(pair.cases.high):,})"
        rows.append((f"{_name(pair.before)} → {_name(pair.after)}", number))
    panel(rows, f"Most frequent pairs ({len(pairs)} of {len(released.pairs):,}), in cases", "cyan")


def _name(node: MapNode) -> str:
    from ..plots.svg import activity_text, printable

    return f"({node.kind})" if node.activity is None else printable(activity_text(node.activity))
