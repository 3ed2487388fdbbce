"""Writing process maps: a table of pairs (CSV), GraphML and DOT. Names are escaped by the rules of each format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from ..log.escaped_names import escape_name
from ..releases.process_map import END, OTHER, START, MapNode, MapPair, MapRelease
from ..trusted.guarantee import Standing
from ..trusted.numbers import as_text

if TYPE_CHECKING:
    import polars as pl

SECONDS = ("lower_quartile", "median", "upper_quartile")
"""The quartiles of durations, in seconds."""


def map_table(release: MapRelease, written: Callable[[str], str] = str) -> pl.DataFrame:
    """The pairs as a table; without an established guarantee every row says so.

    Args:
        release: The map.
        written: How a name is written.

    Returns:
        One row per pair. An activity of several columns has a column for each of them.
    """
    import polars as pl

    columns: dict[str, list[Any]] = {}
    for side in ("before", "after"):
        nodes: list[MapNode] = [getattr(pair, side) for pair in release.pairs]
        columns[f"{side}_kind"] = [node.kind for node in nodes]
        for index, column in enumerate(release.columns):
            name = side if len(release.columns) == 1 else f"{side}:{written(column)}"
            columns[name] = [_part(node, index, written) for node in nodes]
    types: dict[str, Any] = dict.fromkeys(columns, pl.String)
    columns["cases"] = [max(1, round(pair.cases.value)) for pair in release.pairs]
    columns["low"] = [math.floor(pair.cases.low) for pair in release.pairs]
    columns["high"] = [math.ceil(pair.cases.high) for pair in release.pairs]
    types |= dict.fromkeys(("cases", "low", "high"), pl.Int64)
    if "durations" in release.parts:
        for name in SECONDS:
            columns[name] = [pair.duration and round(getattr(pair.duration, name), 1) for pair in release.pairs]
            types[name] = pl.Float64
    standing = release.guarantee.standing
    if standing is Standing.NOT_ESTABLISHED:
        columns["privacy:standing"] = [str(standing)] * len(release.pairs)
        types["privacy:standing"] = pl.String
    return pl.DataFrame(columns, schema=types)


def write_map_csv(release: MapRelease, path: Path) -> None:
    """Write the pairs as a table."""
    map_table(release, escape_name).write_csv(path)


def _part(node: MapNode, index: int, written: Callable[[str], str]) -> str | None:
    if node.activity is None:
        return None
    return written(node.activity if isinstance(node.activity, str) else node.activity[index])


# ------------------------------------------------------------------------------------------------------- graphs

_KEYS = {
    "kind": ("node", "string"),
    "label": ("node", "string"),
    "cases": ("edge", "long"),
    "low": ("edge", "long"),
    "high": ("edge", "long"),
    "median": ("edge", "double"),
}


def write_graphml(release: MapRelease, path: Path) -> None:
    """Write the map as GraphML: nodes with kind and label, edges with numbers of cases, intervals and medians."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f"<!-- {_comment(text)} -->" for text in _headers(release)]
    lines += [
        f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
        for name, (owner, kind) in _KEYS.items()
    ]
    lines.append('<graph id="map" edgedefault="directed">')
    for number, node in _numbered(release):
        facts = {"kind": node.kind, "label": escape_name(release.label(node))}
        lines.append(f'<node id="n{number}">{_data(facts)}</node>')
    ids = {node: number for number, node in _numbered(release)}
    for pair in release.pairs:
        lines.append(
            f'<edge source="n{ids[pair.before]}" target="n{ids[pair.after]}">{_data(_edge_facts(pair))}</edge>'
        )
    lines += ["</graph>", "</graphml>", ""]
    path.write_text("\n".join(lines), encoding="utf-8", newline="\n")


def write_dot(release: MapRelease, path: Path) -> None:
    """Write the map for Graphviz: line width by number of cases."""
    most = max((pair.cases.value for pair in release.pairs), default=1.0)
    lines = [f"// {_comment(text)}" for text in _headers(release)]
    lines += ["digraph map {", 'node [shape=box, fontname="sans-serif"];', 'edge [fontname="sans-serif"];']
    shapes = {"start": "shape=circle", "end": "shape=doublecircle", "other": "style=dashed", "activity": "shape=box"}
    for number, node in _numbered(release):
        lines.append(f"n{number} [label={_quoted(release.label(node))}, {shapes[node.kind]}];")
    ids = {node: number for number, node in _numbered(release)}
    for pair in release.pairs:
        facts = _edge_facts(pair)
        words = f"{facts['cases']} ({facts['low']} to {facts['high']})"
        width = 0.5 + 4.5 * math.sqrt(pair.cases.value / max(most, 1.0))
        lines.append(f'n{ids[pair.before]} -> n{ids[pair.after]} [label="{words}", penwidth={width:.2f}];')
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8", newline="\n")


def _headers(release: MapRelease) -> Iterator[str]:
    """What a file says about the map as a whole."""
    guarantee = release.guarantee
    yield f"{release.title}; ε = {as_text(guarantee.epsilon)}, δ = {as_text(guarantee.delta)}: {guarantee.standing}"
    yield from release.notices.values()
    yield f"about {release.expected_false_pairs:.1f} of the pairs are expected to be there by noise alone"


def _comment(text: str) -> str:
    return text.replace("--", "- -")


def _numbered(release: MapRelease) -> Iterator[tuple[int, MapNode]]:
    names = (MapNode("activity", activity.activity) for activity in release.activities)
    yield from enumerate((START, *names, OTHER, END))


def _edge_facts(pair: MapPair) -> dict[str, Any]:
    facts = {
        "cases": max(1, round(pair.cases.value)),
        "low": math.floor(pair.cases.low),
        "high": math.ceil(pair.cases.high),
    }
    return facts if pair.duration is None else facts | {"median": round(pair.duration.median, 1)}


def _data(facts: dict[str, Any]) -> str:
    return "".join(f'<data key="{name}">{_text(str(value))}</data>' for name, value in facts.items())


def _text(value: str) -> str:
    return quoteattr(value)[1:-1].replace("'", "&#39;").replace('"', "&quot;")


def _quoted(name: str) -> str:
    """A name as a DOT string: control characters are escaped as in other files, then backslashes and quotes."""
    return (
        '"' + escape_name(name).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", " ") + '"'
    )
