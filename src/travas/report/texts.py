"""The standing texts of the report, by mechanism and by standing."""

from __future__ import annotations

from typing import Any, Literal

from ..mechanisms import MECHANISMS
from ..model.abstraction import Abstraction
from ..model.explain import Released
from ..model.mechanism import Mechanism
from ..privacy.guarantee import PrivacyUnit, Standing

Traces = Literal["whole", "coarser"]
"""Whether a public rule generalised traces before they were counted."""

_ABOUT = {
    "optimal": "every variant is kept with the largest probability that any (ε, δ) rule allows; its count gets the same noise",
    "travas": "k-TSGD noise on the count of every variant and a threshold (Rafiei, Wangelik, van der Aalst, Algorithm 1)",
    "utravas": "several TraVaS runs on equal shares of the budget, merged; their number follows from ε and δ, or was set",
    "prefix-tree": "noise on every prefix over the alphabet, level by level (Mannhardt et al. 2019), levels share the budget",
    "ladder": "variants are counted on coarser and coarser keys (rungs), each case at most once; every rung keeps what "
    "optimal would, for its part of ε and δ",
    "synthesis": "variants, activities, lengths and transitions are measured with exact Gaussian noise, and a log is generated "
    "from these measurements alone: its traces need not occur in the original log",
    "sacofa": "a prefix tree on plausible prefixes, the rules paid for from the budget (Fahrenkrog-Petersen et al. 2021)",
}

STANDINGS = {
    Standing.VERIFIED: "the noise table was checked entry by entry in exact integers, by code that shares nothing with its "
    "builder",
    Standing.PROVEN: "a theorem composes it from parts: noise tables that were checked in exact integers, or noise drawn exactly",
}

PROOFS = {
    Standing.VERIFIED: "A proof on paper (docs/mechanisms/{name}.md), and for this ε and δ an exact check of both hockey-stick "
    "distances on the very table that was sampled.",
    Standing.PROVEN: "A proof on paper (docs/mechanisms/{name}.md) by composition; every table in it was checked exactly.",
}

IMPLEMENTATION = (
    "Integer tables of 128 bits, or noise drawn exactly; no floating point where privacy is decided. A table is verified "
    "in the process that samples it, before anything is drawn. Tests compare the sampler with the table and show that "
    "wrong noise is detected. The source is open."
)

FREQUENCIES = {
    "estimated": "estimated from the noisy counts; a rare variant that was released also stands for others like it that were "
    "not. The total is an estimate, not the size of the original log",
    "noisy": "the noisy counts as they were drawn",
}

_WHOLE = "Every variant in the release is one of the log, whole, none is invented. "
_AS_LEFT = "Every trace in the release is what its rule leaves of cases of the log; none is invented. "
_SELECTION_UTILITY = (
    "Frequent ones are always released; the curve in section 3 shows how likely rare ones are. An interval in section 2 "
    "contains the number in the original log with a probability of at least 95 %."
)
_SELECTION_BIAS = (
    "Against the rare: paths that few cases took are missing, so small groups with paths of their own are "
    "under-represented. Do not conclude from absence. Counts of frequent variants are unbiased; the estimated part that was "
    "not released is biased downwards, and by far too small where a log has many single cases."
)
_TREE_UTILITY = (
    "Sequences over the alphabet whose noisy counts exceed the threshold. Some may not be in the log at all; traces longer "
    "than the maximum length are lost. An interval in section 2 contains the number in the original log with a probability "
    "of at least 95 %, and may reach 0."
)
_TREE_BIAS = (
    "Against the rare and the long: a path is lost if any of its prefixes falls below the threshold, and invented "
    "sequences fill part of the place. Do not conclude from absence, nor from the presence of a rare sequence."
)
_SYNTHETIC_UTILITY = (
    "Traces generated from noisy measurements: directly-follows frequencies, lengths and the process model of the whole are "
    "close to those of the log where the measurements are strong. A trace marked as released is a variant of the log; one "
    "marked as generated need not be. The quality in section 2 says how much rests on noise."
)
_SYNTHETIC_BIAS = (
    "Against the rare: activities and steps that few cases have are missing, or replaced by noise. Long-range dependencies "
    "within a case are weaker than in the log. Do not conclude from the presence or absence of a single trace."
)
_COARSER_UTILITY = (
    " A coarser picture: where a rule generalised a trace, what it removed (repeats, order, what came later) is not in "
    "the release, and a trace stands for all cases that look alike under the rule. The rule is shown beside every trace."
)
_COARSER_BIAS = (
    " Do not read a coarser trace as a whole case: a process model of it is a model of what the rule left, and lengths, "
    "loops and ends are those of the rule where it cut. On a ladder, frequent paths are shown finer than rare ones."
)


