"""Segments: one release for each public value of a case attribute, under one guarantee, from every source."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import polars as pl
import pytest
from compared_engines import MOST, Engine

import travas as package
from conftest import Run
from travas import Ledger, LogError, Optimal, ParameterError, ProcessMap, Reading, Synthesis, read, verify
from travas.errors import OutputError, VerificationError
from travas.pipeline import Request, run
from travas.settings.project import Project
from travas.sources.engine import segments

COLUMNS = ("case", "activity", "time", "ward", "person")
BY_WARD: Any = {"case": "case", "timestamp": "time", "by": "ward"}
Rows = list[tuple[str, str, str, str | None, str]]


def frame_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def case_of(name: str, trace: str, ward: str | None, person: str = "p") -> Rows:
    return [(name, activity, f"2026-01-01T00:00:{hour:02d}", ward, person) for hour, activity in enumerate(trace)]


LOG = [
    *case_of("1", "ab", "A"), *case_of("2", "ab", "B"), *case_of("3", "ac", "A"), *case_of("4", "ab", "A"),
    *case_of("5", "abc", None), *case_of("6", "b", "other"), *case_of("7", "a", "C"),
    ("8", "a", "2026-01-01T00:00:00", "B", "p"), ("8", "b", "2026-01-01T00:00:01", "A", "p"),  # the first value counts
]  # fmt: skip


def counted(parts: tuple[package.Log, ...]) -> list[dict[str, int]]:
    return [{"".join(map(str, trace)): number for trace, number in part.items()} for part in parts]


@pytest.mark.parametrize("engine", MOST)
def test_every_source_has_the_same_segments(engine: Engine, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    reading = Reading(**BY_WARD, segments=["A", "B", "other"])
    found = counted(segments(engine(frame_of(LOG), reading, tmp_path, request), reading))
    assert found == [{"ab": 2, "ac": 1}, {"ab": 2}, {"abc": 1, "b": 1, "a": 1}]
    first = attrs.evolve(reading, abstraction="prefix:1")
    found = counted(segments(read(frame_of(LOG), first), first))
    assert found == [{"a": 3}, {"a": 2}, {"a": 2, "b": 1}]


@pytest.mark.parametrize("counts", ["cases", "units"])
def test_a_person_is_bounded_over_all_segments(counts: Any) -> None:
    """One person more adds at most max_cases, in all segments together, and changes nothing of the others."""
    chance = random.Random(5)
    for _ in range(60):
        most = chance.randint(1, 3)
        reading = Reading(
            **BY_WARD, segments=["A", "B", "other"], unit="person", max_cases=most, counted=counts, on_missing="drop"
        )
        rows = [
            row
            for number in range(12)
            for row in case_of(
                f"{number}", "".join(chance.choices("ab", k=2)), chance.choice(["A", "B", None]), f"p{number % 3}"
            )
        ]
        chance.shuffle(rows)
        more = counted(segments(read(frame_of(rows), reading), reading))
        less = counted(segments(read(frame_of([row for row in rows if row[4] != "p2"]), reading), reading))
        added = [Counter(one) for one in more]
        for before, after in zip(less, added, strict=True):
            after.subtract(before)
            assert min(after.values(), default=0) >= 0
            assert counts == "cases" or max(after.values(), default=0) <= 1
        assert 1 <= sum(sum(each.values()) for each in added) <= most


def many() -> pl.DataFrame:
    return frame_of(
        [row for n in range(600) for row in case_of(str(n), "abc" if n % 3 else "ab", "AB"[n % 2], f"p{n}")]
    )


def log_in(folder: Path) -> Path:
    many().write_csv(folder / "log.csv")
    return folder / "log.csv"


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (Optimal(1, "1e-3"), "r.csv"), (Optimal(1, "1e-3"), "r.xes"), (Optimal(1, "1e-3"), "r.json"),
        (Synthesis(1, "1e-3"), "r.csv"), (Synthesis(1, "1e-3"), "r.json"), (ProcessMap(1, "1e-3"), "r.json"),
    ],
)  # fmt: skip
def test_one_charge_and_a_file_for_each_segment_that_verifies(mechanism: Any, name: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    reading = Reading(**BY_WARD, segments=["A", "x/..%y", "other"])
    made = run(
        Request(log_in(tmp_path), mechanism, reading, output=tmp_path / name, times="if recorded", ledger=ledger)
    )
    suffix = name[1:]
    assert [path.name for path in made.outputs] == [f"r-A{suffix}", f"r-x%2F%2E%2E%25y{suffix}", f"r-other{suffix}"]
    assert [release.segment for release in made.releases] == ["ward = A", "ward = x/..%y", "ward = other"]
    assert made.account is not None and len(made.account.entries) == 1 and made.account.spent[0] == 1
    for path in made.outputs:
        assert verify(f"{path}.guarantee.json", path).digest_checked
    # a file is not that of another segment, nor of one that is not listed
    guarantee = Path(f"{made.outputs[0]}.guarantee.json")
    stated = json.loads(guarantee.read_text())
    for segment, is_said_by_the_file in (("ward = other", name != "r.csv"), ("ward = Z", True), ("", True)):
        notices = stated["release"]["notices"] | {"travas:segment": segment}
        if not segment:
            del notices["travas:segment"]
        changed = stated | {"release": stated["release"] | {"notices": notices}}
        guarantee.write_text(json.dumps(changed))
        if is_said_by_the_file:
            with pytest.raises(VerificationError):
                verify(guarantee, made.outputs[0])


def test_an_existing_file_of_any_segment_refuses_before_the_charge(tmp_path: Path) -> None:
    ledger, reading = Ledger(tmp_path / "ledger.db"), Reading(**BY_WARD, segments=["A", "B"])
    (tmp_path / "r-B.csv").touch()
    with pytest.raises(OutputError):
        run(Request(log_in(tmp_path), Optimal(1, "1e-3"), reading, output=tmp_path / "r.csv", ledger=ledger))
    assert not ledger.accounts() and not (tmp_path / "r-A.csv").exists()


def test_what_cannot_be_read_by_segment_is_refused() -> None:
    for wrong, field in (
        ({"by": "ward"}, "segments"),
        ({"segments": ["A"]}, "by"),
        (BY_WARD | {"segments": ["A", "A"]}, "segments"),
    ):
        with pytest.raises(ParameterError) as refused:
            Reading(**wrong)
        assert refused.value.field == field
    reading = Reading(by="ward", segments=["A"])
    for counts in ({("a",): 3}, read({("a",): 3})):
        with pytest.raises(LogError, match="by"):
            read(counts, reading)
    with pytest.raises(ParameterError, match="pipeline.run"):
        package.anonymize(many(), epsilon=1, delta="1e-3", reading=attrs.evolve(reading, case="case", timestamp="time"))
    with pytest.raises(LogError, match="ward"):
        read(many().drop("ward"), Reading(**BY_WARD, segments=["A"]))


def test_the_command_line_a_project_and_the_report(tmp_path: Path, travas: Run) -> None:
    flags = ("--by", "ward", "--segments", "A", "--segments", "B", "--timestamp", "time")
    ran = travas(
        "anonymize", log_in(tmp_path), *flags, "--epsilon", 1, "--delta", "1e-3", "-o", tmp_path / "x.csv", "--json"
    )
    assert ran.code == 0 and len(json.loads(ran.out)["segments"]) == 2
    project = Project().with_values(
        {"log": str(tmp_path / "log.csv"), "timestamp": "time", "by": "ward", "segments": ["A", "B"], "epsilon": "1",
         "delta": "1e-3", "folder": str(tmp_path / "releases"), "reason": "a test"}
    )  # fmt: skip
    project.save(tmp_path / "travas.toml")
    assert Project.load(tmp_path / "travas.toml").reading() == Reading(timestamp="time", by="ward", segments=["A", "B"])
    facts = json.loads(travas("release", tmp_path / "travas.toml", "--json").out)
    assert [each["segment"] for each in facts["segments"]] == ["ward = A", "ward = B"]
    assert "ward = B" in (tmp_path / "releases" / "whole-log" / "release-B.xes.gz.report.html").read_text()


def test_a_segment_without_cases_is_reported_before_the_charge() -> None:
    said: list[str] = []
    reading = Reading(**BY_WARD, segments=["A", "Bb", "other"])
    run(Request(frame_of(LOG), Optimal(1, "1e-2"), reading), caution=said.append)
    assert said[1:] == ["segments: no case that was read has ward = 'Bb'; check the spelling"]
