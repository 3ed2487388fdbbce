"""`travas map`: process maps on the command line, in other formats from a release, and what is refused."""

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
    target, parts = log.with_name("map.json"), [f"--parts={part}" for part in ("durations", "rework", "throughput")]
    ran = travas("map", log, *PARAMETERS, *parts, "-o", target, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    return target


@pytest.mark.parametrize("suffix", [".csv", ".html", ".svg"])
def test_a_release_in_another_format_costs_nothing(release: Path, suffix: str, tmp_path: Path, travas: Run) -> None:
    charged = len(Ledger.default().history())
    ran = travas("map", "--from", release, "-o", tmp_path / f"again{suffix}")
    assert (ran.code, ran.err) == (0, "")
    assert len(Ledger.default().history()) == charged
    assert verify(f"{tmp_path / 'again'}{suffix}.guarantee.json", tmp_path / f"again{suffix}").digest_checked


def test_what_cannot_be_written_again_is_refused(release: Path, tmp_path: Path, travas: Run) -> None:
    guarantee, out = release.with_name("map.json.guarantee.json"), tmp_path / "again.csv"
    before = guarantee.read_bytes()
    ran = travas("map", "--from", release, "-o", guarantee, "--force")
    assert ran.code == 2 and "choose another output (option --output)" in ran.err and guarantee.read_bytes() == before
    ran = travas("map", "--from", release, "--parts", "rework", "-o", out)
    assert ran.code == 2 and "remove parts" in ran.err
    release.write_text(release.read_text() + " ")
    ran = travas("map", "--from", release, "-o", out)
    assert ran.code == 1 and "SHA-256" in ran.err and not out.exists()


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


@pytest.mark.parametrize("options", [("--parts", "costs"), ("--model", "png"), ("-o", "map.xes")])
def test_what_is_refused_is_not_charged(options: tuple[str, str], log: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("map", log, *PARAMETERS, "-o", tmp_path / "map.json", *options)
    assert ran.code == 2 and options[1].partition(".")[2] in ran.err
    assert not Ledger.default().history()
