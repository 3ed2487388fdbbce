"""One contract for Python, the command line and the web app: what is refused, charged, written and said.

Every front end of `front_ends.py` gets the same cases.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from front_ends import ALL_FRONT_ENDS, FRONT_ENDS, Case, by_a_request, on_the_command_line

import travas as package
from conftest import Run, unmeasured
from travas import Ledger
from travas.budget.ledger import Book
from travas.budget.ledger_file import OpenLedger
from travas.errors import OutputError, VerificationError

Made = Callable[[Case], str]


@pytest.fixture(params=ALL_FRONT_ENDS)
def front_end(request: pytest.FixtureRequest, travas: Run) -> Made:
    made = ALL_FRONT_ENDS[request.param]
    return lambda case: made(case, travas)


@pytest.fixture(params=FRONT_ENDS)
def writing_front_end(request: pytest.FixtureRequest, travas: Run) -> Made:
    made = FRONT_ENDS[request.param]
    return lambda case: made(case, travas)


@pytest.fixture
def case(small_csv: Path, tmp_path: Path) -> Case:
    ledger = tmp_path / "book.db"
    Ledger(ledger).create_budget("hospital", epsilon=3, delta="1e-5")
    return Case(small_csv, tmp_path / "release.json", ledger)


@pytest.mark.parametrize("mechanism", ["optimal", "synthesis", "map"])
def test_a_release_is_charged_and_written_with_its_guarantee(front_end: Made, case: Case, mechanism: str) -> None:
    assert front_end(case.but(mechanism=mechanism)) == ""
    assert case.charges == 1 and case.written == [
        "release.json",
        "release.json.README.txt",
        "release.json.guarantee.json",
    ]
    assert package.verify(f"{case.output}.guarantee.json", case.output).digest_checked


HEAD = "case_id,activity,timestamp\n"

REFUSED: dict[str, dict[str, Any]] = {
    "epsilon": {"epsilon": "0"},
    "delta": {"delta": "2"},
    "budget": {"epsilon": "4"},
    "no table": {"epsilon": "1e-9", "delta": "1e-12"},
    "nothing left for a measurement": {"mechanism": "synthesis", "epsilon": "1e-6"},
    "unknown option value": {"mechanism": "prefix-tree", "options": {"max_length": 0, "prune": 3}},
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused_costs_nothing_and_writes_nothing(front_end: Made, case: Case, reason: str) -> None:
    said = front_end(case.but(**REFUSED[reason]))
    assert said and "is not refunded" not in said
    assert case.charges == 0 and case.written == []


@pytest.mark.parametrize(
    "text", [f"{HEAD}1,a,2020-01-01,b\n", f'{HEAD}1,"a\n', "case_id,activity\n1,a\n", "x,y\n1,2\n", ""]
)
def test_a_log_that_cannot_be_read_costs_nothing(front_end: Made, case: Case, text: str) -> None:
    case.log.write_text(text)
    assert front_end(case)
    assert case.charges == 0 and case.written == []


def test_an_output_that_cannot_be_written_costs_nothing(writing_front_end: Made, case: Case) -> None:
    assert "no-such-folder" in writing_front_end(
        case.but(output=case.output.parent / "no-such-folder" / "release.json")
    )
    case.output.write_text("mine")
    assert "exists" in writing_front_end(case)
    assert case.charges == 0 and case.output.read_text() == "mine"


def test_a_charge_is_undone_if_the_account_cannot_be_computed(
    front_end: Made, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended = OpenLedger.append

    def fails(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:

        def append(*arguments: Any) -> None:
            appended(*arguments)
            patched.setattr(Book, "account", fails)
            patched.setattr(Book, "at", fails)

        patched.setattr(OpenLedger, "append", append)
        assert "is not refunded" not in front_end(case)
    assert case.charges == 0 and case.written == []


def published(case: Case) -> Case:
    Ledger(case.ledger).create_account("public")
    options = {"max_length": 4, "prune": 2}
    return case.but(dataset="public", mechanism="sacofa-published", delta="0.5", options=options)


def test_a_mechanism_without_a_guarantee_is_refused_by_all(front_end: Made, case: Case) -> None:
    assert "not established" in front_end(published(case))
    assert case.charges == 0 and case.written == []


@pytest.mark.parametrize("name", ["python", "functions", "cli"])
def test_a_release_without_a_guarantee_is_made_where_it_is_accepted(name: str, case: Case, travas: Run) -> None:
    """And says so itself. The web app never accepts one."""
    assert ALL_FRONT_ENDS[name](published(case).but(guarantee="not required"), travas) == ""
    stated = json.loads(Path(f"{case.output}.guarantee.json").read_text())
    assert (
        case.charges == 1 and stated["standing"] == "not established" and b"not established" in case.output.read_bytes()
    )
    with pytest.raises(VerificationError):
        package.verify(f"{case.output}.guarantee.json", case.output)


NOISE = {
    "optimal": "travas.trusted.tables.Noise.draw",
    "synthesis": "travas.trusted.stage_check.GaussianNoise.draw",
    "map": "travas.trusted.stage_check.GaussianNoise.draw",
}


@pytest.mark.parametrize("mechanism", NOISE)
def test_the_charge_is_on_the_disk_before_any_noise(
    front_end: Made, case: Case, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = resolve_name(NOISE[mechanism].removesuffix(".draw").replace(".N", ":N").replace(".G", ":G")).draw
    seen: list[int] = []

    def draw(*arguments: Any) -> Any:
        seen.append(case.charges)
        return drawn(*arguments)

    monkeypatch.setattr(NOISE[mechanism], draw)
    assert front_end(case.but(mechanism=mechanism)) == "" and set(seen) == {1}


FAILURES: dict[str, BaseException] = {
    "our own": OutputError("out: cannot be written, the disk is full"),
    "the system's": OSError(28, "No space left on device"),
    "a bug that quotes the log": KeyError("CANARY"),
    "memory": MemoryError("CANARY"),
    "an interrupt": KeyboardInterrupt(),
}


DRAWING = [
    ("optimal", "travas.trusted.tables.Noise.draw"),
    ("synthesis", "travas.trusted.stage_check.GaussianNoise.draw"),
    ("synthesis", "travas.releases.synthetic_log.generate"),
    ("map", "travas.trusted.stage_check.GaussianNoise.draw"),
]
WRITING = [
    ("optimal", "travas.outputs.write.ReservedRelease.write"),
    ("optimal", "travas.outputs.write.ReservedRelease.publish"),
    ("map", "travas.releases.process_map.MapCounts.of"),
]


AT = dict.fromkeys(FRONT_ENDS, (DRAWING[0], WRITING[1])) | {"functions": DRAWING[:1], "python": DRAWING + WRITING}
"""One pipeline decides: the others show what they say of its errors."""


@pytest.mark.parametrize(("name", "mechanism", "target"), [(name, *at) for name, places in AT.items() for at in places])
@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_fails_after_the_charge_says_that_it_stands(
    name: str, case: Case, mechanism: str, target: str, failure: str, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise FAILURES[failure]

    monkeypatch.setattr(target, fails)
    said = ALL_FRONT_ENDS[name](case.but(mechanism=mechanism), travas)
    assert "'hospital' is not refunded" in said and "CANARY" not in said
    assert case.charges == 1 and case.written == []


@pytest.mark.parametrize("name", ALL_FRONT_ENDS)
def test_an_interrupt_while_charging_is_known_to_be_charged_or_not(
    name: str, case: Case, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of the charge waits until the charge is on the disk."""
    charge = Ledger.charge

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return charge(*arguments)

    monkeypatch.setattr(Ledger, "charge", interrupted)
    said = ALL_FRONT_ENDS[name](case, travas)
    if name == "web":  # there Ctrl-C is for the server: what is paid for is finished
        assert said == "" and case.output.exists()
    else:
        assert "interrupted" in said and "is not refunded" in said and case.written == []
    assert case.charges == 1


