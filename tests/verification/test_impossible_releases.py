"""`verify` refuses what a release file itself proves wrong, even with a new digest."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

from travas import (
    Ladder,
    LogError,
    Mechanism,
    Optimal,
    PrefixTree,
    Variants,
    anonymize,
    doctor,
    process_map,
    synthesize,
    verify,
)
from travas.errors import VerificationError
from travas.model.abstraction import Abstraction
from travas.sources.example_log import hospital_log
from travas.verification.release_file import read_release

LOG: dict[tuple[str, ...], int] = {("register", "visit", "release"): 500, ("register", "release"): 300, ("call",): 90}
Change = Callable[[dict[str, Any]], object]


def forged(folder: Path, mechanism: Mechanism, change: Change) -> tuple[Path, Path]:
    """A release and its guarantee after a change, with the digest of the changed file."""
    release = anonymize(LOG, mechanism, frequencies="noisy").write(folder / "release.json")
    content = json.loads(release.read_text())
    change(content)
    release.write_text(json.dumps(content))
    guarantee = folder / "release.json.guarantee.json"
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = sha256(release.read_bytes()).hexdigest()
    guarantee.write_text(json.dumps(stated))
    return guarantee, release


def put(field: str, value: Any) -> Change:
    return lambda content: content.update({field: value})


def put_first(field: str, value: Any) -> Change:
    return lambda content: content[field].__setitem__(0, value)


def both(value: Any) -> Change:
    return lambda content: (content["noisy"].__setitem__(0, value), content["counts"].__setitem__(0, value))


def twice(content: dict[str, Any]) -> None:
    content["variants"][1] = content["variants"][0]


OPTIMAL = Optimal(epsilon=1, delta="1e-6")
CHANGES: dict[str, tuple[Mechanism, Change]] = {
    "a count below c": (OPTIMAL, both(3)),
    "a negative count": (OPTIMAL, both(-5)),
    "a huge count": (OPTIMAL, both(10**40)),
    "counts that do not follow": (OPTIMAL, put_first("counts", 7)),
    "a variant twice": (OPTIMAL, twice),
    "an empty name": (OPTIMAL, put_first("variants", [""])),
    "an empty variant": (OPTIMAL, put_first("variants", [])),
    "a name that is a number": (OPTIMAL, put_first("variants", [5])),
    "a count that is a text": (OPTIMAL, both("90")),
    "a count that is a float": (OPTIMAL, both(90.0)),
    "an infinite count": (OPTIMAL, both(float("inf"))),
    "infinitely many cases": (OPTIMAL, put("cases", float("inf"))),
    "a number of cases nobody paid for": (OPTIMAL, put("cases", 890)),
    "an estimate that no float holds": (OPTIMAL, put_first("estimated", 10**400)),
    "a rung that is not there": (OPTIMAL, put_first("rungs", 9)),
    "a ladder with less than no cases": (Ladder(epsilon=1, delta="1e-6"), put("cases", -1)),
    "an adaptive ladder on two rungs": (Ladder(epsilon=1, delta="1e-6"), put_first("rungs", 5)),
    "a tree beyond its alphabet": (
        PrefixTree(epsilon=9, delta=0, max_length=3, prune=20, alphabet=["register", "visit", "release", "call"]),
        put_first("variants", ["HIV positive"]),
    ),
    "a tree beyond its length": (
        PrefixTree(epsilon=9, delta=0, max_length=3, prune=20, alphabet=["register", "visit", "release", "call"]),
        put_first("variants", ["call"] * 4),
    ),
    "a tree below its threshold": (
        PrefixTree(epsilon=9, delta=0, max_length=3, prune=20, alphabet=["register", "visit", "release", "call"]),
        both(20),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_impossible_release_does_not_verify(name: str, tmp_path: Path) -> None:
    mechanism, change = CHANGES[name]
    with pytest.raises((VerificationError, LogError)) as refused:
        verify(*forged(tmp_path, mechanism, change))
    assert "release.json" in str(refused.value) and "HIV" not in str(refused.value)


@pytest.mark.parametrize("mechanism", {str(made.name): made for made, _ in CHANGES.values()}.values())
def test_a_possible_release_does(mechanism: Mechanism, tmp_path: Path) -> None:
    assert verify(*forged(tmp_path, mechanism, lambda content: None)).digest_checked


FIELDS: dict[str, tuple[str, Any]] = {
    "columns": ("variants, synthetic log, process map", ["diagnosis"]),
    "patients": ("variants, synthetic log, process map", ["Smith"]),
    "cases": ("variants, synthetic log", 7),
    "estimated": ("variants, synthetic log", [1e9]),
    "intervals": ("variants, synthetic log", "x"),
    "missing_cases": ("variants, synthetic log", {"estimate": 1e9, "low": 1e9, "high": 1e9}),
    "missing_variants": ("variants, synthetic log", "x"),
    "assumptions": ("synthetic log, process map", ["nothing is public"]),
    "reading": ("synthetic log, process map", None),
}


@pytest.mark.parametrize("kind", ["variants", "synthetic log", "process map"])
def test_every_field_follows_from_the_measurements_and_the_guarantee(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(hospital_log())
    make: Any = {"variants": anonymize, "synthetic log": synthesize, "process map": process_map}[kind]
    release = make(log, epsilon=2, delta="1e-3").write(tmp_path / "release.json")
    content = json.loads(release.read_text())
    assert verify(*with_its_digest(release)).digest_checked
    for field, (kinds, value) in FIELDS.items():
        if kind not in kinds.split(", "):
            continue
        release.write_text(json.dumps(content | {field: value}))
        with pytest.raises(
            VerificationError, match=f"{field}(' is not|', which releases| are not|, which optimal)"
        ) as refused:
            verify(*with_its_digest(release))
        assert "Smith" not in str(refused.value)


def test_the_columns_of_a_synthetic_log_are_those_that_were_read(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(hospital_log())
    release = synthesize(log, epsilon=2, delta="1e-3").write(tmp_path / "release.csv")
    release.write_text(release.read_text().replace(",concept:name,", ",diagnosis,", 1))
    with pytest.raises(VerificationError, match="its columns are not those"):
        verify(*with_its_digest(release))


def test_a_missing_number_of_cases_is_named(tmp_path: Path) -> None:
    with pytest.raises(VerificationError, match="its number of cases is missing"):
        verify(*forged(tmp_path, Ladder(epsilon=1, delta="1e-6"), put("cases", None)))


def test_a_release_with_infinite_numbers_is_one_clear_line(tmp_path: Path) -> None:
    _, release = forged(tmp_path, OPTIMAL, put("cases", float("inf")))
    with pytest.raises(LogError, match="not a release of travas"):
        read_release(release)


# -------------------------------------------------------------------------------------------------------- event logs

LADDER = Ladder(epsilon=1, delta="1e-6")
TREE = CHANGES["a tree below its threshold"][0]
Edit = Callable[[str], str]


def forged_text(folder: Path, mechanism: Mechanism, suffix: str, edit: Edit) -> tuple[Path, Path]:
    """An event log after a change of its text, with the digest of the changed file."""
    release = anonymize(LOG, mechanism, frequencies="noisy").write(folder / f"release{suffix}")
    packed = suffix.endswith(".gz")
    data = gzip.decompress(release.read_bytes()) if packed else release.read_bytes()
    changed = edit(data.decode())
    assert changed != data.decode() or edit is unchanged
    release.write_bytes(gzip.compress(changed.encode()) if packed else changed.encode())
    return with_its_digest(release)


def with_its_digest(release: Path) -> tuple[Path, Path]:
    guarantee = release.with_name(release.name + ".guarantee.json")
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = sha256(release.read_bytes()).hexdigest()
    guarantee.write_text(json.dumps(stated))
    return guarantee, release


def unchanged(text: str) -> str:
    return text


def first_lines(number: int) -> Edit:
    return lambda text: "".join(text.splitlines(keepends=True)[:number])


def first_traces(number: int) -> Edit:
    return lambda text: "</trace>".join(text.split("</trace>")[:number]) + "</trace>\n</log>\n"


def one_more(text: str) -> str:
    return text + "9999,HIV positive,1970-01-01T00:00:00+00:00\n"


def extra_column(text: str) -> str:
    lines = text.splitlines()
    return "\n".join([lines[0] + ",patient", *(f"{line},Smith" for line in lines[1:])]) + "\n"


def reversed_rows(text: str) -> str:
    head, *rows = text.splitlines()
    return "\n".join([head, *reversed(rows)]) + "\n"


SMITH = '<string key="patient" value="Smith"/>'
TEXTS: dict[str, tuple[Mechanism, str, Edit]] = {
    "csv: one case": (OPTIMAL, ".csv", first_lines(2)),
    "csv: a case of one": (OPTIMAL, ".csv", one_more),
    "csv: an empty name": (OPTIMAL, ".csv", lambda text: text.replace(",call,", ',"",')),
    "csv: a missing name": (OPTIMAL, ".csv", lambda text: text.replace(",call,", ",,")),
    "csv: true timestamps": (OPTIMAL, ".csv", lambda text: text.replace("1970-01-01T00:00:02", "2024-05-01T12:00:02")),
    "csv: case identifiers": (OPTIMAL, ".csv", lambda text: text.replace("\n5,", "\nSmith,")),
    "csv: another column": (OPTIMAL, ".csv", extra_column),
    "csv: another order": (OPTIMAL, ".csv", reversed_rows),
    "csv: a tree beyond its alphabet": (TREE, ".csv", lambda text: text.replace(",visit,", ",HIV positive,")),
    "csv: a ladder with another rule": (LADDER, ".csv", lambda text: text.replace(",full,", ",prefix:99,")),
    "json: a name twice": (OPTIMAL, ".json", lambda text: text.replace("{", '{"variants": [["Smith"]], ', 1)),
    "xes: a trace as the log": (
        OPTIMAL,
        ".xes",
        lambda text: f"<trace >{text[text.index('<extension') : text.index('<trace>')]}</trace>",
    ),
    "xes: one case": (OPTIMAL, ".xes", first_traces(1)),
    "xes.gz: one case": (OPTIMAL, ".xes.gz", first_traces(1)),
    "xes: an empty name": (OPTIMAL, ".xes", lambda text: text.replace('value="call"', 'value=""')),
    "xes.gz: a tree beyond its alphabet": (TREE, ".xes.gz", lambda text: text.replace("visit", "HIV positive")),
    "xes: true timestamps": (OPTIMAL, ".xes", lambda text: text.replace("1970-01-01T00:00:02", "2024-05-01T12:00:02")),
    "xes.gz: case identifiers": (OPTIMAL, ".xes.gz", lambda text: text.replace('value="5"', 'value="Smith"')),
    "xes: another attribute": (OPTIMAL, ".xes", lambda text: text.replace("<event>", f"<event>{SMITH}", 1)),
    "xes: another attribute of a trace": (OPTIMAL, ".xes", lambda text: text.replace("<trace>", f"<trace>{SMITH}", 1)),
    "xes: another attribute of the log": (OPTIMAL, ".xes", lambda text: text.replace("<trace>", f"{SMITH}<trace>", 1)),
    "xes: an attribute of an attribute": (
        OPTIMAL,
        ".xes",
        lambda text: text.replace("/>\n</event>", f">{SMITH}</date></event>", 1),
    ),
    "xes: an attribute of an element": (OPTIMAL, ".xes", lambda text: text.replace("<event>", '<event id="Smith">', 1)),
    "xes: a document type": (
        OPTIMAL,
        ".xes",
        lambda text: text.replace("<log ", '<!DOCTYPE log [<!ENTITY name "Smith">]>\n<log ', 1),
    ),
    "xes: a name space": (OPTIMAL, ".xes", lambda text: text.replace("<log ", '<log xmlns:patient="Smith" ', 1)),
    "xes: a comment": (OPTIMAL, ".xes", lambda text: text.replace("</event>", "</event><!-- Smith -->", 1)),
    "xes: a comment at the end": (OPTIMAL, ".xes", lambda text: text + "<!-- Smith -->"),
    "xes: text in an event": (OPTIMAL, ".xes", lambda text: text.replace("<event>", "<event>Smith", 1)),
    "xes: text between traces": (OPTIMAL, ".xes", lambda text: text.replace("</trace>", "</trace>Smith", 1)),
    "xes: another title": (OPTIMAL, ".xes", lambda text: text.replace("released by travas", "Smith")),
    "xes: a ladder with another rule": (LADDER, ".xes", lambda text: text.replace('value="full"', 'value="prefix:99"')),
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_impossible_event_log_does_not_verify(name: str, tmp_path: Path) -> None:
    mechanism, suffix, edit = TEXTS[name]
    with pytest.raises((VerificationError, LogError)) as refused:
        verify(*forged_text(tmp_path, mechanism, suffix, edit))
    assert "release." in str(refused.value) and "HIV" not in str(refused.value) and "Smith" not in str(refused.value)


@pytest.mark.parametrize("mechanism", [OPTIMAL, LADDER, TREE], ids=lambda made: str(made.name))
@pytest.mark.parametrize("suffix", [".csv", ".xes", ".xes.gz"])
def test_a_possible_event_log_does(mechanism: Mechanism, suffix: str, tmp_path: Path) -> None:
    assert verify(*forged_text(tmp_path, mechanism, suffix, unchanged)).digest_checked


def test_a_parquet_release_is_checked_row_by_row(tmp_path: Path) -> None:
    release = anonymize(LOG, OPTIMAL).write(tmp_path / "release.parquet")
    assert verify(*with_its_digest(release)).digest_checked
    frame = pl.read_parquet(release)
    for changed in (
        frame.tail(-1),
        frame.with_columns(patient=pl.lit("Smith")),
        frame.with_columns(pl.lit(5).alias("concept:name")),
        frame.with_columns(pl.col("travas:timestamps").cast(pl.Enum(["artificial", "Smith"]))),
        frame.with_columns(pl.concat_list(pl.lit("full")).alias("case:travas:abstraction")),
    ):
        changed.write_parquet(release)
        with pytest.raises((VerificationError, LogError), match="release.parquet"):
            verify(*with_its_digest(release))


def test_a_parquet_file_at_which_polars_panics_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = anonymize(LOG, OPTIMAL).write(tmp_path / "release.parquet")

    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("at some line")

    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises((VerificationError, LogError), match=r"release\.parquet: cannot be read as a release of travas"):
        verify(*with_its_digest(release))
    assert "cannot be read as parquet (PanicException)" in doctor(release).problems[0].text


@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet", ".xes"])
@pytest.mark.parametrize("frequencies", ["estimated", "noisy"])
@pytest.mark.parametrize("mechanism", [OPTIMAL, LADDER], ids=lambda made: str(made.name))
def test_hostile_names_generalised_before_do_verify(
    mechanism: Mechanism, frequencies: Literal["estimated", "noisy"], suffix: str, tmp_path: Path
) -> None:
    """Also where the rule before the ladder is not stated, because counts were given."""
    log = {("a\0b", 'q"x', "c"): 700, ("\r\n", ",", "z"): 600, ("'",): 500}
    counted = Abstraction.parse("prefix:2").of(Variants.from_mapping(log))
    release = anonymize(counted, mechanism, frequencies=frequencies).write(tmp_path / f"release{suffix}")
    assert verify(f"{release}.guarantee.json", release).digest_checked
    empty = anonymize({}, mechanism, frequencies=frequencies).write(tmp_path / f"empty{suffix}")
    assert verify(f"{empty}.guarantee.json", empty).digest_checked
