"""Mechanisms and metrics of other packages: named by a dotted path, never trusted, never imported for a file."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from foreign_package import LOG, write_package

from conftest import Run
from travas import Ledger, Log, LogError, Optimal, ParameterError, Standing, anonymize, compare, verify
from travas.errors import VerificationError
from travas.evaluation.experiment import measure, read_grid
from travas.mechanisms import from_description, mechanism


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return write_package(tmp_path, monkeypatch)


def test_what_is_built_from_our_parts_has_theirs(package: str) -> None:
    strict = mechanism(f"{package}:strict", 1, "1e-6")
    assert strict == Optimal(1, "1e-6", 10) and strict.guarantee().standing is Standing.VERIFIED
    assert strict.describe()["mechanism"] == "optimal"


def test_a_class_of_another_package_has_no_guarantee(package: str, book: Ledger, small_csv: Path) -> None:
    mine = mechanism(f"{package}:Mine", 1, "1e-6")
    guarantee = mine.guarantee()
    assert guarantee.standing is Standing.NOT_ESTABLISHED and guarantee.mechanism == f"{package}:Mine"
    with pytest.raises(ParameterError) as refused:
        anonymize(LOG, mine)
    assert refused.value.field == "guarantee"
    book.create_account("ward")
    made = anonymize(small_csv, mine, guarantee="not required", ledger=book, dataset="ward")
    assert made.mechanism is not None and made.guarantee.standing is Standing.NOT_ESTABLISHED
    assert book.account("ward").entries[0].spending.standing is Standing.NOT_ESTABLISHED


def test_a_release_made_by_another_mechanism_has_the_guarantee_of_the_one_that_was_named(package: str) -> None:
    """The mistake of delegating: what was charged is what the release states."""

    class Delegating(Optimal):
        def _release(self, variants: Log) -> Any:
            return Optimal(self.epsilon, self.delta).release(variants)

    made = anonymize(LOG, Delegating(1, "1e-6"), guarantee="not required")
    assert made.guarantee.standing is Standing.NOT_ESTABLISHED


def test_a_description_imports_nothing(package: str, tmp_path: Path) -> None:
    described = {"mechanism": f"{package}:Mine", "epsilon": "1", "delta": "1e-6"}
    with pytest.raises(ParameterError, match="not imported from here") as refused:
        from_description(described)
    assert refused.value.field == "mechanism" and package not in sys.modules
    assert from_description(described, references="follow").name == f"{package}:Mine"


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
        ("{}:unmade", "cannot be made: KeyError$"),
        ("{}:nothing", "does not make a travas.Mechanism"),
        ("{}:LIMIT", "neither a class nor a function"),
        ("utravas-publishd", "did you mean 'utravas-published'"),
    ],
)
def test_a_name_that_leads_nowhere_is_one_clear_line(package: str, name: str, why: str) -> None:
    with pytest.raises(ParameterError, match=why) as refused:
        mechanism(name.format(package), 1, "1e-6")
    assert refused.value.field == "mechanism"


@pytest.mark.parametrize(("content", "why"), [("def", "SyntaxError"), ("raise ValueError('SECRET')", "ValueError")])
def test_a_package_that_fails_is_one_clear_line(
    content: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"failing_{why.lower()}"
    (tmp_path / f"{name}.py").write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ParameterError, match=f"cannot be imported: {why}$"):
        mechanism(f"{name}:Mine", 1, "1e-6")
    entry = EntryPoint("mine", f"{name}:Mine", "travas.mechanisms")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    with pytest.raises(ParameterError, match=f"registered as {name}:Mine: {why}$"):
        mechanism("mine", 1, "1e-6")


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
    assert [cell.build().name for cell in cells[1:]] == [f"{package}:Mine"]
    (tmp_path / "grid.toml").write_text(text.replace("minimum_cases", "maximum_cases"))
    with pytest.raises(LogError, match="maximum_cases"):
        read_grid(tmp_path / "grid.toml")


def test_their_failures_are_results(package: str, tmp_path: Path, small_csv: Path) -> None:
    (tmp_path / "grid.toml").write_text(f"""
