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
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from notebook_pages import notebook_page
from reference_pages import TOPICS, reference_pages

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "docs" / "site"
COPIED = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
"""Files of the repository that are pages of the site."""


def main(build: Path, target: Path) -> None:
    """Build and check the site.

    Args:
        build: A folder for the work; it is removed first.
        target: Where the site is put; it is replaced.
    """
    shutil.rmtree(build, ignore_errors=True)
    pages = write_pages(build / "pages")
    shutil.copytree(HERE / "overrides", build / "overrides")
    (build / "zensical.toml").write_text(configuration(pages))
    words = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(build / "zensical.toml")]
    if (code := subprocess.run(words, cwd=build, check=False).returncode) != 0:
        sys.exit(code)
    for unused in ("404.html", "sitemap.xml"):  # of a server; the site is opened from the disk
        (build / "built" / unused).unlink()
    if problems := faults(build / "built"):
        sys.exit("\n".join(problems))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(build / "built", target)
    print(f"{len(list(target.rglob('*.html')))} pages in {target}; open them with: travas docs")


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
        path.write_text(
            with_reference(inside(path.read_text(), "../"), "../" * (len(path.relative_to(folder).parts) - 1))
        )
    for notebook in folder.rglob("*.ipynb"):
        notebook.with_suffix(".md").write_text(notebook_page(notebook))
    for page, text in reference_pages().items():
        (folder / page).parent.mkdir(exist_ok=True)
        (folder / page).write_text(text)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))


def inside(text: str, prefix: str) -> str:
    """Return a page whose links lead to pages: those to other files of the repository become plain names.

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
    text = re.sub(r"\]\(([\w/.-]+)\.ipynb\)", r"](\1.md)", text)
    return re.sub(r"\[([^\]]*)\]\(\.\./((?:src|experiments|tests|benchmarks|README)[^)]*)\)", r"\1 (`\2`)", text)


def with_reference(text: str, root: str) -> str:
    """Return a page in which `travas docs reference/PAGE` is a link: only the site has these pages.

    Args:
        text: The page.
        root: How the page reaches the root of the site (`../`).

    Returns:
        The page.
    """
    return re.sub(r"`(travas docs (reference/[\w-]+))`", rf"[`\1`]({root}\2.md)", text)


def configuration(pages: list[str]) -> str:
    """Return the configuration with all pages in the navigation.

    Args:
        pages: The paths of all pages.

    Returns:
        The configuration, with the topics of Python, further tutorials, and other pages without a place under *More*.
    """
    text = (HERE / "zensical.toml").read_text().replace("SOURCES", str(ROOT / "src"))
    topics = [f"reference/python-{topic}.md" for topic in TOPICS]
    text = text.replace('"reference/python.md"]', f"{_listed(['reference/python.md', *topics])}]")
    named = set(re.findall(r'"([\w/.-]+\.md)"', text))
    tutorials = [page for page in pages if page.startswith("tutorials/") and page not in named]
    others = [page for page in pages if page not in named and page not in tutorials]
    first = '"tutorials/check-a-release.md"'
    text = text.replace(first, ", ".join(filter(None, [first, _listed(tutorials)])))
    if others:
        text = text.replace("]\n\n[project.theme]", f'  {{ "More" = [{_listed(others)}] }},\n]\n\n[project.theme]')
    return text


def _listed(pages: list[str]) -> str:
    return ", ".join(f'"{page}"' for page in pages)


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
    chosen = [Path(word).absolute() for word in sys.argv[1:]]
    main(*(chosen or (ROOT / "build" / "docs", ROOT / "src" / "travas" / "site")))
