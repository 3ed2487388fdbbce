"""A process map as one HTML page that needs nothing else: zoom, filters and hovering, without any request."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from ..maps.map_release import MapRelease
from ..plots.map_graph import released_map
from ..plots.map_picture import map_svg
from ..plots.svg import escape
from ..privacy.numbers import as_text

MOST_ACTIVITIES, MOST_PAIRS = 100, 400
"""What the page shows at most; the .json file has everything."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{style_hash}'; \
script-src 'sha256-{script_hash}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{about}</p>
</header>
<main class="travas-map" id="map">
<div class="map-frames"><div class="map-frame" tabindex="0" role="group" aria-label="process map">{picture}</div></div>
</main>
<script type="module">{script}</script>
</body>
</html>
"""
_START = '\nmountMap(document.getElementById("map"), { name: "process-map" });\n'


def map_page(release: MapRelease) -> str:
    """Render the page. Names are escaped, and the policy in the page allows its own script and style only.

    Args:
        release: The map.

    Returns:
        The HTML document.
    """
    graph = released_map(release).most_frequent(MOST_ACTIVITIES, MOST_PAIRS)
    style, script = view_file("map_page.css") + view_file("map_view.css"), view_file("map_view.js") + _START
    guarantee = release.guarantee
    about = (
        f"Numbers of cases with noise: ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)} for "
        f"{guarantee.protects}, {guarantee.standing}. A dashed box is the node other: all activities that were not selected."
    )
    return _PAGE.format(
        title=escape(release.title.capitalize()),
        about=escape(about),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        picture=map_svg(graph),
    )


def view_file(name: str) -> str:
    """The text of a file of this package that belongs to pages."""
    return files(__package__).joinpath("map_view", name).read_text(encoding="utf-8")


def write_page(release: MapRelease, path: Path) -> None:
    """Write the page."""
    path.write_text(map_page(release), encoding="utf-8", newline="\n")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
