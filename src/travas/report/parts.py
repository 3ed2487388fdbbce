"""Parts of the report as HTML: what was released, in tables and pictures, and how likely. Everything is escaped."""

from __future__ import annotations

from collections import Counter

from ..mechanisms.ladder import Ladder
from ..model.curve_points import keep_points
from ..model.estimate import Estimate
from ..model.mechanism import Mechanism
from ..model.variants import Trace
from ..plots.charts import frequencies_chart, keep_curve
from ..plots.svg import escape, name_of, shortened
from ..privacy.numbers import exact, rounded_up
from . import texts as texts
from .document import Dossier

SHOWN = 40
"""Variants in the report's table; the release has them all."""

_CHARTED = 15


def missing(estimate: Estimate | None, noun: str) -> str:
    if estimate is None or estimate.missing_cases is None or estimate.missing_cases_interval is None:
        return "not estimated from this file"
    low, high = estimate.missing_cases_interval
    return (
        f"about {estimate.missing_cases:,.0f} {noun} ({low:,.0f} to {high:,.0f}) have variants that were not released"
        "; estimated from the release alone"
    )


def alphabet(variants: tuple[Trace, ...]) -> str:
    names = sorted({name_of(activity) for trace in variants for activity in trace})
    shown = ", ".join(shortened(name, 60) for name in names[:200])
    return shown + (f", and {len(names) - 200:,} more" if len(names) > 200 else "") if names else "it is empty"


def _ranked(dossier: Dossier) -> list[int]:
    return sorted(range(len(dossier.counts)), key=lambda place: (-dossier.counts[place], dossier.variants[place]))


def _label(dossier: Dossier, place: int) -> str:
    rule = f"[{dossier.rules[place]}] " if dossier.is_abstracted else ""
    return rule + _path(dossier.variants[place])


def _path(trace: Trace) -> str:
    return " → ".join(map(name_of, trace))


def coarser(dossier: Dossier) -> str:
    """By which public rules its traces were made, and how many by each."""
    if not dossier.is_abstracted:
        return escape(texts.NOT_COARSER)
    often = Counter(dossier.rules)
    lines = "".join(
        f"<li>{escape(texts.rule(rule))} ({often[str(rule)]:,} of the traces)</li>" for rule in dossier.abstractions
    )
    return f"by public rules, before counting:<ul>{lines}</ul>"


def steps(mechanism: Mechanism) -> str:
    """The rungs of a ladder, and the parts of the budget, step by step."""
    if not isinstance(mechanism, Ladder):
        return ""
    cells = "".join(
        f"<tr><td>{escape(step['step'])}</td><td>{_number(step['epsilon'])}</td><td>{_number(step['delta'])}</td></tr>"
        for step in mechanism.parameters()["steps"]
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Step", "ε", "δ"))
    most = mechanism.unit.max_cases
    each = (
        "" if most == 1 else f" for one of the {most} cases of a {mechanism.unit.name} that count, and over all of them"
    )
    return (
        f"<h3>Step by step</h3><p>Rungs, from fine to coarse: {escape(', '.join(map(str, mechanism.rungs)))}. A case that one "
        f"rung has released is not counted on the next. What each step spends{escape(each)}, together no more than ε and δ"
        f" (rounded up; exact in the parameters):</p><table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
    )


def _number(value: str) -> str:
    return rounded_up(exact(value, "a part"), 6)


def chart(dossier: Dossier) -> str:
    if not dossier.variants:
        return "<p>The release is empty: no variant was kept. That is a valid release.</p>"
    estimate = dossier.estimate
    intervals = estimate.intervals if estimate else None
    values = estimate.counts if estimate else dossier.counts
    rows = [
        (_label(dossier, place), float(values[place]), intervals[place] if intervals else None)
        for place in _ranked(dossier)[:_CHARTED]
    ]
    noun = dossier.mechanism.noun
    what = f"{noun} of a variant: estimate and 95 % interval" if intervals else f"{noun} of a variant in the release"
    return frequencies_chart(rows, what)


def variants(dossier: Dossier) -> str:
    """The most frequent variants as a table; the intervals are for the true number of what is counted."""
    if not dossier.variants:
        return ""
    intervals = dossier.estimate.intervals if dossier.estimate else None
    lines = []
    for place in _ranked(dossier)[:SHOWN]:
        between = f"{intervals[place][0]:,} – {intervals[place][1]:,}" if intervals else "–"
        variant = escape(shortened(_path(dossier.variants[place]), 600))
        rule = f"<td>{escape(dossier.rules[place])}</td>" if dossier.is_abstracted else ""
        lines.append(
            f'<tr><td>{variant}</td>{rule}<td class="number">{dossier.counts[place]:,}</td><td class="number">{between}</td></tr>'
        )
    rest = len(dossier.variants) - SHOWN
    more = f"<p>And {rest:,} more: the release has them all.</p>" if rest > 0 else ""
    if intervals is None:
        more += "<p>Intervals need the noisy counts: they are in a .json release, and where frequencies are noisy.</p>"
    column = '<th scope="col">Abstraction</th>' if dossier.is_abstracted else ""
    return (
        f'<table><thead><tr><th scope="col">Variant</th>{column}<th scope="col" class="number">Cases in the release</th>'
        f'<th scope="col" class="number">True count, 95 %</th></tr></thead><tbody>{"".join(lines)}</tbody></table>{more}'
    )


def curve(mechanism: Mechanism) -> str:
    """How likely a variant is released; on a ladder, a key of the first rung or of the one that was chosen."""
    about, noun, one = "", mechanism.noun, mechanism
    if isinstance(mechanism, Ladder):
        rung, one = mechanism.spending()[0]
        about = f"<p>On a ladder it depends on the rung. Here: {escape(rung)}.</p>"
    points = keep_points(one)
    if not points:
        return (
            f"<p>With {escape(mechanism.name)} this depends on the whole tree of prefixes, not on the count alone.</p>"
        )
    marks = {points[0], points[-1], *(next(p for p in points if p[1] >= share) for share in (0.05, 0.5, 0.95))}
    cells = "".join(
        f'<tr><td class="number">{cases:,}</td><td class="number">{share:.3%}</td></tr>'
        if share >= 1e-5
        else f'<tr><td class="number">{cases:,}</td><td class="number">{share:.1e}</td></tr>'
        for cases, share in sorted(marks)
    )
    names = (noun[:1].upper() + noun[1:], "Probability to be released")
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in names)
    return f"{about}{keep_curve(points, noun)}<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
