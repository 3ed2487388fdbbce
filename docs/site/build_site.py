"""Build the documentation site into src/travas/site: `make docs`. Nothing is downloaded, and every link is checked.

The pages of docs/ and three files of the repository are copied to build/docs, reference pages are made from the code,
and Zensical builds the site in strict mode. Then the built pages are checked again: every link and every file that a
page loads must exist, and nothing may be loaded from the network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from reference_pages import reference_pages

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "docs" / "site"
BUILD = ROOT / "build" / "docs"
TARGET = ROOT / "src" / "travas" / "site"
COPIED = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
"""Files of the repository that are pages of the site."""


def main() -> None:
    """Build and check the site."""
    shutil.rmtree(BUILD, ignore_errors=True)
    pages = write_pages(BUILD / "pages")
    shutil.copytree(HERE / "overrides", BUILD / "overrides")
    (BUILD / "zensical.toml").write_text(configuration(pages))
    words = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(BUILD / "zensical.toml")]
    if (code := subprocess.run(words, cwd=BUILD, check=False).returncode) != 0:
        sys.exit(code)
    for unused in ("404.html", "sitemap.xml"):  # of a server; the site is opened from the disk
        (BUILD / "built" / unused).unlink()
    if problems := faults(BUILD / "built"):
        sys.exit("\n".join(problems))
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(BUILD / "built", TARGET)
    print(f"{len(list(TARGET.rglob('*.html')))} pages in {TARGET.relative_to(ROOT)}; open them with: travas docs")


def write_pages(folder: Path) -> list[str]:
    """Write the sources of all pages.

    Args:
        folder: The folder to write.

    Returns:
        The paths of the pages, relative to the folder.
    """
    unwanted = shutil.ignore_patterns("site", "__pycache__")
    shutil.copytree(ROOT / "docs", folder, ignore=unwanted)
    for name, page in COPIED.items():
        (folder / page).write_text(inside((ROOT / name).read_text(), "docs/"))
    for path in folder.rglob("*.md"):
        path.write_text(inside(path.read_text(), "../"))
    for page, text in reference_pages().items():
        (folder / page).parent.mkdir(exist_ok=True)
        (folder / page).write_text(text)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))


def inside(text: str, prefix: str) -> str:
    """Return a page with links to files of the repository as plain names, and to copied files as links to their pages.

    Args:
        text: The page.
        prefix: How the page reaches docs/ (`docs/`) or leaves it (`../`).

    Returns:
        The page.
    """
    if prefix == "docs/":
        text = text.replace("](docs/", "](")
    for name, page in COPIED.items():
        text = re.sub(rf"\]\((?:\.\./)*{re.escape(name)}", f"]({page}", text)
    return re.sub(r"\[([^\]]*)\]\(\.\./((?:src|experiments|tests|benchmarks|README)[^)]*)\)", r"\1 (`\2`)", text)


def configuration(pages: list[str]) -> str:
    """Return the configuration with the tutorials that exist and, at the end, pages without a place of their own."""
    text = (HERE / "zensical.toml").read_text().replace("SOURCES", str(ROOT / "src"))
    named = set(re.findall(r'"([\w/.-]+\.md)"', text))
    missing = [page for page in pages if page not in named and not page.startswith("reference/python-")]
    tutorials = [page for page in missing if page.startswith("tutorials/")]
    others = [page for page in missing if page not in tutorials]
    start = '    "tutorials/first-release.md",\n'
    text = text.replace(start, start + "".join(f'    "{page}",\n' for page in tutorials))
    topics = [page for page in pages if page.startswith("reference/python-")]
    listed = '    "reference/python.md",\n'
    text = text.replace(listed, listed + "".join(f'    "{page}",\n' for page in topics))
    if others:
        listed = ", ".join(f'"{page}"' for page in others)
        text = text.replace("]\n\n[project.theme]", f'  {{ "More" = [{listed}] }},\n]\n\n[project.theme]')
    tomllib.loads(text)
    return text


def faults(site: Path) -> list[str]:
    """Return what is wrong with a built site.

    Args:
        site: Its folder.

    Returns:
        Links that lead nowhere, and what a page would load from the network.
    """
    anchors = {path: set(re.findall(r'\bid="?([^"\s>]+)', path.read_text())) for path in site.rglob("*.html")}
    problems = []
    for path in anchors:
        text = path.read_text()
        for tag, address in re.findall(r'<(\w+)\b[^>]*?\s(?:href|src)="?([^"\s>]+)', text):
            where = f"{path.relative_to(site)}: {address}"
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                if tag != "a":
                    problems.append(f"{where} is loaded from the network")
            elif not urlsplit(address).scheme and (problem := _broken(path, address, anchors)):
                problems.append(f"{where} {problem}")
    for path in site.rglob("*.css"):
        problems += [
            f"{path.name}: {found}" for found in re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", path.read_text())
        ]
    return problems


def _broken(page: Path, address: str, anchors: dict[Path, set[str]]) -> str:
    name, anchor = urldefrag(address)
    target = (page.parent / unquote(name)).resolve() if name else page
    if not target.exists():
        return "does not exist"
    if anchor and target in anchors and unquote(anchor) not in anchors[target] and not anchor.startswith("__"):
        return "has no such anchor"
    return ""


if __name__ == "__main__":
    main()
