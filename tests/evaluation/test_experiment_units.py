"""Grids for persons, and mechanisms and metrics of other packages: what is released, and what it is measured against."""

from pathlib import Path

import pytest

from travas.evaluation.experiment import ORIGINAL, experiment, read_grid


def silent(_: float) -> None:
    pass


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Three hundred persons with four equal visits each."""
    rows = [
        f"{person * 4 + visit},p{person},{step},2025-01-0{1 + number}"
        for person in range(300)
        for visit in range(4)
        for number, step in enumerate(("register", "release"))
    ]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["case_id,person,activity,timestamp", *rows]) + "\n")
    return path


def grid_of(visits: Path, logs: str, mechanisms: str, metrics: str = "log_size_difference = 2") -> Path:
    path = visits.with_name("grid.toml")
    path.write_text(
        f'epsilon = ["1"]\ndelta = ["1e-3"]\n[logs]\n{logs}\n[metrics]\n{metrics}\n{mechanisms}\n', encoding="utf-8"
    )
    return path


PERSONS = (
    'cases = "visits.csv"\n'
    'one = { file = "visits.csv", unit = "person", max_cases = 1 }\n'
    'three = { file = "visits.csv", unit = "person", max_cases = 3 }'
)


@pytest.mark.usefixtures("in_process")
def test_a_unit_bounds_what_is_counted_and_the_whole_log_is_the_measure(visits: Path, tmp_path: Path) -> None:
    noisy = 'frequencies = "noisy"\n'
    mechanisms = f'[mechanisms.optimal]\n{noisy}[mechanisms.ladder]\nrungs = "full,prefix:1"\n{noisy}'
    wanted = read_grid(grid_of(visits, PERSONS, mechanisms))
    results = experiment(wanted, tmp_path / "r.parquet", silent, workers=1)
    assert results["error"].is_null().all()
    assert results.filter(label=ORIGINAL)["cases"].to_list() == [1200, 1200, 1200]
    assert results.filter(label=ORIGINAL)["log_size_difference"].to_list() == [0.0] * 3
    facts = dict(zip(results["log"], zip(results["unit"], results["max_cases"], strict=True), strict=True))
    assert facts == {"cases": ("case", 1), "one": ("person", 1), "three": ("person", 3)}
    sizes = {log: results.filter(log=log, label="optimal")["cases"].mean() for log in ("cases", "one", "three")}
    assert sizes["cases"] == pytest.approx(1200, abs=60)  # noise of scale 1 for one of 1,200 cases
    assert sizes["one"] == pytest.approx(300, abs=60)  # of every person one case counts
    assert sizes["three"] == pytest.approx(300, abs=60)  # persons are counted: each has the variant once
    ladder = results.filter(log="three", label="ladder")["cases"].mean()
    assert ladder == pytest.approx(900, abs=120)  # cases are counted, three of every person
