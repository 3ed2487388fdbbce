"""The commands that measure the original log, `forecast` and `compare`. What they print of it is confidential."""

from __future__ import annotations

from itertools import starmap
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from ..errors import CONFIDENTIAL_HEADING, ParameterError, number_of
from ..releases.release import name_of
from .console import Table, answer, bar, named, phases, progress
from .options import AS_JSON, COLUMNS, READING, arg, flag, names_of, opt, with_settings

if TYPE_CHECKING:
    from ..evaluation.forecast import Trial
    from ..mechanisms.mechanism import Mechanism
    from ..settings.project import Project


# -------------------------------------------------------------------------------------------------------- forecast


@with_settings(
    names_of("log", "reading", "privacy", "mechanism", "rules", without=("epsilon", "delta", "guarantee")),
    ("mechanism", "unit", "max_cases", "stated_cases"),
)
def forecast(
    log: str | None = arg("LOG", "Forecast for this log (confidential). Default: for any log.", None),
    epsilon: list[str] | None = opt("ε; repeatable. Default with a log: 0.5, 1, 2, 4.", "NUMBER"),
    delta: list[str] | None = opt("δ; repeatable. Default with a log: 1e-4, 1e-6, 1e-8.", "NUMBER"),
    abstractions: str | None = opt("With a log: the abstractions to compare, from fine to coarse.", "LIST"),
    kinds: bool = flag("Compare kinds of release: variants, ladder, synthetic log, map.", "--kinds"),
    as_json: bool = AS_JSON,
    *,
    project: Project,
) -> None:
    """Show what a release at (ε, δ) would keep, by case count of a variant. The output is confidential only with a log.

    Supports only the mechanisms optimal and travas: what others keep depends on more than the case count. With --kinds it
    compares variants, a ladder, a synthetic log and a process map instead, and says when to use which.

    Examples: travas forecast --epsilon 1 --delta 1e-6 · travas forecast hospital.xes.gz ·
    travas forecast --kinds --epsilon 1 --delta 1e-6 --stated-cases 5000
    """
    from ..evaluation.forecast import ABSTRACTIONS, DELTAS, EPSILONS

    cases = project.stated_cases
    if log is None:
        needing = [name for name in READING if name in project.values and name not in ("unit", "max_cases")]
        for name in [*needing, *(["abstractions"] if abstractions is not None else [])]:
            raise ParameterError(f"{name} requires a log; pass one, or remove {name}", field=name)
    if kinds:
        if any(name in names_of("mechanism", "rules") for name in project.values):
            raise ParameterError("--kinds compares mechanisms with their default options; remove the mechanism")
        if len(epsilon or ()) != 1 or len(delta or ()) != 1 or abstractions is not None:
            raise ParameterError("--kinds requires one --epsilon and one --delta, without --abstractions")
        _of_kinds(as_json, log, project, (epsilon or [""])[0], (delta or [""])[0], cases)
        return
    if log is None and (not epsilon or not delta):
        raise ParameterError("--epsilon and --delta are required without a log")
    with progress("building and verifying the noise tables"):
        stated = [{"epsilon": e, "delta": d} for e in epsilon or EPSILONS for d in delta or DELTAS]
        rules = [project.with_values(parameters).mechanism() for parameters in stated]
    weak = _weak(rules, cases)
    if log is None:
        _of_any_log(as_json, rules, weak)
    else:
        _of_log(as_json, log, project, rules, abstractions or ABSTRACTIONS, weak)


def _weak(rules: list[Mechanism], cases: int | None) -> list[str]:
    """The reasons against some parameters, each once."""
    from ..explain import weak_protection

    reasons = [weak_protection(rule.epsilon, rule.delta, cases, rule.unit.noun) for rule in rules]
    return list(dict.fromkeys(reason for each in reasons for reason in each))


def _of_any_log(as_json: bool, rules: list[Mechanism], weak: list[str]) -> None:
    """Keep probability and interval by case count. Not confidential, because no log is read."""
    from ..evaluation.forecast import chances
    from ..explain import meaning, numbers, percent
    from ..trusted.numbers import as_text

    shown: list[dict[str, Any]] = []
    parts: list[Table | str] = ["Probability that a variant is released, and the 95 % interval of its cases if it is\n"]
    for rule in rules:
        points = chances(rule)
        kept = [{"cases": at.cases, "kept": float(at.kept), "interval": [at.low, at.high]} for at in points]
        facts = {"mechanism": name_of(rule), "epsilon": as_text(rule.epsilon), "delta": as_text(rule.delta)}
        shown.append(facts | {"chances": kept})
        rows = [
            (f"{at.cases:,}", bar(float(at.kept)), f"{percent(at.kept)}, {at.low:,} to {at.high:,}") for at in points
        ]
        sentences = meaning(rule.epsilon, rule.delta, rule.unit.noun)
        parts += [
            Table(f"{name_of(rule)} at {numbers(rule.epsilon, rule.delta)}, by its number of cases", rows),
            *sentences,
            "",
        ]
    answer(as_json, {"confidential": False, "forecast": shown, "warnings": weak}, *parts, *weak)


