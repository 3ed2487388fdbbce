"""`verify` writes a release again and compares: honest releases of all kinds and formats verify, changed ones do not."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from timed_log import timed_frame
from travas import (
    Attribute,
    Ladder,
    LogError,
    Optimal,
    PrefixTree,
    Reading,
    Release,
    Times,
    TravasError,
    anonymize,
    open_release,
    process_map,
    synthesize,
    verify,
)
from travas.errors import VerificationError
from travas.log.abstraction import Abstraction
from travas.log.log import Log
from travas.outputs.guarantee_file import file_digest, guarantee_path, measurements_path
from travas.outputs.map_files import MAP_WRITERS
from travas.outputs.write import WRITERS

ODD = ("a\0b", 'q"x', "\r\n", ",", "'", "\\u{41}", "=1+1", "-2", " x ", "]]>&<b>", "\u2028é", "(missing)", "null")
ODD_COLUMNS = ('q"', '"a""b"', "a\tb", "\n", "\u2028", "ctl\x01", r"\u{41}", "=1+2")
COUNTS: dict[Any, int] = {("register", "visit", "release"): 500, ("register", "release"): 300, ("call",): 90}
COUNTS |= {(name, "z"): 400 for name in ODD}
WIDE: dict[Any, int] = {(("a", "start"), ("b\0", "end")): 500, (("b\0", "end"),): 400}
STAYS: dict[Any, int] = {
    ("register", "visit", "release"): 900,
    **{("register", *["test"] * (n % 7), "visit", *["x-ray"] * (n // 7), "release"): 3 for n in range(1, 210)},
}
READING = Reading(order="file")
OPTIMAL, LADDER = Optimal(1, "1e-6"), Ladder(1, "1e-6")
NAMES = ["register", "visit", "release", "call"]


def timed(zone: str) -> Release:
    bins: list[int | str] = [-20, 0, "20.5", 40]
    return synthesize(
        timed_frame(1_500), epsilon=2, delta="1e-6", times=Times(zone), attributes=["sex", Attribute("age", bins)]
    )


def two_hours() -> pl.DataFrame:
    start = datetime(2024, 10, 26, 22, tzinfo=UTC)
    rows = [
        (str(case), name, start + timedelta(minutes=case % 240 + 20 * step))
        for case in range(2_000)
        for step, name in enumerate("abc")
    ]
    return pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")


def named(column: str) -> Any:
    log = Log.from_mapping({(("a\x01", "x"), ("b", "\x02")): 500}, ("concept:name", column))
    return anonymize(log, OPTIMAL)


def with_roles(times: Times | None) -> Release:
    roles = {"register": "desk", "visit": "doctor", "test": "\u2028lab", "release": None, "transfer": "desk"}
    frame = timed_frame(800).with_columns(
        pl.col("activity").replace_strict(roles).alias("org:role"), pl.col("age").alias("cost")
    )
    bins: list[int | str] = [20, "40.5", 60]
    return synthesize(
        frame,
        epsilon=8,
        delta="1e-3",
        times=times,
        order="time",
        event_attributes=["org:role", Attribute("cost", bins)],
    )


def generalised(mechanism: Any) -> Any:
    """The rule before the mechanism is not stated, because counts were given."""
    return anonymize(Abstraction.parse("prefix:2").of(Log.from_mapping(COUNTS)), mechanism)


LOGS: dict[str, Callable[[], Release]] = {
    "variants": lambda: anonymize(COUNTS, OPTIMAL),
    "noisy counts": lambda: anonymize(COUNTS, OPTIMAL, frequencies="noisy"),
    "spread counts": lambda: anonymize(COUNTS, OPTIMAL, frequencies="spread"),
    "several columns": lambda: anonymize(WIDE, OPTIMAL),
    "a ladder": lambda: anonymize(STAYS, LADDER),
    "an empty ladder": lambda: anonymize({("a",): 1}, LADDER),
    "generalised before": lambda: generalised(OPTIMAL),
    "a ladder, generalised before": lambda: generalised(LADDER),
    "a tree": lambda: anonymize(COUNTS, PrefixTree(9, 0, max_length=3, prune=20, alphabet=NAMES)),
    "an empty log": lambda: anonymize({}, OPTIMAL),
    "a synthetic log": lambda: synthesize(STAYS, epsilon=5, delta="1e-6"),
    "a synthetic log of odd names": lambda: synthesize(COUNTS, epsilon=5, delta="1e-6"),
    "an empty synthetic log": lambda: synthesize({}, epsilon=1, delta="1e-6"),
    "times and attributes": lambda: timed("America/New_York"),
    "attributes of events": lambda: with_roles(None),
    "attributes of events and times": lambda: with_roles(Times("Asia/Tokyo")),
    "a zone whose clock only went forward": lambda: timed("Africa/Monrovia"),
    "the hour that a clock shows twice": lambda: synthesize(
        two_hours(), epsilon=5, delta="1e-3", times=Times("Europe/Berlin")
    ),
    "odd attributes": lambda: synthesize(
        timed_frame(1_000).with_columns(pl.col("sex").alias(name) for name in ODD_COLUMNS),
        epsilon=8, delta="1e-3", times=None, attributes=list(ODD_COLUMNS),
    ),
} | {f"column {name!r}": partial(named, name) for name in ODD_COLUMNS[3:6]}  # fmt: skip


def signed(release: Path) -> tuple[Path, Path]:
    """A release with the digest that it has now in its guarantee."""
    guarantee = guarantee_path(release)
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = file_digest(release)
    guarantee.write_text(json.dumps(stated))
    return guarantee, release


@pytest.mark.parametrize("name", LOGS)
def test_an_honest_event_log_verifies_in_every_format(name: str, tmp_path: Path) -> None:
    release = LOGS[name]()
    for suffix in WRITERS:
        path = release.write(tmp_path / f"r{suffix}")
        assert verify(guarantee_path(path), path).digest_checked
        if suffix.endswith(".gz"):  # compressed by another program
            path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), 9))
            assert verify(*signed(path)).digest_checked


@pytest.mark.parametrize("cases", [0, 1_000])
def test_a_log_generated_again_verifies(cases: int, tmp_path: Path) -> None:
    release = synthesize(STAYS, epsilon=5, delta="1e-6").regenerate(cases=cases, seed=1)
    for suffix in WRITERS:
        path = release.write(tmp_path / f"r{suffix}")
        assert verify(guarantee_path(path), path).digest_checked


@pytest.mark.parametrize("field", ["seed", "counts"])
def test_the_measurements_beside_a_synthetic_log_are_part_of_it(field: str, tmp_path: Path) -> None:
    """A changed file of measurements was said to be verified with the log beside it."""
    path = synthesize(STAYS, epsilon=5, delta="1e-6").write(tmp_path / "r.csv")
    source = measurements_path(path)
    content = json.loads(source.read_text())
    content[field] = 7
    source.write_text(json.dumps(content))
    with pytest.raises(VerificationError):
        verify(guarantee_path(path), path)
    stated = json.loads(guarantee_path(path).read_text())
    stated["release"]["measurements"] = file_digest(source)
    guarantee_path(path).write_text(json.dumps(stated))
    if field == "counts":  # any seed may have been drawn
        with pytest.raises(VerificationError):
            verify(guarantee_path(path), path)
    source.unlink()
    assert verify(guarantee_path(path), path).digest_checked


def test_an_honest_process_map_verifies(tmp_path: Path) -> None:
    release = process_map(STAYS, epsilon=2, delta="1e-4")
    for suffix in MAP_WRITERS:
        path = release.write(tmp_path / f"m{suffix}")
        notes = verify(guarantee_path(path), path).notes
        assert any("only the digest" in note for note in notes) == (suffix != ".json")


# -------------------------------------------------------------------------------------------------------- changes


Change = Callable[[dict[str, Any]], object]


def first(field: str, value: Any) -> Change:
    return lambda content: content[field].__setitem__(0, value)


def put(**values: Any) -> Change:
    return lambda content: content.update(values)


def measured(**values: Any) -> Change:
    return lambda content: content["measurements"].update(values)


def without(name: str) -> Change:
    return lambda content: content.pop(name)


def swapped(content: dict[str, Any]) -> None:
    for field in ("variants", "noisy", "counts", "estimated", "intervals", "rungs"):
        content[field][:2] = content[field][1::-1]


JSON_CHANGES: dict[str, dict[str, Change]] = {
    "variants": {
        "a noisy count": first("noisy", 10**9),
        "an infinite count": first("noisy", float("inf")),
        "a count below the threshold": first("noisy", -1),
        "a name": first("variants", ["z", "register"]),
        "a name that is a number": first("variants", [5]),
        "the order": swapped,
        "a rung": first("rungs", 9),
        "an estimate": first("estimated", 10**400),
        "no rule": put(abstractions=[], variants=[], noisy=[], counts=[], rungs=[]),
        "epsilon": put(epsilon="0.1"),
        "the unit": put(unit={"name": "patient", "max_cases": 1}),
        "the frequencies": put(frequencies="noisy"),
        "another field": put(patients=["Smith"]),
        "a missing field": without("estimated"),
    },
    "a log that was read": {"the columns": put(columns=["diagnosis"])},
    "a ladder": {"no number of cases": without("cases")},
    "times": {
        "no times": lambda content: content["measurements"].pop("times"),
        "a measured trace that is joined": lambda content: content["measurements"]["variants"][0].__setitem__(0, "ab"),
    },
    "a map": {
        "another version": put(version=2),
        "no rule": put(abstractions=[]),
        "a reading of text": put(reading="x"),
    },
} | {
    kind: {
        "an assumption": put(assumptions=["nothing is public"]),
        "the columns": put(reading=None, columns=["diagnosis", "time"]),
        "no measurements": put(measurements={}),
        "sizes": measured(lengths=[1], sizes=[1]),
        "an activity": measured(activities=["HIV"]),
        "a missing contribution": lambda content: content["measurements"]["contributions"].popitem(),
        "epsilon": put(epsilon="0.1"),
    }
    for kind in ("a synthetic log", "a process map")
}
CHANGED: dict[str, Callable[[Path], Release]] = {
    "variants": lambda _: anonymize(COUNTS, OPTIMAL),
    "a log that was read": lambda folder: anonymize(read_log(folder), OPTIMAL, reading=READING),
    "a ladder": lambda _: anonymize(STAYS, LADDER),
    "times": lambda _: timed("UTC"),
    "a map": lambda _: process_map(STAYS, epsilon=3, delta="1e-4"),
    "a synthetic log": lambda _: synthesize(STAYS, epsilon=3, delta="1e-4"),
    "a process map": lambda _: process_map(STAYS, epsilon=3, delta="1e-4"),
}


def read_log(folder: Path) -> Path:
    (folder / "log.csv").write_text("case_id,activity\n" + "".join(f"{n},a\n" for n in range(99)))
    return folder / "log.csv"


@pytest.mark.parametrize("kind", JSON_CHANGES)
def test_a_changed_json_release_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    """With the digest of the changed file in the guarantee: by what is in it."""
    path = CHANGED[kind](tmp_path).write(tmp_path / "release.json")
    assert verify(*signed(path)).digest_checked
    text = path.read_text()
    for change in JSON_CHANGES[kind].values():
        content = json.loads(text)
        change(content)
        path.write_text(json.dumps(content))
        with pytest.raises((VerificationError, LogError), match=r"release\.json") as refused:
            verify(*signed(path))
        assert "Smith" not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["a synthetic log", "a process map"])
def test_contributions_that_are_not_those_of_the_mechanism_are_refused(kind: str, tmp_path: Path) -> None:
    """With smaller ones, noise would look like cases."""
    path = CHANGED[kind](tmp_path).write(tmp_path / "release.json")
    open_release(path)
    content = json.loads(path.read_text())
    constants = content["measurements"]["contributions"]
    constants |= {name: value // 2 for name, value in constants.items()}
    path.write_text(json.dumps(content))
    signed(path)
    with pytest.raises(LogError, match=r"release\.json"):
        open_release(path)


EDITS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a case less": (".csv", lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("5,"))),
    "the order of rows": (".csv", lambda text: "\n".join([*text.split("\n")[:1], *sorted(text.split("\n")[1:])[::-1]])),
    "a name of one event": (".csv", lambda text: "discharge".join(text.rsplit("release", 1))),
    "a time": (".csv", lambda text: text.replace("1970-01-01T00:00:01", "1970-01-01T00:00:02", 1)),
    "a case id": (".csv", lambda text: text.replace("\n1,", "\nSmith,", 1)),
    "an attribute": (".xes", lambda text: text.replace("<trace>", '<trace>\n<string key="name" value="Smith"/>', 1)),
    "a doctype": (".xes", lambda text: text.replace("<log", '<!DOCTYPE log [<!ENTITY e "Smith">]><log', 1)),
    "epsilon in the header": (".xes", lambda text: text.replace('epsilon" value="1"', 'epsilon" value="0.1"', 1)),
    "the frequencies in the header": (
        ".xes",
        lambda text: text.replace('frequencies" value="estimated"', 'frequencies" value="noisy"', 1),
    ),
    "a file that ends too early": (".xes", lambda text: text[: len(text) // 2]),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_changed_event_log_is_refused(name: str, tmp_path: Path) -> None:
    suffix, edit = EDITS[name]
    counts = {trace: count for trace, count in COUNTS.items() if trace[0] in NAMES}
    path = anonymize(counts, OPTIMAL).write(tmp_path / f"release{suffix}")
    before = path.read_bytes().decode()
    path.write_bytes(edit(before).encode())
    assert path.read_bytes().decode() != before
    with pytest.raises((VerificationError, LogError), match=f"release{suffix}") as refused:
        verify(*signed(path))
    assert "Smith" not in str(refused.value)


def test_a_changed_parquet_release_is_refused(tmp_path: Path) -> None:
    path = timed("UTC").write(tmp_path / "release.parquet")
    frame = pl.read_parquet(path)
    frame.write_parquet(path, compression="lz4")  # the same frame, written by another program
    assert verify(*signed(path)).digest_checked
    is_second = pl.int_range(pl.len()) == 1
    for changed in (
        frame.tail(-1),
        frame.reverse(),
        frame.with_columns(patient=pl.lit("Smith")),
        frame.with_columns(pl.lit(5).alias("concept:name")),
        frame.with_columns(pl.when(is_second).then(99).otherwise(pl.col("case:age")).alias("case:age")),
        frame.with_columns(pl.col("time:timestamp").cast(pl.Datetime("ms", "UTC"))),
        frame.with_columns(pl.struct("time:timestamp").alias("time:timestamp")),
        frame.with_columns(pl.concat_list("case:sex").alias("case:sex")),
        frame.with_columns(pl.concat_list("case:travas:origin").alias("case:travas:origin")),
    ):
        changed.write_parquet(path)
        with pytest.raises((VerificationError, LogError), match=r"release\.parquet"):
            verify(*signed(path))


def test_what_was_drawn_for_single_cases_is_written_as_travas_writes_it(tmp_path: Path) -> None:
    path = timed("America/New_York").write(tmp_path / "log.csv")
    text = path.read_text()
    rows = text.split("\n")
    for changed in (
        text.replace("-05:00", "+00:00", 1),
        text.replace("generated", "released", 1),
        "\n".join([rows[0], *rows[2:]]),
    ):
        assert changed != text
        path.write_text(changed)
        with pytest.raises(VerificationError, match=r"log\.csv"):
            verify(*signed(path))


FIELDS: dict[str, Any] = {
    "version": 2,
    "standing": "proven",
    "epsilon": "0.5",
    "delta": "1e-9",
    "delta_spent": "1e-12",
    "unit": {"name": "patient", "max_cases": 1},
    "neighbours": "replace one case",
    "replace_one": {"epsilon": "1", "delta": "1e-6"},
    "mechanism": "travas",
    "kind": "synthetic log",
    "parameters": {},
    "assumed_public": [],
    "timestamps": "true",
    "reading": {},
    "certified_by": "an authority",
}


@pytest.mark.parametrize("field", [*FIELDS, "another unit of the reading"])
def test_a_changed_field_of_the_guarantee_is_refused(field: str, tmp_path: Path) -> None:
    path = anonymize(read_log(tmp_path), OPTIMAL, reading=READING).write(tmp_path / "release.csv")
    guarantee, stated = guarantee_path(path), json.loads(guarantee_path(path).read_text())
    if field in FIELDS:
        stated[field] = FIELDS[field]
    else:
        stated["reading"] |= {"unit": "patient", "max_cases": 3, "counted": "units"}
    guarantee.write_text(json.dumps(stated))
    with pytest.raises((VerificationError, LogError), match="guarantee"):
        verify(guarantee, path)


@pytest.mark.parametrize("suffix", [".json", ".xes", ".csv"])
def test_what_the_guarantee_states_about_the_file_is_compared(suffix: str, tmp_path: Path) -> None:
    path = anonymize(COUNTS, OPTIMAL).write(tmp_path / f"release{suffix}")
    guarantee, stated = guarantee_path(path), json.loads(guarantee_path(path).read_text())
    changes: list[dict[str, Any]] = [
        {"format": "parquet"},
        {"frequencies": "exact"},
        {"abstractions": [["prefix:2"]]},
        {"abstractions": 5},
        {"notices": {"travas:synthetic": "no"}},
        {"assumptions": ["the moon is public"]},
        {"timestamps": "true"},
        {"certified_by": "an authority"},
    ]
    if suffix != ".csv":  # a table does not say which counts it has
        changes.append({"frequencies": "noisy"})
    for change in changes:
        guarantee.write_text(json.dumps(stated | {"release": stated["release"] | change}))
        with pytest.raises(TravasError):
            verify(guarantee, path)


def test_another_guarantee_is_refused(tmp_path: Path) -> None:
    mine, other = (anonymize(COUNTS, OPTIMAL).write(tmp_path / f"{name}.json") for name in ("mine", "other"))
    with pytest.raises(VerificationError, match="SHA-256"):
        verify(guarantee_path(other), mine)
    guarantee_path(other).replace(guarantee_path(mine))
    with pytest.raises(VerificationError, match="SHA-256"):
        open_release(mine)
