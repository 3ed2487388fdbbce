"""`-o -`: the release is all that is on standard output, and its guarantee is complete before."""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from conftest import Run
from travas import Ledger, verify

LOG = "case_id,activity,timestamp\n" + "".join(f"{case},a,2020-01-01\n" for case in range(500))
BASE = ("--order", "file", "--epsilon", "1", "--delta", "1e-6", "--ledger", "l.db", "-o", "-")
FULL = ("--output-format", "csv", "--guarantee-file", "g.json")


def shell(folder: Path, *options: str, then: str = "") -> subprocess.CompletedProcess[bytes]:
    (folder / "log.csv").write_text(LOG)
    words = [sys.executable, "-m", "travas", "anonymize", "log.csv", *BASE, *options]
    script = f"{shlex.join(words)} {then}"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, check=False)


def is_charged(folder: Path) -> bool:
    return (folder / "l.db").exists() and Ledger(folder / "l.db").accounts() != []


def test_standard_output_contains_only_the_release(tmp_path: Path) -> None:
    ran = shell(tmp_path, *FULL)
    assert ran.returncode == 0, ran.stderr
    frame = pl.read_csv(ran.stdout)
    assert frame.height > 0 and set(frame["concept:name"]) == {"a"}
    assert b"Released" in ran.stderr and b"g.json" in ran.stderr
    (tmp_path / "saved.csv").write_bytes(ran.stdout)
    verify(tmp_path / "g.json", tmp_path / "saved.csv")
    assert is_charged(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.json", "l.db", "log.csv", "saved.csv"]


@pytest.mark.parametrize("form", ["csv.gz", "xes.gz", "parquet", "json", ".xes"])
def test_every_format_can_be_piped(form: str, tmp_path: Path) -> None:
    ran = shell(tmp_path, "--output-format", form, "--guarantee-file", "g.json", "--quiet")
    assert (ran.returncode, ran.stderr) == (0, b"")
    saved = tmp_path / f"saved.{form.removeprefix('.')}"
    saved.write_bytes(ran.stdout)
    verify(tmp_path / "g.json", saved)


def test_a_reader_that_has_left_is_an_error_after_the_charge(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "travas", "anonymize", "log.csv", *BASE, *FULL]
    ran = subprocess.run(words, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert ran.returncode == 4 and b"Broken pipe; a part of the release may have been written" in ran.stderr
    assert b"'g.json' is kept; the charge to" in ran.stderr and is_charged(tmp_path)
    assert len(ran.stderr.splitlines()) == 1
    assert json.loads((tmp_path / "g.json").read_text())["release"]["format"] == "csv"


def test_a_full_disk_is_an_error_after_the_charge(tmp_path: Path) -> None:
    ran = shell(tmp_path, *FULL, then="> /dev/full")
    assert ran.returncode == 4 and b"No space left on device; a part of the release may have been written" in ran.stderr
    assert b"'g.json' is kept; the charge to" in ran.stderr and (tmp_path / "g.json").exists()
    assert len(ran.stderr.splitlines()) == 1


def test_a_closed_standard_output_is_refused_before_the_charge(tmp_path: Path) -> None:
    ran = shell(tmp_path, *FULL, then=">&-")
    assert ran.returncode == 2 and b"standard output is closed" in ran.stderr
    assert not (tmp_path / "g.json").exists() and not is_charged(tmp_path)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "also set output_format, such as csv, and guarantee_file"),
        (("--output-format", "csv"), "(options --output-format, --guarantee-file)"),
        (("--guarantee-file", "g.json"), "(options --output-format, --guarantee-file)"),
        (("--output-format", "pdf", "--guarantee-file", "g.json"), "output_format is 'pdf'; use one of xes, xes.gz"),
        ((*FULL, "--json"), "both use standard output"),
        (
            ("--output-format", "csv", "--guarantee-file", "-"),
            "use a file name, such as release.guarantee.json (option",
        ),
        (("--output-format", "csv", "--guarantee-file", "."), ".: is a directory; use a file name (option"),
        (("--output-format", "csv", "--guarantee-file", "no/g.json"), "the directory 'no' does not exist"),
        (("--output-format", "csv", "--guarantee-file", "log.csv", "--force"), "is the log itself"),
        (("--output-format", "csv", "--guarantee-file", "l.db", "--force"), "is the ledger"),
        ((*FULL, "--profile", "pm4py", "--timestamps", "none"), "pm4py needs timestamps"),
    ],
)
def test_what_cannot_be_piped_is_refused_before_the_charge(
    options: tuple[str, ...], why: str, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    ran = travas("anonymize", "log.csv", *BASE, *options)
    assert ran.code == 2 and why in ran.err, ran.err
    assert not (tmp_path / "g.json").exists() and not is_charged(tmp_path)


@pytest.mark.parametrize("name", ["-", ".", "no/g.json", "log.csv", "l.db", "x" * 300])
def test_a_refused_guarantee_file_is_named_as_such(
    name: str, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    ran = travas("anonymize", "log.csv", *BASE, "--output-format", "csv", "--guarantee-file", name, "--force")
    assert ran.code == 2 and ran.err.endswith("(option --guarantee-file)\n") and len(ran.err.splitlines()) == 1
    assert not is_charged(tmp_path) and not (tmp_path / "-").exists()


def test_the_options_of_standard_output_are_refused_for_files(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    out = tmp_path / "out.csv"
    for option in (("--output-format", "csv"), ("--guarantee-file", "g.json")):
        ran = travas("anonymize", small_csv, "--epsilon", "1", "--delta", "1e-6", "-o", out, *option)
        assert ran.code == 2 and f"(option {option[0]})" in ran.err
    assert not out.exists()


def test_a_guarantee_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text("mine")
    assert shell(tmp_path, *FULL).returncode == 2
    assert (tmp_path / "g.json").read_text() == "mine"
    assert shell(tmp_path, *FULL, "--force").returncode == 0
    assert json.loads((tmp_path / "g.json").read_text())["format"] == "travas guarantee"


def test_synthetic_logs_are_piped_and_generated_again(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    program = [sys.executable, "-m", "travas", "synthesize"]
    common = {"cwd": tmp_path, "capture_output": True, "check": False}
    made = subprocess.run([*program, "log.csv", *BASE[:-2], "--without", "times", "-o", "s.json"], **common)  # type: ignore[call-overload]
    assert made.returncode == 0, made.stderr
    again = [*program, "--from", "s.json", "--cases", "50", "-o", "-", "--output-format", "csv.gz"]
    ran = subprocess.run([*again, "--guarantee-file", "g.json"], **common)  # type: ignore[call-overload]
    assert ran.returncode == 0, ran.stderr
    assert pl.read_csv(io.BytesIO(gzip.decompress(ran.stdout)))["case:concept:name"].n_unique() == 50
    command = f"{shlex.join([*again, '--guarantee-file', 'h.json'])} > /dev/full"
    full = subprocess.run(["bash", "-c", command], **common)  # type: ignore[call-overload]
    assert full.returncode == 6 and b"could not be printed" in full.stderr