def _of_log(
    as_json: bool, log: str, project: Project, rules: list[Mechanism], abstractions: str, weak: list[str]
) -> None:
    """The expected shares of the original log. Confidential."""
    from ..evaluation.forecast import LOOKING, WHATS, forecast
    from ..sources.engine import read
    from ..trusted.numbers import as_text

    with progress("reading the log") as watch:
        variants = read(log, project.reading(), watch)
    expected = forecast(variants, rules, abstractions)
    cells = [
        {"epsilon": as_text(cell.epsilon), "delta": as_text(cell.delta), "abstraction": str(cell.abstraction)}
        | {share: float(getattr(cell, share)) for share in ("cases", "variants", "events")}
        for cell in expected.cells
    ]
    tables = []
    for what in WHATS:
        head, *rows = expected.shares(what)
        tables.append(Table(f"Expected share of the {what} kept", rows, "yellow", head))
    facts = {"confidential": True, "expected": cells, "warning": LOOKING, "warnings": weak}
    answer(as_json, facts, CONFIDENTIAL_HEADING, *tables, *weak, LOOKING)


def _of_kinds(as_json: bool, log: str | None, project: Project, epsilon: str, delta: str, cases: int | None) -> None:
    """What each kind of release can do at (ε, δ), and, confidentially, how it performs on a log."""
    from ..evaluation.forecast import LOOKING, advice, mechanisms, outlook, trials
    from ..explain import numbers

    reading = project.reading()
    with progress("building and verifying the noise"):
        made = mechanisms(epsilon, delta, reading.privacy_unit)
        views, rule = {each: outlook(one, cases) for each, one in made.items()}, made["variants"]
        words = [*advice(made, cases), *_weak([rule], cases)]
    kinds = [{"kind": each, "mechanism": name_of(made[each]), "facts": list(found)} for each, found in views.items()]
    facts: dict[str, Any] = {
        "confidential": log is not None,
        "epsilon": epsilon,
        "delta": delta,
        "kinds": kinds,
        "advice": words,
    }
    rows = [row for each, found in views.items() for row in named(each, found)]
    parts: list[Table | str] = [Table(f"Kinds of release at {numbers(rule.epsilon, rule.delta)}", rows), *words]
    if log is not None:
        with progress("trying each kind of release on the log"):
            tried = trials(log, made, reading)
        facts["trials"] = tried
        title = f"{CONFIDENTIAL_HEADING} (means of runs with seeded noise; nothing was released or charged)"
        parts += ["", Table(title, list(starmap(_tried, tried.items())), "yellow"), LOOKING]
    answer(as_json, facts, *parts)


def _tried(kind: str, facts: Trial) -> tuple[str, ...]:
    if kind == "process map":
        kept = f"{facts['kept_mass']:.1%} of the directly-follows mass has its pair in the map"
        return kind, f"numbers off by {facts['count_error']:.1%}", kept
    similar = "not computed, too many variants" if facts["similarity"] is None else f"{facts['similarity']:.3f}"
    kept = f"{facts['case_coverage']:.1%} of the cases have a released variant"
    number = number_of(int(facts["variants"] or 0), "variants")
    return kind, f"similarity {similar}", f"{kept}; {number}"


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
    words = [
        row
        for name, text, floor in comparison.facts()
        for row in named(name, [text, f"halves: {floor}"] if floor else [text])
    ]
    top = [
        (f"{count:,}", f"{other:,}", shorten(" → ".join(map(str, trace)), 100, placeholder=" …"))
        for trace, count, other in comparison.values.get("top_variants", ())
    ]
    tables = (
        Table("", comparison.numbers(), head=("metric", "released", "halves", "meaning")),
        Table("Most frequent variants", top, head=("original", "released", "variant")),
        Table("", words),
    )
    notes = [*named("counts", [COUNTS[comparison.frequencies]] if comparison.frequencies else [])]
    notes += named("note", comparison.remarks)
    if comparison.halves is not None:
        notes.append(("halves", f"{HALVES.lower()}, compared with each other: differences of that size are chance"))
    facts = comparison.as_json() | {"confidential": True, "remarks": list(comparison.remarks)}
    answer(as_json, facts, CONFIDENTIAL_HEADING, *tables, Table("", notes))
