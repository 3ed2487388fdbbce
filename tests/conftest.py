"""What all tests share: the public logs where they are at hand, and a way to run the command line."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from projects import folder, start  # noqa: F401 (fixtures)
from scheduling import pytest_xdist_auto_num_workers, pytest_xdist_make_scheduler  # noqa: F401 (hooks)
from servers import postgres, postgres_server, spark  # noqa: F401 (fixtures)
from travas import Ledger
from travas.cli import main as cli

DATA = Path(os.environ.get("TRAVAS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def pytest_configure(config: pytest.Config) -> None:
    """Undo what our shell says: to ignore Ctrl-C, as in the background, or to use its ledger. What we test inherits it."""
    settings.load_profile("ci")  # the same examples in every run, however slow the machine is
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("TRAVAS_LEDGER", "TRAVAS_POLICY"):  # fixtures of modules are made before those of tests
        os.environ.pop(name, None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save what a worker covered now: pytest-xdist kills a worker that takes ten seconds to exit, as on a busy machine."""
    if hasattr(session.config, "workerinput") and "coverage" in sys.modules:
        measured = sys.modules["coverage"].Coverage.current()
        if measured is not None:
            measured.save()


@pytest.fixture(autouse=True)
def ledger_path(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own ledger: none touches the user's."""
    home = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.delenv("TRAVAS_LEDGER", raising=False)
    (home / "travas").mkdir()
    return home / "travas" / "ledger.db"


@pytest.fixture
def book(ledger_path: Path) -> Ledger:
    """The ledger of the test."""
    return Ledger(ledger_path)


@pytest.fixture
def data() -> Path:
    """The folder of public event logs; they are not part of the project, so tests pass without them."""
    if not DATA.is_dir():
        pytest.skip("no public event logs here; set TRAVAS_DATA")
    return DATA


def unmeasured() -> dict[str, str]:
    """The environment of a process that coverage must not enter: it imports modules, and is interrupted like our code."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _own_signals() -> None:
    """Every test begins with Python's handlers, not with those that another test, a fixture or Spark has installed."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def travas(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process."""

    def run(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["travas", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return Ran(int(stop.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def small_csv(tmp_path: Path) -> Path:
    """Twenty cases of one variant, five of another, one of its own."""
    rows = ["case_id,activity,timestamp"]
    for case in range(26):
        trace = ("register", "visit", "release") if case < 20 else ("register", "release") if case < 25 else ("visit",)
        rows += [f"c{case},{activity},2025-01-{1 + step:02d} 08:00:00" for step, activity in enumerate(trace)]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Experiments without worker processes, whose start takes longer than small runs."""
    from travas.evaluation import experiment

    monkeypatch.setattr(experiment, "_measured", lambda cells, _: ([experiment.measure(cell)] for cell in cells))
