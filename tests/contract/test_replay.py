"""Record and replay: with the measurements fixed, neighbouring logs give the same bytes, words, progress and exit codes.

The measurements of one log are recorded and given to a run on another log that has one case more: a case that is longer,
earlier and of new activities and attributes. Whatever then differs has looked at the log behind the back of the noise.
Only what is marked as confidential may differ. Every mechanism is replayed through Python, the command line and the web
app, and every format of every kind of release.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from front_ends import settings_as_words

import travas as package
from conftest import Ran, Run
from travas import Ledger, Mechanism, Synthesis
from travas.mechanisms import MECHANISMS
from travas.mechanisms.process_map import ProcessMap
from travas.outputs.write import writers
from travas.pipeline import Phase, Request
from travas.pipeline import run as run_request
from travas.releases.release import kind_of
from travas.settings.project import Project
from travas.web.release import draw

ALPHABET = ["register", "visit", "release"]
TREE: dict[str, Any] = {"max_length": "3", "prune": "2", "alphabet": ALPHABET}
HEAD = "case_id,activity,timestamp,ward"
Logs = tuple[Path, Path]


@dataclass(frozen=True)
class Rule:
    """A mechanism with its options, as settings."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def project(self, **more: str) -> Project:
        stated = {"mechanism": self.name, "epsilon": "1", "delta": "1e-3", **more, **self.options}
        return Project(references="refuse").with_values(stated)


RULES = {name: Rule(name) for name in MECHANISMS} | {
    "utravas": Rule("utravas", {"splits": "2"}),
    "prefix-tree": Rule("prefix-tree", TREE),
    "sacofa": Rule("sacofa", TREE),
    "synthesis": Rule("synthesis", {"times": "none"}),
    "synthesis with times": Rule("synthesis"),
    "synthesis with attributes": Rule("synthesis", {"attributes": ["ward"]}),
    "map with its parts": Rule("map", {"parts": ["durations", "rework", "throughput"]}),
}
"""Every mechanism; options that it needs, and options by which it measures more."""

FULL = ("optimal", "ladder", "synthesis with attributes", "map with its parts")
"""Those that are replayed in every format of their kind; the others in the one that holds all of a release."""

FORMATS = [
    (name, suffix)
    for name, rule in RULES.items()
    for suffix in (writers(kind_of(MECHANISMS[rule.name])) if name in FULL else (".json",))
]


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    """Two logs with the same name in two folders; the second has one more case."""
    rows = [
        f"c{case},{activity},2025-02-{1 + step:02d} 08:00:00,ward {case % 2}"
        for case in range(600)
        for step, activity in enumerate(ALPHABET if case % 3 else ("register", "release"))
    ]
    more = [f"zzz,{name},1999-01-01 00:00:{step:02d},attic" for step, name in enumerate(["surgery", "visit"] * 20)]
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
    """The first run records what the mechanism measures, all later runs get the same.

    Of released variants, the measurements are the traces with their rules and noisy counts, and the noisy number of cases:
    all else that a release has comes from the log of the run.
    """
    made: list[Any] = []

    def recorded(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Mechanism, *arguments: Any) -> Any:
            if not made:
                made.append(original(self, *arguments))
            return made[0]

        return call

    def released(self: Mechanism, variants: Any) -> Any:
        own = release(self, variants)
        if isinstance(self, Synthesis | ProcessMap):
            return own
        made.append(own)
        measured = {name: getattr(made[0], name) for name in ("variants", "noisy", "rungs", "cases")}
        return replace(own, **measured)

    release = Mechanism.release
    with monkeypatch.context() as patched:
        patched.setattr(Mechanism, "release", released)
        patched.setattr(Synthesis, "measure", recorded(Synthesis.measure))
        patched.setattr(ProcessMap, "measure", recorded(ProcessMap.measure))
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


# --------------------------------------------------------------------------------------------------- through Python


