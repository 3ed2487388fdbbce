"""Files that documents and docstrings name exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = re.compile(r"\b(?:src/travas|tests|docs|benchmarks|experiments)/[\w/.-]+\.(?:py|md|toml)\b")


def test_files_that_documents_name_exist() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    named = {(page, name) for page in pages for name in PATH.findall(page.read_text()) if "NAME" not in name}
    assert len(named) > 100
    assert [(page.name, name) for page, name in sorted(named) if not (ROOT / name).is_file()] == []


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = {(page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())}
    assert len(links) > 50
    assert [(page.name, link) for page, link in sorted(links) if not (page.parent / link).exists()] == []
