"""The fixed texts of the report, by mechanism and standing."""

from __future__ import annotations

from typing import Any, Literal

from ..explain import Released, counted_per
from ..log.abstraction import Abstraction
from ..log.options import BudgetShares
from ..mechanisms.mechanism import Mechanism
from ..releases.release import EVENT_LOGS, Kind, TimestampKind, count_noun
from ..trusted.guarantee import PrivacyUnit, Standing

Traces = Literal["whole", "generalised"]
"""Whether a public rule generalised traces before counting."""

STANDINGS = {
    Standing.VERIFIED: "the noise table was checked entry by entry in exact integers, by code that shares nothing with its "
    "builder",
    Standing.PROVEN: "a theorem composes it from parts: noise tables that were checked in exact integers, or noise drawn exactly",
}

PROOFS = {
    Standing.VERIFIED: "A proof on paper (travas docs mechanisms/{name}), and for this ε and δ an exact check of both "
    "hockey-stick distances on the table that was sampled.",
    Standing.PROVEN: "A proof on paper (travas docs mechanisms/{name}) by composition; every table in it was checked exactly.",
}

IMPLEMENTATION = (
    "Integer tables of 128 bits, or noise drawn exactly; no floating point where privacy is decided. A table is verified "
    "in the process that samples it, before anything is drawn. Tests compare the sampler with the table and show that "
    "wrong noise is detected. The source is open."
)

FREQUENCIES = {
    "estimated": "the best estimate of each variant's own cases, from the noisy counts. Rare variants are not released, so the "
    "total is smaller than the original log",
    "spread": "for similarity studies: each variant also has a share of the cases that are estimated as not released. The total "
    "is an estimate, not the size of the original log",
    "noisy": "the noisy counts as they were drawn",
}

_WHOLE = "Every variant in the release is a complete variant of the log; none is invented. "
_AS_LEFT = "Every trace in the release results from cases of the log by its rule; none is invented. "
_SELECTION_UTILITY = (
    "Frequent ones are always released; the curve in section 3 shows how likely rare ones are. An interval in section 2 "
    "contains the number in the original log with a probability of at least 95 %."
)
_SELECTION_BIAS = (
    "Rare behaviour is missing: paths of few cases are not released, so small groups with distinct paths are "
    "under-represented. Do not conclude from absence. Counts of frequent variants are unbiased; the estimated part that was "
    "not released is biased downwards, and is far too small if a log has many single cases."
)
_TREE_UTILITY = (
    "Sequences over the alphabet whose noisy counts exceed the threshold. Some may not be in the log at all; traces longer "
    "than the maximum length are lost. An interval in section 2 contains the number in the original log with a probability "
    "of at least 95 %, and may reach 0."
)
_TREE_BIAS = (
    "Rare and long behaviour is missing: a path is lost if any of its prefixes is below the threshold, and invented "
    "sequences replace part of it. Do not conclude from absence, nor from the presence of a rare sequence."
)
_SYNTHETIC_UTILITY = (
    "Traces generated from noisy measurements: directly-follows frequencies, lengths and the process model of the whole are "
    "close to those of the log where the measurements are strong. A trace marked as released is a variant of the log; one "
    "marked as generated need not be. The quality in section 2 says how much rests on noise."
)
_SYNTHETIC_BIAS = (
    "Rare behaviour is missing: activities and steps that few cases have are absent, or replaced by noise. Long-range "
    "dependencies within a case are weaker than in the log. Do not conclude from the presence or absence of a single trace."
)
_MAP_UTILITY = (
    "Numbers of cases of directly-follows pairs. An interval in section 2 contains the number in the original log with a "
    "probability of about 95 %. Activities that were not selected are one node, other. The map says nothing about whole paths."
)
_MAP_BIAS = (
    "Rare behaviour is missing: pairs of few cases are absent, and cases with very many different pairs count less; the "
    "intervals account for that. Do not conclude from absence, nor from the presence of a rare pair."
)
HOW_TO_READ: dict[Kind, tuple[str, ...]] = {
    "variants": (),
    "synthetic log": (
        "Times: use medians and other quantiles, not means. Long durations were measured coarsely, so a mean of generated "
        "durations is not that of the original log.",
        "Numbers: a value was measured as a bin and is drawn evenly within it. The first and the last bin are open: beyond "
        "their edges, values are cut off at the edge.",
    ),
    "process map": ("Durations: use medians and quartiles, not means. Long durations were measured coarsely.",),
}
"""What readers of a kind of release get wrong most easily."""

ARTIFICIAL_TIMES = (
    "Timestamps are artificial: one second per step from 1970 in every case. "
    "They have the order of events and no durations."
)

_GENERALISED_UTILITY = (
    " Traces may be generalised: where a rule generalised a trace, what it removed (repeats, order, what came later) is not in "
    "the release, and a trace stands for all cases that look alike under the rule. The rule is shown next to every trace."
)
_GENERALISED_BIAS = (
    " Do not read a generalised trace as a complete case: a process model of it describes the generalised traces, and "
    "lengths, loops and ends may result from the rule. On a ladder, frequent paths are shown finer than rare ones."
)


_TIMES_LEFT_OUT: dict[TimestampKind, str] = {
    "artificial": "timestamps (those in the file are artificial)",
    "generated": "true timestamps (those in the file are generated)",
    "none": "timestamps",
}
_TIMES_MADE: dict[TimestampKind, str] = {
    "artificial": "timestamps are artificial",
    "generated": "timestamps are generated from noisy measurements",
    "none": "there are no timestamps",
}


