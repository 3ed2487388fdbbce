"""The tables and figures of the report as plain values; the template renders and escapes them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from ..maps.map_release import MapNode
from ..model.explain import HALF
from ..model.mechanism import Mechanism
from ..model.release_kind import EVENT_LOGS
from ..model.traces import Trace
from ..plots.charts import frequencies_chart, keep_curve
from ..plots.map_graph import directly_follows, released_graph
from ..plots.map_picture import map_svg
from ..plots.svg import activity_text, shortened
from ..privacy.numbers import exact, rounded_up
from ..synthesis.detail_words import details_in_words
from . import texts
from .content import ReportContent

SHOWN = 40
"""The number of variants in the table of the report; the release contains all."""

_CHARTED, _NAMES = 15, 200
_MARKED = (Fraction(1, 20), HALF, Fraction(19, 20))  # the first number of cases above each is in the table of the curve
_MAPPED = (16, 32)  # activities and pairs: what can be read on a page of paper


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
class Steps:
    """The rungs of a ladder, and the cost of each step: (step, ε, δ)."""

    rungs: str
    each: str
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class CurveSection:
    """The probability of release; `picture` is SVG, `rows` are (cases, probability). Empty if unknown."""

    rung: str = ""
    picture: str = ""
    rows: tuple[tuple[str, str], ...] = ()


def activity_names(content: ReportContent) -> str:
    """Return the released activity names as text, for review."""
    of_map = () if content.process_map is None else content.process_map.measurements.activities
    names = sorted({activity_text(activity) for trace in (*content.variants, of_map) for activity in trace})
    if not names and content.mechanism.kind not in EVENT_LOGS:
        return "see the file" if content.process_map is None else "none, the map has no activities"
    if not names:
        return "none, the release is empty"
    more = f", and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(shortened(name, 60) for name in names[:_NAMES]) + more


def rules(content: ReportContent) -> list[str]:
    """Return the public rules by which traces were generalised, with the number of traces of each."""
    if not content.is_abstracted:
        return []
    often = Counter(content.rules)
    return [f"{texts.rule(rule)} ({often[str(rule)]:,} of the traces)" for rule in content.abstractions]


def steps(mechanism: Mechanism) -> Steps | None:
    """Return the shares of the budget by step; None without a ladder."""
    if not mechanism.generalises:
        return None
    most = mechanism.unit.max_cases
    return Steps(
        rungs=", ".join(map(str, mechanism.abstractions)),
        each=""
        if most == 1
        else f" for one of the {most} counted cases of a {mechanism.unit.name}, and over all of them",
        rows=tuple(
            (step["step"], _number(step["epsilon"]), _number(step["delta"])) for step in mechanism.parameters()["steps"]
        ),
    )


def quality_words(content: ReportContent) -> list[tuple[str, str]]:
    """What the measurements of a synthetic log say about it, in words; none without measurements."""
    made = content.synthetic
    if made is None:
        return []
    measured = made.quality()
    facts = [
        ("Original log", f"{measured.cases.low:,.0f} to {measured.cases.high:,.0f} cases (95 %), as measured"),
        (
            "Share of released variants",
            f"{made.share_released:.1%} of the {sum(made.counts):,} cases; all others are generated",
        ),
        ("Noise", measured.in_words()),
        *((name.capitalize(), text) for name, text in details_in_words(measured)),
        ("Measurements", f"SHA-256 {made.measurements.digest}; logs with the same measurements are one release"),
    ]
    if made.generation == "again":
        facts.append(("Generated again", "from measurements that were released before, at no further privacy cost"))
    return facts + [("Warning", warning) for warning in made.warnings]


def of_map(content: ReportContent) -> list[tuple[str, str]]:
    """What the measurements of a process map say about it, in words; none without measurements."""
    made = content.process_map
    if made is None:
        return []
    total = made.total
    facts = [
        ("Original log", f"{math.floor(total.low):,} to {math.ceil(total.high):,} cases (95 %), as measured"),
        ("False pairs", f"about {made.expected_false_pairs:.1f} of the pairs are expected to be there by noise alone"),
        ("Measurements", f"SHA-256 {made.measurements.digest}"),
    ]
    return facts + [("Warning", warning) for warning in made.warnings]


def map_pairs(content: ReportContent) -> list[tuple[str, str, str, str]]:
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


def chart(content: ReportContent) -> str:
    """Draw the largest variants as SVG: estimates with intervals, or the counts in the file without estimates."""
    noun = content.mechanism.noun
    intervals = content.estimate.intervals if content.estimate else None
    rows = [
        (_label(content, index), float(content.values[index]), intervals[index] if intervals else None)
        for index in _ranked(content)[:_CHARTED]
    ]
    what = f"number of {noun}: estimate and 95 % interval" if intervals else "count in the file"
    return frequencies_chart(rows, what)


def report_map(content: ReportContent) -> str:
    """Draw the process map of the release as SVG without scripts; empty if the file has no numbers for it."""
    if content.process_map is not None:
        graph = released_graph(content.process_map)
    else:
        graph = directly_follows(content.variants, content.values)
    return map_svg(graph.most_frequent(*_MAPPED)) if graph.pairs else ""


def variants(content: ReportContent) -> list[VariantRow]:
    """Return the most frequent variants, by estimate."""
    intervals = content.estimate.intervals if content.estimate else None
    return [
        VariantRow(
            variant=shortened(_path(content.variants[index]), 600),
            rule=content.rules[index] if content.is_abstracted else "",
            origin=content.synthetic.origins[index] if content.synthetic is not None else "",
            estimate=f"{content.estimate.counts[index]:,.1f}" if content.estimate else "–",
            interval=f"{intervals[index][0]:,} – {intervals[index][1]:,}" if intervals else "–",
            count=f"{content.counts[index]:,}",
        )
        for index in _ranked(content)[:SHOWN]
    ]


def curve(mechanism: Mechanism) -> CurveSection:
    """Return the probability of release; on a ladder, for the first or the selected rung."""
    curve = mechanism.keep_curve()
    if curve is None:
        return CurveSection()
    points = curve.points()
    marks = {points[0][0], points[-1][0], *(curve.first_above(share) for share in _MARKED)}
    rows = tuple((f"{cases:,}", _probability(curve.probability(cases))) for cases in sorted(marks))
    return CurveSection(curve.rung, keep_curve(points, curve.first_above(HALF), mechanism.noun), rows)


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
