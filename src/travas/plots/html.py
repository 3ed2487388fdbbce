"""HTML from Jinja2 templates, which escape all text, for the report, the page of a map, notebooks and the web app.

A package keeps its templates in its folder `templates`. Pictures are SVG of `plots`, which escapes its own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
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
