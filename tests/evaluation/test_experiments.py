"""Grids: what they say, what is done once only, what a kill leaves, and that failures stay in the mean."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from conftest import Run
from travas import LogError
from travas.evaluation.experiment import ORIGINAL, Grid, experiment, read_grid, seeded_release
from travas.mechanisms import prefix_tree

GRID = """
epsilon = ["1", 0.1]
delta = ["0.1", "0.01"]

[logs]
small = "small.csv"

[metrics]
relative_log_similarity = 3
absolute_log_difference_length = 2

[mechanisms.ours]
mechanism = "optimal"

[mechanisms.travas]
frequencies = "noisy"

[mechanisms.tree]
mechanism = "prefix-tree"
epsilon = ["1"]
[mechanisms.tree.on.small]
max_length = 3
prune = [[9, 12]]
"""


def silent(_: float) -> None:
    pass


@pytest.fixture
def grid(small_csv: Path) -> Path:
    path = small_csv.with_name("grid.toml")
    path.write_text(GRID)
    return path


def test_a_grid_is_every_log_mechanism_epsilon_delta_and_run(grid: Path) -> None:
    cells = read_grid(grid).cells()
    assert len(cells) == 1 + 3 * (4 + 4 + 2)
    assert len({cell.key for cell in cells}) == len(cells) == len({cell.seed for cell in cells})
    tree = [cell for cell in cells if cell.label == "tree"]
    assert {(cell.delta, cell.options) for cell in tree} == {
        ("0.1", (("max_length", 3), ("prune", 9))),
        ("0.01", (("max_length", 3), ("prune", 12))),
    }
    grid.write_text(GRID.replace('"1", 0.1]', "0.30000000000000000001]"))
    assert {cell.epsilon for cell in read_grid(grid).cells()} == {"", "1", "0.30000000000000000001"}  # exact, no float
    assert [cell.metrics for cell in tree[:3]] == [
        ("relative_log_similarity", "absolute_log_difference_length"),
        ("relative_log_similarity", "absolute_log_difference_length"),
        ("relative_log_similarity",),
    ]


@pytest.mark.usefixtures("in_process")
def test_results_are_reproduced_by_their_seeds_and_done_once(grid: Path, tmp_path: Path) -> None:
    wanted = read_grid(grid)
    first = experiment(wanted, tmp_path / "first.parquet", silent)
    again = experiment(wanted, tmp_path / "again.parquet", silent, workers=1)
    assert first.drop("seconds").equals(again.drop("seconds"))
    assert first.filter(label=ORIGINAL)["relative_log_similarity"].to_list() == [pytest.approx(1)]
    cell = next(cell for cell in wanted.cells() if cell.label == "ours" and cell.run == 2)
    row = first.filter(key=cell.key).row(0, named=True)
    assert row["variants"] == len(seeded_release(cell).variants) and row["cases"] == sum(seeded_release(cell).counts)
    assert experiment(wanted, tmp_path / "first.parquet", silent).equals(first)  # the seconds too: nothing was redone
    assert not (tmp_path / "first.parquet.journal").exists()


WAITING = """
import time
from pathlib import Path

journal, wait = (Path(__file__).with_name(name) for name in ("results.parquet.journal", "wait"))


def metric(a, b):
    while wait.exists() and journal.read_bytes().count(b"\\n") >= 3:
        time.sleep(0.01)
    return 1
"""


@pytest.mark.usefixtures("in_process")
def test_a_killed_experiment_resumes_where_it_stopped(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metric waits after the third run, so that the experiment is killed in the middle on any machine."""
    results = tmp_path / "results.parquet"
    journal = tmp_path / "results.parquet.journal"
    (tmp_path / "waiting.py").write_text(WAITING)
    (tmp_path / "wait").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(tmp_path)
    grid.write_text(GRID.replace("[metrics]", '[metrics]\n"waiting:metric" = 1'))
    command = [sys.executable, "-m", "travas", "experiment", str(grid), "-o", str(results), "--workers", "1"]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    (tmp_path / "wait").unlink()
    assert not results.exists()
    with journal.open("a") as out:
        out.write('{"key": "cut off by the ki')
    done = {row["key"]: row for row in map(json.loads, journal.read_text().splitlines()[:-1])}
    finished = experiment(read_grid(grid), results, silent)
    assert len(done) >= 3
    for row in finished.filter(pl.col("key").is_in(list(done))).iter_rows(named=True):
        assert row["seconds"] == done[row["key"]]["seconds"]  # not done again
    fresh = experiment(read_grid(grid), tmp_path / "fresh.parquet", silent)
    assert finished.drop("seconds").equals(fresh.drop("seconds"))


