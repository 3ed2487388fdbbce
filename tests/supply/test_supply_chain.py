"""What travas is made of is known, its licences are compatible, and every build of a commit gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from bill_of_materials import COPYLEFT, EXTRAS, ask, bill, components, licence_of, licences

ROOT = Path(__file__).resolve().parents[2]
COPYLEFT_BY_CHOICE = {"pm4py", "cvxopt"}
"""Only with the extra `models`, behind one adapter file: nothing of it is imported otherwise."""


def test_every_component_has_a_known_licence() -> None:
    unknown = {name for name, package in components(EXTRAS).items() if licence_of(package) == "unknown"}
    assert unknown == set()


def test_nothing_that_is_always_needed_is_under_a_strong_copyleft() -> None:
    def copyleft(extras: tuple[str, ...]) -> set[str]:
        return {name for name, package in components(extras).items() if COPYLEFT.search(licence_of(package))}

    assert copyleft(()) == set()
    assert copyleft(tuple(extra for extra in EXTRAS if extra != "models")) == set()
    assert copyleft(EXTRAS) <= COPYLEFT_BY_CHOICE


def test_the_bill_of_materials_is_complete_and_always_the_same() -> None:
    made = bill()
    assert made == bill() and json.loads(json.dumps(made)) == made
    assert made["bomFormat"] == "CycloneDX" and made["metadata"]["component"]["name"] == "travas"
    names = {part["name"] for part in made["components"]}
    assert {"numpy", "polars", "lxml", "typer", "rich", "jinja2", "attrs", "nicegui", "pm4py"} <= names
    references = {part["bom-ref"] for part in made["components"]} | {made["metadata"]["component"]["bom-ref"]}
    assert {edge["ref"] for edge in made["dependencies"]} == references
    assert all(set(edge["dependsOn"]) <= references for edge in made["dependencies"])


def test_the_list_of_licences_names_every_direct_dependency() -> None:
    page, now = (ROOT / "docs" / "supply-chain.md").read_text(), licences()
    direct = ("attrs", "numpy", "polars", "lxml", "typer", "rich", "jinja2", "pandas", "pm4py", "nicegui", "matplotlib")
    for name in direct:
        assert f"| {name} |" in page and f"| {name} |" in now


class Registry(BaseHTTPRequestHandler):
    """Knows one version with a vulnerability and one without."""

    KNOWN: ClassVar = {"/pypi/weak/1.0/json": ["GHSA-1"], "/pypi/sound/2.0/json": []}

    def do_GET(self) -> None:
        found = self.KNOWN.get(self.path)
        self.send_response(404 if found is None else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"vulnerabilities": [{"id": name} for name in found or ()]}).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [
        (("sound-2.0",), 0, "known vulnerabilities of the 1 packages"),
        (("sound-2.0", "strange-3.0"), 2, "no answer for 1 packages: strange"),
        (("sound-2.0", "strange-3.0", "weak-1.0"), 1, "{'weak': ['GHSA-1']}"),
    ],
)
def test_vulnerabilities_and_failures_of_a_registry_are_reported(
    packages: tuple[str, ...], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [dict(zip(("name", "version"), package.split("-"), strict=True)) for package in packages]
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert ask(parts, f"http://127.0.0.1:{server.server_port}") == code
        server.shutdown()
    assert words in capsys.readouterr().out


@pytest.mark.slow
def test_wheel_and_source_distribution_are_reproducible(tmp_path: Path) -> None:
    """Two clones of one commit, with different permissions, time zone and language: the same bytes."""
    built = []
    for name, umask, zone, language in (("one", 0o022, "UTC", "C.UTF-8"), ("a longer name", 0o077, "Asia/Tokyo", "C")):
        subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / name], check=True, umask=umask)
        settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SOURCE_DATE_EPOCH")}
        settings |= {"TZ": zone, "LC_ALL": language}
        words = ["make", "wheel", f"PYTHON={sys.executable}"]
        subprocess.run(words, cwd=tmp_path / name, check=True, env=settings, umask=umask, capture_output=True)
        made = sorted((tmp_path / name / "dist").iterdir())
        built.append([(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in made])
    assert [Path(name).suffix for name, _ in built[0]] == [".whl", ".gz"]
    assert built[0] == built[1]
