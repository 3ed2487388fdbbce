"""A process map as one HTML page that needs nothing else: zoom, filters and hovering, without any request."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from ..maps.map_release import MapRelease
from ..plots.map_picture import as_svg, drawing
from ..plots.svg import escape
from ..privacy.numbers import as_text

MOST_ACTIVITIES, MOST_PAIRS = 100, 400
"""What the page shows at most; the .json file has everything."""

FIRST_SHOWN = 60
"""The page opens with this many pairs; the filter shows the rest."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{style_hash}'; \
script-src 'sha256-{script_hash}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{about}</p>
<form id="controls">
<label>At least <output id="least">{least}</output> cases
<input id="filter" type="range" min="0" max="{ranks}" value="{rank}" step="1"></label>
<label>Activity <input id="search" type="search" autocomplete="off" placeholder="part of a name"></label>
<span><button id="closer" type="button" aria-label="Zoom in">+</button>
<button id="farther" type="button" aria-label="Zoom out">−</button>
<button id="whole" type="button">Whole map</button></span>
</form>
</header>
<main id="map" tabindex="0">{picture}</main>
<p id="detail" role="status" aria-live="polite">Point at a pair or an activity for its numbers and 95 % intervals.</p>
<script>{script}</script>
</body>
</html>
"""


def map_page(release: MapRelease) -> str:
    """Render the page. Names are escaped, and the policy in the page allows its own script and style only.

    Args:
        release: The map.

    Returns:
        The HTML document.
    """
    plan = drawing(release, "hidden", MOST_ACTIVITIES, MOST_PAIRS)
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("map.css", "map.js"))
    numbers = sorted({pair.cases for pair in plan.pairs})
    ranked = sorted((pair.cases for pair in plan.pairs), reverse=True)
    least = ranked[min(FIRST_SHOWN, len(ranked)) - 1] if ranked else 0
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
        picture=as_svg(plan),
        least=f"{least:,}",
        ranks=max(len(numbers) - 1, 0),
        rank=numbers.index(least) if numbers else 0,
    )


def write_page(release: MapRelease, path: Path) -> None:
    """Write the page."""
    path.write_text(map_page(release), encoding="utf-8", newline="\n")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
