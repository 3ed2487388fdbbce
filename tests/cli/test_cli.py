"""The command line: what it releases, prints and asks of the user."""

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import Run
from travas import read

SIGNED = ("--epsilon", "1", "--delta", "1e-3")
TRAVAS = str(Path(sys.executable).parent / "travas")


def test_a_release_in_one_command(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xes.gz"
    ran = travas("anonymize", small_csv, *SIGNED, "-o", out)
    assert ran.code == 0 and ran.err == ""
    assert "verified" in ran.out and f"travas verify {out}" in ran.out
    assert set(dict(read(out).items())) <= {("register", "visit", "release"), ("register", "release"), ("visit",)}
    assert travas("verify", f"{out}.guarantee.json", out).code == travas("verify", out).code == 0
    out.write_text("{}")
    ran = travas("verify", out)
    assert ran.code == 1 and "not the release" in ran.err and len(ran.err.splitlines()) == 1


def test_json_output_contains_nothing_confidential(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    ran = travas("anonymize", small_csv, *SIGNED, "-o", tmp_path / "out.json", "--json", "--mechanism", "travas")
    facts = json.loads(ran.out)
    assert facts["standing"] == "verified" and facts["epsilon"] == "1" and facts["mechanism"] == "travas"
    for noisy in ("cases", "content", "notes", "warnings", "release", "guarantee"):
        del facts[noisy]
    assert "26" not in json.dumps(facts)  # the number of cases
    ran = travas("anonymize", small_csv, *SIGNED, "-o", tmp_path / "more.json", "--json", "--confidential")
    assert set(json.loads(ran.out)) == {*facts, "cases", "content", "notes", "warnings", "release", "guarantee"}
    assert "CONFIDENTIAL" in ran.err and "cases: 26" in ran.err


def test_weak_parameters_are_called_weak(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    """ε = 15, δ = 0.5 had the same stamp as ε = 1, δ = 1e-6."""
    out, report = tmp_path / "out.json", tmp_path / "r.html"
    ran = travas("anonymize", small_csv, "--epsilon", 15, "--delta", "0.5", "-o", out)
    assert ran.code == 0 and "Weak protection" in " ".join(ran.out.split())
    assert "the protection is weak" in travas("verify", out).out
    assert travas("report", out, "-o", report, "--stated-cases", 26).code == 0
    assert "weak protection" in report.read_text() and "26 stated cases" in report.read_text()
    for words in (("verify",), ("forecast",), ("forecast", small_csv)):
        for cases, number in ((100, 0), (100_001, 1)):
            ran = travas(*words, "--epsilon", 1, "--delta", "1e-6", "--stated-cases", cases, "--json")
            assert ran.out.count("100,001 stated cases") == number


def test_verify_prints_what_is_spent_and_kept(travas: Run) -> None:
    facts = json.loads(travas("verify", "--epsilon", 2, "--delta", 0.5, "--mechanism", "travas", "--json").out)
    assert facts["delta_spent"].startswith("0.10650697891920")
    assert facts["keep_probability"][0] == {"cases": 1, "probability": pytest.approx(0.10650697891920075)}
    assert facts["keep_probability"][-1]["probability"] == 1
    ran = travas("verify", "--epsilon", 1, "--delta", "1e-6", "--curve")
    assert "The guarantee holds" in ran.out and "100.0% of δ" in ran.out and "Worst-case δ" in ran.out


def test_the_demo_makes_all_kinds_of_release_with_a_page_and_a_summary(
    travas: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TRAVAS_POLICY", "default")  # which asks for a reason and a ledger
    folder = tmp_path / "demo"
    ran = travas("demo", "-o", folder)
    assert ran.code == 0 and not (tmp_path / "data").exists()  # the demo touches no ledger
    releases = ("demo-variants.xes.gz", "demo-synthetic.xes.gz", "demo-map.json")
    assert {path.name for path in folder.iterdir()} == {
        "hospital.csv", "index.html",
        *(f"{name}{end}" for name in releases for end in ("", ".guarantee.json", ".README.txt")),
        "demo-synthetic.xes.gz.measurements.json",
    }  # fmt: skip
    for name in releases:
        assert name in ran.out
        assert travas("verify", folder / f"{name}.guarantee.json", folder / name).code == 0
    page = (folder / "index.html").read_text()
    assert page.count('class="travas-map"') == 4 and "default-src 'none'" in page and len(page.encode()) < 1_600_000
    log = read(folder / "hospital.csv").summary()
    assert log.cases == 4000 and log.variants > 500
    assert travas("demo", "-o", folder).code == 0
    (folder / "index.html").write_text("<title>mine</title>")
    for refused in (folder, folder / "hospital.csv"):
        ran = travas("demo", "-o", refused)
        assert ran.code == 2 and "choose another directory (option --output)" in ran.err
    assert (folder / "index.html").read_text() == "<title>mine</title>"


def test_names_with_markup_and_a_terminal_without_greek_letters(small_csv: Path, tmp_path: Path) -> None:
    (tmp_path / "d[").mkdir()
    odd = [TRAVAS, "anonymize", str(small_csv), *SIGNED, "--force", "-o", str(tmp_path / "d[" / "x].csv")]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(odd, capture_output=True, text=True, check=True, env=ascii_only)
    assert "x].csv" in ran.stdout.replace("\n", "").replace(" ", "")


def test_a_terminal_sees_progress_and_a_pipe_does_not(small_csv: Path, tmp_path: Path) -> None:
    command = [TRAVAS, "anonymize", str(small_csv), *SIGNED, "-o"]
    ran = subprocess.run([*command, str(tmp_path / "a.json")], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    leader, follower = pty.openpty()
    with subprocess.Popen([*command, str(tmp_path / "b.json")], stdout=subprocess.DEVNULL, stderr=follower) as process:
        os.close(follower)
        shown = b""
        with suppress(OSError), os.fdopen(leader, "rb", buffering=0) as terminal:  # an error is its end
            while piece := terminal.read(1000):
                shown += piece
    assert process.returncode == 0 and b"reading the log" in shown
