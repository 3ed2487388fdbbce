"""Every code block of every page runs, or says why it cannot. Pages are found by looking, not in a list."""

import ast
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from page_blocks import ROOT, Block, blocks, pages

from conftest import Ran, Run
from travas.cli import main as cli
from travas.cli.tools import demo

LONG = ("docs/cheat-sheet.md", "docs/budgets.md", "docs/every-month.md", "docs/experiments.md")
"""These need ten seconds or more, for plans and experiments, and are tried by `make test-slow`."""
WITH_BLOCKS = [
    pytest.param(page, marks=pytest.mark.slow if page in LONG else ())
    for page in pages()
    if blocks((ROOT / page).read_text())
]
NUMBER = re.compile(r"[\d.,]*\d")


@pytest.fixture(scope="session")
def demo_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `travas demo` writes: readers try the examples there."""
    folder = tmp_path_factory.mktemp("demo") / "demo-release"
    demo(folder)
    return folder


@pytest.fixture
def folder(demo_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo's folder, which is the current one."""
    copied = shutil.copytree(demo_release, tmp_path / "demo-release")
    monkeypatch.chdir(copied)
    return copied


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_what_the_documents_show_runs(page: str, folder: Path, travas: Run) -> None:
    """Run all blocks of a page, in their order, in one process and one folder."""
    names: dict[str, Any] = {}
    printed = ""
    for block in blocks((ROOT / page).read_text()):
        where = f"{page}, line {block.line}"
        for line in block.setup:
            assert _run(line, travas, where).code == 0
        if block.not_run:
            _check(block, where)
        elif block.language == "console":
            printed = "".join(_run(line, travas, where).out for line in _lines(block))
        elif block.language == "python":
            _save(block, folder)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, where, "exec"), names)
            printed = out.getvalue()
        elif block.language == "toml":
            tomllib.loads(block.text)
            _save(block, folder)
        elif block.language == "text" and block.follows:
            _compare(block.text, printed, where)
        else:
            _check(block, where)


def _run(line: str, travas: Run, where: str) -> Ran:
    """Run a command of travas, without what it is piped to; of `make` and `pip` only what they name is checked."""
    words = shlex.split(line, comments=True)
    words = words[: words.index("|")] if "|" in words else words
    if words[0] == "travas":
        ran = travas(*words[1:])
        assert ran.code == 0, f"{where}: {line}: {ran.err}"
        return ran
    if words[0] == "copy":  # for setup
        Path(words[2]).parent.mkdir(exist_ok=True)
        shutil.copy(words[1], words[2])
    elif words[0] == "duckdb":  # for setup
        import duckdb

        with duckdb.connect(words[2]) as connection:
            connection.execute("CREATE TABLE events AS SELECT * FROM read_csv($1)", [words[1]])
    elif words[0] == "write":  # for setup
        Path(words[1]).write_text(_patients())
    elif words[0] == "cd" and Path(words[1]).is_dir():
        os.chdir(words[1])  # `monkeypatch.chdir` returns at the end
    else:
        _exists(line, where)
    return Ran(0, "", "")


def _patients() -> str:
    """A log with case attributes."""
    rows = [
        f"{case},{activity},2025-01-{case % 28 + 1:02d} {hour}:00:00,{'FM'[case % 2]},{20 + case % 60}"
        for case in range(200)
        for hour, activity in ((10, "a"), (11, "b"))
    ]
    return "\n".join(["case_id,activity,timestamp,sex,age", *rows, ""])


def _exists(line: str, where: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
        assert {word for word in words[1:] if "=" not in word} <= set(targets), f"{where}: {line}"
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        named = re.findall(r"\[([\w,]+)\]", line)
        assert {extra for group in named for extra in group.split(",")} <= set(extras), f"{where}: {line}"
    else:
        assert words[0] in ("git", "cd", ".", "pre-commit", "docker"), f"{where}: {line}: an unknown command"


def _check(block: Block, where: str) -> None:
    """Parse the commands of a block that is not run: their names and options must exist."""
    if block.language == "python":
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("travas"):
                exec(ast.unparse(node))
        return
    commands = (
        re.findall(r"\btravas (?:\w+)(?: [^\n\"#]*)?", block.text) if block.language != "text" or block.not_run else []
    )
    assert commands or block.language == "text", f"{where}: no command of travas"
    for line in commands:
        filled = re.sub(r"\{\{.*?\}\}", "2026-01", line)
        parsed(shlex.split(filled)[1:], where)


def parsed(words: list[str], where: str) -> None:
    """Parse a command line without running it."""
    command: Any = typer.main.get_command(cli.app)
    while hasattr(command, "commands"):
        assert words and words[0] in command.commands, f"{where}: travas has no command {words[:1]}"
        command, words = command.commands[words[0]], words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    flags = {word.partition("=")[0] for word in words if re.match(r"-\w|--\w", word)}
    assert flags <= known, f"{where}: {flags - known}"


def _save(block: Block, folder: Path) -> None:
    """A block whose first line is a comment with a file name is that file."""
    if named := re.match(r"# (\S+\.(?:py|toml))\n", block.text):
        (folder / named[1]).write_text(block.text)


def _compare(shown: str, printed: str, where: str) -> None:
    """Output is shown as it was printed, but for its numbers, which have noise, and lines left out with `…`."""
    lines = [_masked(line) for line in printed.splitlines()]
    for line in shown.splitlines():
        if line.strip() not in ("", "…"):
            assert _masked(line) in lines, f"{where}: {line!r} was not printed, but {printed}"


def _masked(line: str) -> str:
    return " ".join(NUMBER.sub("0", line).split())


def _lines(block: Block) -> list[str]:
    """The command lines of a block; a backslash continues a line."""
    joined = block.text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


# ---- The tutorials run from the first cell to the last.


TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    script = ROOT / "docs" / "site" / "execute_notebook.py"
    command = [sys.executable, str(script), str(path), str(tmp_path / "executed.ipynb")]
    ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONWARNINGS": "ignore"})
    assert ran.returncode == 0, ran.stderr
