"""The page of the demo: the built-in log and its three releases, side by side. The data are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..log.log import Log
from ..log.traces import Trace
from ..plots.chevrons import chevrons
from ..plots.html import render
from ..plots.map_graph import directly_follows, released_graph
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
_PAIRS = 24
"""The number of pairs that are readable on a page with several maps; the files have all of them."""


@dataclass(frozen=True)
class DemoPictures:
    """What the page shows.

    Attributes:
        original: The process of the original log, as SVG.
        variants: The process of the released variants.
        synthetic: The process of the synthetic log.
        mapped: The released process map.
        rows: The most frequent released variants, as chevrons, with their estimated numbers of cases.
        sizes: In words, how large the four logs are.
    """

    original: str
    variants: str
    synthetic: str
    mapped: str
    rows: tuple[tuple[str, str], ...]
    sizes: dict[str, str]

    @classmethod
    def of(cls, log: Log, variants: ReleasedLog, synthetic: SyntheticRelease, mapped: MapRelease) -> DemoPictures:
        """Draw the pictures."""
        before = log.summary()
        return cls(
            _map(*_columns(log)),
            _map(variants.variants, variants.counts),
            _map(synthetic.variants, synthetic.counts),
            map_svg(released_graph(mapped).most_frequent(pairs=_PAIRS)),
            _rows(variants.variants, variants.counts),
            {
                "original": f"{before.cases:,} stays, {before.variants:,} different variants",
                "variants": f"{len(variants.variants):,} variants",
                "synthetic": f"{sum(synthetic.counts):,} generated stays, {len(synthetic.variants):,} different variants",
                "mapped": f"{len(mapped.activities):,} activities, {len(mapped.pairs):,} steps",
            },
        )

    def files(self) -> dict[str, str]:
        """Return the pictures by file name."""
        return dict(zip(PICTURES, (self.variants, self.synthetic, self.mapped), strict=True))


def demo_html(pictures: DemoPictures) -> str:
    """Render the page."""
    style = files(__package__).joinpath("templates/demo.css").read_text(encoding="utf-8")
    return render(
        __package__,
        "demo.html",
        {
            "title": TITLE,
            "style": Markup(style),
            "original": Markup(pictures.original),
            "variants": Markup(pictures.variants),
            "synthetic": Markup(pictures.synthetic),
            "mapped": Markup(pictures.mapped),
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


def _map(variants: Sequence[Trace], counts: Sequence[int]) -> str:
    """Draw which activity directly follows which."""
    return map_svg(directly_follows(variants, counts).most_frequent(pairs=_PAIRS))


def _columns(log: Log) -> tuple[list[Trace], list[int]]:
    rows = list(log.items())
    return [trace for trace, _ in rows], [count for _, count in rows]


def _rows(variants: tuple[Trace, ...], counts: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
    ranked = sorted(zip(variants, counts, strict=True), key=lambda row: -row[1])[:_SHOWN]
    return tuple((chevrons(trace), f"{count:,}") for trace, count in ranked)
