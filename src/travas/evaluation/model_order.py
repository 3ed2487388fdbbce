"""The order of the elements of a model file.

pm4py keeps the nodes of a model in sets and writes them in the order of their memory addresses, which it also uses as names
of arcs. Addresses depend on what the process has done before, the log included: here they leave nothing in the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree

_CONTAINERS = ("page", "process", "BPMNPlane")
_ENDS = ("incoming", "outgoing")


def order_elements(path: Path) -> None:
    """Sort the elements of a PNML or BPMN file by their identifiers, and number the arcs of a Petri net.

    Args:
        path: The file, which is changed.
    """
    tree = etree.parse(path)
    for number, arc in enumerate(sorted(tree.iter("arc"), key=_ends)):
        arc.set("id", f"arc{number}")
    for parent in tree.iter("*"):
        if _tag(parent) in _CONTAINERS or any(_tag(child) in _ENDS for child in parent):
            _sort(parent)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def _sort(parent: Any) -> None:
    """Sort the children; the white space between them stays where it is."""
    tails = [child.tail for child in parent]
    parent[:] = sorted(parent, key=lambda child: (_tag(child), child.get("id", ""), child.text or ""))
    for child, tail in zip(parent, tails, strict=True):
        child.tail = tail


def _ends(arc: Any) -> tuple[str, str]:
    return arc.get("source", ""), arc.get("target", "")


def _tag(element: Any) -> str:
    return str(etree.QName(element).localname)
