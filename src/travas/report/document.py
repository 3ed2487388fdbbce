"""The report as HTML. Jinja2 escapes all text from files and users; only generated SVG is trusted markup."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from .. import explain
from ..budget.account import Account, as_plain, now
from ..explain import HALF
from ..mechanisms.ladder import generalises, rungs_of
from ..mechanisms.mechanism import parameters_of
from ..plots.charts import keep_curve, throughput_chart
from ..plots.html import browser_file, render
from ..plots.map_graph import directly_follows, release_graph
from ..plots.map_picture import picture_or_reason
from ..plots.svg import activity_text, shortened, step_text
from ..releases.estimate import keep_curve_of
from ..releases.process_map import MapRelease
from ..releases.release import EVENT_LOGS, count_noun, kind_of, released_attributes, released_event_attributes
from ..releases.synthetic_log import SyntheticRelease
from ..report import texts
from ..trusted.numbers import as_text, exact, rounded_up
from .content import ReportContent
from .decision import between
from .segments import comparison, node_text

SHOWN = 40
"""The number of variants in the table of the report; the release contains all."""

_NAMES, _STEPS = 200, 40


def as_html(content: ReportContent, segments: Sequence[tuple[str, ReportContent]] = ()) -> str:
    """Render the report as one self-contained page, with a comparison of all segments if there are any."""
    of_segments, steps_of_segments = comparison(segments) if len(segments) > 1 else ([], [])
    style = files(__package__).joinpath("templates/report.css").read_text(encoding="utf-8") + browser_file("charts.css")
    mechanism, release = content.mechanism, content.release
    guarantee, curve = mechanism.guarantee(), keep_curve_of(mechanism)
    graph = directly_follows(content.variants, content.values) if release is None else release_graph(release)
    attributes = (*released_attributes(mechanism), *released_event_attributes(mechanism))
    noun = count_noun(mechanism, content.person)
    pairs = () if content.process_map is None else content.process_map.pairs
    values = {
        "content": content,
        "guarantee": guarantee,
        "explain": explain,
        "texts": texts,
        "style": Markup(style),
        "style_hash": "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        "today": now()[:10],
        "reasons": _as_recorded(content.recorded.reason, content.reason, content),
        "sign_offs": _as_recorded(content.recorded.signed_off_by, content.signed_off_by, content),
        "noun": noun,
        "delta_spent": rounded_up(guarantee.delta_spent, 3),
        "parameters": json.dumps(content.stated["parameters"], ensure_ascii=False),
        "facts_of_kind": _facts(content),
        "noisy_steps": _noisy_steps(content),
        "map_pairs": sorted(pairs, key=lambda pair: -pair.cases.value)[:SHOWN],
        "node_text": node_text,
        "between": between,
        "activity_names": _activity_names(content),
        "found_values": [each.name for each in attributes if each.is_selected],
        "map_picture": picture_or_reason(graph) if graph.paths else ("", ""),
        "throughput": Markup("" if graph.throughput is None else throughput_chart(graph.throughput, graph.times)),
        "variants": _variants(content),
        "left_out": max(len(content.variants) - SHOWN, 0),
        "segment_names": [shortened(value, 40) for value, _ in segments],
        "of_segments": of_segments,
        "steps_of_segments": steps_of_segments,
        "rules": _rules(content),
        "steps": _steps(content),
        "curve": curve,
        "curve_picture": Markup("" if curve is None else keep_curve(curve.points(160), curve.first_above(HALF), noun)),
        "history": _history(content),
        "machine": _machine(content),
    }
    return render(__package__, "report.html", values)


def _as_recorded(recorded: str, stated: str, content: ReportContent) -> list[str]:
    """A reason or a sign-off: what the charge recorded, and what was stated for this report, each with its date."""
    lines, charge = [], content.charge
    if charge is not None and recorded.strip():
        several = f"; the last of {len(content.charges)} charges that fit this release" if content.charges[1:] else ""
        lines.append(f"{recorded.strip()} (recorded with the charge on {charge.time[:10]}{several})")
    if stated.strip() and stated.strip() != recorded.strip():
        after = ", after the charge" if charge else ""
        lines.append(f"{stated.strip()} (stated for this report on {now()[:10]}{after})")
    return lines


def _history(content: ReportContent) -> dict[str, Any]:
    """Return everything that was charged to the data set, or this release alone without an account."""
    guarantee, account = content.mechanism.guarantee(), content.account
    if account is None:
        numbers = as_text(guarantee.epsilon), as_text(guarantee.delta)
        alone = [("this release", guarantee.mechanism, *numbers)]
        return {"data_set": "", "budget": "", "rows": alone, "together": "Sum", "sum": numbers}
    costs = [(entry.time, entry.spending) for entry in account.entries]
    largest = f"For one {content.person}: of different periods only the largest one counts"
    return {
        "data_set": account.dataset or "",
        "budget": "; assumed: ".join((account.remainder, *account.assumptions)),
        "rows": [(time, cost.mechanism, as_text(cost.epsilon), as_text(cost.delta)) for time, cost in costs],
        "together": largest if account.has_periods else "Together",
        "sum": ("not known", "") if account.has_unknown_cost else tuple(map(as_text, account.spent)),
    }


def _machine(content: ReportContent) -> dict[str, Any]:
    """Return the machine-readable block for registries of deployments. Schema: docs/report.md."""
    stated, account = content.stated, content.account
    rules = [rule.describe() | {"state": state} for rule, state in content.reported_rules]
    same = "software", "unit", "neighbours", "epsilon", "delta", "delta_spent", "replace_one", "standing"
    charge = content.charge
    return {name: stated[name] for name in same} | {
        "format": "travas report",
        "version": 1,
        "reading": stated.get("reading"),
        "policy": {"stated_cases": content.stated_cases, "weak_protection": list(content.weak_protection)}
        | ({} if content.policy is None else {"name": content.policy.name, "rules": rules}),
        "mechanism": {"name": stated["mechanism"], "parameters": stated["parameters"]},
        "abstraction": [{"name": str(rule), "rule": rule.as_json()} for rule in content.abstractions],
        "kind": kind_of(content.mechanism),
        "post_processing": texts.post_processing(
            stated["release"]["frequencies"], explain.released_by(content.mechanism), content.timestamp_kind
        ),
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
        "account": None if account is None else _account(account),
    }


def _account(account: Account) -> dict[str, Any]:
    columns = ("time", "mechanism", "epsilon", "delta")
    charges = [{name: charge[name] for name in columns} for charge in (entry.as_json() for entry in account.entries)]
    return {
        "data_set": account.dataset,
        "budget": account.budget and as_plain(account.budget.total),
        "state": account.remainder,
        "charges": charges,
    }


# ---------------------------------------------------------------------------------------------- tables and figures


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
    rows = [
        (step["step"], *(rounded_up(exact(step[part], part), 6) for part in ("epsilon", "delta"))) for step in steps
    ]
    return {"rungs": ", ".join(map(str, rungs_of(mechanism))), "each": each, "rows": rows}


def _facts(content: ReportContent) -> list[tuple[str, str]]:
    """What the measurements of a synthetic log or of a map say about it, in words; none without measurements."""
    release = content.release
    if isinstance(release, SyntheticRelease):
        again = [("Generated again", "from measurements that were released before, at no further privacy cost")]
        return [
            *((name.capitalize(), text) for name, text in explain.details_in_words(release.quality())),
            ("Measurements", f"SHA-256 {release.measurements.digest}; logs with the same measurements are one release"),
            *(again if release.generation == "again" else []),
        ]
    if not isinstance(release, MapRelease):
        return []
    repeats = {one.activity: one.repeated.value for one in release.activities if one.repeated is not None}
    most = sorted((-number, activity_text(name)) for name, number in repeats.items() if number > 0)[:5]
    rework = ", ".join(f"{name} {round(-number):,}" for number, name in most)
    cases = explain.original_cases(release, content.person)
    return [
        ("Measurements", f"SHA-256 {release.measurements.digest}"),
        *([("Rework", f"{cases} that repeat an activity: {rework}")] if rework else []),
    ]


def _noisy_steps(content: ReportContent) -> list[str]:
    """The steps of generated traces that cannot be told from noise; empty without measurements."""
    made = content.synthetic
    pairs = () if made is None else made.quality().mostly_noise
    names = [step_text(pair.before, pair.after) for pair in pairs]
    more = [f"and {len(names) - _STEPS:,} more"] if len(names) > _STEPS else []
    return [*(shortened(name, 200) for name in names[:_STEPS]), *more]


def _estimate(content: ReportContent, index: int) -> str:
    """The estimated cases of a variant. Of a file without noisy counts, the count in the file, if that is the estimate."""
    if content.estimate:
        return f"{content.estimate.counts[index]:,.1f}"
    return f"{content.counts[index]:,}" if content.stated["release"]["frequencies"] == "estimated" else "–"


def _variants(content: ReportContent) -> list[dict[str, str]]:
    """Return the most frequent variants: estimate and interval, if there are any, and the count in the file."""
    intervals, values = content.estimate.intervals if content.estimate else None, content.values
    ranked = sorted(range(len(values)), key=lambda index: (-values[index], content.variants[index]))
    return [
        {
            "variant": shortened(" → ".join(map(activity_text, content.variants[index])), 600),
            "rule": content.rules[index],
            "origin": content.synthetic.origins[index] if content.synthetic is not None else "",
            "estimate": _estimate(content, index),
            "interval": "{:,} – {:,}".format(*intervals[index]) if intervals else "–",
            "count": f"{content.counts[index]:,}",
        }
        for index in ranked[:SHOWN]
    ]
