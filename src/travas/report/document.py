"""The report as HTML. Jinja2 escapes all text from files and users; only generated SVG is trusted markup."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup

from .. import explain
from ..budget.account import now
from ..plots.charts import throughput_chart
from ..plots.html import browser_file, render
from ..plots.map_graph import directly_follows, release_graph
from ..plots.map_picture import picture_or_reason
from ..plots.svg import activity_text, shortened, step_text
from ..releases.estimate import keep_curve_of
from ..releases.process_map import MapRelease
from ..releases.release import count_noun, counted_of, details_of, released_attributes, released_event_attributes
from ..releases.synthetic_log import SyntheticRelease
from ..report import texts
from ..trusted.numbers import as_text, rounded_up
from .content import ReportContent
from .decision import most_frequent
from .segments import comparison

SHOWN = 40
"""The number of variants in the table of the report; the release contains all."""

_NAMES = 200


def as_html(content: ReportContent, segments: Sequence[tuple[str, ReportContent]] = ()) -> str:
    """Render the report as one self-contained page, with a comparison of all segments if there are any."""
    of_segments, steps_of_segments = comparison(segments) if len(segments) > 1 else ([], [])
    style = files(__package__).joinpath("templates/report.css").read_text(encoding="utf-8") + browser_file("charts.css")
    mechanism, release = content.mechanism, content.release
    guarantee, curve = mechanism.guarantee(), keep_curve_of(mechanism)
    graph = directly_follows(content.variants, content.values) if release is None else release_graph(release)
    attributes = (*released_attributes(mechanism), *released_event_attributes(mechanism))
    noun = count_noun(mechanism, content.person)
    noisy = () if content.synthetic is None else content.synthetic.quality().mostly_noise
    values = {
        "content": content,
        "guarantee": guarantee,
        "explain": explain,
        "texts": texts,
        "counted": counted_of(mechanism),
        "details": details_of(mechanism),
        "as_text": as_text,
        "style": Markup(style),
        "style_hash": "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        "today": now()[:10],
        "reasons": _as_recorded(content.recorded.reason, content.reason, content),
        "sign_offs": _as_recorded(content.recorded.signed_off_by, content.signed_off_by, content),
        "noun": noun,
        "delta_spent": rounded_up(guarantee.delta_spent, 3),
        "parameters": json.dumps(content.stated["parameters"], ensure_ascii=False),
        "facts_of_kind": _facts(content),
        "noisy_steps": [shortened(step_text(pair.before, pair.after), 200) for pair in noisy],
        "node_names": {one.key: one.name if one.kind == "activity" else f"({one.kind})" for one in graph.nodes},
        "map_pairs": graph.paths[:SHOWN] if content.process_map is not None else (),
        "activity_names": _activity_names(content),
        "found_values": [each.name for each in attributes if each.is_selected],
        "map_picture": picture_or_reason(graph) if graph.paths else ("", ""),
        "throughput": Markup("" if graph.throughput is None else throughput_chart(graph.throughput, graph.times)),
        "trace_text": lambda trace: shortened(" → ".join(map(activity_text, trace)), 600),
        "ranked": most_frequent(content.variants, content.values),
        "shown": SHOWN,
        "segment_names": [shortened(value, 40) for value, _ in segments],
        "of_segments": of_segments,
        "steps_of_segments": steps_of_segments,
        "curve": curve,
    }
    return render(__package__, "report.html", values)


def _as_recorded(recorded: str, stated: str, content: ReportContent) -> list[str]:
    """A reason or a sign-off: what the charge recorded, and what was stated for this report, each with its date."""
    lines, charge = [], content.charge
    if charge is not None and recorded.strip():
        lines.append(f"{recorded.strip()} (recorded with the charge on {charge.time[:10]})")
    if stated.strip() and stated.strip() != recorded.strip():
        after = ", after the charge" if charge else ""
        lines.append(f"{stated.strip()} (stated for this report on {now()[:10]}{after})")
    return lines


def _activity_names(content: ReportContent) -> str:
    """Return the released activity names as text, for review."""
    of_map = () if content.process_map is None else content.process_map.measurements.activities
    names = sorted({activity_text(activity) for trace in (*content.variants, of_map) for activity in trace})
    more = f", and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(shortened(name, 60) for name in names[:_NAMES]) + more or "see the file"


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
