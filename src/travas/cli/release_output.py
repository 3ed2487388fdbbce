"""Output of the command line about a release: the public part and, marked, the confidential part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import CONFIDENTIAL_HEADING, ChargedError
from ..model import explain
from ..model.release import Release
from ..model.variants import Variants
from ..outputs.standard_output import StandardOutput
from ..sources.wording import number_of
from .budget_command import charged, print_charge
from .console import grid, is_output_failure, panel, print_json, print_notes, share_of
from .guarantee_output import guarantee_facts, heading, protection

if TYPE_CHECKING:
    from ..maps.map_release import MapRelease
    from ..pipeline import Outcome
    from ..synthesis.synthetic_release import SyntheticRelease


@contextmanager
def after_release(outcome: Outcome) -> Iterator[None]:
    """Let whatever fails after a charged release say that the release is complete and the charge stands.

    An output that is full or closed has exit codes of its own.
    """
    try:
        yield
    except BaseException as error:
        if outcome.account is None or isinstance(error, SystemExit) or is_output_failure(error):
            raise
        cause = ChargedError.from_cause(error, outcome.account.label)
        reason = f"the release is complete, but what follows it failed: {cause.args[0]}"
        raise ChargedError(reason, account=cause.account, interrupted=cause.interrupted) from error


def print_outcome(outcome: Outcome, output: Path | StandardOutput, stated_cases: int | None, as_json: bool) -> None:
    """Print a release that was made, what was charged, and, marked, what is confidential."""
    with after_release(outcome):
        _print_outcome(outcome, output, stated_cases, as_json)


def _print_outcome(outcome: Outcome, output: Path | StandardOutput, stated_cases: int | None, as_json: bool) -> None:
    released, variants, account = outcome.release, outcome.variants, outcome.account
    if as_json:
        facts = release_facts(released, output, stated_cases)
        more = {"ledger": account and charged(account), "confidential_notes": list(variants.notes)}
        print_json(facts | more)
        return
    show_release(released, output, stated_cases)
    panel(_confidential(released, variants), CONFIDENTIAL_HEADING, "yellow")
    print_notes(variants)
    if account is not None:
        print_charge(account)


def release_facts(released: Release, output: Path | StandardOutput, stated_cases: int | None) -> dict[str, Any]:
    """Return the facts of a release of any kind for `--json`. All of them are public."""
    if released.mechanism.kind == "synthetic log":
        from .synthetic_output import synthetic_facts

        return synthetic_facts(cast("SyntheticRelease", released), output, stated_cases)
    if released.mechanism.kind == "process map":
        from .map_output import map_facts

        return map_facts(cast("MapRelease", released), output, stated_cases)
    return _variant_facts(released, output, stated_cases)


def show_release(released: Release, output: Path | StandardOutput, stated_cases: int | None) -> None:
    """Print the facts of a release of any kind. All of them are public."""
    if released.mechanism.kind == "synthetic log":
        from .synthetic_output import show_synthetic

        show_synthetic(cast("SyntheticRelease", released), output, stated_cases)
    elif released.mechanism.kind == "process map":
        from .map_output import show_map

        show_map(cast("MapRelease", released), output, stated_cases)
    else:
        facts = _variant_facts(released, output, stated_cases)
        panel(_variant_table(released, facts), *heading("Released", released.guarantee, facts["warnings"]))


def _variant_facts(released: Release, output: Path | StandardOutput, stated_cases: int | None) -> dict[str, Any]:
    from ..outputs.guarantee_file import guarantee_path

    guarantee, interval = released.guarantee, released.estimate.missing_cases_interval
    emptiness = explain.of_emptiness(len(released.variants), released.mechanism)
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        "variants": len(released.variants),
        "cases_in_file": sum(released.counts),
        "not_released_interval": None if interval is None else [round(end) for end in interval],
        "frequencies": released.frequencies,
        **guarantee_facts(guarantee),
        "abstractions": list(map(str, released.abstractions)),
        "counted": released.mechanism.counted if not guarantee.unit.is_case else "cases",
        "warnings": [
            *explain.weak_protection(guarantee.epsilon, guarantee.delta, stated_cases),
            *([emptiness] if emptiness else []),
        ],
    }


def _variant_table(released: Release, facts: dict[str, Any]) -> Any:
    unit, pairs = released.mechanism.unit, explain.pairs(released.mechanism)
    table = grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("variants", f"{facts['variants']:,}")
    missing = explain.of_missing(released.estimate, pairs)
    if missing is not None:
        table.add_row("not released", missing)
    size = "" if released.frequencies == "noisy" else ", which is not the size of the original log"
    table.add_row("in the file", f"{facts['cases_in_file']:,} {pairs} ({released.frequencies}){size}")
    table.add_row("protects", protection(released.guarantee))
    for warning in facts["warnings"]:
        table.add_row("warning", warning)
    if not unit.is_case:
        table.add_row("counted", share_of(unit, released.mechanism.counted))
    table.add_row("mechanism", facts["mechanism"])
    if released.is_abstracted:
        for rung, rule in enumerate(released.abstractions):
            if times := released.rungs.count(rung):
                table.add_row("abstraction", f"{rule}: {number_of(times, 'variants')}")
    for reason in released.guarantee.assumptions:
        table.add_row("assumed", reason)
    return table


def _confidential(released: Release, variants: Variants) -> Any:
    from ..evaluation.compare import covered_cases
    from ..model.variants import summary

    original = summary(variants)
    table = grid()
    counted = (original.cases, explain.pairs(released.mechanism)), (original.variants, "variants")
    table.add_row("read", ", ".join(number_of(*size) for size in (*counted, (original.events, "events"))))
    if released.mechanism.generalises:
        rungs = [released.mechanism.abstractions[rung] for rung in sorted(set(released.rungs))]
        table.add_row("covered", f"{covered_cases(variants, released, rungs):.1%} of the cases")
    elif released.mechanism.kind == "variants":
        table.add_row("kept", f"{len(released.variants) / max(original.variants, 1):.1%} of the variants")
    return table
