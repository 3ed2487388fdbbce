"""Completion in the shell, by the protocol of bash: commands, options, and values that the table of settings has."""

import subprocess
import sys

import pytest

from conftest import unmeasured


@pytest.mark.parametrize(
    ("words", "expected"), [("travas an", "anonymize"), ("travas anonymize --mechanism p", "prefix-tree")]
)
def test_commands_and_values_are_completed(words: str, expected: str) -> None:
    asked = {"_TRAVAS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = subprocess.run(
        [sys.executable, "-m", "travas"], env=unmeasured() | asked, capture_output=True, text=True, check=True
    )
    assert expected in ran.stdout.split()
