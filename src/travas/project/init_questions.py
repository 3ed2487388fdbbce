"""The questions of `travas init`: few, each with a default and an explanation in plain words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ..errors import ParameterError
from ..explain import most_guesses, of_guess
from ..sources.doctor.diagnosis import PROPOSED, LogDiagnosis
from ..sources.reading import DEFAULT_READING
from .project_options import Values

Ask = Callable[[str, str, str], str]
"""Asks a question: its explanation, its text and its default. Returns the answer."""

DEFAULTS: dict[str, str] = {
    "mechanism": "optimal",
    "epsilon": "1",
    "delta": "1e-6",
    "folder": "releases",
    "file": "release.xes.gz",
    "every": "month",
    "grace": "7d",
    "policy": "default",
}
"""What is written if nothing is stated."""


@dataclass(frozen=True)
class ProjectQuestion:
    """One question about one option."""

    name: str
    text: str
    explanation: str
    needs: str = ""


QUESTIONS = (
    ProjectQuestion(
        "dataset",
        "Name of the data set in the ledger",
        "Everything that is released about the same people is added up under this name.",
    ),
    ProjectQuestion(
        "unit",
        "Column that identifies the person (empty: protect single cases)",
        "If one person can have several cases, protecting one case does not protect the person.",
    ),
    ProjectQuestion(
        "max_cases",
        "Maximum number of cases counted per person",
        "A public number, chosen without looking at the log; a larger one needs more noise.",
        needs="unit",
    ),
    ProjectQuestion(
        "epsilon",
        "ε of one release",
        f"{of_guess(Fraction(1), Fraction(0), 'case')} That is at ε = 1; at ε = 2, {most_guesses(Fraction(2), Fraction(0))}.",
    ),
    ProjectQuestion(
        "delta", "δ of one release", "The bound of ε may fail with this probability; use less than 1/(10 × cases)."
    ),
    ProjectQuestion(
        "end_activity",
        "Activities that close a case, separated by semicolons (empty: another rule)",
        "With a rule that closes cases, releases of different months are about different cases, and cost once.",
    ),
    ProjectQuestion(
        "gap",
        "Or: a case is closed after this long without events, such as 30d (empty: release the whole log)",
        "Use it if there are no end activities. Without either, every release is about all cases, and all of them add up.",
    ),
    ProjectQuestion("reason", "Why these parameters", "Printed in the report; the default policy requires it."),
)


def proposed(diagnosis: LogDiagnosis) -> dict[str, str | tuple[str, ...]]:
    """Return how the doctor proposes to read a log, as values of a project; nothing that the values leave open."""
    left_open = {choice.name for choice in diagnosis.choices}
    settings = {name: getattr(diagnosis.reading, name) for name in PROPOSED if name not in left_open}
    stated = {name: value for name, value in settings.items() if value != getattr(DEFAULT_READING, name)}
    return {"activity" if name == "activities" else name: value for name, value in stated.items()}


def answered(log: str, stated: Values, ask: Ask | None) -> dict[str, str | tuple[str, ...]]:
    """Return the values of a new project."""
    values: dict[str, str | tuple[str, ...]] = {"log": log, **DEFAULTS, **stated}
    values.setdefault("dataset", Path(log.partition("?")[0]).name.partition(".")[0] or "log")
    if "share" in values:
        values = {name: value for name, value in values.items() if name not in ("epsilon", "delta") or name in stated}
    if ask is not None:
        _ask_all(values, stated, ask)
    if not (values.get("end_activity") or values.get("gap")):  # without a rule that closes cases there are no periods
        if stated.get("every") or stated.get("grace"):
            raise ParameterError(
                "every and grace need a rule that closes a case; also set end_activity or gap", field="end_activity"
            )
        values = {name: value for name, value in values.items() if name not in ("every", "grace")}
    return {name: value for name, value in values.items() if value}


def _ask_all(values: dict[str, str | tuple[str, ...]], stated: Values, ask: Ask) -> None:
    """Ask what is neither stated nor decided by an earlier answer."""
    for question in QUESTIONS:
        name = question.name
        decided = (name == "gap" and values.get("end_activity")) or (name in ("epsilon", "delta") and "share" in values)
        if name in stated or decided or (question.needs and not values.get(question.needs)):
            continue
        default = values.get(name, "")
        answer = ask(question.explanation, question.text, default if isinstance(default, str) else "; ".join(default))
        parts = tuple(part.strip() for part in answer.split(";") if part.strip())
        values[name] = parts if name == "end_activity" else answer.strip()
