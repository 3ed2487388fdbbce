"""`travas verify`: what anyone can check without the log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import ParameterError, VerificationError
from ..explain import counted_per, noise_in_words, weak_protection
from ..mechanisms.mechanism import Mechanism
from ..releases.release import count_noun
from ..trusted.guarantee import ONE_CASE, Standing
from ..trusted.numbers import as_text, rounded_up
from .console import bar, console, grid, panel, percent, print_json, progress
from .mechanism_flags import StatedMechanism, build, flags_of, with_mechanism
from .options import AsJson, StatedCases, refuse_options, stated_number

if TYPE_CHECKING:
    from ..verification.privacy_curve import Point
    from ..verification.verify import Verified


@with_mechanism
def verify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A release, or its guarantee file; the other is found beside it."),
    ] = None,
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="The other file, if it is somewhere else.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="ε, instead of a guarantee file.", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option(help="δ, instead of a guarantee file.", metavar="NUMBER")] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also compute the exact privacy curve: the worst-case δ at other ε.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the privacy curve: .png, .svg or .pdf.", metavar="FILE")
    ] = None,
    stated_cases: StatedCases = None,
    as_json: AsJson = False,
    *,
    stated: StatedMechanism,
) -> None:
    """Rebuild the noise tables of a guarantee, verify them in exact arithmetic and print the result.

    The exit code is 1 if the verification fails.

    Examples: travas verify release.xes.gz · travas verify --epsilon 1 --delta 1e-6 --curve
    """
    from ..verification.opened import pair_of
    from ..verification.verify import verify as verify_files

    number = stated_number(stated_cases)
    if file is not None:
        options = {"--epsilon": epsilon, "--delta": delta, **flags_of(stated)}
        refuse_options(options, "a guarantee file states the mechanism and its options")
        with progress("building and verifying the noise table"):
            verified = verify_files(*pair_of(file, other))
    elif epsilon is None or delta is None:
        raise ParameterError("nothing to verify; pass a release or its guarantee file, or set --epsilon and --delta")
    else:
        verified = _rebuilt(build(stated, epsilon, delta, ONE_CASE))
    mechanism = verified.mechanism
    facts = mechanism.guarantee()
    if facts.standing is Standing.NOT_ESTABLISHED:
        reasons = "; ".join(facts.assumptions)
        raise VerificationError(f"the guarantee of {mechanism.name} is not established: {reasons}")
    losses = _privacy_curve(mechanism, plot) if curve or plot is not None else ()
    weak = weak_protection(facts.epsilon, facts.delta, number, facts.unit.noun)
    if as_json:
        curves = {"curve": [point.as_json() for point in losses]} if losses else {}
        print_json(_as_json(verified) | {"warnings": list(weak)} | curves)
        return
    _show_facts(verified, "of a file" if file is not None else "of parameters", weak)
    _show_keep_curve(mechanism)
    if losses:
        _show_privacy_curve(losses)
    if plot is not None:
        console().print(f"figure: {plot}")


def _rebuilt(mechanism: Mechanism) -> Verified:
    """Verify the tables of a mechanism that no file describes."""
    from ..verification.verify import Verified

    with progress("building and verifying the noise table"):
        return Verified(mechanism, mechanism.guarantee().delta_spent, digest_checked=False)


def _as_json(verified: Verified) -> dict[str, Any]:
    from ..outputs.guarantee_file import describe_unit

    mechanism, facts = verified.mechanism, verified.mechanism.guarantee()
    return {
        "verified": True,
        "standing": str(facts.standing),
        "mechanism": mechanism.name,
        "epsilon": as_text(mechanism.epsilon),
        "delta": as_text(mechanism.delta),
        "delta_spent": rounded_up(facts.delta_spent),
        "unit": describe_unit(mechanism),
        "parameters": mechanism.parameters(),
        "digest_checked": verified.digest_checked,
        "notes": list(verified.notes),
        "keep_probability": [{"cases": cases, "probability": kept} for cases, kept in _keep_curve(mechanism)],
    }


def _show_facts(verified: Verified, what: Literal["of a file", "of parameters"], weak: tuple[str, ...]) -> None:
    """Print what the guarantee promises and what was compared."""
    mechanism, facts = verified.mechanism, verified.mechanism.guarantee()
    table = grid()
    table.add_row("mechanism", mechanism.name)
    table.add_row("standing", str(facts.standing))
    table.add_row("guarantee for", facts.holds_for)
    if not mechanism.unit.is_case:
        table.add_row("counted", counted_per(mechanism.unit, mechanism.counted))
    table.add_row("ε", as_text(mechanism.epsilon))
    table.add_row("δ requested", as_text(mechanism.delta))
    share = f"  ({float(facts.delta_spent / mechanism.delta):.1%} of δ)" if mechanism.delta else ""
    table.add_row("δ spent", f"{rounded_up(facts.delta_spent, 12)}{share}")
    for step in mechanism.parameters().get("steps", []):
        table.add_row("step", f"{step['step']}: ε = {step['epsilon']}, δ = {step['delta']}")
    for line in noise_in_words(mechanism):
        table.add_row("noise", line)
    if what == "of a file":
        matches = "its digest matches the guarantee file, and its content is what travas writes"
        table.add_row(
            "release", matches if verified.digest_checked else "not found beside the guarantee, so it was not checked"
        )
    for reason in weak:
        table.add_row("warning", reason)
    for note in verified.notes:
        table.add_row("note", note)
    title = "The guarantee holds, but the protection is weak" if weak else "The guarantee holds"
    panel(table, title, "yellow" if weak else "green")


def _show_keep_curve(mechanism: Mechanism) -> None:
    if not (keeps := _keep_curve(mechanism)):
        return
    noun = count_noun(mechanism)
    table = grid()
    for cases, kept in keeps:
        unit = "" if noun != "cases" else " case" if cases == 1 else " cases"
        table.add_row(f"{cases:,}{unit}", bar(kept), percent(kept))
    panel(table, f"Probability that a variant is released, by its number of {noun}", "cyan")


def _privacy_curve(mechanism: Mechanism, plot: Path | None) -> tuple[Point, ...]:
    """Compute the privacy curve, and draw it if wanted."""
    from ..verification.curve_picture import draw_curve
    from ..verification.privacy_curve import points

    with progress("computing the privacy curve"):
        curve = points(mechanism)
    if plot is not None:
        draw_curve(mechanism, curve, plot)
    return curve


def _show_privacy_curve(points: tuple[Point, ...]) -> None:
    table = grid()
    for point in points:
        shown = point.as_json()
        table.add_row(
            f"ε' = {shown['epsilon']}",
            f"δ at most {shown['at_most']}",
            "exact" if point.is_exact else f"at least {shown['reached']}",
        )
    panel(table, "Worst-case δ at other ε, from what is sampled", "cyan")


def _keep_curve(mechanism: Mechanism) -> list[tuple[int, float]]:
    """Return the keep probability at a dozen case counts; empty if it depends on more than the case count."""
    curve = mechanism.keep_curve()
    if curve is None or curve.rungs:
        return []
    return [(cases, float(curve.probability(cases))) for cases in curve.numbers_of_cases()]
