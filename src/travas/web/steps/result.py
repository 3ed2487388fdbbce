"""Step 6: what was released. Everything here is public but what is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from ...model.release import Release
from ...plots.chevrons import chevrons, colours_of
from ...plots.process_map import process_map
from ...plots.svg import escape, name_of
from ...privacy.numbers import as_text
from ..files import FORMATS
from ..parts import confidential, note, picture, table, title

if TYPE_CHECKING:
    from ..page import Page

_ROWS, _EXPLORED = 200, 25


def draw(page: Page) -> None:
    released = page.session.released
    assert released is not None
    release = released.release
    guarantee = release.guarantee
    title("Released")
    ui.label(
        f"{len(release.variants):,} variants, standing for {sum(release.counts):,} cases · ε = {as_text(guarantee.epsilon)}, "
        f"δ = {as_text(guarantee.delta)} for {guarantee.protects} · {guarantee.standing}"
    ).classes("words")
    account = released.account
    note(f"Ledger: charged to {account.name or 'this file, which has no name'}. {account.remainder}.")
    downloads()
    with confidential():
        ui.label(f"Kept: {released.kept}")
        for remark in released.notes:
            ui.label(remark)
    ranked = sorted(range(len(release.counts)), key=lambda place: (-release.counts[place], release.variants[place]))
    with ui.tabs().props('no-caps align=left aria-label="views of the release"') as tabs:
        for name in ("Variants", "Explorer", "Process map"):
            ui.tab(name)
    with ui.tab_panels(tabs, value="Variants", animated=False).classes("w-full"):
        with ui.tab_panel("Variants"):
            variants(release, ranked)
        with ui.tab_panel("Explorer"):
            explorer(release, ranked)
        with ui.tab_panel("Process map"):
            note("Which activity directly follows which, and how often, in the release. Steps back are dashed.")
            picture(process_map(release.variants, release.counts), "process map").classes("tall")


def downloads() -> None:
    """Plain links: a file is written when it is asked for."""
    ui.html("<h3>Downloads</h3>", sanitize=False)
    rows = "".join(
        f'<tr><td><a href="/download/release{suffix}" download>release{suffix}</a></td><td>{escape(what)}</td>'
        f'<td><a href="/download/release{suffix}.guarantee.json" download>guarantee</a></td>'
        f'<td><a href="/download/release{suffix}.report.html" download>report</a></td></tr>'
        for suffix, what in FORMATS.items()
    )
    ui.html(f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>', sanitize=False)
    note("Hand out a file together with its guarantee; keep the report. Anyone can check both: travas verify.")


def variants(release: Release, ranked: list[int]) -> None:
    estimate, rules, noun = release.estimate, release.rules, release.mechanism.noun
    rows = []
    for place in ranked[:_ROWS]:
        low, high = estimate.intervals[place] if estimate.intervals else (None, None)
        between = "–" if low is None else f"{low:,} – {high:,}"
        path = " → ".join(map(name_of, release.variants[place]))
        rule = [rules[place]] if release.is_abstracted else []
        rows.append([path, *rule, f"{release.counts[place]:,}", f"{estimate.counts[place]:,.1f}", between])
    what = "Estimated true count" + ("" if noun == "cases" else f" of {noun}")
    head = [
        "Variant",
        *(["Abstraction"] if release.is_abstracted else []),
        "Cases in the event log",
        what,
        "95 % interval",
    ]
    table(head, rows, frozenset(range(len(head) - 3, len(head))))
    if release.is_abstracted:
        note(
            "Abstraction: the public rule by which the trace was made coarser before it was counted; full is as it was."
        )
    if len(ranked) > _ROWS:
        note(f"And {len(ranked) - _ROWS:,} more: the downloads have them all.")
    if estimate.missing_cases is not None and estimate.missing_cases_interval is not None:
        low, high = (round(bound) for bound in estimate.missing_cases_interval)
        note(
            f"Believed missing, from the release alone: about {estimate.missing_cases:,.0f} {noun} ({low:,} to {high:,}). "
            "In the event log, variants that were kept also stand for these."
        )
    if not ranked:
        note("The release is empty: no variant was kept. That is a valid release; a larger ε keeps more.")


def explorer(release: Release, ranked: list[int]) -> None:
    shown = ranked[:_EXPLORED]
    total = max(sum(release.counts), 1)
    colours, rules = colours_of(release.variants, release.counts), release.rules
    with ui.element("div").classes("explorer"):
        for place in shown:
            count = release.counts[place]
            rule = f" · {rules[place]}" if release.is_abstracted else ""
            ui.label(f"{count:,} ({count / total:.1%}){rule}").classes("number")
            picture(chevrons(release.variants[place], colours), "variant")
    if len(ranked) > _EXPLORED:
        note(f"The {_EXPLORED} most frequent of {len(ranked):,} variants.")
