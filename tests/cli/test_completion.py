"""Completion in the shell: what `travas --show-completion` prints works, in a real bash and by the protocols of the others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import unmeasured

DRIVER = """
eval "$(_TRAVAS_COMPLETE=source_bash travas)"
COMP_WORDS=({words} "{last}")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_travas_completion travas
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """An environment in which `travas` is a program."""
    program = tmp_path / "bin" / "travas"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m travas "$@"\n')
    program.chmod(0o755)
    return unmeasured() | {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def printed(words: list[str], settings: dict[str, str]) -> str:
    return subprocess.run(words, env=settings, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("words", "last", "expected"),
    [
        ("travas", "an", {"anonymize"}),
        ("travas anonymize --mechanism", "p", {"prefix-tree"}),
    ],
)
def test_bash_completes_commands_and_values(
    words: str, last: str, expected: set[str], settings: dict[str, str]
) -> None:
    driver = DRIVER.format(words=words, last=last)
    assert set(printed(["bash", "--norc", "-c", driver], settings).split()) == expected
