"""`travas synthesize`: synthetic logs on the command line, and further ones from the measurements of a release."""

import json
from pathlib import Path
from typing import cast

import pytest

from conftest import Run
from timed_log import timed_frame
from travas import Ledger, SyntheticRelease, open_release, verify
from travas.outputs.write import write_hospital_log

PARAMETERS = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def release(tmp_path: Path, travas: Run) -> Path:
    """A synthetic log of the hospital example with its measurements."""
    log = write_hospital_log(tmp_path / "hospital.csv")
    ran = travas("synthesize", log, *PARAMETERS, "-o", tmp_path / "synthetic.json")
    assert ran.code == 0
    return tmp_path / "synthetic.json"


def test_a_release_is_generated_again_without_a_charge(
    release: Path, tmp_path: Path, travas: Run, ledger_path: Path
) -> None:
    before = len(Ledger(ledger_path).history())
    outputs = [tmp_path / name for name in ("one.json", "two.json", "other.json")]
    for output, seed in zip(outputs, (1, 1, 2), strict=True):
        ran = travas("synthesize", "--from", release, "--cases", 10_000, "--seed", seed, "-o", output)
        assert ran.code == 0 and "generated again" in " ".join(ran.out.split())
    one, two, other = (cast(SyntheticRelease, open_release(path)) for path in outputs)
    assert sum(one.counts) == sum(other.counts) == 10_000
    assert (one.variants, one.counts) == (two.variants, two.counts) != (other.variants, other.counts)
    assert len(Ledger(ledger_path).history()) == before == 1
    assert verify(f"{outputs[0]}.guarantee.json", outputs[0]).mechanism == open_release(release).mechanism


def test_what_cannot_be_generated_from_is_refused(release: Path, tmp_path: Path, travas: Run) -> None:
    content = json.loads(release.read_text())
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(content, indent=3))
    Path(f"{changed}.guarantee.json").write_text(Path(f"{release}.guarantee.json").read_text())
    ran = travas("synthesize", "--from", changed, "-o", tmp_path / "out.csv")
    assert ran.code == 1 and "SHA-256" in ran.err
    content["counts"][0] += 1
    changed.write_text(json.dumps(content))
    ran = travas("synthesize", "--from", changed, "-o", tmp_path / "out.csv")
    assert ran.code != 0 and ran.out == ""
    ran = travas("anonymize", tmp_path / "hospital.csv", *PARAMETERS, "-o", tmp_path / "variants.json")
    ran = travas("synthesize", "--from", tmp_path / "variants.json", "-o", tmp_path / "out.csv")
    assert ran.code == 2 and "(option --from)" in ran.err and not (tmp_path / "out.csv").exists()
    guarantee = release.with_name("synthetic.json.guarantee.json")
    ran = travas("synthesize", "--from", release, "-o", guarantee, "--force")
    assert ran.code == 2
    ran = travas("synthesize", "--from", release, "-o", release, "--force")
    assert ran.code == 2 and not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--from", "s.json", "log.csv"], "remove log"),
        (["--from", "s.json", "--epsilon", "1"], "remove epsilon"),
        (["log.csv", *map(str, PARAMETERS), "--cases", "5"], "--cases and --seed require --from"),
        (["log.csv", *map(str, PARAMETERS), "--unit", "p", "--max-cases", "1000", "--epsilon", "0.01"], "max_cases"),
    ],
)
def test_refusals_are_one_line(words: list[str], why: str, travas: Run) -> None:
    ran = travas("synthesize", *words, "-o", "out.json")
    assert ran.code == 2 and why in ran.err and len(ran.err.splitlines()) == 1


# ---- `travas synthesize` with times and attributes: options, what is said, and what is refused before the charge.


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    timed_frame(400).write_csv(path)
    return path


def test_values_do_not_control_the_terminal(tmp_path: Path, travas: Run) -> None:
    log = tmp_path / "values.csv"
    log.write_text("case,activity,sex\n" + "".join(f"{n},a,\x1b]0;title\n" for n in range(3000)))
    ran = travas("synthesize", log, *PARAMETERS, "--order", "file", "--attributes", "sex", "-o", tmp_path / "s.json")
    assert ran.code == 0 and "\ufffd]0;title" in ran.out and "\x1b" not in ran.out


def test_times_that_are_asked_for_must_be_there(tmp_path: Path, travas: Run, ledger_path: Path) -> None:
    path = tmp_path / "untimed.csv"
    timed_frame(50).drop("timestamp").write_csv(path)
    ran = travas("synthesize", path, *PARAMETERS, "--order", "file", "--zone", "UTC", "-o", tmp_path / "s.csv")
    assert ran.code != 0 and "timestamp" in ran.err and (not ledger_path.exists() or not Ledger(ledger_path).history())
    ran = travas("synthesize", path, *PARAMETERS, "--order", "file", "-o", tmp_path / "s.csv")
    assert ran.code == 0 and (tmp_path / "s.csv").exists()
