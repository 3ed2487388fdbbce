"""The command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import travas as package
from conftest import Run
from travas import read
from travas.outputs.write import write_hospital_log

SIGNED = ("--epsilon", "1", "--delta", "1e-3")


def test_a_release_in_one_command(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xes.gz"
    ran = travas("anonymize", small_csv, *SIGNED, "-o", out)
    assert ran.code == 0 and ran.err == ""
    assert "verified" in ran.out and "26 cases" not in ran.out and "kept" not in ran.out
    again = travas("anonymize", small_csv, *SIGNED, "-o", out, "--force", "--confidential", "--json")
    assert again.err.startswith("CONFIDENTIAL") and "26 cases" in again.err and "26 cases" not in again.out
    assert json.loads(again.out)["release"] == str(out)
    assert set(dict(read(out).items())) <= {("register", "visit", "release"), ("register", "release"), ("visit",)}
    assert travas("verify", f"{out}.guarantee.json", out).code == 0


def test_json_output_contains_nothing_confidential(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    ran = travas("anonymize", small_csv, *SIGNED, "-o", tmp_path / "out.json", "--json", "--mechanism", "travas")
    facts = json.loads(ran.out)
    assert facts["standing"] == "verified" and facts["epsilon"] == "1" and facts["mechanism"] == "travas"
    for noisy in ("cases_in_file", "not_released_interval", "warnings", "release", "guarantee"):
        del facts[noisy]
    assert "26" not in json.dumps(facts)  # the number of cases


def test_weak_parameters_are_called_weak(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    """ε = 15, δ = 0.5 had the same stamp as ε = 1, δ = 1e-6."""
    out = tmp_path / "out.json"
    ran = travas("anonymize", small_csv, "--epsilon", 15, "--delta", "0.5", "-o", out)
    assert ran.code == 0 and "Weak protection" in " ".join(ran.out.split())
    ran = travas("verify", f"{out}.guarantee.json", out)
    assert ran.code == 0 and "the protection is weak" in ran.out
    facts = json.loads(travas("verify", "--epsilon", 1, "--delta", "1e-6", "--json").out)
    assert facts["warnings"] == []
    facts = json.loads(travas("verify", "--epsilon", 1, "--delta", "1e-6", "--stated-cases", 100_001, "--json").out)
    assert len(facts["warnings"]) == 1 and "100,001 stated cases" in facts["warnings"][0]
    report = tmp_path / "r.html"
    assert travas("report", f"{out}.guarantee.json", out, "-o", report, "--stated-cases", 26).code == 0
    assert "weak protection" in report.read_text() and "26 stated cases" in report.read_text()


def test_an_empty_release_says_why_and_what_to_do(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    signed = ("--epsilon", "0.01", "--delta", "1e-9", "-o", tmp_path / "out.json")
    words = " ".join(travas("anonymize", small_csv, *signed).out.split())
    assert "The release is empty" in words and "ladder" in words and "a larger ε" in words and "abstraction" in words


def test_the_size_of_the_file_is_not_called_the_size_of_the_log(travas: Run, tmp_path: Path) -> None:
    log = write_hospital_log(tmp_path / "hospital.csv")
    signed = ("--epsilon", 1, "--delta", "1e-6", "-o", tmp_path / "release.xes.gz")
    words = " ".join(travas("anonymize", log, *signed).out.split())
    assert "Not released: roughly" in words and "cases of these variants, as estimated" in words


def test_the_doctor_shows_the_size_of_a_log(travas: Run, small_csv: Path) -> None:
    found = json.loads(travas("doctor", small_csv, "--json").out)
    facts = found["size"]
    expected = {
        "events": 71,
        "cases": 26,
        "activities": 3,
        "variants": 3,
        "trace_uniqueness": 3 / 26,
        "longest_trace": 3,
    }
    assert {key: facts[key] for key in expected} == expected
    assert found["confidential"] is True
    assert "CONFIDENTIAL" in travas("doctor", small_csv).out


def test_minimum_cases(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    for run in range(20):
        out = tmp_path / f"{run}.json"
        assert travas("anonymize", small_csv, "--epsilon", 2, "--delta", 0.9, "--minimum-cases", 6, "-o", out).code == 0
        assert json.loads(out.read_text())["variants"] in ([], [["register", "visit", "release"]])


def test_verify_prints_what_is_spent_and_kept(travas: Run) -> None:
    facts = json.loads(travas("verify", "--epsilon", 2, "--delta", 0.5, "--mechanism", "travas", "--json").out)
    assert facts["delta_spent"].startswith("0.10650697891920")
    assert facts["keep_probability"][0] == {"cases": 1, "probability": pytest.approx(0.10650697891920075)}
    assert facts["keep_probability"][-1]["probability"] == 1
    ran = travas("verify", "--epsilon", 1, "--delta", "1e-6")
    assert "The guarantee holds" in ran.out and "100.0% of δ" in ran.out


def test_verify_fails_with_code_1(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    travas("anonymize", small_csv, *SIGNED, "-o", out)
    out.write_text("{}")
    ran = travas("verify", f"{out}.guarantee.json", out)
    assert ran.code == 1 and "not the release" in ran.err and len(ran.err.splitlines()) == 1


def test_the_demo_makes_all_kinds_of_release_with_pictures_and_a_summary(
    travas: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "demo"
    ran = travas("demo", "-o", folder)
    assert ran.code == 0 and not (tmp_path / "data").exists()  # the demo touches no ledger
    releases = ("demo-variants.xes.gz", "demo-synthetic.xes.gz", "demo-map.json")
    pictures = ("demo-variants.svg", "demo-synthetic.svg", "demo-map.svg")
    assert {path.name for path in folder.iterdir()} == {
        "hospital.csv", "index.html", *pictures,
        *(f"{name}{end}" for name in releases for end in ("", ".guarantee.json", ".README.txt")),
        "demo-synthetic.xes.gz.measurements.json",
    }  # fmt: skip
    for name in releases:
        assert name in ran.out
        assert travas("verify", folder / f"{name}.guarantee.json", folder / name).code == 0
    for picture in pictures:
        svg = (folder / picture).read_text()
        assert ElementTree.fromstring(svg).tag.endswith("svg") and "blood-test" in svg
    page = (folder / "index.html").read_text()
    assert page.count('class="travas-map"') == 4 and "default-src 'none'" in page and len(page.encode()) < 1_600_000
    log = read(tmp_path / "demo" / "hospital.csv").summary()
    assert log.cases == 4000 and log.variants > 500
    assert travas("demo", "-o", tmp_path / "demo").code == 0


@pytest.mark.parametrize(("name", "content"), [("log.xes", b"<log/>"), ("log.csv", b"case_id,activity,timestamp\n")])
def test_a_log_without_events_is_released_and_charged(travas: Run, tmp_path: Path, name: str, content: bytes) -> None:
    """Else one case would decide between an error and a release."""
    log, out = tmp_path / name, tmp_path / "release.json"
    log.write_bytes(content)
    assert travas("budget", "create", "empty", "--epsilon", 1, "--delta", "1e-6").code == 0
    words = ("anonymize", log, "--dataset", "empty", "--epsilon", 1, "--delta", "1e-6", "-o")
    ran = travas(*words, out)
    assert ran.code == 0, ran.err
    assert json.loads(out.read_text())["variants"] == []
    assert travas("verify", f"{out}.guarantee.json", out).code == 0
    assert travas(*words, tmp_path / "again.json").code == 3  # the budget is spent


def test_an_activity_the_format_cannot_hold_is_written_escaped(travas: Run, tmp_path: Path) -> None:
    """One case must not decide between a release and an error."""
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity,timestamp\n" + "".join(f"{case},bell\x07,2020-01-01\n" for case in range(100)))
    ran = travas("anonymize", log, *SIGNED, "-o", tmp_path / "out.xes")
    assert ran.code == 0, ran.err
    assert r'value="bell\u{7}"' in (tmp_path / "out.xes").read_text()
    assert travas("anonymize", log, *SIGNED, "-o", tmp_path / "out.csv").code == 0
    assert travas("verify", tmp_path / "out.xes.guarantee.json", tmp_path / "out.xes").code == 0


def test_the_demo_needs_no_policy(travas: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAVAS_POLICY", "default")  # which asks for a reason and a ledger
    assert travas("demo", "-o", tmp_path / "demo").code == 0


def test_the_demo_replaces_only_its_own(travas: Run, tmp_path: Path) -> None:
    (tmp_path / "hospital.csv").write_text("mine")
    ran = travas("demo", "-o", tmp_path)
    assert ran.code == 2 and "is not the demo's log" in ran.err
    assert (tmp_path / "hospital.csv").read_text() == "mine"
    assert travas("demo", "-o", tmp_path / "hospital.csv").code == 2


@pytest.mark.parametrize("name", ["index.html", "demo-map.svg", "demo-map.json", "demo-variants.xes.gz.README.txt"])
def test_a_demo_that_was_refused_does_not_replace_files_the_second_time(name: str, travas: Run, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    for _ in range(2):
        ran = travas("demo", "-o", tmp_path)
        assert ran.code == 2 and f"{name}: already exists; choose another directory (option --output)" in ran.err
        assert [path.name for path in tmp_path.iterdir()] == [name] and (tmp_path / name).read_text() == "mine"


def test_a_copy_of_the_demo_log_does_not_allow_other_files_to_be_replaced(travas: Run, tmp_path: Path) -> None:
    write_hospital_log(tmp_path / "hospital.csv")
    (tmp_path / "index.html").write_text("<title>mine</title>")
    ran = travas("demo", "-o", tmp_path)
    assert ran.code == 2 and "index.html: already exists" in ran.err
    assert {path.name for path in tmp_path.iterdir()} == {"hospital.csv", "index.html"}
    assert (tmp_path / "index.html").read_text() == "<title>mine</title>"


def test_names_with_markup_an_ascii_terminal_and_a_full_one(small_csv: Path, tmp_path: Path) -> None:
    """Names that look like markup, a terminal without Greek letters, a full one."""
    (tmp_path / "d[").mkdir()
    command = [str(Path(sys.executable).parent / "travas"), "anonymize", str(small_csv), *SIGNED, "--force", "-o"]
    odd = [*command, str(tmp_path / "d[" / "x].csv")]
    ran = subprocess.run(
        odd, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert "x].csv" in ran.stdout.replace("\n", "").replace(" ", "")
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(odd, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode != 0 and "Traceback" not in ran.stderr


def test_help_of_every_command_shows_an_example_or_its_options(travas: Run) -> None:
    for command in ("anonymize", "doctor", "verify", "demo", "budget"):
        ran = travas(command, "--help")
        assert ran.code == 0 and "Usage" in ran.out
    assert package.__version__ in travas("--version").out


def test_a_terminal_sees_progress_and_a_pipe_does_not(small_csv: Path, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "travas"), "anonymize", str(small_csv), *SIGNED, "-o"]
    ran = subprocess.run([*command, str(tmp_path / "a.json")], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    leader, follower = pty.openpty()
    subprocess.run([*command, str(tmp_path / "b.json")], stdout=subprocess.DEVNULL, stderr=follower, check=True)
    os.close(follower)
    assert b"reading the log" in os.read(leader, 100_000)
    os.close(leader)


@pytest.mark.parametrize(
    "options",
    [
        ("--mechanism", "utravas"),
        ("--mechanism", "utravas", "--splits", "3"),
        ("--mechanism", "prefix-tree", "--max-length", "3", "--prune", "8"),
        ("--mechanism", "sacofa", "--max-length", "3", "--prune", "8"),
    ],
)
def test_a_proven_release_is_written_and_verified(
    options: tuple[str, ...], small_csv: Path, tmp_path: Path, travas: Run
) -> None:
    out = tmp_path / "release.json"
    if options[1] != "utravas":
        (tmp_path / "alphabet.txt").write_text("register\nvisit\nrelease\n")
        options = (*options, "--alphabet", str(tmp_path / "alphabet.txt"))
    ran = travas("anonymize", small_csv, "--epsilon", "2", "--delta", "0.01", "-o", out, *options)
    assert ran.code == 0, ran.err
    guarantee = json.loads((tmp_path / "release.json.guarantee.json").read_text())
    assert guarantee["standing"] == "proven" and guarantee["mechanism"] == options[1]
    assert "the alphabet" not in str(guarantee["assumed_public"])
    verified = travas("verify", f"{out}.guarantee.json", out)
    assert verified.code == 0 and "The guarantee holds" in verified.out and "proven" in verified.out
    guarantee["parameters"] |= {"splits": 7, "prune": 9, "level_epsilon": "9"}
    (tmp_path / "release.json.guarantee.json").write_text(json.dumps(guarantee))
    assert travas("verify", f"{out}.guarantee.json", out).code == 1


def test_a_tree_over_a_given_alphabet_at_delta_zero(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    names = tmp_path / "alphabet.txt"
    names.write_text("register\n\nrelease\nvisit\n")
    tree = ("--mechanism", "prefix-tree", "--max-length", "3", "--prune", "9", "--alphabet", names)
    ran = travas("anonymize", small_csv, "--epsilon", "3", "--delta", "0", "-o", tmp_path / "out.xes", *tree)
    assert ran.code == 0, ran.err
    stated = json.loads((tmp_path / "out.xes.guarantee.json").read_text())
    assert stated["parameters"]["alphabet"] == ["register", "release", "visit"] and stated["delta"] == "0"
    verified = travas("verify", tmp_path / "out.xes.guarantee.json", tmp_path / "out.xes")
    assert verified.code == 0 and "discrete Laplace" in verified.out
    for name, words in (("missing.txt", "cannot be read (No such file"), ("empty.txt", "contains no activity")):
        (tmp_path / "empty.txt").write_text("\n")
        ran = travas("anonymize", small_csv, "--epsilon", "3", "--delta", "0", "-o", tmp_path / "b.xes", *tree[:-1],
                     tmp_path / name)  # fmt: skip
        assert ran.code == 2 and words in ran.err


@pytest.mark.parametrize("suffix", [".xes", ".csv", ".parquet", ".json"])
@pytest.mark.parametrize("options", [("utravas-published",), ("sacofa-published", "--max-length", "4", "--prune", "2")])
def test_without_a_guarantee_only_on_request_and_marked(
    options: tuple[str, ...], suffix: str, small_csv: Path, tmp_path: Path, travas: Run
) -> None:
    out = tmp_path / f"release{suffix}"
    words = ("anonymize", small_csv, "--epsilon", "1", "--delta", "0.5", "-o", out, "--mechanism", *options)
    refused = travas(*words)
    assert refused.code == 2 and "not established" in refused.err and "--guarantee", "not required" in refused.err
    assert not out.exists()
    ran = travas(*words, "--guarantee", "not required")
    assert ran.code == 0 and "WITHOUT a guarantee" in ran.out
    assert b"not established" in out.read_bytes()
    assert json.loads(out.with_name(out.name + ".guarantee.json").read_text())["standing"] == "not established"
    assert travas("verify", f"{out}.guarantee.json", out).code == 1
    assert travas("verify", "--epsilon", "1", "--delta", "0.5", "--mechanism", *options).code == 1


@pytest.mark.parametrize("of_a_log", [True, False])
@pytest.mark.parametrize("kinds", [(), ("--kinds",)])
def test_the_forecast_warns_if_delta_is_too_large(
    travas: Run, small_csv: Path, kinds: tuple[str, ...], of_a_log: bool
) -> None:
    words = ("forecast", *([small_csv] if of_a_log else []), *kinds, *SIGNED, "--stated-cases")
    large, small = travas(*words, 10**6).out, travas(*words, 10).out
    assert "stated cases): the expected number of released variants" in large and "stated cases" not in small
    assert "1,000,000 stated cases" in travas(*words, 10**6, "--json").out


def test_the_forecast_names_the_protected_unit(travas: Run) -> None:
    assert "A variant that only one case has" in travas("forecast", *SIGNED).out
    assert "A variant that only one person has" in travas("forecast", *SIGNED, "--unit", "nurse", "--max-cases", 2).out


def test_one_is_not_several(travas: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity,timestamp\n1,a,2020-01-01\n2,,2020-01-01\n")
    ran = travas("anonymize", log, *SIGNED, "-o", tmp_path / "out.json", "--on-missing", "drop", "--confidential")
    assert "1 case, 1 variant, 1 event\n" in ran.err and "1 event without an activity was left out" in ran.err
