"""One contract for Python, the command line and the web app: what is refused, charged, written and said.

Every front end gets the same cases. A front end is a function that makes a release of a file and returns what it said
when it was refused, or an empty text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

import travas as package
from conftest import Run, unmeasured
from travas import Ledger, TravasError
from travas.budget.book import Book
from travas.budget.ledger_schema import OpenLedger
from travas.web import tasks
from travas.web.recipe import Recipe


@dataclass(frozen=True)
class Case:
    """A release to be made, as a user would ask for it."""

    log: Path
    output: Path
    ledger: Path
    epsilon: str = "1"
    delta: str = "1e-6"
    dataset: str = "hospital"
    mechanism: str = "optimal"
    options: dict[str, Any] = field(default_factory=dict)


FrontEnd = Callable[[Case, Run], str]


def in_python(case: Case, _: Run) -> str:
    try:
        request = package.Request(
            source=case.log,
            mechanism=package.mechanism(case.mechanism, case.epsilon, case.delta, **case.options),
            output=case.output,
            ledger=Ledger(case.ledger),
            dataset=case.dataset,
        )
        package.run(request)
    except TravasError as error:
        return str(error)
    return ""


def on_the_command_line(case: Case, travas: Run) -> str:
    options = [word for name, value in case.options.items() for word in (f"--{name.replace('_', '-')}", value)]
    named = {"synthesis": ["synthesize"], "map": ["map"]}.get(
        case.mechanism, ["anonymize", "--mechanism", case.mechanism]
    )
    ran = travas(
        *named, case.log, "--epsilon", case.epsilon, "--delta", case.delta, *options,
        "--dataset", case.dataset, "--ledger", case.ledger, "-o", case.output,
    )  # fmt: skip
    assert (ran.code == 0) == (ran.err == "") and len(ran.err.splitlines()) <= 1
    return ran.err


def in_the_web_app(case: Case, _: Run) -> str:
    recipe = Recipe(case.mechanism, case.epsilon, case.delta, tuple(sorted(case.options.items())))
    try:
        reading = recipe.reading(package.Reading())
        tasks.draw(
            case.log,
            "log.csv",
            reading,
            recipe,
            1 << 30,
            case.ledger,
            case.dataset,
            "original",
            case.output,
            lambda *_: None,
        )
    except TravasError as error:
        return str(error)
    return ""


FRONT_ENDS: dict[str, FrontEnd] = {"python": in_python, "cli": on_the_command_line, "web": in_the_web_app}


@pytest.fixture(params=FRONT_ENDS)
def front_end(request: pytest.FixtureRequest, travas: Run) -> Callable[[Case], str]:
    made = FRONT_ENDS[request.param]
    return lambda case: made(case, travas)


@pytest.fixture
def case(small_csv: Path, tmp_path: Path) -> Case:
    ledger = tmp_path / "book.db"
    Ledger(ledger).create_budget("hospital", epsilon=3, delta="1e-5")
    return Case(small_csv, tmp_path / "release.json", ledger)


def charges(case: Case) -> int:
    return len(Ledger(case.ledger).history())


def written(case: Case) -> list[str]:
    return sorted(path.name for path in case.output.parent.glob("*release*"))


def changed(case: Case, **values: Any) -> Case:
    from dataclasses import replace

    return replace(case, **values)


Made = Callable[[Case], str]


@pytest.mark.parametrize("mechanism", ["optimal", "synthesis", "map"])
def test_a_release_is_charged_and_written_with_its_guarantee(front_end: Made, case: Case, mechanism: str) -> None:
    assert front_end(changed(case, mechanism=mechanism)) == ""
    assert charges(case) == 1 and written(case) == [
        "release.json",
        "release.json.README.txt",
        "release.json.guarantee.json",
    ]
    assert package.verify(f"{case.output}.guarantee.json", case.output).digest_checked


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
    said = front_end(changed(case, **REFUSED[reason]))
    assert said and "stands" not in said
    assert charges(case) == 0 and written(case) == []


HEAD = "case_id,activity,timestamp\n"


@pytest.mark.parametrize(
    "text", [f"{HEAD}1,a,2020-01-01,b\n", f'{HEAD}1,"a\n', "case_id,activity\n1,a\n", "x,y\n1,2\n", ""]
)
def test_a_log_that_cannot_be_read_costs_nothing(front_end: Made, case: Case, text: str) -> None:
    case.log.write_text(text)
    assert front_end(case)
    assert charges(case) == 0 and written(case) == []


def test_an_output_that_cannot_be_written_costs_nothing(front_end: Made, case: Case) -> None:
    assert "no-such-folder" in front_end(changed(case, output=case.output.parent / "no-such-folder" / "release.json"))
    case.output.write_text("mine")
    assert "exists" in front_end(case)
    assert charges(case) == 0 and case.output.read_text() == "mine"


def test_an_output_whose_name_is_not_text_costs_nothing(front_end: Made, case: Case) -> None:
    said = front_end(changed(case, output=case.output.with_name("release\udcff.json")))
    assert "not valid UTF-8" in said and charges(case) == 0 and written(case) == []


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

        patched.setattr(OpenLedger, "append", append)
        assert "stands" not in front_end(case)
    assert charges(case) == 0 and written(case) == []


def test_a_mechanism_without_a_guarantee_is_refused_by_all(front_end: Made, case: Case) -> None:
    published = changed(case, mechanism="sacofa-published", delta="0.5", options={"max_length": 4, "prune": 2})
    assert "not established" in front_end(published)
    assert charges(case) == 0 and written(case) == []


NOISE = {
    "optimal": "travas.privacy.noise.Noise.draw",
    "synthesis": "travas.privacy.gaussian.GaussianNoise.draw",
    "map": "travas.privacy.gaussian.GaussianNoise.draw",
}


@pytest.mark.parametrize("mechanism", NOISE)
def test_the_charge_is_on_the_disk_before_any_noise(
    front_end: Made, case: Case, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = resolve_name(NOISE[mechanism].removesuffix(".draw").replace(".N", ":N").replace(".G", ":G")).draw
    seen: list[int] = []

    def draw(*arguments: Any) -> Any:
        seen.append(charges(case))
        return drawn(*arguments)

    monkeypatch.setattr(NOISE[mechanism], draw)
    assert front_end(changed(case, mechanism=mechanism)) == "" and set(seen) == {1}


FAILURES: dict[str, BaseException] = {
    "our own": package.OutputError("out: cannot be written, the disk is full"),
    "the system's": OSError(28, "No space left on device"),
    "a bug that quotes the log": KeyError("CANARY"),
    "memory": MemoryError("CANARY"),
    "an interrupt": KeyboardInterrupt(),
}


@pytest.mark.parametrize(
    ("mechanism", "target"),
    [
        ("optimal", "travas.privacy.noise.Noise.draw"),
        ("optimal", "travas.outputs.write.ReservedRelease.write"),
        ("optimal", "travas.outputs.write.ReservedRelease.publish"),
        ("synthesis", "travas.privacy.gaussian.GaussianNoise.draw"),
        ("synthesis", "travas.synthesis.synthetic_release.generate"),
        ("map", "travas.privacy.gaussian.GaussianNoise.draw"),
        ("map", "travas.maps.map_release.MapCounts.of"),
    ],
)
@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_fails_after_the_charge_says_that_it_stands(
    front_end: Made, case: Case, mechanism: str, target: str, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise FAILURES[failure]

    monkeypatch.setattr(target, fails)
    said = front_end(changed(case, mechanism=mechanism))
    assert "'hospital' stands" in said and "CANARY" not in said
    assert charges(case) == 1 and written(case) == []


def test_an_interrupt_while_charging_is_known_to_be_charged_or_not(
    front_end: Made, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of the charge waits until the charge is on the disk."""
    charge = Ledger.charge

    def interrupted(*arguments: Any) -> Any:
        os.kill(os.getpid(), 2)
        return charge(*arguments)

    monkeypatch.setattr(Ledger, "charge", interrupted)
    said = front_end(case)
    assert "interrupted" in said and "stands" in said and charges(case) == 1 and written(case) == []


