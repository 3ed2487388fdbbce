"""Output of `travas forecast --kinds`: which kind of release to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import explain
from ..errors import CONFIDENTIAL_HEADING, number_of
from ..sources.reading import Reading
from ..trusted.numbers import as_text
from .console import console, grid, panel, print_json, progress

if TYPE_CHECKING:
    from ..evaluation.kinds import Trial


def compare_kinds(
    log: str | None,
    epsilon: str,
    delta: str,
    stated_cases: int | None,
    stated_activities: int | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Print what each kind of release can do at (ε, δ), and, confidentially, how it performs on a log."""
    from ..evaluation.forecast import LOOKING
    from ..evaluation.kinds import advice, mechanisms, outlooks, trials

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
    table = grid()
    for view in views:
        for index, fact in enumerate(view.facts):
            table.add_row(view.alternative if index == 0 else "", fact)
    panel(table, f"Kinds of release at ε = {as_text(rule.epsilon)}, δ = {as_text(rule.delta)}", "cyan")
    for sentence in words:
        console().print(sentence)
    if tried:
        console().print()
        _show_trials(tried)
        console().print(LOOKING)


def _show_trials(tried: list[Trial]) -> None:
    table = grid()
    for trial in tried:
        facts = trial.facts
        if trial.alternative == "process map":
            kept = f"{facts['kept_mass']:.1%} of the directly-follows mass has its pair in the map"
            table.add_row(trial.alternative, f"numbers off by {facts['count_error']:.1%}", kept)
            continue
        similar = "not computed, too many variants" if facts["similarity"] is None else f"{facts['similarity']:.3f}"
        table.add_row(
            trial.alternative,
            f"similarity {similar}",
            f"{facts['case_coverage']:.1%} of the cases have a released variant; "
            f"{number_of(int(facts['variants'] or 0), 'variants')}",
        )
    panel(table, f"{CONFIDENTIAL_HEADING} (means of runs with seeded noise; nothing was released or charged)", "yellow")
