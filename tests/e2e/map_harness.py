"""The process map of the web app on a separate page, under the same content-security policy, and what is measured there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from travas.plots.map_graph import ProcessGraph
from travas.plots.map_picture import UNPLACED, map_svg
from travas.web.guard import HEADERS

PAGE = """<!doctype html><html lang="en"><head><title>map</title><link rel="stylesheet" href="/view/map_view.css">
<link rel="icon" href="data:,"><style>body { margin: 0 } .travas-map { width: 1100px; height: 560px }</style>
<script type="importmap">{"imports": {"travas-graphviz/": "/browser/", "travas-map-view/": "/view/"}}</script></head>
<body><div id="map" class="travas-map"></div><script type="module">
import component from "/browser/process_map.js";
const given = await (await fetch("/pictures")).json();
component.mounted.call({ $el: document.getElementById("map"), ...given });
</script></body></html>"""

FAULTS = """() => {
  const visible = (element) => !element.closest(".hidden") && element.getAttribute("display") !== "none";
  const nodes = [...document.querySelectorAll(".node")].filter(visible);
  const boxes = nodes.map((node) => node.querySelector("rect").getBoundingClientRect());
  const labels = [...document.querySelectorAll(".label text")].filter(visible).map((label) => label.getBoundingClientRect());
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const among = (list) => list.flatMap((a, i) => list.slice(i + 1).filter((b) => overlap(a, b))).length;
  const outside = nodes.filter((node, i) => [...node.querySelectorAll("text")].some((text) => {
    const words = text.getBoundingClientRect();
    return words.left < boxes[i].left - 1 || words.right > boxes[i].right + 1;
  })).length;
  let through = 0;
  for (const pair of [...document.querySelectorAll(".pair")].filter(visible)) {
    const path = pair.querySelector("path"), length = path.getTotalLength(), matrix = path.getScreenCTM();
    const others = boxes.filter((_, i) => ![pair.dataset.before, pair.dataset.after].includes(nodes[i].dataset.key));
    const steps = Math.ceil(length / 3);
    const points = Array.from({ length: steps + 1 }, (_, i) => path.getPointAtLength(length * i / steps).matrixTransform(matrix));
    through += others.filter((box) => points.some((point) =>
      point.x > box.left + 1 && point.x < box.right - 1 && point.y > box.top + 1 && point.y < box.bottom - 1)).length;
  }
  return {
    labels: among(labels), labelsOnBoxes: labels.flatMap((a) => boxes.filter((b) => overlap(a, b))).length,
    boxes: among(boxes), outside, through, nodes: nodes.length, pairs: labels.length,
  };
}"""
"""Counts what must not happen on a map, as it is rendered: overlaps of labels and boxes, text outside, arrows through boxes."""


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, pictures: bytes, *given: Any) -> None:
        self.pictures = pictures
        super().__init__(*given)

    def do_GET(self) -> None:
        kind, content = "text/html; charset=utf-8", PAGE.encode()
        folders = {"browser": files("travas.web") / "browser", "view": files("travas.outputs") / "map_view"}
        folder, _, name = self.path[1:].partition("/")
        if folder in folders:
            kind = "text/css" if name.endswith(".css") else "text/javascript"
            content = folders[folder].joinpath(name).read_bytes()
        elif folder == "pictures":
            kind, content = "application/json", self.pictures
        self.send_response(200)
        for header, value in {**HEADERS, "Content-Type": kind}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving_maps(graphs: Sequence[ProcessGraph], name: str = "map") -> Iterator[str]:
    """The address of a page with these maps."""
    pictures = [{"label": f"map {number}", "svg": map_svg(graph, UNPLACED)} for number, graph in enumerate(graphs)]
    content = json.dumps({"pictures": pictures, "name": name}).encode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, content))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
