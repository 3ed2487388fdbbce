"""The segments of one release side by side: post-processing of their files, and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..outputs.guarantee_file import guarantee_path
from ..outputs.write import segment_path
from ..plots.map_graph import released_map, steps_of
from ..plots.svg import shortened, step_text
from ..releases.release import SEGMENT
from ..verification.opened import load, stated_reading
from .content import ReportContent, read_content

STEPS = 12
"""The number of steps in the table: those whose shares differ most."""

Row = tuple[str, list[str]]


def segments_beside(guarantee: Path, release: Path) -> tuple[tuple[str, ReportContent], ...]:
    """The segments whose files are beside that of one of them, each verified, by value; none if there are no others."""
    stated = load(guarantee)
    reading = stated_reading(stated, guarantee)
    if reading is None or reading.by is None:
        return ()
    facts = stated["release"]
    kind, suffix = stated["kind"], "." + facts["format"]
    value = reading.segments[reading.named_segments.index(facts["notices"][SEGMENT])]
    ending = segment_path(Path("x" + suffix), value, kind).name.removeprefix("x")
    whole = release.with_name(release.name.removesuffix(ending) + suffix)
    files = {other: segment_path(whole, other, kind) for other in reading.segments}
    found = {other: file for other, file in files.items() if file.is_file() and guarantee_path(file).is_file()}
    return tuple((other, read_content(guarantee_path(file), file)) for other, file in found.items())


def comparison(segments: Sequence[tuple[str, ReportContent]]) -> tuple[list[Row], list[Row]]:
    """What the files of segments contain, and the shares of cases that have a step, by segment."""
    figures = [content.decision.content for _, content in segments]
    rows = [
        (parts[0].words.partition(" (")[0], [part.value for part in parts]) for parts in zip(*figures, strict=False)
    ]
    shares = [_shares(content) for _, content in segments]
    steps = {step for found in shares for step in found}
    values = {step: [found.get(step, 0.0) for found in shares] for step in steps}
    shown = sorted(steps, key=lambda step: (min(values[step]) - max(values[step]), step))[:STEPS]
    return rows, [(step, [f"{found[step]:.0%}" if step in found else "–" for found in shares]) for step in shown]


def _shares(content: ReportContent) -> Mapping[str, float]:
    """The share of the cases in the file that have each directly-follows step."""
    if content.process_map is None:
        steps, total = steps_of(content.variants, content.counts, "cases"), float(sum(content.counts))
    else:
        steps, total = released_map(content.process_map).by_names, content.process_map.total.value
    return {shortened(step_text(*pair), 200): min(cases / max(total, 1), 1.0) for pair, cases in steps.items()}
