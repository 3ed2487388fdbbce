"""Executed notebooks as pages of the site: their text, code and recorded outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def notebook_page(path: Path) -> str:
    """Return a notebook as Markdown.

    Args:
        path: The `.ipynb` file.

    Returns:
        The page, with a link to the notebook.
    """
    parts: list[str] = []
    for cell in json.loads(path.read_text())["cells"]:
        text = _joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
        elif cell["cell_type"] == "code" and text.strip():
            parts += [f"```python\n{text}\n```", *_outputs(cell["outputs"])]
    return "\n\n".join([*parts, f"This page is a notebook: [{path.name}]({path.name})."]) + "\n"


def _outputs(outputs: list[dict[str, Any]]) -> Iterator[str]:
    for output in outputs:
        if output["output_type"] == "stream":
            yield _text(_joined(output["text"]))
        elif output["output_type"] == "error":
            raise ValueError(f"the notebook has an error: {output['ename']}")
        elif _joined(output["data"].get("text/html", "-")).strip():  # empty where a progress bar was removed
            yield _shown(output["data"])


def _shown(data: Mapping[str, Any]) -> str:
    """Return the richest form of an output."""
    if "text/html" in data:
        return _embedded(_joined(data["text/html"]))
    if "image/png" in data:
        return f'<img alt="Output of the cell above" src="data:image/png;base64,{_joined(data["image/png"]).strip()}">'
    return _text(_joined(data.get("text/plain", "")))


def _embedded(content: str) -> str:
    """Return HTML as one line of the page, so that nothing in it is read as Markdown."""
    if "<script" in content:
        raise ValueError("an output of the notebook has a script")
    return f'<div class="output">{" ".join(content.split())}</div>'


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def _joined(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