def test_an_interrupt_before_the_charge_costs_nothing(case: Case, travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("travas.pipeline.read", interrupted)
    assert "is not refunded" not in on_the_command_line(case, travas) and case.charges == 0
    with pytest.raises(KeyboardInterrupt):
        by_a_request(case, travas)
    assert case.charges == 0


def faults(fault: str, front_end: str, folder: Path, runs: int) -> dict[str, int]:
    """What `front_end_faults.py` has found; its own checks come first."""
    names = [f"{number} {'long name ' * 180}" for number in range(20 if fault == "full" else 3)]
    rows = [f"c{case},{name},2025-01-{1 + step:02d}" for case in range(30) for step, name in enumerate(names)]
    (folder / "log.csv").write_text("\n".join(["case_id,activity,timestamp", *rows, ""]))
    script = Path(__file__).with_name("front_end_faults.py")
    words = [sys.executable, str(script), fault, front_end, str(folder), str(runs)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, env=unmeasured())
    assert ran.returncode == 0, ran.stderr[-1500:]
    found: dict[str, int] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize(("fault", "name"), [("kill", "python"), ("interrupt", "cli"), ("interrupt", "web")])
def test_kill_9_and_interrupts_at_any_line(fault: str, name: str, tmp_path: Path) -> None:
    """Never a release without its charge and guarantee; an interrupted user reads about the charge; a restart works."""
    fates = {end.rpartition(" ")[0] for end in faults(fault, name, tmp_path, 3)}
    assert fates >= ({"released"} if (fault, name) == ("interrupt", "web") else {"not charged", "charged"})


@pytest.mark.slow
@pytest.mark.parametrize("name", FRONT_ENDS)
@pytest.mark.parametrize("fault", ["kill", "interrupt"])
def test_kill_9_and_interrupts_at_many_lines(fault: str, name: str, tmp_path: Path) -> None:
    faults(fault, name, tmp_path, 200)


ONE_QUICK = [pytest.param(name, marks=() if name == "cli" else pytest.mark.slow) for name in FRONT_ENDS]


@pytest.mark.parametrize("name", ONE_QUICK)
def test_sigterm_at_any_line(name: str, tmp_path: Path) -> None:
    fates = {end.rpartition(" ")[0] for end in faults("terminate", name, tmp_path, 3)}
    assert fates >= {"not charged", "released" if name == "web" else "charged"}


@pytest.mark.parametrize("name", ONE_QUICK)
def test_a_disk_that_is_full_at_any_stage(name: str, tmp_path: Path) -> None:
    found = faults("full", name, tmp_path, 3)
    assert {"not charged 2", "charged 4", "released 0"} <= set(found), found


def test_many_runs_at_once_do_not_exceed_the_account(case: Case, travas: Run) -> None:
    """Each has its own output, all have one account that affords three releases: exactly three are made."""
    cases = [case.but(output=case.output.with_name(f"release-{number}.json")) for number in range(20)]
    with ThreadPoolExecutor(20) as runs:
        said = list(runs.map(lambda one: by_a_request(one, travas), cases))
    assert said.count("") == case.charges == sum(one.output.exists() for one in cases) == 3
    assert not any("is not refunded" in words for words in said)
