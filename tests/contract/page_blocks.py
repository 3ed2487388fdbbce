"""The code blocks of the pages: README, CONTRIBUTING and everything in docs.

A block says by its language what it is, and the tests run or check all of them. Two comments, invisible to readers, may
stand right before a block:

    <!-- setup: COMMAND -->     a command that the tests run before the block, such as one that makes its input
    <!-- not run: REASON -->    why the tests cannot run it. Commands in it are still parsed.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"(?P<comments>(?:^[ ]*<!--(?:(?!-->).)*-->\n+)*)^(?P<indent>[ ]*)```(?P<language>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$",
    flags=re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"<!-- (setup|not run): (.*?) -->")


@dataclass(frozen=True)
class Block:
    """One code block.

    Attributes:
        language: Its language.
        text: Its lines.
        setup: Commands to run before it.
        not_run: Why it is not run; empty if it is.
        line: Its line in the page.
        follows: Whether nothing but a blank line lies between it and the block before.
    """

    language: str
    text: str
    setup: tuple[str, ...]
    not_run: str
    line: int
    follows: bool


def pages() -> list[str]:
    """Return the paths of all pages, relative to the repository."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [path.relative_to(ROOT).as_posix() for path in found]


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page."""
    found, end = [], -1
    for match in _BLOCK.finditer(text):
        comments = _COMMENT.findall(match["comments"])
        indent = match["indent"]
        found.append(
            Block(
                match["language"],
                "".join(line.removeprefix(indent) for line in match["text"].splitlines(keepends=True)),
                tuple(words for kind, words in comments if kind == "setup"),
                " ".join(words for kind, words in comments if kind == "not run"),
                text.count("\n", 0, match.start("language")) + 1,
                not text[end : match.start()].strip() if end >= 0 else False,
            )
        )
        end = match.end()
    return found
