"""The README and the links of the package index, made from the address of the repository in pyproject.toml.

In the repository the README has relative links, which work in a clone and on any host. A package index needs absolute
ones. As long as no address is set, a link to a page names the command that opens it, and pictures are left out.
`make publishable` fails then: nothing should be uploaded without a place for questions and reports.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PICTURE = re.compile(r"!\[[^\]]*\]\([^):]+\)\n+(?:\*[^\n]+\*\n+)?")  # with its caption
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^):]+)\)")


def index_readme(text: str, repository: str) -> str:
    """Return the README as it is shown on a package index.

    Args:
        text: The README of the repository.
        repository: The address of the repository on GitHub, or nothing.

    Returns:
        The README without relative links.

    >>> index_readme("see the [FAQ](docs/faq.md)", "https://github.com/OWNER/travas")
    'see the [FAQ](https://github.com/OWNER/travas/blob/main/docs/faq.md)'
    >>> index_readme("see the [FAQ](docs/faq.md#trust)", "")
    'see the FAQ (`travas docs faq`)'
    """
    if not repository:
        return _LINK.sub(lambda link: f"{link[2]} (`travas docs {_page(link[3])}`)", _PICTURE.sub("", text))
    return _LINK.sub(
        lambda link: f"{link[1]}[{link[2]}]({repository}/{'raw' if link[1] else 'blob'}/main/{link[3]})", text
    )


def _page(path: str) -> str:
    """Return the name by which `travas docs` opens a page."""
    return path.partition("#")[0].removeprefix("docs/").removesuffix(".md").lower()


def index_urls(repository: str) -> dict[str, str]:
    """Return the project links of the package index; none as long as the project has no host.

    Args:
        repository: The address of the repository on GitHub, or nothing.

    Returns:
        The addresses by name.
    """
    if not repository:
        return {}
    ends = {"Homepage": "", "Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md"}
    return {name: f"{repository}{end}" for name, end in ends.items()}


def repository_of(project: Path) -> str:
    """Return the address of the repository that pyproject.toml states."""
    content = tomllib.loads(project.read_text(encoding="utf-8"))
    return str(content["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"])


if __name__ == "__main__":
    if not repository_of(ROOT / "pyproject.toml"):
        sys.exit("pyproject.toml: repository is empty; set it to the address of the repository before the first upload")
