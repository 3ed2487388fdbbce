"""`travas map`: process maps on the command line, in other formats from a release, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from travas import Ledger, verify
from travas.outputs.write import write_hospital_log

PARAMETERS = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_hospital_log(tmp_path / "hospital.csv")


@pytest.fixture
def release(log: Path, travas: Run) -> Path:
    """A map of the hospital example with everything."""
    target = log.with_name("map.json")
    ran = travas(
        "map",
        log,
        *PARAMETERS,
        "--parts",
        "durations",
        "--parts",
        "rework",
        "--parts",
        "throughput",
        "-o",
        target,
        "--quiet",
    )
    assert (ran.code, ran.err) == (0, "")
    return target


def test_the_output_is_described_as_a_process_map(log: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("map", log, *PARAMETERS, "-o", tmp_path / "map.json")
    words = " ".join(ran.out.split())
    assert words.startswith("Process map release")
    assert "expected by noise alone" in words and "ε = 1, δ = 1e-6 for adding or removing one case: proven" in words
    assert "Most frequent pairs" in words and "(start) →" in words


def test_facts_as_json(log: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("map", log, *PARAMETERS, "--json", "-o", tmp_path / "map.csv")
    facts = json.loads(ran.out)
    assert facts["kind"] == "process map" and facts["standing"] == "proven" and facts["parts"] == []
    assert facts["cases_measured"][0] < facts["cases_measured"][1] and facts["pairs"] > 0


@pytest.mark.parametrize("suffix", [".csv", ".dot", ".html", ".svg"])
def test_a_release_in_another_format_costs_nothing(release: Path, suffix: str, tmp_path: Path, travas: Run) -> None:
    charged = len(Ledger.default().history())
    ran = travas("map", "--from", release, "-o", tmp_path / f"again{suffix}")
    assert (ran.code, ran.err) == (0, "")
    assert len(Ledger.default().history()) == charged
    assert verify(f"{tmp_path / 'again'}{suffix}.guarantee.json", tmp_path / f"again{suffix}").digest_checked


def test_a_changed_release_is_not_written_again(release: Path, tmp_path: Path, travas: Run) -> None:
    release.write_text(release.read_text() + " ")
    ran = travas("map", "--from", release, "-o", tmp_path / "again.csv")
    assert ran.code == 1 and "SHA-256" in ran.err and not (tmp_path / "again.csv").exists()


def test_no_file_of_a_release_is_overwritten_by_another_format(release: Path, tmp_path: Path, travas: Run) -> None:
    guarantee = release.with_name("map.json.guarantee.json")
    before = guarantee.read_bytes()
    ran = travas("map", "--from", release, "-o", guarantee, "--force")
    assert ran.code == 2 and "choose another output (option --output)" in ran.err
    assert guarantee.read_bytes() == before


def test_a_model_next_to_the_map(release: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("map", "--from", release, "-o", tmp_path / "again.csv", "--model", "bpmn")
    assert ran.code == 0 and (tmp_path / "again.bpmn").is_file() and "again.bpmn" in "".join(ran.out.split())


def test_an_empty_map_has_no_model_and_is_not_a_failure(tmp_path: Path, travas: Run) -> None:
    log = tmp_path / "empty.csv"
    log.write_text("case,activity,timestamp\n")
    ran = travas("map", log, "--epsilon", "0.01", "--delta", "1e-6", "-o", tmp_path / "map.json", "--model", "bpmn")
    while "model      none" not in ran.out:  # noise alone makes a pair in about one of six maps
        assert ran.code == 0 and (tmp_path / "map.bpmn").is_file()
        ran = travas("map", log, *PARAMETERS, "--force", "-o", tmp_path / "map.json", "--model", "bpmn")
    assert ran.code == 0 and (tmp_path / "map.json").is_file()


@pytest.mark.parametrize(("error", "code"), [(RuntimeError("a name of the log"), 4), (KeyboardInterrupt(), 130)])
def test_a_model_that_fails_after_the_charge_says_so(
    error: BaseException, code: int, log: Path, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("travas.evaluation.pm4py_models._write_tree", fail)
    ran = travas("map", log, *PARAMETERS, "-o", tmp_path / "map.json", "--model", "bpmn")
    assert ran.code == code and "the charge" in ran.err and "a name" not in ran.err
    assert (tmp_path / "map.json").is_file() and not (tmp_path / "map.bpmn").exists()


def test_names_do_not_control_the_terminal(tmp_path: Path, travas: Run) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case,activity,timestamp\n" + "".join(f"{n},\x1b[31mred,2026-01-01\n" for n in range(3000)))
    ran = travas("map", log, *PARAMETERS, "-o", tmp_path / "map.json")
    assert ran.code == 0 and "\ufffd[31mred" in ran.out and "\x1b[31mred" not in ran.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--parts", "costs"), "parts contains 'costs'"),
        (("--model", "png"), "for a model"),
        (("-o", "map.xes"), "unsupported file extension for a process map"),
    ],
)
def test_what_is_refused_is_not_charged(
    options: tuple[str, str], words: str, log: Path, tmp_path: Path, travas: Run
) -> None:
    charged = len(Ledger.default().history())
    ran = travas("map", log, *PARAMETERS, "-o", tmp_path / "map.json", *options)
    assert ran.code == 2 and words in ran.err
    assert len(Ledger.default().history()) == charged


def test_options_that_have_no_meaning_with_a_release(release: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("map", "--from", release, "--parts", "rework", "-o", tmp_path / "again.csv")
    assert ran.code == 2 and "remove parts" in ran.err
    ran = travas("map", "-o", tmp_path / "again.csv")
    assert ran.code == 2 and "is not set" in ran.err


def test_anonymize_points_to_the_command(log: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("anonymize", log, *PARAMETERS, "--mechanism", "map", "-o", tmp_path / "out.json")
    assert ran.code == 2 and "use travas map" in ran.err
