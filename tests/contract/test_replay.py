"""Record and replay: with the measurements fixed, neighbouring logs give the same bytes, words, progress and exit codes.

The measurements of one log are recorded and given to a run on another log that has one case more: a case that is longer,
earlier and of new activities. Whatever then differs has looked at the log behind the back of the noise. Only what is
marked as confidential may differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import travas as package
from conftest import Ran, Run
from travas import Ledger, Mechanism, Synthesis, Times
from travas.errors import CONFIDENTIAL_HEADING
from travas.mechanisms import MECHANISMS
from travas.outputs.write import WRITERS
from travas.pipeline import Phase
from travas.web import tasks
from travas.web.recipe import Recipe

TREE = {"max_length": 3, "prune": 2, "alphabet": ["register", "visit", "release"]}
OPTIONS: dict[str, dict[str, Any]] = {"utravas": {"splits": 2}, "prefix-tree": TREE, "sacofa": TREE}
"""Options of mechanisms that need some."""

HEAD = "case_id,activity,timestamp"
Replayed = Callable[[], Any]


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    """Two logs of one name in two folders; the second has one case more."""
    rows = [
        f"c{case},{activity},2025-02-{1 + step:02d} 08:00:00"
        for case in range(60)
        for step, activity in enumerate(("register", "visit", "release") if case % 3 else ("register", "release"))
    ]
    more = [f"zzz,{name},1999-01-01 00:00:{step:02d}" for step, name in enumerate(["surgery", "visit"] * 20)]
    paths = []
    for number, content in enumerate((rows, [*more, *rows])):
        folder = tmp_path / str(number)
        folder.mkdir()
        Ledger(folder / "ledger.db").create_budget("hospital", epsilon=3, delta="0.01")
        paths.append(folder / "log.csv")
        paths[-1].write_text("\n".join([HEAD, *content, ""]))
    return paths[0], paths[1]


@contextmanager
def replaying(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The first run records what the mechanism measures, all later runs get the same."""
    made: list[Any] = []
    release, measure = Mechanism.release, Synthesis.measure

    def recorded(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Mechanism, *arguments: Any) -> Any:
            if not made:
                made.append(original(self, *arguments))
            return made[0]

        return call

    def released(self: Mechanism, *arguments: Any) -> Any:
        return release(self, *arguments) if isinstance(self, Synthesis) else recorded(release)(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Mechanism, "release", released)
        patched.setattr(Synthesis, "measure", recorded(measure))
        patched.setattr("travas.mechanisms.synthesis.new_seed", lambda: 7)
        yield


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder but the log and the ledger."""
    files = [path for path in folder.iterdir() if path.name not in ("log.csv", "ledger.db") and path.is_file()]
    return {path.name: path.read_bytes() for path in files}


def charged(folder: Path) -> list[dict[str, Any]]:
    """The charges, without their time and folder."""
    entries = [entry.as_json() for entry in Ledger(folder / "ledger.db").history()]
    return [{name: entry[name] for name in entry if name not in ("time", "location")} for entry in entries]


def public(words: str) -> str:
    """What a run said, without what is marked as confidential."""
    shown = re.sub(rf"{re.escape(CONFIDENTIAL_HEADING)}\n.*?\n\n", "", words, flags=re.DOTALL)
    lines = (line for line in shown.splitlines() if not line.startswith("[confidential]"))
    return "\n".join(lines)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", ["optimal", "ladder", "synthesis"])
def test_files_are_equal_in_every_format(
    name: str, suffix: str, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_python(name, suffix, logs, monkeypatch)


@pytest.mark.parametrize("name", MECHANISMS)
def test_files_progress_and_charges_are_equal_for_every_mechanism(
    name: str, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_python(name, ".json", logs, monkeypatch)


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_generated_times_are_equal(suffix: str, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The case more is decades earlier: nothing of that may show, not even in the first generated day."""
    check(Synthesis(1, "1e-3", times=Times()), suffix, logs, monkeypatch)


def check_python(name: str, suffix: str, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    check(package.mechanism(name, 1, "1e-3", **OPTIONS.get(name, {})), suffix, logs, monkeypatch)


def check(rule: Mechanism, suffix: str, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    with replaying(monkeypatch):
        for log in logs:
            steps: list[tuple[str, float]] = []
            request = package.Request(
                source=log,
                mechanism=rule,
                output=log.parent / f"release{suffix}",
                ledger=Ledger(log.parent / "ledger.db"),
                dataset="hospital",
            )
            package.run(request, lambda phase, share, steps=steps: steps.append((phase, share)))  # type: ignore[misc]
            after = [step for step in steps if step[0] != Phase.READING]
            seen.append((contents(log.parent), charged(log.parent), after))
    assert seen[0] == seen[1] and len(seen[0][0]) == 3


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("name", ["optimal", "ladder", "synthesis"])
def test_the_command_line_says_the_same(
    name: str, as_json: bool, logs: tuple[Path, Path], travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, ...]] = []
    with replaying(monkeypatch):
        for log in logs:
            command = ["synthesize"] if name == "synthesis" else ["anonymize", "--mechanism", name]
            monkeypatch.chdir(log.parent)
            ran: Ran = travas(
                *command, log.name, "--epsilon", 1, "--delta", "1e-3", "-o", "release.json",
                "--ledger", "ledger.db", "--dataset", "hospital", *(["--json"] if as_json else []),
            )  # fmt: skip
            seen.append((ran.code, public(ran.out), ran.err, contents(log.parent), charged(log.parent)))
    assert seen[0] == seen[1] and seen[0][0] == 0


@pytest.mark.parametrize("name", ["optimal", "synthesis"])
def test_the_web_app_draws_the_same(name: str, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(name, "1", "1e-3", ())
    seen = []
    with replaying(monkeypatch):
        for log in logs:
            folder = log.parent
            steps: list[tuple[Any, ...]] = []
            reading = recipe.reading(package.Reading())
            ledger, output = folder / "ledger.db", folder / "release.json"
            watch: Any = lambda *step, steps=steps: steps.append(step)  # noqa: E731
            tasks.draw(log, "log.csv", reading, recipe, 1 << 30, ledger, "hospital", "original", output, watch)
            seen.append((contents(folder), charged(folder), [step for step in steps if step[0] != Phase.READING]))
    assert seen[0] == seen[1]


def test_a_look_behind_the_back_of_the_noise_is_noticed(
    logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle: a release that states the number of activities of the log differs."""
    from travas.outputs import guarantee_file

    describe, activities = guarantee_file.describe, iter((3, 4))
    monkeypatch.setattr(
        "travas.outputs.write.describe",
        lambda *arguments: describe(*arguments) | {"activities": next(activities)},
        raising=True,
    )
    with pytest.raises(AssertionError):
        check_python("optimal", ".json", logs, monkeypatch)
