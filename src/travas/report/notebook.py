"""A release in a notebook: its most frequent variants as chevrons, its process map, and its guarantee in words."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from .. import explain
from ..plots.chevrons import chevrons
from ..plots.html import fragment, heading, paragraph, picture, table, warning
from ..plots.map_graph import release_graph
from ..plots.map_picture import picture_or_reason
from ..releases.process_map import MapRelease
from ..releases.release import Release, ReleasedLog, VariantRelease, count_noun, kind_of
from ..trusted.guarantee import Standing
from .decision import decision_on, most_frequent

SHOWN = 10
"""How many variants are drawn; the release has them all."""


def release_html(release: Release) -> str:
    """Show a release in a notebook."""
    return fragment([heading(release.headline), *_guarantee(release), *_content(release)])


def _guarantee(release: Release) -> Iterator[Markup]:
    """The guarantee in words, and what weakens it."""
    mechanism, guarantee = release.mechanism, release.guarantee
    if guarantee.standing is Standing.NOT_ESTABLISHED:
        yield warning(explain.no_guarantee(guarantee))
        return
    yield paragraph(explain.holds(guarantee))
    released = explain.released_by(mechanism)
    yield paragraph(explain.of_epsilon(guarantee.epsilon, guarantee.delta, guarantee.unit.noun))
    yield paragraph(explain.of_delta(guarantee.delta, guarantee.unit.noun, released))
    for assumption in guarantee.assumptions:
        yield paragraph(f"Assumption: {assumption}.")


def _content(release: Release) -> Iterator[Markup]:
    """What was released, as pictures."""
    if about := explain.ABOUT_KIND[kind_of(release.mechanism)]:
        yield paragraph(about)
    for sentence in decision_on(release).warnings:
        yield warning(sentence)
    if isinstance(release, MapRelease):
        yield _map(release)
        return
    if not isinstance(release, ReleasedLog) or not release.variants:
        return
    yield from _variants(release)
    yield paragraph(f"Process map of the released log; numbers are events and steps in it. {release.times_in_words}")
    yield _map(release)


def _map(release: Release) -> Markup:
    svg, reason = picture_or_reason(release_graph(release))
    return picture(svg) if svg else paragraph(reason)


def _variants(release: ReleasedLog) -> Iterator[Markup]:
    estimated, intervals = release.estimated_counts, release.intervals
    ranked = most_frequent(release.variants, estimated)
    shown = release.estimate.own if isinstance(release, VariantRelease) else release.counts
    rows = []
    for index in ranked[:SHOWN]:
        interval = "" if intervals is None else "{:,} – {:,}".format(*intervals[index])
        rule = [release.rules[index]] if release.is_abstracted else []
        chain = Markup(chevrons(release.variants[index]))
        rows.append([f"{shown[index]:,}", interval, *rule, chain])
    noun = count_noun(release.mechanism)
    head = [
        noun[:1].upper() + noun[1:],
        "95 % interval",
        *(["Abstraction"] if release.is_abstracted else []),
        "Variant",
    ]
    yield table(head, rows)
    if len(ranked) > SHOWN:
        yield paragraph(f"The {SHOWN} most frequent of {len(ranked):,} variants.")