def test_a_killed_process_ends_the_experiment(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deadly.py").write_text("import os\n\n\ndef metric(a, b):\n    os._exit(9)\n")
    monkeypatch.syspath_prepend(tmp_path)
    grid.write_text(GRID.replace("[metrics]", '[metrics]\n"deadly:metric" = 1'))
    with pytest.raises(LogError, match="a process of the experiment was killed"):
        experiment(read_grid(grid), tmp_path / "results.parquet", silent, workers=1)


@pytest.mark.usefixtures("in_process")
def test_a_failure_is_a_result_and_counts_as_an_empty_release(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefix_tree, "MAX_PREFIXES", 1)
    table = experiment(read_grid(grid), tmp_path / "results.parquet", silent)
    failed = table.filter(label="tree")
    assert failed["error"].str.contains("the tree is too large").all()
    assert failed["relative_log_similarity"].to_list() == [0.0] * 6
    assert failed["variants"].to_list() == [0] * 6
    assert failed["absolute_log_difference_length"].drop_nulls().unique().to_list() == [20 * 3 + 5 * 2 + 1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[logs]", "[logz]", "the key 'logz' is unknown"),
        ('mechanism = "optimal"', 'mechanism = "optimal"\nprune = 4', "mechanisms.ours: the key 'prune' is unknown"),
        ('"small.csv"', '"missing.csv"', "missing.csv: no such file"),
        ("[[9, 12]]", "[[9]]", "tree: prune on small is a list; use one number or text, or a table of 1 rows"),
        ('"1", 0.1', '"100"', "ours on small: epsilon is 100: above 20"),
        ("on.small", "on.large", "the key 'large' is unknown"),
        ("epsilon =", "epsilon = =", "not a TOML file"),
        ('"small.csv"', '{ file = "small.csv", period = "2025-01" }', "the key 'period' is unknown"),  # no metric judges it
        ('mechanism = "optimal"', 'mechanism = "optimal"\non = { small = [[1]] }', ""),
        ('"small.csv"', '{ file = "small.csv", delimiter = [1] }', ""),
    ],
)  # fmt: skip
def test_a_wrong_grid_is_one_clear_line(grid: Path, old: str, new: str, words: str, travas: Run) -> None:
    grid.write_text(GRID.replace(old, new, 1))
    ran = travas("experiment", grid, "-o", grid.with_suffix(".parquet"))
    assert ran.code == 2 and words in ran.err and ran.err.count("\n") == 1 and str(grid) in ran.err


@pytest.mark.usefixtures("in_process")
def test_the_command_runs_and_says_that_it_is_confidential(grid: Path, tmp_path: Path, travas: Run) -> None:
    ran = travas("experiment", grid, "-o", tmp_path / "r.parquet")
    assert ran.code == 0, ran.err
    assert "CONFIDENTIAL" in ran.out and "31, 0 of them failed" in ran.out
    means = pl.read_csv(tmp_path / "r.summary.csv")
    assert len(means) == 2 * (1 + 4 + 4 + 2) and means["mean"].dtype == pl.Float64
    again = travas("experiment", grid, "-o", tmp_path / "r.parquet", "--json")
    assert json.loads(again.out)["runs"] == 31


@pytest.mark.slow
def test_the_grids_of_the_project_can_be_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).parents[2] / "experiments"
    monkeypatch.syspath_prepend(str(folder.parent / "benchmarks"))  # as `make leaderboard` does
    grids = {path.stem: read_grid(path, data) for path in folder.glob("*.toml")}
    assert {"paper", "defensible", "leaderboard", "leaderboard-large"} <= grids.keys()
    assert all(isinstance(grid, Grid) and grid.cells() for grid in grids.values())
    assert len(grids["paper"].cells()) == 2 + 10 * (50 + 50 + 40 + 50)
