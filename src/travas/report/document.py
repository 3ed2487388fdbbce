"""The report as HTML. Jinja2 escapes all text from files and users; only generated SVG is trusted markup."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from .. import explain
from ..budget.account import NO_APPROVAL, Account, as_plain
from ..budget.policy import Policy
from ..explain import HALF
from ..log.traces import Trace
from ..mechanisms.ladder import generalises, rungs_of
from ..mechanisms.mechanism import parameters_of
from ..plots.charts import frequencies_chart, keep_curve, throughput_chart
from ..plots.html import browser_file, render
from ..plots.map_graph import ProcessGraph, directly_follows, released_map, synthetic_map
from ..plots.map_picture import picture_or_reason
from ..plots.svg import activity_text, shortened
from ..releases.estimate import keep_curve_of
from ..releases.process_map import MapNode
from ..releases.release import EVENT_LOGS, SEGMENT, Kind, TimestampKind, details_of, kind_of, name_of, timestamp_kind
from ..report import texts
from ..trusted.numbers import as_text, exact, rounded_up
from .content import ReportContent
from .segments import comparison

SHOWN = 40
"""The number of variants in the table of the report; the release contains all."""

_CHARTED, _NAMES, _STEPS = 15, 200, 40
_MARKED = (Fraction(1, 20), HALF, Fraction(19, 20))  # the first number of cases above each is in the table of the curve


def as_html(content: ReportContent, segments: Sequence[tuple[str, ReportContent]] = ()) -> str:
    """Render the report as one self-contained page, with a comparison of all segments if there are any."""
    of_segments, steps_of_segments = comparison(segments) if len(segments) > 1 else ([], [])
    style = files(__package__).joinpath("templates/report.css").read_text(encoding="utf-8") + browser_file("charts.css")
    curve = _curve(content)
    graph = _report_map(content)
    map_picture, map_missing = picture_or_reason(graph) if graph.paths else ("", "")
    return render(
        __package__,
        "report.html",
        {
            **_words(content),
            "style": Markup(style),
            "style_hash": "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            "chart": Markup(_chart(content)) if content.variants else "",
            "map_picture": Markup(map_picture),
            "map_missing": map_missing,
            "throughput": Markup("" if graph.throughput is None else throughput_chart(graph.throughput, graph.times)),
            "variants": _variants(content),
            "left_out": max(len(content.variants) - SHOWN, 0),
            "segment": content.stated["release"].get("notices", {}).get(SEGMENT, ""),
            "segment_names": [shortened(value, 40) for value, _ in segments],
            "of_segments": of_segments,
            "steps_of_segments": steps_of_segments,
            "rules": _rules(content),
            "steps": _steps(content),
            "curve": curve,
            "curve_picture": Markup(curve.picture),
            "history": _history(content),
            "machine": _machine(content),
        },
    )


def _words(content: ReportContent) -> dict[str, Any]:
    """Return the text blocks of the page."""
    stated, mechanism, guarantee = content.stated, content.mechanism, content.mechanism.guarantee()
    released, unit = explain.released_by(mechanism), guarantee.unit
    traces: texts.Traces = "generalised" if content.is_abstracted else "whole"
    person = content.person
    recorded = NO_APPROVAL if content.charge is None else content.charge.approval
    about_epsilon, about_delta = explain.meaning(guarantee.epsilon, guarantee.delta, person, released)
    return {
        "content": content,
        "decision": content.decision,
        "about_guess": explain.of_guess(guarantee.epsilon, guarantee.delta, person),
        "reasons": _as_recorded(recorded.reason, content.reason, content),
        "looked_at": ", ".join(content.looked_at),
        "policy_before": _policy_before(content),
        "sign_offs": _as_recorded(recorded.signed_off_by, content.signed_off_by, content),
        "decisions": "; ".join(content.decisions),
        "today": _today(),
        "noun": texts.counted_noun(mechanism, person),
        "added": texts.protected_unit(unit, person),
        "protected": texts.protected(mechanism, person),
        "several": texts.several(unit),
        "reading": texts.reading(stated.get("reading")),
        "mechanism_name": name_of(mechanism),
        "about_mechanism": explain.summary(type(mechanism)),
        "about_standing": texts.STANDINGS[guarantee.standing],
        "parameters": json.dumps(stated["parameters"], ensure_ascii=False),
        "counting": texts.counting(mechanism, person),
        "synthetic": explain.SYNTHETIC if kind_of(mechanism) == "synthetic log" else "",
        "noise": explain.noise_in_words(mechanism),
        "quality": _quality_words(content),
        "noisy_steps": _noisy_steps(content),
        "how_to_read": _how_to_read(content),
        "budget": texts.budget(stated["parameters"]),
        "not_released": texts.left_out(mechanism, content.timestamp_kind),
        "frequencies": texts.frequencies(stated["release"]["frequencies"], released),
        "count_in_file": explain.COUNT_IN_FILE[stated["release"]["frequencies"]]
        if kind_of(mechanism) == "variants"
        else "",
        "counts_differ": stated["release"]["frequencies"] != "estimated",
        "has_intervals": content.estimate is not None and content.estimate.intervals is not None,
        "missing": explain.of_missing(content.estimate, content.decision.pairs) or "not estimated from this file",
        "process_map": explain.PROCESS_MAP if kind_of(mechanism) == "process map" else "",
        "map_facts": _of_map(content),
        "map_pairs": _map_pairs(content),
        "activity_names": _activity_names(content),
        "about_epsilon": about_epsilon,
        "about_delta": about_delta,
        "proof": texts.PROOFS[guarantee.standing].format(name=name_of(mechanism)),
        "implementation": texts.IMPLEMENTATION,
        "utility": texts.utility(released, traces),
        "bias": texts.bias(released, traces),
        "post_processing": texts.post_processing(stated["release"]["frequencies"], released, content.timestamp_kind),
    }


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _policy_before(content: ReportContent) -> str:
    """When a policy was checked, as far as the charge recorded it."""
    charge = content.charge
    if charge is None or charge.policy is None:
        return "It is not recorded that a policy was checked before the release."
    return f"The charge on {charge.time[:10]} recorded that the release was checked against “{charge.policy['name']}”."


def _as_recorded(recorded: str, stated: str, content: ReportContent) -> list[str]:
    """A reason or a sign-off: what the charge recorded, and what was stated for this report, each with its date."""
    lines, charge = [], content.charge
    if charge is not None and recorded.strip():
        several = f"; the last of {len(content.charges)} charges that fit this release" if content.charges[1:] else ""
        lines.append(f"{recorded.strip()} (recorded with the charge on {charge.time[:10]}{several})")
    if stated.strip() and stated.strip() != recorded.strip():
        lines.append(f"{stated.strip()} (stated for this report on {_today()}{', after the charge' if charge else ''})")
    return lines


def _history(content: ReportContent) -> dict[str, Any]:
    """Return everything that was charged to the data set, or this release alone without an account."""
    guarantee, account = content.mechanism.guarantee(), content.account
    rows = [("this release", guarantee.mechanism, guarantee.epsilon, guarantee.delta)]
    if account is not None:
        spendings = [(entry.time, entry.spending) for entry in account.entries]
        rows = [(time, paid.mechanism, paid.epsilon, paid.delta) for time, paid in spendings]
    epsilon, delta = sum((row[2] for row in rows), Fraction(0)), sum((row[3] for row in rows), Fraction(0))
    together = "Sum"
    if account is not None and account.has_periods:
        together = f"For one {content.person}: of different periods only the largest one counts"
        epsilon, delta = account.spent
    return {
        "data_set": (account.name or "") if account is not None else "",
        "budget": "; assumed: ".join((account.remainder, *account.assumptions)) if account is not None else "",
        "rows": [(when, what, as_text(epsilon), as_text(delta)) for when, what, epsilon, delta in rows],
        "together": together,
        "sum": (as_text(epsilon), as_text(delta)),
    }


def _charges(account: Account | None) -> dict[str, Any] | None:
    if account is None:
        return None
    budget = account.budget
    return {
        "data_set": account.name,
        "budget": budget and as_plain(budget.total),
        "state": account.remainder,
        "charges": [
            {"time": entry.time, "mechanism": paid.mechanism, **as_plain((paid.epsilon, paid.delta))}
            for entry in account.entries
            for paid in [entry.spending]
        ],
    }


def _machine(content: ReportContent) -> dict[str, Any]:
    """Return the machine-readable block for registries of deployments. Schema: docs/report.md."""
    stated, account = content.stated, content.account
    composition = account.budget.composition if account is not None and account.budget is not None else "basic"
    same = "software", "unit", "neighbours", "epsilon", "delta", "delta_spent", "replace_one", "standing"
    charge = content.charge
    return {name: stated[name] for name in same} | {
        "format": "travas report",
        "version": 1,
        "reading": stated.get("reading"),
        "policy": {"stated_cases": content.stated_cases, "weak_protection": list(content.weak_protection)}
        | ({} if content.policy is None else _policy(content.policy, content)),
        "accounting": f"this release alone; releases of the data set: {composition} composition",
        "mechanism": {"name": stated["mechanism"], "parameters": stated["parameters"]},
        "abstraction": [{"name": str(rule), "rule": rule.as_json()} for rule in content.abstractions],
        "kind": kind_of(content.mechanism),
        "post_processing": _post_processing(content),
        "data_set": stated["release"] | {"name": content.name, "variants": len(content.variants)},
        "threat_model": {
            "trust": "central: the data owner and the machine are trusted",
            "attacker": "knows everything but one unit, unbounded computation",
            "assumed_public": stated["assumed_public"],
            "assumed_of_all_releases": [] if account is None else list(account.assumptions),
        },
        "reason": content.reason,
        "looked_at": list(content.looked_at),
        "signed_off_by": content.signed_off_by,
        "decisions": list(content.decisions),
        "recorded": None
        if charge is None
        else {"time": charge.time, "reason": charge.approval.reason, "signed_off_by": charge.approval.signed_off_by},
        "account": _charges(account),
    }


def _policy(policy: Policy, content: ReportContent) -> dict[str, Any]:
    """The policy with, for every rule, whether this release keeps it."""
    described = policy.describe()
    rules = zip(described["rules"], content.reported_rules, strict=True)
    return described | {"rules": [rule | {"state": state} for rule, (_, state) in rules]}


def _post_processing(content: ReportContent) -> str:
    frequencies = f"{content.stated['release']['frequencies']} frequencies, canonical order"
    made: dict[Kind, str] = {
        "variants": frequencies,
        "synthetic log": "traces generated, canonical order",
        "process map": "consistent numbers, intervals, canonical order",
    }
    times: dict[TimestampKind, str] = {"artificial": "artificial", "generated": "generated", "none": "no"}
    about_times = f", {times[content.timestamp_kind]} timestamps" if kind_of(content.mechanism) in EVENT_LOGS else ""
    return made[kind_of(content.mechanism)] + about_times


# ---------------------------------------------------------------------------------------------- tables and figures


@dataclass(frozen=True)
class VariantRow:
    """One variant: its estimate and interval, if the file has them, and the count in the file."""

    variant: str
    rule: str
    estimate: str
    interval: str
    count: str
    origin: str = ""


@dataclass(frozen=True)
class CurveSection:
    """The probability of release; `picture` is SVG, `rows` are (cases, probability). Empty if unknown."""

    rung: str = ""
    picture: str = ""
    rows: tuple[tuple[str, str], ...] = ()


def _activity_names(content: ReportContent) -> str:
    """Return the released activity names as text, for review."""
    of_map = () if content.process_map is None else content.process_map.measurements.activities
    names = sorted({activity_text(activity) for trace in (*content.variants, of_map) for activity in trace})
    if not names and kind_of(content.mechanism) not in EVENT_LOGS:
        return "see the file" if content.process_map is None else "none, the map has no activities"
    if not names:
        return "none, the release is empty"
    more = f", and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(shortened(name, 60) for name in names[:_NAMES]) + more


def _rules(content: ReportContent) -> list[str]:
    """Return the public rules by which traces were generalised, with the number of traces of each."""
    if not content.is_abstracted:
        return []
    often = Counter(content.rules)
    return [f"{texts.rule(rule)} ({often[str(rule)]:,} of the traces)" for rule in content.abstractions]


def _steps(content: ReportContent) -> dict[str, Any] | None:
    """Return the shares of the budget by step; None without a ladder."""
    mechanism = content.mechanism
    if not generalises(mechanism):
        return None
    most = mechanism.unit.max_cases
    each = "" if most == 1 else f" for one of the {most} counted cases of a {content.person}, and over all of them"
    steps = parameters_of(mechanism)["steps"]
    rows = [(step["step"], _number(step["epsilon"]), _number(step["delta"])) for step in steps]
    return {"rungs": ", ".join(map(str, rungs_of(mechanism))), "each": each, "rows": rows}


def _quality_words(content: ReportContent) -> list[tuple[str, str]]:
    """What the measurements of a synthetic log say about it, in words; none without measurements."""
    made = content.synthetic
    if made is None:
        return []
    measured, cases = made.quality(), explain.original_cases(made.mechanism, content.person)
    facts = [
        ("Original log", f"{measured.cases.low:,.0f} to {measured.cases.high:,.0f} {cases} (95 %), as measured"),
        (
            "Share of released variants",
            f"{made.share_released:.1%} of the {sum(made.counts):,} cases; all others are generated",
        ),
        ("Noise", measured.in_words()),
        *((name.capitalize(), text) for name, text in explain.details_in_words(measured)),
        ("Measurements", f"SHA-256 {made.measurements.digest}; logs with the same measurements are one release"),
    ]
    if made.generation == "again":
        facts.append(("Generated again", "from measurements that were released before, at no further privacy cost"))
    return facts + [("Warning", warning) for warning in explain.warnings_of(made)]


def _of_map(content: ReportContent) -> list[tuple[str, str]]:
    """What the measurements of a process map say about it, in words; none without measurements."""
    made = content.process_map
    if made is None:
        return []
    total, cases = made.total, explain.original_cases(made.mechanism, content.person)
    facts = [
        ("Original log", f"{math.floor(total.low):,} to {math.ceil(total.high):,} {cases} (95 %), as measured"),
        ("False pairs", f"about {made.expected_false_pairs:.1f} of the pairs are expected to be there by noise alone"),
        ("Measurements", f"SHA-256 {made.measurements.digest}"),
    ]
    repeated = sorted(
        (one for one in made.activities if one.repeated is not None and one.repeated.value > 0),
        key=lambda one: -(one.repeated.value if one.repeated else 0),
    )
    if repeated:
        rows = [f"{activity_text(one.activity)} {round(one.repeated.value):,}" for one in repeated[:5] if one.repeated]
        facts.append(("Rework", f"{cases} that repeat an activity: {', '.join(rows)}"))
    return facts + [("Warning", warning) for warning in explain.warnings_of(made)]


def _map_pairs(content: ReportContent) -> list[tuple[str, str, str, str]]:
    """Return the most frequent pairs of a process map: both nodes, the number of cases and its interval."""
    made = content.process_map
    pairs = [] if made is None else sorted(made.pairs, key=lambda pair: -pair.cases.value)[:SHOWN]
    return [
        (
            shortened(_node_name(pair.before), 200),
            shortened(_node_name(pair.after), 200),
            f"{max(1, round(pair.cases.value)):,}",
            f"{math.floor(pair.cases.low):,} – {math.ceil(pair.cases.high):,}",
        )
        for pair in pairs
    ]


def _node_name(node: MapNode) -> str:
    return f"({node.kind})" if node.activity is None else activity_text(node.activity)


def _noisy_steps(content: ReportContent) -> list[str]:
    """The steps of generated traces that cannot be told from noise; empty without measurements."""
    made = content.synthetic
    pairs = () if made is None else made.quality().mostly_noise
    names = [
        f"{'(start)' if pair.before is None else activity_text(pair.before)} → "
        f"{'(end)' if pair.after is None else activity_text(pair.after)}"
        for pair in pairs
    ]
    more = [f"and {len(names) - _STEPS:,} more"] if len(names) > _STEPS else []
    return [*(shortened(name, 200) for name in names[:_STEPS]), *more]


def _how_to_read(content: ReportContent) -> list[str]:
    """What readers of this release get wrong most easily."""
    details, kind = details_of(content.mechanism), kind_of(content.mechanism)
    has_times = timestamp_kind(content.mechanism) == "generated" or kind == "process map"
    words = [*texts.HOW_TO_READ[kind]]
    own = explain.service_in_words(content.mechanism)
    if kind == "synthetic log":
        words = [text for text, applies in zip(words, (has_times, bool(details.numbers)), strict=True) if applies]
    return [*words, *own, *([texts.ARTIFICIAL_TIMES] if content.timestamp_kind == "artificial" else [])]


def _chart(content: ReportContent) -> str:
    """Draw the largest variants as SVG: estimates with intervals, or the counts in the file without estimates."""
    noun = texts.counted_noun(content.mechanism, content.person)
    intervals = content.estimate.intervals if content.estimate else None
    rows = [
        (_label(content, index), float(content.values[index]), intervals[index] if intervals else None)
        for index in _ranked(content)[:_CHARTED]
    ]
    what = f"number of {noun}: estimate and 95 % interval" if intervals else "count in the file"
    return frequencies_chart(rows, what)


def _report_map(content: ReportContent) -> ProcessGraph:
    """The process map of the release; empty if the file has no numbers for it."""
    if content.process_map is not None:
        return released_map(content.process_map)
    if content.synthetic is not None:
        return synthetic_map(content.synthetic)
    return directly_follows(content.variants, content.values)


def _estimate(content: ReportContent, index: int) -> str:
    """The estimated cases of a variant. Of a file without noisy counts, the count in the file, if that is the estimate."""
    if content.estimate:
        return f"{content.estimate.counts[index]:,.1f}"
    return f"{content.counts[index]:,}" if content.stated["release"]["frequencies"] == "estimated" else "–"


def _variants(content: ReportContent) -> list[VariantRow]:
    """Return the most frequent variants, by estimate."""
    intervals = content.estimate.intervals if content.estimate else None
    return [
        VariantRow(
            variant=shortened(_path(content.variants[index]), 600),
            rule=content.rules[index] if content.is_abstracted else "",
            origin=content.synthetic.origins[index] if content.synthetic is not None else "",
            estimate=_estimate(content, index),
            interval=f"{intervals[index][0]:,} – {intervals[index][1]:,}" if intervals else "–",
            count=f"{content.counts[index]:,}",
        )
        for index in _ranked(content)[:SHOWN]
    ]


def _curve(content: ReportContent) -> CurveSection:
    """Return the probability of release; on a ladder, for the first or the selected rung."""
    curve = keep_curve_of(content.mechanism)
    if curve is None:
        return CurveSection()
    points = curve.points()
    marks = {points[0][0], points[-1][0], *(curve.first_above(share) for share in _MARKED)}
    rows = tuple((f"{cases:,}", _probability(curve.probability(cases))) for cases in sorted(marks))
    noun = texts.counted_noun(content.mechanism, content.person)
    return CurveSection(curve.rung, keep_curve(points, curve.first_above(HALF), noun), rows)


def _probability(share: Fraction) -> str:
    return f"{float(share):.3%}" if share >= Fraction(1, 10**5) else f"{float(share):.1e}"


def _ranked(content: ReportContent) -> list[int]:
    values = content.values
    return sorted(range(len(values)), key=lambda index: (-values[index], content.variants[index]))


def _label(content: ReportContent, index: int) -> str:
    rule = f"[{content.rules[index]}] " if content.is_abstracted else ""
    return rule + _path(content.variants[index])


def _path(trace: Trace) -> str:
    return " → ".join(map(activity_text, trace))


def _number(value: str) -> str:
    return rounded_up(exact(value, "a part"), 6)
