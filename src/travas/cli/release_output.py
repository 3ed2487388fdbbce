"""How a command makes a release, and what it prints about one: the public part and, marked, the confidential part."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ..errors import CONFIDENTIAL_HEADING, number_of
from ..model import explain
from ..model.release import Release, VariantRelease
from ..model.release_kind import Kind
from ..model.variants import Variants
from ..outputs.standard_output import StandardOutput
from ..pipeline import Outcome, run
from ..request import Request
from .budget_command import charged, print_charge
from .console import grid, panel, phases, print_json, print_notes
from .guarantee_output import guarantee_facts


def run_and_print(request: Request, stated_cases: int | None, as_json: bool) -> Outcome:
    """Make a release with an output; print it, what was charged and, marked, what is confidential."""
    with phases() as watch:
        outcome = run(request, watch)
    with outcome.after_release():
        _print_outcome(outcome, cast("Path | StandardOutput", outcome.output), stated_cases, as_json)
    return outcome


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
    from ..outputs.guarantee_file import guarantee_path

    guarantee = released.guarantee
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        **_output_of(released.mechanism.kind).content_facts(released),
        **guarantee_facts(guarantee),
        "warnings": [*explain.weak_protection(guarantee.epsilon, guarantee.delta, stated_cases), *released.warnings],
    }


def show_release(released: Release, output: Path | StandardOutput, stated_cases: int | None) -> None:
    """Print the facts of a release of any kind. All of them are public."""
    _output_of(released.mechanism.kind).show(released, release_facts(released, output, stated_cases))


def _output_of(kind: Kind) -> ModuleType:
    """The module that prints a kind of release. Two of them import numpy, which not every command needs."""
    from . import map_output, synthetic_output, variant_output

    outputs: dict[Kind, ModuleType] = {
        "variants": variant_output,
        "synthetic log": synthetic_output,
        "process map": map_output,
    }
    return outputs[kind]


def _confidential(released: Release, variants: Variants) -> Any:
    from ..evaluation.compare import covered_cases

    original = variants.summary()
    table = grid()
    counted = (original.cases, explain.pairs(released.mechanism)), (original.variants, "variants")
    table.add_row("read", ", ".join(number_of(*size) for size in (*counted, (original.events, "events"))))
    if isinstance(released, VariantRelease) and released.mechanism.generalises:
        rungs = [released.mechanism.abstractions[rung] for rung in sorted(set(released.rungs))]
        table.add_row("covered", f"{covered_cases(variants, released, rungs):.1%} of the cases")
    elif isinstance(released, VariantRelease):
        table.add_row("kept", f"{len(released.variants) / max(original.variants, 1):.1%} of the variants")
    return table
