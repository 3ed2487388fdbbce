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


@pytest.mark.parametrize("options", [("--parts", "costs"), ("-o", "map.xes")])
def test_what_is_refused_is_not_charged(options: tuple[str, str], log: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("map", log, *PARAMETERS, "-o", tmp_path / "map.json", *options)
    assert ran.code == 2 and options[1].partition(".")[2] in ran.err
    assert not Ledger.default().history()
