"""Everything that is written for a user is written by `outputs.atomic`: whole or not at all, and never over its input."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import travas
from conftest import Run
from travas.errors import OutputError
from travas.outputs.write import write_hospital_log
from travas.web import tasks
from travas.web.recipe import Recipe

SOURCE = Path(travas.__file__).parent
WRITES = {"write_text", "write_bytes", "savefig", "write_parquet", "write_csv", "sink_csv", "sink_parquet"}
ALLOWED = {
    "outputs": "to the partial file of a reservation",
    "evaluation/experiment.py": "the journal, and the results by atomic_output",
    "evaluation/results.py": "by atomic_output",
    "cli/demo_command.py": "by atomic_output",
    "settings/project.py": "by atomic_output",
    "report/report_file.py": "by atomic_output",
    "budget/ledger_file.py": "the ledger, which is a database",
    "sources/engine.py": "a private copy of standard input, which is a log",
    "web/result/handover.py": "a zip under another name until it is complete, only for its owner",
    "web/storage.py": "the lock of the uploads",
    "web/transfers.py": "uploads, which are inputs",
    "web/archive.py": "records by atomic_output, and a lock",
    "web/activity.py": "the activity log, which is only appended to",
    "web/entrance.py": "the key of the web app, only for its owner",
}


def _writes(tree: ast.AST) -> bool:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            words = [word.value for word in call.args if isinstance(word, ast.Constant)]
            modes = {word for word in words if isinstance(word, str) and set(word) <= set("wxab+t") and word}
            if call.func.attr in WRITES or (call.func.attr in ("open", "fdopen") and modes):
                return True
    return False


def test_files_are_written_in_these_places_only() -> None:
    found = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if _writes(ast.parse(path.read_text()))
    }
    outside = {name for name in found if not name.startswith("outputs/")}
    assert outside <= set(ALLOWED), "write through outputs.atomic"
    assert "outputs/json_writer.py" in found, "the search sees something"


def _fails(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def test_the_example_log_is_made_once_and_never_over_another_file(tmp_path: Path) -> None:
    path = write_hospital_log(tmp_path / "new" / "hospital.csv")
    before = path.stat().st_mtime_ns
    assert write_hospital_log(path).stat().st_mtime_ns == before
    path.write_text("mine")
    with pytest.raises(OutputError, match="not the demo's log"):
        write_hospital_log(path)
    assert path.read_text() == "mine"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    release = travas.anonymize({("a", "b"): 100}, epsilon=1, delta="1e-6").write(tmp_path / "release.json")
    return Path(f"{release}.guarantee.json"), release


def _python(guarantee: Path, release: Path, output: Path) -> None:
    travas.write_report(guarantee, release, output, existing="replace")


def _web(guarantee: Path, release: Path, output: Path) -> None:
    tasks.report(None, release, output, "", None, Recipe(), lambda *_: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("write", [_python, _web])
@pytest.mark.parametrize("which", [0, 1])
def test_a_report_does_not_overwrite_what_it_is_about(
    write: Callable[[Path, Path, Path], None], which: int, files: tuple[Path, Path], tmp_path: Path
) -> None:
    """Also under a second name of the same file: the first one would be another file afterwards."""
    output = tmp_path / "report.html"
    output.hardlink_to(files[which])
    before = [path.read_bytes() for path in files]
    with pytest.raises(OutputError, match="is the (guarantee|release)") as caught:
        write(*files, output)
    assert caught.value.field == "output"
    assert [path.read_bytes() for path in files] == before and output.samefile(files[which])


def test_the_command_line_also_refuses_it(travas: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    output.symlink_to(files[1])
    ran = travas("report", *files, "-o", output, "--force")
    assert ran.code == 2 and "is the release" in ran.err and "--output" in ran.err
    assert output.is_symlink()