epsilon = [1]
delta = ["1e-2"]
[logs]
small = "{small_csv}"
[mechanisms.broken]
mechanism = "{package}:Broken"
[mechanisms.mine]
mechanism = "{package}:Mine"
[metrics]
"{package}:half" = 1
"{package}:third" = 1
""")
    rows = {row["label"]: row for row in map(measure, read_grid(tmp_path / "grid.toml").cells())}
    assert rows["mine"]["error"] == f"{package}:third: ValueError" and rows["mine"][f"{package}:half"] == 0.5
    assert rows["broken"]["variants"] == 0 and "SECRET" not in str(rows)
    (tmp_path / "grid.toml").write_text((tmp_path / "grid.toml").read_text().replace(f'"{package}:third" = 1', ""))
    errors = {cell.label: measure(cell)["error"] for cell in read_grid(tmp_path / "grid.toml").cells()}
    assert errors["broken"] == "ValueError" and errors["mine"] is None


GRID = """
epsilon = [1]
delta = ["1e-2"]
[logs]
small = "{log}"
[mechanisms.theirs]
mechanism = "{mechanism}"
[metrics]
"{metric}" = 2
"""


@pytest.mark.parametrize("name", ["third", "words"])
def test_a_metric_that_fails_is_one_line_that_names_it(
    name: str, package: str, travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    metric = f"{package}:{name}"
    with pytest.raises(ParameterError, match=f"metric is '{metric}', which failed with ValueError") as refused:
        compare(LOG, LOG, [metric])
    assert refused.value.field == "metrics" and "SECRET" not in str(refused.value)
    ran = travas("compare", small_csv, small_csv, "--metrics", metric)
    assert ran.code == 2 and metric in ran.err and "(option --metrics)" in ran.err
    assert len(ran.err.splitlines()) == 1 and "SECRET" not in ran.out + ran.err


def test_a_grid_whose_metric_or_mechanism_fails_says_which(
    package: str, travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    grid, results = tmp_path / "grid.toml", tmp_path / "results.parquet"
    run = ("experiment", grid, "-o", results, "--workers", 1, "--plot", tmp_path / "pictures")
    grid.write_text(GRID.format(log=small_csv, mechanism=f"{package}:Broken", metric=f"{package}:third"))
    ran = travas(*run)
    assert ran.code == 0 and f"2 × theirs: {package}:third: ValueError" in " ".join(ran.out.split())
    grid.write_text(GRID.format(log=small_csv, mechanism=f"{package}:Broken", metric="case_coverage"))
    ran = travas(*run)
    assert ran.code == 0 and "2 × theirs: ValueError" in ran.out


def test_an_entry_point_is_found_by_its_path_too(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{package}:Mine"
    with pytest.raises(ParameterError, match="not imported from here"):
        from_description({"mechanism": path, "epsilon": "1", "delta": "1e-6"})
    entry = EntryPoint("mine", path, "travas.mechanisms")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    theirs = mechanism("mine", 1, "1e-6")
    assert theirs.describe()["mechanism"] == path and from_description(theirs.describe()) == theirs


def test_a_bug_of_travas_ends_the_experiment(tmp_path: Path, small_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("a bug")

    (tmp_path / "grid.toml").write_text(
        f'epsilon = [1]\ndelta = ["1e-2"]\n[logs]\nsmall = "{small_csv}"\n[mechanisms.ours]\nmechanism = "optimal"\n'
        "[metrics]\ncase_coverage = 1\n"
    )
    monkeypatch.setattr(Optimal, "release", fails)
    with pytest.raises(ValueError, match="a bug"):
        list(map(measure, read_grid(tmp_path / "grid.toml").cells()))


def test_the_command_line_can_name_one(package: str, travas: Run, small_csv: Path, tmp_path: Path) -> None:
    asked = ("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-2", "-o", tmp_path / "out.csv")
    refused = travas(*asked, "--mechanism", f"{package}:Mine")
    assert refused.code == 2 and "not established" in refused.err


def test_validation_is_not_an_assertion() -> None:
    """`python -O` refuses the same."""
    code = (
        "import travas\n"
        "for make in (lambda: travas.Ladder(1, '1e-20', rungs='full,first'), "
        "lambda: travas.UTravas(1, '1e-20', 3), lambda: travas.Reading(unit='x', max_cases=0)):\n"
        "    try:\n        make()\n    except travas.ParameterError:\n        print('refused')\n"
    )
    ran = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["refused"] * 3