@pytest.mark.parametrize(("name", "suffix"), FORMATS)
def test_files_progress_and_charges_are_equal(
    name: str, suffix: str, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(RULES[name].project().mechanism(), suffix, logs, monkeypatch)


def check(rule: Mechanism, suffix: str, logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    with replaying(monkeypatch):
        for log in logs:
            steps: list[tuple[str, float]] = []
            request = Request(
                source=log,
                mechanism=rule,
                output=log.parent / f"release{suffix}",
                ledger=Ledger(log.parent / "ledger.db"),
                dataset="hospital",
            )
            run_request(request, lambda phase, share, steps=steps: steps.append((phase, share)))  # type: ignore[misc]
            after = [step for step in steps if step[0] != Phase.READING]
            seen.append((contents(log.parent), charged(log.parent), after))
    assert seen[0] == seen[1] and len(seen[0][0]) in (3, 4)


# ----------------------------------------------------------------------------------------- on the command line


@pytest.mark.parametrize("name", RULES)
def test_the_command_line_says_the_same(name: str, logs: Logs, travas: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    with replaying(monkeypatch):
        for log in logs:
            plain = released(RULES[name], ".json", log, travas, monkeypatch)
            ran = released(RULES[name], ".csv", log, travas, monkeypatch, "--json")
            seen.append((plain, ran.code, json.loads(ran.out), ran.err, contents(log.parent), charged(log.parent)))
    assert seen[0] == seen[1] and (seen[0][0].code, seen[0][1]) == (0, 0)


def released(rule: Rule, suffix: str, log: Path, travas: Run, monkeypatch: pytest.MonkeyPatch, *more: str) -> Ran:
    """Make a release in the folder of the log, so that paths are the same for all logs."""
    monkeypatch.chdir(log.parent)
    return travas(
        *settings_as_words(rule.name, rule.options, log.parent.parent), log.name, "--epsilon", 1, "--delta", "1e-3",
        "-o", f"release{suffix}", "--ledger", "ledger.db", "--dataset", "hospital", *more,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------- in the web app


@pytest.mark.parametrize("name", RULES)
def test_the_web_app_draws_the_same(name: str, logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    with replaying(monkeypatch):
        for log in logs:
            folder = log.parent
            steps: list[tuple[Any, ...]] = []
            project = RULES[name].project(dataset="hospital", ledger=str(folder / "ledger.db"))
            watch: Any = lambda *step, steps=steps: steps.append(step)  # noqa: E731
            draw(project, str(log), "log.csv", "original", "", folder / "release.json", watch)
            seen.append((contents(folder), charged(folder), [step for step in steps if step[0] != Phase.READING]))
    assert seen[0] == seen[1]


# ------------------------------------------------------------------------------------------------------ the oracle


@pytest.mark.parametrize("name", ["optimal", "synthesis", "map"])
def test_a_true_number_in_the_guarantee_file_is_detected(
    name: str, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guarantee file that states the number of activities of the log differs."""
    from travas.outputs import guarantee_file

    describe, activities = guarantee_file.describe, iter((3, 4))
    monkeypatch.setattr(
        "travas.outputs.write.describe", lambda *arguments: describe(*arguments) | {"activities": next(activities)}
    )
    with pytest.raises(AssertionError):
        check(RULES[name].project().mechanism(), ".json", logs, monkeypatch)


def test_a_mechanism_that_reveals_more_than_it_measured_is_detected(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release whose rule comes from the log: its longest trace."""
    original = package.Optimal._release

    def telling(self: package.Optimal, variants: package.Log) -> Any:
        longest = max(len(trace) for trace, _ in variants.items())
        made = original(self, variants)
        return replace(made, abstractions=(package.Abstraction.parse(f"prefix:{longest}"),))

    monkeypatch.setattr(package.Optimal, "_release", telling)
    with pytest.raises(AssertionError):
        check(RULES["optimal"].project().mechanism(), ".json", logs, monkeypatch)
