"""Mechanisms and metrics of other packages: named by a dotted path, never trusted, never imported for a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run
from travas import LogError, Optimal, ParameterError, Standing, VerificationError, anonymize, compare, verify
from travas.evaluation.grid import read_grid
from travas.mechanisms import from_description, mechanism

MODULE = '''
"""A package that travas does not know."""
import attrs
import travas

@attrs.frozen(slots=False)
class Mine(travas.Optimal):
    """The optimal mechanism under another name."""
    name = "mine"

def strict(epsilon, delta, *, unit, minimum_cases=10):
    """Built from a verified part alone."""
    return travas.Optimal(epsilon, delta, minimum_cases, unit=unit)

def half(original, released):
    """Always one half."""
    return 0.5

def nothing(epsilon, delta, *, unit):
    return "no mechanism"
'''
LOG = {("a", "b"): 400, ("a",): 300}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"elsewhere_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_class_of_another_package_has_no_guarantee(package: str) -> None:
    mine = mechanism(f"{package}:Mine", 1, "1e-6")
    guarantee = mine.guarantee()
    assert guarantee.standing is Standing.NOT_ESTABLISHED and any(package in text for text in guarantee.assumptions)
    with pytest.raises(ParameterError, match="not established"):
        anonymize(LOG, mine)
    assert anonymize(LOG, mine, guarantee="not required").variants


def test_what_is_built_from_our_parts_has_theirs(package: str) -> None:
    strict = mechanism(f"{package}:strict", 1, "1e-6")
    assert strict == Optimal(1, "1e-6", 10) and strict.guarantee().standing is Standing.VERIFIED
    assert strict.describe()["mechanism"] == "optimal"


def test_a_description_imports_nothing(package: str, tmp_path: Path) -> None:
    described = {"mechanism": f"{package}:Mine", "epsilon": "1", "delta": "1e-6"}
    with pytest.raises(ParameterError, match="not imported from here") as refused:
        from_description(described)
    assert refused.value.field == "mechanism" and package not in sys.modules
    assert from_description(described, references="follow").name == "mine"


def test_a_guarantee_file_imports_nothing(package: str, tmp_path: Path) -> None:
    path = anonymize(LOG, Optimal(1, "1e-6")).write(tmp_path / "release.json")
    guarantee = Path(f"{path}.guarantee.json")
    guarantee.write_text(guarantee.read_text().replace('"mechanism": "optimal"', f'"mechanism": "{package}:Mine"'))
    with pytest.raises(VerificationError, match="not imported from here"):
        verify(guarantee)
    assert package not in sys.modules


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("{}:Absent", "cannot be imported"),
        ("absent.module:Mine", "cannot be imported"),
        ("{}:Mine.__init__", "write package.module:Class"),
        ("{}:nothing", "does not make a travas.Mechanism"),
        ("utravas-publishd", "did you mean 'utravas-published'"),
    ],
)
def test_a_name_that_leads_nowhere_is_one_clear_line(package: str, name: str, why: str) -> None:
    with pytest.raises(ParameterError, match=why) as refused:
        mechanism(name.format(package), 1, "1e-6")
    assert refused.value.field == "mechanism"


def test_a_metric_of_another_package(package: str) -> None:
    name = f"{package}:half"
    assert compare(LOG, LOG, [name]).values == {name: 0.5}
    with pytest.raises(ParameterError, match="which does not exist"):
        compare(LOG, LOG, ["fittness"])


def test_a_grid_can_name_both(package: str, tmp_path: Path, small_csv: Path) -> None:
    text = f"""
epsilon = [1]
delta = ["1e-2"]
[logs]
small = "{small_csv}"
[mechanisms.mine]
mechanism = "{package}:Mine"
minimum_cases = 2
[metrics]
"{package}:half" = 1
"""
    (tmp_path / "grid.toml").write_text(text)
    cells = read_grid(tmp_path / "grid.toml").cells()
    assert [cell.build().name for cell in cells[1:]] == ["mine"]
    (tmp_path / "grid.toml").write_text(text.replace("minimum_cases", "maximum_cases"))
    with pytest.raises(LogError, match="maximum_cases"):
        read_grid(tmp_path / "grid.toml")


def test_the_command_line_can_name_one(package: str, travas: Run, small_csv: Path, tmp_path: Path) -> None:
    asked = ("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-2", "-o", tmp_path / "out.csv")
    refused = travas(*asked, "--mechanism", f"{package}:Mine")
    assert refused.code == 2 and "not established" in refused.err


def test_validation_is_not_an_assertion() -> None:
    """`python -O` refuses the same."""
    code = (
        "import travas\n"
        "for make in (lambda: travas.Ladder(1, '1e-20', rungs='full,first', shares='1/2,1/2'), "
        "lambda: travas.UTravas(1, '1e-20', 3), lambda: travas.Reading(unit='x', max_cases=0)):\n"
        "    try:\n        make()\n    except travas.ParameterError:\n        print('refused')\n"
    )
    ran = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["refused"] * 3
