"""An error about one parameter names it in `field`, so that the command line and the web app can say where to change it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import travas
from conftest import Run
from travas.errors import CONFIDENTIAL

SOURCES = Path(travas.__file__).parent
OF_FILES = ("budget/policy.py", "settings/project.py")
"""Errors about the settings of a file name the file and the setting; no parameter has the value."""
ABOUT_NO_PARAMETER = ("the release is not a process map", "a Release is made by a mechanism", "the web app needs Linux")


def _without_field() -> Iterator[str]:
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if name.startswith("cli/") or name in OF_FILES:  # messages of the command line contain the options
            continue
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "ParameterError":
                message = ast.unparse(call.args[0]).lstrip("f'\"") if call.args else ""
                if not message.startswith(ABOUT_NO_PARAMETER) and "field" not in {word.arg for word in call.keywords}:
                    yield f"{name}:{call.lineno}: {message[:80]}"


def test_every_error_about_a_parameter_names_it() -> None:
    assert list(_without_field()) == []


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--abstraction", "foo:3"), "--abstraction"),
        (("--mechanism", "ladder", "--rungs", "full,foo:3"), "--rungs"),
        (("--activity", "nothing"), "--activity"),
        (("--case", "nothing", "--timestamp", "never"), "--case, --timestamp"),
        (("--case", ""), "--case"),
        (("--dataset", "log:1"), "--dataset"),
    ],
)
def test_the_command_line_names_the_option(
    travas: Run, small_csv: Path, tmp_path: Path, words: tuple[str, ...], option: str
) -> None:
    out = tmp_path / "out.json"
    ran = travas("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-3", "-o", out, *words)
    plural = "s" if "," in option else ""
    said = ran.err.strip().removesuffix(f" {CONFIDENTIAL}")
    assert ran.code == 2 and said.endswith(f"(option{plural} {option})") and not out.exists()


def test_abstractions_of_a_forecast_are_named_as_such() -> None:
    with pytest.raises(travas.ParameterError, match="the step 'foo'") as caught:
        travas.forecast({("a",): 50}, [travas.Optimal(1, "1e-3")], abstractions="full,foo")
    assert caught.value.field == "abstractions"
