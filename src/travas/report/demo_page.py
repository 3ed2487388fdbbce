"""The page of the demo: the built-in log and its three releases, side by side. The data are made up."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..log.log import Log
from ..plots.chevrons import chevrons
from ..plots.html import map_assets, render
from ..plots.map_graph import compared_graph, release_graph, released_map, steps_of
from ..releases.release import ReleasedLog

if TYPE_CHECKING:
    from ..releases.process_map import MapRelease
    from ..releases.synthetic_log import SyntheticRelease

TITLE = "travas: one log, three releases"
"""The title of the page, by which the demo recognises its own."""

_SHOWN = 8


def demo_html(log: Log, variants: ReleasedLog, synthetic: SyntheticRelease, mapped: MapRelease) -> str:
    """Render the page: the log and the released map as one, the map of each release, and the most frequent variants."""
    style = files(__package__).joinpath("templates/demo.css").read_text(encoding="utf-8")
    before, released = log.summary(), released_map(mapped)
    traces, counts = zip(*log.items(), strict=True)
    original = steps_of(traces, counts, "cases")
    ranked = sorted(zip(variants.variants, variants.counts, strict=True), key=lambda row: -row[1])[:_SHOWN]
    return render(
        __package__,
        "demo.html",
        {
            "title": TITLE,
            **map_assets(style),
            "compared": compared_graph(original, released.by_names, "cases").model(),
            "variants": release_graph(variants).model(),
            "synthetic": release_graph(synthetic).model(),
            "mapped": released.model(),
            "rows": [(Markup(chevrons(trace)), f"{count:,}") for trace, count in ranked],
            "sizes": {
                "original": f"{before.cases:,} stays, {before.variants:,} different variants",
                "variants": f"{len(variants.variants):,} variants",
                "synthetic": f"{sum(synthetic.counts):,} generated stays, {len(synthetic.variants):,} variants",
                "mapped": f"{len(mapped.activities):,} activities, {len(mapped.pairs):,} steps",
            },
        },
    )


def is_demo_page(path: Path) -> bool:
    """Return whether a file is a page that `demo_html` rendered."""
    try:
        with path.open("rb") as file:
            return f"<title>{TITLE}</title>".encode() in file.read(1_000)
    except OSError:
        return False