def utility(released: Released, traces: Traces) -> str:
    """What the release is good for."""
    exact = _AS_LEFT if traces == "coarser" else _WHOLE
    text = {
        "variants of the log": exact + _SELECTION_UTILITY,
        "any sequence": _TREE_UTILITY,
        "generated traces": _SYNTHETIC_UTILITY,
    }[released]
    return text + (_COARSER_UTILITY if traces == "coarser" else "")


def bias(released: Released, traces: Traces) -> str:
    """In which direction it errs."""
    text = {
        "variants of the log": _SELECTION_BIAS,
        "any sequence": _TREE_BIAS,
        "generated traces": _SYNTHETIC_BIAS,
    }[released]
    return text + (_COARSER_BIAS if traces == "coarser" else "")


def about(mechanism: str) -> str:
    """One sentence about what the mechanism of this name does."""
    return _ABOUT.get(mechanism) or (MECHANISMS[mechanism].__doc__ or "").split("\n")[0]


def protected(unit: PrivacyUnit) -> str:
    """Whom the guarantee protects."""
    return "one case" if unit.is_case else f"one {unit.name} with all cases; at most {unit.max_cases} are counted"


def counting(mechanism: Mechanism) -> str:
    """What a count is a number of, and what one step of it may cost."""
    unit = mechanism.unit
    if unit.is_case:
        return "cases"
    once = f"different values of {unit.name}: at most {unit.max_cases} different variants per {unit.name} are counted, each once"
    cases = f"cases: at most {unit.max_cases} per {unit.name}"
    how = once if mechanism.counted == "units" else cases
    return f"{how}. A rule that reads only the cases of that {unit.name} selects them (docs/unit.md)"


def rule(abstraction: Abstraction) -> str:
    """What a rule does with a trace, step by step."""
    return (
        "; then ".join(
            f"{step}: {(type(step).__doc__ or '').split(chr(10))[0].rstrip('.')}" for step in abstraction.steps
        )
        or "full: the trace as it is"
    )


def several(unit: PrivacyUnit) -> str:
    """Who is protected less."""
    if unit.is_case:
        return "Persons with several cases: with k cases"
    return f"Persons with several values in the column {unit.name}: with k values"


def frequencies(named: str, released: Released) -> str:
    """What the counts in the file are."""
    if released == "generated traces":
        return "numbers of generated cases; of a released variant, its noisy count"
    return FREQUENCIES[named]


def post_processing(frequencies: str, released: Released) -> str:
    """What was done with the noisy counts afterwards: from them and public constants alone, at no cost."""
    if released == "generated traces":
        return (
            "all traces and their numbers of cases were generated from the noisy measurements, with a seed that has nothing to "
            "do with the noise; cases were numbered anew, timestamps are artificial. None of it uses the log, so none of it "
            "costs anything, and anyone may generate again."
        )
    estimated = (
        "frequencies were estimated from the noisy counts and public constants; " if frequencies == "estimated" else ""
    )
    return (
        f"{estimated}variants were put into canonical order, cases were numbered anew, timestamps are artificial. "
        "None of it uses the log, so none of it costs anything."
    )


def reading(described: dict[str, Any] | None) -> str:
    """How events became cases and variants, as the guarantee file states it."""
    if described is None:
        return "not stated: the release was made from counts, or by an early version that did not record it"
    usual = described["recognised"]
    found = {role: f"the first of {', '.join(names)}" for role, names in usual.items()}
    activities = ", ".join(described["activities"]) or found["activity"]
    parts = [
        f"case: {described['case'] or found['case']}",
        f"activity: {activities}",
        f"time: {described['timestamp'] or found['timestamp']}",
        f"order: {described['order'] or 'by default'}",
        f"ties: {described['ties'] or 'by default'}",
        f"missing values: {described['on_missing']}",
        f"duplicate cases: {described['duplicate_cases']}",
    ]
    parts += [f"table: {described['table']}"] if described["table"] else []
    parts += [described["query"]] if described["query"] else []
    return "; ".join(parts)
