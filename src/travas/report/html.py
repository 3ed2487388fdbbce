"""The report as HTML: every text that comes from a file or a person is escaped. The template: report.html."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction
from importlib.resources import files
from string import Template
from typing import Any

from ..budget.account import Account
from ..model import explain as words
from ..plots.svg import escape
from ..privacy.numbers import as_text
from . import parts as parts
from . import texts as texts
from .document import Dossier


def as_html(dossier: Dossier) -> str:
    """The whole report, one self-contained page."""
    stated, mechanism = dossier.stated, dossier.mechanism
    guarantee = mechanism.guarantee()
    released = words.released_by(mechanism)
    unit = guarantee.unit.name
    traces: texts.Traces = "coarser" if dossier.is_abstracted else "whole"
    style = _resource("report.css")
    plain = {
        "date": _today(),
        "software": stated["software"],
        "release_name": dossier.name,
        "standing": stated["standing"],
        "epsilon": stated["epsilon"],
        "delta": stated["delta"],
        "delta_spent": stated["delta_spent"],
        "unit": unit,
        "protects": guarantee.protects,
        "protected": texts.protected(guarantee.unit),
        "several": texts.several(guarantee.unit),
        "neighbours": guarantee.neighbours,
        "replace_epsilon": stated["replace_one"]["epsilon"],
        "replace_delta": stated["replace_one"]["delta"],
        "mechanism": mechanism.name,
        "about_mechanism": texts.about(mechanism.name),
        "about_standing": texts.STANDINGS[guarantee.standing],
        "parameters": json.dumps(stated["parameters"], ensure_ascii=False),
        "assumed_public": "; ".join(stated["assumed_public"]),
        "format": stated["release"]["format"],
        "sha256": stated["release"]["sha256"],
        "variant_count": f"{len(dossier.variants):,}",
        "case_count": f"{sum(dossier.counts):,} {mechanism.noun}",
        "counting": texts.counting(mechanism),
        "frequencies": texts.FREQUENCIES[stated["release"]["frequencies"]],
        "missing": parts.missing(dossier.estimate, mechanism.noun),
        "alphabet": parts.alphabet(dossier.variants),
        "meaning_epsilon": words.of_epsilon(guarantee.epsilon, guarantee.delta, unit),
        "meaning_delta": words.of_delta(guarantee.delta, unit, released),
        "proof": texts.PROOFS[guarantee.standing].format(name=mechanism.name),
        "implementation": texts.IMPLEMENTATION,
        "utility": texts.utility(released, traces),
        "bias": texts.bias(released, traces),
        "post_processing": texts.post_processing(stated["release"]["frequencies"]),
    }
    drawn = {
        "style": style,
        "style_hash": "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        "reason": _reason(dossier.reason),
        "chart": parts.chart(dossier),
        "variants": parts.variants(dossier),
        "curve": parts.curve(mechanism),
        "coarser": parts.coarser(dossier),
        "steps": parts.steps(mechanism),
        "history": _history(dossier),
        "machine": _machine(dossier),
    }
    return Template(_resource("report.html")).substitute({key: escape(value) for key, value in plain.items()} | drawn)


# ------------------------------------------------------------------------------------------------------------- parts


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _reason(reason: str) -> str:
    words_ = escape(reason.strip()) or "No reason was given for these parameters."
    return f'<h3>Why these parameters</h3><p class="reason">{words_}</p>'


def _history(dossier: Dossier) -> str:
    """Everything that was charged to the data set, or this release alone where no account was given."""
    guarantee, account = dossier.mechanism.guarantee(), dossier.account
    rows = [(_today(), guarantee.mechanism, guarantee.epsilon, guarantee.delta)]
    about = "No account was given. If there were other releases about these people, theirs must be added."
    if account is not None:
        named = f"Data set: {escape(account.dataset)}. " if _is_named(account) else ""
        about = f"{named}Everything that was charged to it, this release among it. Budget: {escape(account.remainder)}."
        spendings = [(entry.time, entry.spending) for entry in account.entries]
        rows = [(time, paid.mechanism, paid.epsilon, paid.delta) for time, paid in spendings]
    cells = "".join(
        f"<tr><td>{escape(when)}</td><td>{escape(what)}</td><td>{as_text(epsilon)}</td><td>{as_text(delta)}</td></tr>"
        for when, what, epsilon, delta in rows
    )
    epsilon, delta = sum((row[2] for row in rows), Fraction(0)), sum((row[3] for row in rows), Fraction(0))
    head = "".join(f'<th scope="col">{name}</th>' for name in ("When", "Mechanism", "ε", "δ"))
    total = f"<tr><th>Sum</th><td></td><td>{as_text(epsilon)}</td><td>{as_text(delta)}</td></tr>"
    return f"<p>{about}</p><table><thead><tr>{head}</tr></thead><tbody>{cells}{total}</tbody></table>"


def _is_named(account: Account) -> bool:
    """A log without a name is known to the ledger by a digest, which is nobody else's business."""
    return not account.dataset.startswith("log:")


def _composition(account: Account | None) -> str:
    return account.budget.composition if account is not None and account.budget is not None else "basic"


def _charges(account: Account | None) -> dict[str, Any] | None:
    if account is None:
        return None
    budget = account.budget
    return {
        "data_set": account.dataset if _is_named(account) else None,
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


def _machine(dossier: Dossier) -> str:
    """For registries of deployments. `<` is written so that no name can end the element."""
    stated = dossier.stated
    content = {
        "format": "travas report",
        "version": 1,
        "software": stated["software"],
        "unit": stated["unit"],
        "neighbours": stated["neighbours"],
        "epsilon": stated["epsilon"],
        "delta": stated["delta"],
        "delta_spent": stated["delta_spent"],
        "replace_one": stated["replace_one"],
        "accounting": f"this release alone; releases of the data set: {_composition(dossier.account)} composition",
        "standing": stated["standing"],
        "mechanism": {"name": stated["mechanism"], "parameters": stated["parameters"]},
        "abstraction": [{"name": str(rule), "rule": rule.as_json()} for rule in dossier.abstractions],
        "post_processing": stated["release"]["frequencies"] + " frequencies, canonical order, artificial timestamps",
        "data_set": stated["release"] | {"name": dossier.name, "variants": len(dossier.variants)},
        "threat_model": {
            "trust": "central: the data owner and the machine are trusted",
            "attacker": "knows everything but one unit, unbounded computation",
            "assumed_public": stated["assumed_public"],
        },
        "reason": dossier.reason,
        "account": _charges(dossier.account),
    }
    text = json.dumps(content, ensure_ascii=True, indent=1)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
