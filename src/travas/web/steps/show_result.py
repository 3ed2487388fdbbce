"""Step 6: the release. Everything is public except the tab Before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from nicegui import ui

from ...releases.release import ReleasedLog
from ..parts import title
from ..result.result_compare import draw_comparison
from ..result.result_handover import draw_handover
from ..result.result_map import draw_map
from ..result.result_summary import draw_summary
from ..result.result_variants import draw_variants
from ..sessions import FinishedRelease

if TYPE_CHECKING:
    from ..page import Page

TITLES = {"variants": "Released", "synthetic log": "Synthetic log", "process map": "Process map"}


def draw(page: Page) -> None:
    released = page.session.released
    assert released is not None
    draw_result(page, released)


def draw_result(page: Page, released: FinishedRelease) -> None:
    """Show a release in tabs; a tab is drawn when it is opened."""
    release = released.release
    title(TITLES[release.mechanism.kind])
    tabs = {
        "Summary": lambda: draw_summary(released),
        "Variants": lambda: draw_variants(cast(ReleasedLog, release)),
        "Map": lambda: draw_map(release),
        "Before and after": lambda: draw_comparison(page, released),
        "Hand over": lambda: draw_handover(page, released),
    }
    if not isinstance(release, ReleasedLog):
        del tabs["Variants"]
    with ui.tabs().props('no-caps align=left dense aria-label="views of the release"').classes("result-tabs") as bar:
        for name in tabs:
            ui.tab(name)
    panels = ui.tab_panels(bar, value="Summary", animated=False).classes("result-panels")
    drawn: set[str] = set()
    panel_of = {}
    with panels:
        for name in tabs:
            panel_of[name] = ui.tab_panel(name)

    def show(name: str) -> None:
        if name not in drawn:
            drawn.add(name)
            with panel_of[name]:
                tabs[name]()

    bar.on_value_change(lambda event: show(str(event.value)))
    show("Summary")
