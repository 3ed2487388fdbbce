"""HTML from Jinja2 templates, which escape all text, for the report, the page of a map, notebooks and the web app.

A package keeps its templates in its folder `templates`. Pictures are SVG of `plots`, which escapes its own text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .svg import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def render(package: str, template: str, values: Mapping[str, Any]) -> str:
    """Render a whole page."""
    return _environment(package).get_template(template).render(values)


def part(package: str, template: str, macro: str, *values: Any) -> Markup:
    """Render one macro of a template."""
    return Markup(getattr(_environment(package).get_template(template).module, macro)(*values))


BROWSER = files(__package__).joinpath("browser")
"""The files that pages with maps use: `map.js`, `map.css`, `map_worker.js` and `graphviz.js`."""


def browser_file(name: str) -> str:
    """The text of a file for pages with maps."""
    return BROWSER.joinpath(name).read_text(encoding="utf-8")


@cache
def inline_graphviz() -> Markup:
    """Graphviz and its worker as one script without imports, for pages that are one file."""
    found = re.fullmatch(
        r"(.*)export\{[^}]*?(\w+) as Graphviz\b[^}]*\};\s*(//.*)?", browser_file("graphviz.js").strip(), re.S
    )
    assert found is not None
    worker = re.sub(r"^import .*$", f"const Graphviz = {found[2]};", browser_file("map_worker.js"), flags=re.M)
    return Markup(found[1] + worker)


def map_assets(page_style: str) -> dict[str, Any]:
    """Style, script, Graphviz and security policy of a page with maps that is one file, for its template."""
    style, script = browser_file("map.css") + page_style, browser_file("map.js")
    policy = (
        f"default-src 'none'; style-src '{_source(style)}'; script-src '{_source(script)}' 'wasm-unsafe-eval'; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "script": Markup(script), "graphviz": inline_graphviz(), "policy": Markup(policy)}


def _source(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def finalize(value: Any) -> Any:
        """Replace characters that HTML cannot represent; Jinja2 escapes the rest."""
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": True}
    return environment


# -------------------------------------------------------------------------------------- notebooks, without scripts


heading, warning, paragraph, picture, table, fragment = (
    partial(part, "travas.plots", "notebook.html", macro)
    for macro in ("heading", "warning", "paragraph", "picture", "table", "fragment")
)
"""Parts of a view: a heading, a line that must not be overlooked, a paragraph, SVG of `plots`, and a table of its head and
rows; and the HTML of a view of these parts, readable in light and dark themes."""