def utility(released: Released, traces: Traces) -> str:
    """Describe what the release can be used for."""
    exact = _AS_LEFT if traces == "generalised" else _WHOLE
    text = {
        "variants of the log": exact + _SELECTION_UTILITY,
        "any sequence": _TREE_UTILITY,
        "generated traces": _SYNTHETIC_UTILITY,
        "pairs of activities": _MAP_UTILITY,
    }[released]
    return text + (_GENERALISED_UTILITY if traces == "generalised" else "")


def bias(released: Released, traces: Traces) -> str:
    """Describe the bias of the release."""
    text = {
        "variants of the log": _SELECTION_BIAS,
        "any sequence": _TREE_BIAS,
        "generated traces": _SYNTHETIC_BIAS,
        "pairs of activities": _MAP_BIAS,
    }[released]
    return text + (_GENERALISED_BIAS if traces == "generalised" else "")


def protected_unit(unit: PrivacyUnit, person: str) -> str:
    """What is added or removed between two logs that the release does not tell apart."""
    return "one case" if unit.is_case else f"one {person} with all cases"


def protected(mechanism: Mechanism, person: str) -> str:
    """Describe the protected unit."""
    unit = mechanism.unit
    if unit.is_case:
        return "one case"
    most = counted_per(unit, mechanism.counted, person)
    return f"one {person} with all cases, identified by the column {unit.name}; the release counts {most}"


def counted_noun(mechanism: Mechanism, person: str) -> str:
    """What the count of a variant is a number of."""
    by_case = mechanism.unit.is_case or mechanism.counted == "cases"
    return count_noun(mechanism) if by_case else f"different {person}s"


def counting(mechanism: Mechanism, person: str) -> str:
    """Describe what is counted."""
    unit = mechanism.unit
    if unit.is_case:
        return "cases"
    what = f"different {person}s, each once per variant" if mechanism.counted == "units" else "cases"
    most = counted_per(unit, mechanism.counted, person)
    return f"{what}: {most}. A rule that reads only the cases of that {person} selects them (travas docs unit)"


def rule(abstraction: Abstraction) -> str:
    """Describe a rule step by step."""
    return (
        "; then ".join(
            f"{step}: {(type(step).__doc__ or '').split(chr(10))[0].rstrip('.')}" for step in abstraction.steps
        )
        or "full: the unchanged trace"
    )


def several(unit: PrivacyUnit) -> str:
    """Describe who is protected less."""
    return "Persons with several cases" if unit.is_case else f"Persons with several values in the column {unit.name}"


def frequencies(named: str, released: Released) -> str:
    """What the counts in the file are."""
    if released == "generated traces":
        return "numbers of generated cases; of a released variant, its noisy count"
    if released == "pairs of activities":
        return "numbers of cases, estimated from noisy sums, with 95 % intervals"
    return FREQUENCIES[named]


def budget(parameters: dict[str, Any]) -> str:
    """How the budget of a synthetic log is divided; empty where it is not."""
    shares = parameters.get("shares")  # those of a ladder are text
    return BudgetShares(shares["times"], shares["attributes"]).in_words() if isinstance(shares, dict) else ""


def left_out(mechanism: Mechanism, timestamps: TimestampKind) -> str:
    """What a release does not contain."""
    if mechanism.kind not in EVENT_LOGS:
        return "traces, case identifiers, resources, every attribute of cases and events, the header of the source"
    attributes = ", ".join((*mechanism.details.attributes, *mechanism.details.numbers))
    other = f"every attribute other than {attributes}" if attributes else "every other attribute"
    return f"case identifiers, {_TIMES_LEFT_OUT[timestamps]}, resources, {other}, the header of the source"


def post_processing(frequencies: str, released: Released, timestamps: TimestampKind) -> str:
    """Describe the post-processing of the noisy counts, which has no privacy cost."""
    if released == "generated traces":
        return (
            "all traces and their numbers of cases were generated from the noisy measurements, with a seed that has nothing to "
            f"do with the noise; cases were renumbered, {_TIMES_MADE[timestamps]}. None of it uses the "
            "log, so none of it costs anything, and anyone may generate again."
        )
    if released == "pairs of activities":
        return (
            "numbers of cases were made consistent with each other within their intervals, and put into canonical order. None "
            "of this uses the log, so it has no privacy cost."
        )
    estimated = "" if frequencies == "noisy" else "counts were estimated from the noisy counts and public constants; "
    return (
        f"{estimated}variants were put into canonical order, cases were renumbered, {_TIMES_MADE[timestamps]}. "
        "None of this uses the log, so it has no privacy cost."
    )


def reading(described: dict[str, Any] | None) -> str:
    """Describe how events became cases and variants, as stated in the guarantee file."""
    if described is None:
        return "not stated: the release was made from counts"
    columns = described["columns"]
    named = {role: f"{columns[role]} (recognised by its name)" for role in ("case", "timestamp")}
    activities = ", ".join(described["activity"]) or f"{', '.join(columns['activities'])} (recognised by its name)"
    parts = [
        f"case: {described['case'] or named['case']}",
        f"activity: {activities}",
        f"time: {described['timestamp'] or (named['timestamp'] if columns['timestamp'] else 'not read')}",
        f"order: {described['order'] or 'by default'}",
        f"ties: {described['ties'] or 'by default'}",
        f"missing values: {described['on_missing']}",
        f"duplicate cases: {described['duplicate_cases']}",
    ]
    if (lifecycle := described.get("lifecycle", "all")) != "all":
        of_column = f" (column {columns['lifecycle']})" if "lifecycle" in columns else ""
        parts.append(f"lifecycle: {lifecycle}{of_column}")
    parts += [f"only events with {column} = {value}" for column, value in described.get("where", ())]
    parts += ["duplicate events: dropped"] if described.get("duplicate_events") == "drop" else []
    parts += [f"table: {described['table']}"] if described["table"] else []
    parts += [described["query"]] if described["query"] else []
    return "; ".join(parts)
