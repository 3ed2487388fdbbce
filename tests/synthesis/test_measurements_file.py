"""The measurements of a synthetic log are public and paid for: they are written beside it in every format."""

import json
from pathlib import Path

import pytest

import travas as travas_package
from conftest import Run
from travas.errors import LogError, VerificationError
from travas.outputs.write import write_hospital_log

PARAMETERS = ("--epsilon", 1, "--delta", "1e-6")


@pytest.mark.parametrize("name", ["s.xes.gz", "s.parquet"])
def test_more_is_generated_from_a_log_of_any_format(name: str, tmp_path: Path, travas: Run) -> None:
    log, out, more = write_hospital_log(tmp_path / "hospital.csv"), tmp_path / name, tmp_path / "more.json"
    assert travas("synthesize", log, *PARAMETERS, "-o", out).code == 0
    measurements = tmp_path / f"{name}.measurements.json"
    assert travas("verify", f"{out}.guarantee.json", out).code == 0
    assert travas("synthesize", "--from", out, "--cases", 50, "-o", more).code == 0
    made = json.loads(more.read_text())
    assert made["measurements"] == json.loads(measurements.read_text())["measurements"] and sum(made["counts"]) == 50
    assert travas("synthesize", "--from", out, "-o", tmp_path / "again.json").code == 0
    opened = travas_package.open_release(out)
    assert opened.write(tmp_path / f"same-{name}").read_bytes() == out.read_bytes()
    measurements.write_text(measurements.read_text() + " ")
    with pytest.raises(VerificationError):
        travas_package.open_release(out)
    assert travas("synthesize", "--from", out, "--cases", 50, "-o", tmp_path / "x.json").code == 1
    measurements.unlink()
    with pytest.raises(LogError):
        travas_package.open_release(out)
    assert travas("synthesize", "--from", out, "--cases", 50, "-o", tmp_path / "x.json").code == 2
