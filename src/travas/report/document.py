"""The report as HTML. Jinja2 escapes all text from files and users; only generated SVG is trusted markup."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from ..budget.account import Account
from ..model import explain
from ..model.release_kind import EVENT_LOGS, Kind, TimestampKind
from ..model.statements import guarantee_of
from ..plots.html import render
from ..privacy.numbers import as_text
from . import sections, texts
from .content import ReportContent


def as_html(content: ReportContent) -> str:
    """Render the report as one self-contained page.

    Args:
        content: The content.

    Returns:
        The HTML document.
    """
    style = files(__package__).joinpath("templates/report.css").read_text(encoding="utf-8")
    curve = sections.curve(content.mechanism)
    return render(
        __package__,
        "report.html",
        {
            **_words(content),
            "style": Markup(style),
            "style_hash": "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            "chart": Markup(sections.chart(content)) if content.variants else "",
            "map_picture": Markup(sections.report_map(content)),
            "variants": sections.variants(content),
            "left_out": max(len(content.variants) - sections.SHOWN, 0),
            "rules": sections.rules(content),
            "steps": sections.steps(content.mechanism),
            "curve": curve,
            "curve_picture": Markup(curve.picture),
            "history": _history(content),
            "machine": _machine(content),
        },
    )


def _words(content: ReportContent) -> dict[str, Any]:
    """Return the text blocks of the page."""
    stated, mechanism, guarantee = content.stated, content.mechanism, guarantee_of(content.mechanism)
    released, unit = explain.released_by(mechanism), guarantee.unit
    traces: texts.Traces = "generalised" if content.is_abstracted else "whole"
    decision = content.decision
    about_epsilon, about_delta = explain.meaning(guarantee.epsilon, guarantee.delta, unit.name, released)
    return {
        "stated": stated,
        "verdict": decision.verdict,
        "figures": decision.figures,
        "warnings": decision.warnings,
        "missing_parts": decision.missing,
        "about_guess": explain.of_guess(guarantee.epsilon, guarantee.delta, unit.name),
        "release_name": content.name,
        "reason": content.reason.strip(),
        "looked_at": ", ".join(content.looked_at),
        "policy_name": "" if content.policy is None else content.policy.name,
        "policy_rules": () if content.policy is None else content.policy.rules,
        "signed_off_by": content.signed_off_by.strip(),
        "today": _today(),
        "weak": content.weak_protection,
        "unit": unit.name,
        "noun": mechanism.noun,
        "pairs": explain.pairs(mechanism),
        "holds_for": guarantee.holds_for,
        "protected": texts.protected(mechanism),
        "several": texts.several(unit),
        "neighbours": guarantee.neighbours,
        "reading": texts.reading(stated.get("reading")),
        "mechanism": mechanism.name,
        "about_mechanism": mechanism.summary,
        "about_standing": texts.STANDINGS[guarantee.standing],
        "parameters": json.dumps(stated["parameters"], ensure_ascii=False),
        "variant_count": len(content.variants),
        "total": sum(content.counts),
        "counting": texts.counting(mechanism),
        "synthetic": explain.SYNTHETIC if mechanism.kind == "synthetic log" else "",
        "noise": mechanism.noise_in_words(),
        "quality": sections.quality_words(content),
        "budget": texts.budget(stated["parameters"]),
        "not_released": texts.left_out(mechanism, content.timestamp_kind),
        "frequencies": texts.frequencies(stated["release"]["frequencies"], released),
        "count_in_file": explain.COUNT_IN_FILE if stated["release"]["frequencies"] == "estimated" else "",
        "has_intervals": content.estimate is not None and content.estimate.intervals is not None,
        "missing": explain.of_missing(content.estimate, explain.pairs(mechanism)) or "not estimated from this file",
        "process_map": explain.PROCESS_MAP if mechanism.kind == "process map" else "",
        "map_facts": sections.of_map(content),
        "map_pairs": sections.map_pairs(content),
        "activity_names": sections.activity_names(content),
        "about_epsilon": about_epsilon,
        "about_delta": about_delta,
        "proof": texts.PROOFS[guarantee.standing].format(name=mechanism.name),
        "implementation": texts.IMPLEMENTATION,
        "utility": texts.utility(released, traces),
        "bias": texts.bias(released, traces),
        "post_processing": texts.post_processing(stated["release"]["frequencies"], released, content.timestamp_kind),
    }


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _history(content: ReportContent) -> dict[str, Any]:
    """Return everything that was charged to the data set, or this release alone without an account."""
    guarantee, account = guarantee_of(content.mechanism), content.account
    rows = [(_today(), guarantee.mechanism, guarantee.epsilon, guarantee.delta)]
    if account is not None:
        spendings = [(entry.time, entry.spending) for entry in account.entries]
        rows = [(time, paid.mechanism, paid.epsilon, paid.delta) for time, paid in spendings]
    epsilon, delta = sum((row[2] for row in rows), Fraction(0)), sum((row[3] for row in rows), Fraction(0))
    together = "Sum"
    if account is not None and account.has_periods:
        together, (epsilon, delta) = "For one case: of different periods only the largest one counts", account.spent
    return {
        "data_set": (account.name or "") if account is not None else "",
        "budget": account.remainder if account is not None else "",
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
        "budget": budget and {"epsilon": as_text(budget.epsilon), "delta": as_text(budget.delta)},
        "state": account.remainder,
        "charges": [
            {
                "time": entry.time,
                "mechanism": entry.spending.mechanism,
                "epsilon": as_text(entry.spending.epsilon),
                "delta": as_text(entry.spending.delta),
            }
            for entry in account.entries
        ],
    }


def _machine(content: ReportContent) -> dict[str, Any]:
    """Return the machine-readable block for registries of deployments. Schema: docs/report.md."""
    stated, account = content.stated, content.account
    composition = account.budget.composition if account is not None and account.budget is not None else "basic"
    return {
        "format": "travas report",
        "version": 1,
        "software": stated["software"],
        "unit": stated["unit"],
        "neighbours": stated["neighbours"],
        "reading": stated.get("reading"),
        "epsilon": stated["epsilon"],
        "delta": stated["delta"],
        "delta_spent": stated["delta_spent"],
        "replace_one": stated["replace_one"],
        "policy": {"stated_cases": content.stated_cases, "weak_protection": list(content.weak_protection)}
        | ({} if content.policy is None else content.policy.describe()),
        "accounting": f"this release alone; releases of the data set: {composition} composition",
        "standing": stated["standing"],
        "mechanism": {"name": stated["mechanism"], "parameters": stated["parameters"]},
        "abstraction": [{"name": str(rule), "rule": rule.as_json()} for rule in content.abstractions],
        "kind": content.mechanism.kind,
        "post_processing": _post_processing(content),
        "data_set": stated["release"] | {"name": content.name, "variants": len(content.variants)},
        "threat_model": {
            "trust": "central: the data owner and the machine are trusted",
            "attacker": "knows everything but one unit, unbounded computation",
            "assumed_public": stated["assumed_public"],
        },
        "reason": content.reason,
        "looked_at": list(content.looked_at),
        "signed_off_by": content.signed_off_by,
        "account": _charges(account),
    }


def _post_processing(content: ReportContent) -> str:
    frequencies = f"{content.stated['release']['frequencies']} frequencies, canonical order"
    made: dict[Kind, str] = {
        "variants": frequencies,
        "synthetic log": "traces generated, canonical order",
        "process map": "consistent numbers, intervals, canonical order",
    }
    times: dict[TimestampKind, str] = {"artificial": "artificial", "generated": "generated", "none": "no"}
    about_times = f", {times[content.timestamp_kind]} timestamps" if content.mechanism.kind in EVENT_LOGS else ""
    return made[content.mechanism.kind] + about_times
