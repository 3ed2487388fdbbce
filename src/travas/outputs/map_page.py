"""A process map as one HTML page that needs nothing else: zoom, filters and hovering, without any request."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from ..plots.html import render
from ..plots.map_graph import IN_A_BROWSER, released_graph
from ..plots.map_picture import map_svg
from ..releases.process_map import MapRelease
from ..trusted.numbers import as_text

"""What the page shows at most; the .json file has everything."""

_START = '\nmountMap(document.getElementById("map"), { name: "process-map" });\n'


def map_page(release: MapRelease) -> str:
    """Render the page. Names are escaped, and the policy in the page allows its own script and style only."""
    graph = released_graph(release).most_frequent(*IN_A_BROWSER)
    style, script = view_file("map_page.css") + view_file("map_view.css"), view_file("map_view.js") + _START
    guarantee = release.guarantee
    about = (
        f"Numbers of cases with noise: ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} for "
        f"{guarantee.holds_for}, {guarantee.standing}. A dashed box is the node other: all activities that were not selected."
    )
    page = render(
        __package__,
        "map_page.html",
        {
            "title": release.title.capitalize(),
            "about": about,
            "style": Markup(style),
            "script": Markup(script),
            "style_hash": _hash(style),
            "script_hash": _hash(script),
            "picture": Markup(map_svg(graph)),
        },
    )
    return page + "\n"


def view_file(name: str) -> str:
    """The text of a file of this package that belongs to pages."""
    return files(__package__).joinpath("map_view", name).read_text(encoding="utf-8")


def write_page(release: MapRelease, path: Path) -> None:
    """Write the page."""
    path.write_text(map_page(release), encoding="utf-8", newline="\n")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
