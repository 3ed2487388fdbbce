"""Step 6: the release. Everything is public except what is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from ...model import explain
from ...model.release import Release
from ...plots.chevrons import chevrons, colours_of
from ...plots.map_layout import process_map
from ...plots.svg import name_of
from ...privacy.numbers import as_text
from ...synthesis.synthetic_release import SyntheticRelease
from ..parts import confidential, note, picture, table, title
from ..transfers import FORMATS

if TYPE_CHECKING:
    from ..page import Page

_ROWS, _EXPLORED = 200, 25


def draw(page: Page) -> None:
    released = page.session.released
    assert released is not None
    release = released.release
    guarantee = release.guarantee
    is_synthetic = release.mechanism.kind == "synthetic log"
    title("Synthetic log" if is_synthetic else "Released")
    if is_synthetic:
        ui.label(explain.SYNTHETIC).classes("words")
    cases = f"{sum(release.counts):,} generated cases of " if is_synthetic else ""
    ui.label(
        f"{cases}{len(release.variants):,} variants · ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} for "
        f"{guarantee.protects} · {guarantee.standing}"
    ).classes("words")
    for warning in (*released.recipe.weak_protection(), *_warnings(release)):
        ui.label(warning).classes("refusal").props("role=status")
    if isinstance(release, SyntheticRelease):
        note(
            f"{release.share_released:.1%} of the cases have a variant that was released as such, all others are generated; "
            f"{release.quality().in_words()}."
        )
    account = released.account
    note(f"Ledger: charged to {account.name or 'this file, which has no name'}. {account.remainder}.")
    downloads(page)
    if released.kept:  # a release that was opened again has none
        with confidential():
            ui.label(f"Kept: {released.kept}")
            for remark in released.notes:
                ui.label(remark)
    estimates = release.estimate.counts
    ranked = sorted(range(len(estimates)), key=lambda index: (-estimates[index], release.variants[index]))
    with ui.tabs().props('no-caps align=left aria-label="views of the release"') as tabs:
        for name in ("Variants", "Explorer", "Process map"):
            ui.tab(name)
    with ui.tab_panels(tabs, value="Variants", animated=False).classes("w-full"):
        with ui.tab_panel("Variants"):
            if isinstance(release, SyntheticRelease):
                generated_traces(release, ranked)
            else:
                variants(release, ranked)
        with ui.tab_panel("Explorer"):
            explorer(release, ranked)
        with ui.tab_panel("Process map"):
            generated = "Of a synthetic log: generated cases are counted, too. " if is_synthetic else ""
            note(
                f"{generated}Which activity directly follows which, and how often, by the counts in the file. Steps back are "
                "dashed."
            )
            picture(process_map(release.variants, release.counts), "process map").classes("tall")


def _warnings(release: Release) -> tuple[str, ...]:
    """What to say of a release that is empty, nearly so, or mostly noise."""
    if isinstance(release, SyntheticRelease):
        return release.quality().warnings(sum(release.counts))
    emptiness = explain.of_emptiness(len(release.variants), release.mechanism)
    return (emptiness,) if emptiness else ()


def downloads(page: Page) -> None:
    """One button for each file, which is written when it is asked for."""
    ui.html("<h3>Downloads</h3>", sanitize=False)
    with ui.element("div").classes("scroll"), ui.element("table"), ui.element("tbody"):
        for suffix, what in FORMATS.items():
            name = f"release{suffix}"
            with ui.element("tr"):
                with ui.element("td"):
                    _download(page, name, name)
                with ui.element("td"):
                    ui.label(what)
                with ui.element("td"):
                    _download(page, "guarantee", f"{name}.guarantee.json")
                with ui.element("td"):
                    _download(page, "report", f"{name}.report.html")
    note("Hand out a file together with its guarantee; keep the report. Anyone can check both: travas verify.")


def _download(page: Page, words: str, name: str) -> None:
    button = ui.button(words, on_click=lambda: page.download(name)).props("flat dense no-caps")
    button.props["aria-label"] = f"Download {name}"


def generated_traces(release: SyntheticRelease, ranked: list[int]) -> None:
    """The most frequent traces of a synthetic log, and where each comes from."""
    paths = [" → ".join(map(name_of, release.variants[place])) for place in ranked[:_ROWS]]
    rows = [
        [path, release.origins[place], f"{release.counts[place]:,}"]
        for path, place in zip(paths, ranked[:_ROWS], strict=True)
    ]
    table(["Trace", "Origin", "Cases"], rows, frozenset({2}))
    note("Origin: released is a variant of the original log; generated need not occur in it.")
    if len(ranked) > _ROWS:
        note(f"And {len(ranked) - _ROWS:,} more: the downloads have them all.")


def variants(release: Release, ranked: list[int]) -> None:
    estimate, rules, noun = release.estimate, release.rules, release.mechanism.noun
    rows = []
    for place in ranked[:_ROWS]:
        low, high = estimate.intervals[place] if estimate.intervals else (None, None)
        between = "–" if low is None else f"{low:,} – {high:,}"
        path = " → ".join(map(name_of, release.variants[place]))
        rule = [rules[place]] if release.is_abstracted else []
        rows.append([path, *rule, f"{estimate.counts[place]:,.1f}", between, f"{release.counts[place]:,}"])
    head = [
        "Variant",
        *(["Abstraction"] if release.is_abstracted else []),
        f"Estimated number of {noun}",
        "95 % interval",
        "Count in the file",
    ]
    table(head, rows, frozenset(range(len(head) - 3, len(head))))
    if release.is_abstracted:
        note(
            "Abstraction: the public rule by which the trace was generalised before it was counted; full is unchanged."
        )
    if len(ranked) > _ROWS:
        note(f"And {len(ranked) - _ROWS:,} more: the downloads have them all.")
    missing = explain.of_missing(estimate, explain.pairs(release.mechanism))
    if missing is not None:
        note(f"Not released: {missing}.")
    if release.frequencies == "estimated" and ranked:
        note(f"{explain.COUNT_IN_FILE} It adds up to {sum(release.counts):,} {explain.pairs(release.mechanism)}.")


def explorer(release: Release, ranked: list[int]) -> None:
    shown = ranked[:_EXPLORED]
    estimate, rules = release.estimate, release.rules
    colours = colours_of(release.variants, release.counts)
    if isinstance(release, SyntheticRelease):
        note("Number of cases of a trace in the synthetic log.")
    else:
        note(f"Number of {release.mechanism.noun} of a variant: estimate, and 95 % interval.")
    with ui.element("div").classes("explorer"):
        for place in shown:
            rule = f" · {rules[place]}" if release.is_abstracted else ""
            between = "" if estimate.intervals is None else " ({:,} – {:,})".format(*estimate.intervals[place])
            ui.label(f"{estimate.counts[place]:,.0f}{between}{rule}").classes("number")
            picture(chevrons(release.variants[place], colours), "variant")
    if len(ranked) > _EXPLORED:
        note(f"The {_EXPLORED} most frequent of {len(ranked):,} variants.")
