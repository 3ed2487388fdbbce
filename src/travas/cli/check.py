"""The commands that check a release without its log: `verify` and `report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LogError, ParameterError, VerificationError
from ..mechanisms.mechanism import parameters_of
from ..releases.estimate import keep_curve_of
from ..releases.release import counted_of, name_of
from .console import Rows, Table, answer, console, named, progress
from .options import AS_JSON, FORCE, arg, existing, flag, names_of, with_settings

if TYPE_CHECKING:
    from ..settings.project import Project
    from ..verification.privacy_curve import Point
    from ..verification.verify import Verified

_FACTS = ("standing", "mechanism", "epsilon", "delta", "delta_spent", "unit", "parameters")
_FILE = "A release, or its guarantee file; the other is found beside it."
_OTHER = arg("[OTHER]", "The other file, if it is somewhere else.", None)


@with_settings(
    names_of("privacy", "mechanism", "rules", without=("guarantee",)), ("epsilon", "delta", "mechanism"), file=False
)
def verify(
    file: Path | None = arg("FILE", _FILE, None),
    other: Path | None = _OTHER,
    curve: bool = flag("Also compute the privacy curve: the worst-case δ at other ε.", "--curve"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Rebuild the noise tables of a guarantee, verify them in exact arithmetic and print the result.

    Without a file, it verifies the noise of ε, δ and a mechanism. The exit code is 1 if the verification fails.

    Examples: travas verify release.xes.gz · travas verify --epsilon 1 --delta 1e-6 --curve
    """
    from .. import explain
    from ..outputs.guarantee_file import describe
    from ..releases.release import count_noun
    from ..trusted.guarantee import Standing
    from ..verification.opened import pair_of
    from ..verification.privacy_curve import points
    from ..verification.verify import Verified
    from ..verification.verify import verify as verify_files

    stated = [name for name in project.values if name != "stated_cases"]
    if file is None and not stated:
        raise ParameterError("nothing to verify; pass a release or its guarantee file, or set --epsilon and --delta")
    if file is not None and stated:
        raise ParameterError(f"a guarantee file states the mechanism and its options; remove {stated[0]}")
    with progress("building and verifying the noise table"):
        if file is not None:
            verified = verify_files(*pair_of(file, other))
        else:
            rule = project.mechanism()
            verified = Verified(rule, rule.guarantee().delta_spent, digest_checked=False)
    mechanism, guarantee = verified.mechanism, verified.mechanism.guarantee()
    if guarantee.standing is Standing.NOT_ESTABLISHED:
        reasons = "; ".join(guarantee.assumptions)
        raise VerificationError(f"the guarantee of {name_of(mechanism)} is not established: {reasons}")
    weak = explain.weak_protection(guarantee.epsilon, guarantee.delta, project.stated_cases, guarantee.unit.noun)
    released = keep_curve_of(mechanism)  # None, or by rungs, if it depends on more than the number of cases
    keeps = [] if released is None or released.rungs else released.points()
    stated_of_it = describe(mechanism, {}, None)
    facts: dict[str, Any] = {
        "verified": True,
        **{name: stated_of_it[name] for name in _FACTS},
        "digest_checked": verified.digest_checked,
        "notes": list(verified.notes),
        "keep_probability": [{"cases": number, "probability": kept} for number, kept in keeps],
        "warnings": list(weak),
    }
    title = "The guarantee holds, but the protection is weak" if weak else "The guarantee holds"
    parts = [Table(title, _rows(verified, file is not None, weak), "yellow" if weak else "green")]
    if keeps:
        title = f"Probability that a variant is released, by its number of {count_noun(mechanism)}"
        rows = [(f"{number:,}", "█" * round(kept * 40), explain.percent(kept)) for number, kept in keeps]
        parts.append(Table(title, rows))
    if curve:
        with progress("computing the privacy curve"):
            losses = points(mechanism)
        facts["curve"] = [point.as_json() for point in losses]
        parts.append(Table("Worst-case δ at other ε, from what is sampled", list(map(_point, losses))))
    answer(as_json, facts, *parts)


def _rows(verified: Verified, of_a_file: bool, weak: tuple[str, ...]) -> Rows:
    """What the guarantee promises and what was compared."""
    from ..explain import counted_per, noise_in_words
    from ..trusted.numbers import as_text, rounded_up
    from ..verification.verify import DIGEST_ONLY

    mechanism, guarantee = verified.mechanism, verified.mechanism.guarantee()
    share = f"  ({float(guarantee.delta_spent / mechanism.delta):.1%} of δ)" if mechanism.delta else ""
    content = "" if DIGEST_ONLY in verified.notes else ", and its content is what travas writes"
    matches = f"its digest matches the guarantee file{content}"
    checked = matches if verified.digest_checked else "not found beside the guarantee, so it was not checked"
    steps = parameters_of(mechanism).get("steps", [])
    return [
        ("mechanism", name_of(mechanism)),
        ("standing", str(guarantee.standing)),
        ("guarantee for", guarantee.holds_for),
        *([] if mechanism.unit.is_case else [("counted", counted_per(mechanism.unit, counted_of(mechanism)))]),
        ("ε", as_text(mechanism.epsilon)),
        ("δ requested", as_text(mechanism.delta)),
        ("δ spent", f"{rounded_up(guarantee.delta_spent, 12)}{share}"),
        *(("step", f"{step['step']}: ε = {step['epsilon']}, δ = {step['delta']}") for step in steps),
        *named("noise", noise_in_words(mechanism)),
        *([("release", checked)] if of_a_file else []),
        *named("warning", weak),
        *named("note", verified.notes),
    ]


def _point(point: Point) -> tuple[str, ...]:
    shown = point.as_json()
    return f"ε' = {shown['epsilon']}", f"δ at most {shown['at_most']}"


_OF_REPORTS = ("output", "dataset", "reason", "signed_off_by", "policy", "ledger", "stated_cases")


@with_settings(_OF_REPORTS, _OF_REPORTS, file=False)
def report(
    file: Path = arg("FILE", _FILE), other: Path | None = _OTHER, force: bool = FORCE, *, project: Project
) -> None:
    """Verify a release and write the report for the data protection officer: one printable, public HTML file.

    With --dataset it has the history of the data set. A reason and a sign-off that the ledger recorded are shown as well.

    Example: travas report release.json -o report.html --reason "Decided on 3 May"
    """
    from ..budget.policy import Policy
    from ..report.report_file import write_report
    from ..verification.opened import pair_of
    from .budget import existing_ledger

    guarantee, release = pair_of(file, other)
    if release is None:
        raise LogError(f"{file}: its release is not beside it; also pass the release")
    dataset = project.stated("dataset")
    if "ledger" in project.values and not dataset:
        raise ParameterError("--ledger requires --dataset; also set --dataset NAME")
    output = project.path(project.required("output"))
    with progress("verifying the release"):
        path = write_report(
            guarantee,
            release,
            output,
            reason=project.stated("reason"),
            account=existing_ledger(project).account(dataset) if dataset else None,
            existing=existing(force),
            stated_cases=project.stated_cases,
            policy=Policy.applying(project.policy()),
            signed_off_by=project.stated("signed_off_by"),
        )
    console().print(f"report     {path}")
