"""The page of the demo: the built-in log and its three releases, side by side. The data are made up."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..log.log import Log
from ..log.traces import Trace
from ..plots.chevrons import chevrons
from ..plots.html import map_assets, render
from ..plots.map_graph import ProcessGraph, compared_graph, directly_follows, release_graph, released_map
from ..plots.map_picture import map_svg
from ..releases.release import ReleasedLog

if TYPE_CHECKING:
    from ..releases.process_map import MapRelease
    from ..releases.synthetic_log import SyntheticRelease

TITLE = "travas: one log, three releases"
"""The title of the page, by which the demo recognises its own."""

PICTURES = ("demo-variants.svg", "demo-synthetic.svg", "demo-map.svg")
"""The files of the pictures."""

_SHOWN = 8


@dataclass(frozen=True)
class DemoPictures:
    """What the page shows.

    Attributes:
        compared: The process of the original log and of the released map, as one map.
        graphs: The processes of the released variants, of the synthetic log and of the released map.
        rows: The most frequent released variants, as chevrons, with their estimated numbers of cases.
        sizes: In words, how large the four logs are.
    """

    compared: ProcessGraph
    graphs: tuple[ProcessGraph, ProcessGraph, ProcessGraph]
    rows: tuple[tuple[str, str], ...]
    sizes: dict[str, str]

    @classmethod
    def of(cls, log: Log, variants: ReleasedLog, synthetic: SyntheticRelease, mapped: MapRelease) -> DemoPictures:
        """The graphs of the log and of its releases."""
        before, released = log.summary(), released_map(mapped)
        original = directly_follows(*_columns(log), noun="cases")
        return cls(
            compared_graph(original.by_names, released.by_names, "cases"),
            (release_graph(variants), release_graph(synthetic), released),
            _rows(variants.variants, variants.counts),
            {
                "original": f"{before.cases:,} stays, {before.variants:,} different variants",
                "variants": f"{len(variants.variants):,} variants",
                "synthetic": f"{sum(synthetic.counts):,} generated stays, {len(synthetic.variants):,} different variants",
                "mapped": f"{len(mapped.activities):,} activities, {len(mapped.pairs):,} steps",
            },
        )

    def files(self) -> dict[str, str]:
        """Return the pictures by file name; raises MissingExtraError without pygraphviz."""
        return dict(zip(PICTURES, map(map_svg, self.graphs), strict=True))


def demo_html(pictures: DemoPictures) -> str:
    """Render the page."""
    style = files(__package__).joinpath("templates/demo.css").read_text(encoding="utf-8")
    variants, synthetic, mapped = (graph.model() for graph in pictures.graphs)
    return render(
        __package__,
        "demo.html",
        {
            "title": TITLE,
            **map_assets(style),
            "compared": pictures.compared.model(),
            "variants": variants,
            "synthetic": synthetic,
            "mapped": mapped,
            "rows": [(Markup(svg), count) for svg, count in pictures.rows],
            "sizes": pictures.sizes,
        },
    )


def is_demo_page(path: Path) -> bool:
    """Return whether a file is a page that `demo_html` rendered."""
    try:
        with path.open("rb") as file:
            return f"<title>{TITLE}</title>".encode() in file.read(1_000)
    except OSError:
        return False


def _columns(log: Log) -> tuple[list[Trace], list[int]]:
    rows = list(log.items())
    return [trace for trace, _ in rows], [count for _, count in rows]


def _rows(variants: tuple[Trace, ...], counts: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
    ranked = sorted(zip(variants, counts, strict=True), key=lambda row: -row[1])[:_SHOWN]
    return tuple((chevrons(trace), f"{count:,}") for trace, count in ranked)