def test_an_interrupt_before_the_charge_costs_nothing(case: Case, travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("travas.pipeline.read", interrupted)
    assert "stands" not in on_the_command_line(case, travas) and charges(case) == 0
    with pytest.raises(KeyboardInterrupt):
        in_python(case, travas)
    assert charges(case) == 0


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


@pytest.mark.parametrize("name", FRONT_ENDS)
@pytest.mark.parametrize("fault", ["kill", "interrupt"])
def test_kill_9_and_interrupts_at_any_line(fault: str, name: str, tmp_path: Path) -> None:
    """Never a release without its charge and guarantee; an interrupted user reads about the charge; a restart works."""
    fates = {end.rpartition(" ")[0] for end in faults(fault, name, tmp_path, 7)}
    assert {"not charged", "charged"} <= fates


@pytest.mark.slow
@pytest.mark.parametrize("name", FRONT_ENDS)
@pytest.mark.parametrize("fault", ["kill", "interrupt"])
def test_kill_9_and_interrupts_at_many_lines(fault: str, name: str, tmp_path: Path) -> None:
    faults(fault, name, tmp_path, 200)


ONE_QUICK = [pytest.param(name, marks=() if name == "cli" else pytest.mark.slow) for name in FRONT_ENDS]


@pytest.mark.parametrize("name", ONE_QUICK)
def test_sigterm_at_any_line(name: str, tmp_path: Path) -> None:
    fates = {end.rpartition(" ")[0] for end in faults("terminate", name, tmp_path, 9)}
    assert {"not charged", "charged"} <= fates


@pytest.mark.slow
@pytest.mark.parametrize("name", FRONT_ENDS)
def test_little_memory(name: str, tmp_path: Path) -> None:
    """Whatever the memory is enough for: never a release without its charge and guarantee, and a restart works."""
    found = faults("memory", name, tmp_path, 40)
    assert any(end.startswith("released") for end in found) and any(end.startswith("not charged") for end in found), (
        found
    )


@pytest.mark.skipif(os.getuid() != 0, reason="files can be given away by root only")
@pytest.mark.parametrize("name", ONE_QUICK)
def test_missing_permissions_cost_nothing(name: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    found = faults("rights", name, tmp_path, 4)
    assert {end for end in found if end != "lines"} == {"not charged 2"}, found


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_a_disk_that_is_full_at_any_stage(name: str, tmp_path: Path) -> None:
    found = faults("full", name, tmp_path, 4)
    assert {"not charged 2", "charged 4", "released 0"} <= set(found), found


def test_a_hundred_sessions_of_the_web_app_at_once(case: Case) -> None:
    """Each has its own output, all have one account that affords three releases: exactly three are made."""
    cases = [changed(case, output=case.output.with_name(f"release-{session}.json")) for session in range(100)]
    with ThreadPoolExecutor(100) as sessions:
        said = list(sessions.map(lambda one: in_the_web_app(one, None), cases))  # type: ignore[arg-type]
    assert said.count("") == charges(case) == 3
    made = [one.output for one in cases if one.output.exists()]
    assert len(made) == 3 and all(package.verify(f"{output}.guarantee.json", output).digest_checked for output in made)
    assert not any("stands" in words for words in said)
