"""Which cases of a person count: every reader against a plain twin, what is refused, and what never leaves."""

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pandas as pd
import polars as pl
import pytest

from conftest import Run
from travas import LogError, ParameterError, PrefixTree, PrivacyUnit, Reading, anonymize, read

PlainLog = dict[str, tuple[str, tuple[str, ...]]]  # by case: the patient and the trace
HEAD = "case_id,activity,patient\n"
PATIENT = Reading(order="file", unit="patient", max_cases=2)
SIGNED = ("--epsilon", "1", "--delta", "1e-3")


def frame(log: PlainLog) -> pl.DataFrame:
    rows = [(case, activity, patient) for case, (patient, trace) in log.items() for activity in trace]
    return pl.DataFrame(rows, schema=["case_id", "activity", "patient"], orient="row")


def xes(log: PlainLog) -> str:
    def string(key: str, value: str) -> str:
        return f'<string key="{key}" value={quoteattr(value)}/>'

    traces = [
        f"<trace>{string('concept:name', case)}{string('patient', patient)}"
        + "".join(f"<event>{string('concept:name', activity)}</event>" for activity in trace)
        + "</trace>"
        for case, (patient, trace) in log.items()
    ]
    return f"<log>{''.join(traces)}</log>"


def test_case_numbers_are_known_by_their_text() -> None:
    log: PlainLog = {str(case): ("p", (str(case % 3),)) for case in range(50)}
    text = frame(log)
    for counted in ("units", "cases"):
        reading = Reading(order="file", unit="patient", max_cases=2, counted=counted)
        expected = dict(read(text, reading).items())
        assert sum(expected.values()) == 2
        for kind in (pl.Int64, pl.Decimal(38, 0), pl.UInt16):
            assert dict(read(text.cast({"case_id": kind}), reading).items()) == expected
    assert dict(read(text, Reading(order="file", unit="case_id", max_cases=1)).items()) == dict(
        read(text, Reading(order="file")).items()
    )
    units = text.with_columns(pl.lit(7).alias("patient"))
    assert sum(dict(read(units, PATIENT).items()).values()) == 2


def test_a_case_without_a_unit_is_dropped_or_refused(tmp_path: Path) -> None:
    table, tree = tmp_path / "log.csv", tmp_path / "log.xes"
    table.write_text(HEAD + "1,a,p\n2,a,\n3,b,\n")
    tree.write_text(xes({"1": ("p", ("a",)), "2": ("", ("a",)), "3": ("", ("b",))}))
    dropping = Reading(order="file", unit="patient", max_cases=2, on_missing="drop")
    for path in (table, tree):
        with pytest.raises(LogError, match=r"2 cases without the unit .*'drop' \[confidential"):
            read(path, PATIENT)
        found = read(path, dropping)
        assert dict(found.items()) == {("a",): 1}
        assert found.notes == ("2 cases without the unit 'patient' were left out",)


def test_traces_of_one_name_are_one_case_of_one_person(tmp_path: Path) -> None:
    path = tmp_path / "log.xes"
    merging = Reading(order="file", unit="patient", max_cases=2, duplicate_cases="merge")
    parts = [xes({"1": (patient, (activity,))})[5:-6] for patient, activity in (("", "a"), ("p", "b"), ("p", "c"))]
    path.write_text(f"<log>{''.join(parts)}</log>")
    assert dict(read(path, merging).items()) == {("a", "b", "c"): 1}
    path.write_text(f"<log>{''.join(parts)}{xes({'1': ('q', ('d',))})[5:-6]}</log>")
    with pytest.raises(LogError, match="'1' has several values of the unit"):
        read(path, merging)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"unit": "patient"}, "max_cases is not set; .* without looking at the log"),
        ({"unit": "patient", "max_cases": 0}, "max_cases is 0: .* from 1 to 1,000"),
        ({"unit": "case", "max_cases": 1}, "reserved for single cases"),
        ({"unit": "patient", "max_cases": 2, "duplicate_cases": "separate"}, "cases have no unique names"),
    ],
)
def test_inconsistent_readings_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        Reading(**options)


def test_counts_cannot_be_read_for_a_unit(tmp_path: Path) -> None:
    log = {("a",): 50}
    release = anonymize(log, epsilon=1, delta="1e-3")
    path = release.write(tmp_path / "out.json")
    for source in (log, release, path, read(log)):
        with pytest.raises(LogError, match="unit is 'patient' but .* contains counts"):
            anonymize(source, epsilon=1, delta="1e-3", reading=PATIENT)


def test_every_mechanism_gets_the_counts_it_needs() -> None:
    table = pd.DataFrame({"case_id": range(900), "activity": "a", "patient": [n // 3 for n in range(900)]})
    release = anonymize(table, epsilon=2, delta="1e-2", reading=PATIENT)
    assert release.guarantee.unit == PrivacyUnit("patient", 2)
    assert 250 < release.noisy[0] < 350  # 300 patients, once each
    tree = PrefixTree(10, "1e-2", max_length=1, prune=50, alphabet=["a"])
    release = anonymize(table, tree, reading=PATIENT)
    assert 500 < release.noisy[0] < 700  # two cases each
    variants = read(table, PATIENT)
    assert anonymize(variants, epsilon=2, delta="1e-2").guarantee.unit == PrivacyUnit("patient", 2)
    with pytest.raises(
        ParameterError, match="counted for the unit 'patient' .max_cases 2, units.*cases.; read it again"
    ):
        anonymize(variants, tree)
    cases = Reading(order="file", unit="patient", max_cases=2, counted="cases")
    with pytest.raises(ParameterError, match="counted is 'cases', but this mechanism needs 'units'"):
        anonymize(table, epsilon=2, delta="1e-2", reading=cases)


# --------------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """300 patients of four visits each, two alike; one more with unique secrets."""
    visits = [("register", "visit"), ("register", "visit"), ("register", "release"), ("visit",)]
    log: PlainLog = {f"CANARY-{p}-{v}": (f"CANARY-patient-{p}", visits[v]) for p in range(300) for v in range(4)}
    log |= {f"CANARY-case-{n}": ("CANARY-person", (f"CANARY-{n}",)) for n in range(30)}
    path = tmp_path / "clinic.parquet"
    frame(log).with_columns(timestamp=pl.lit("2020-01-01")).write_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".xes", ".csv", ".parquet", ".json"])
def test_persons_from_the_command_line(
    suffix: str, travas: Run, clinic: Path, tmp_path: Path, ledger_path: Path
) -> None:
    out = tmp_path / f"out{suffix}"
    ran = travas("anonymize", clinic, *SIGNED, "--unit", "patient", "--max-cases", 3, "-o", out, "--minimum-cases", 2)
    assert ran.code == 0, ran.err
    assert "for adding or removing all cases of one person (column patient): proven" in " ".join(ran.out.split())
    assert "at most 3 different variants per person" in ran.out
    promise = json.loads(Path(f"{out}.guarantee.json").read_text())
    assert promise["unit"] == {"name": "patient", "max_cases": 3, "counted": "units"}
    assert promise["neighbours"] == "add or remove all cases of one person (column patient)"
    checked = travas("verify", f"{out}.guarantee.json", out)
    assert checked.code == 0 and "adding or removing all cases of one person (column patient)" in checked.out
    assert set(dict(read(out).items())) == {("register", "visit"), ("register", "release"), ("visit",)}
    if suffix == ".xes":
        assert '<string key="privacy:level" value="patient"/>' in out.read_text()
        assert '<string key="privacy:max cases" value="3"/>' in out.read_text()
    history = travas("budget", "show", "--history")
    assert "patient" in history.out
    for text in (out.read_bytes(), Path(f"{out}.guarantee.json").read_bytes(), ledger_path.read_bytes()):
        assert b"CANARY" not in text
    for shown in (ran.out, ran.err, checked.out, history.out):
        assert "CANARY" not in shown


@pytest.mark.parametrize("unit", ["patient", "case:patient"])
def test_the_unit_has_one_spelling_for_all_logs_of_traces(unit: str, tmp_path: Path) -> None:
    """It was stripped for logs of pm4py, the column itself in their frames, and not found in XES."""
    from pm4py.objects.log.obj import Event, EventLog, Trace

    log = EventLog()
    for name in "123":
        trace = Trace(attributes={"concept:name": name, "patient": "p"})
        trace.append(Event({"concept:name": "a"}))
        log.append(trace)
    (tmp_path / "log.xes").write_text(xes(dict.fromkeys("123", ("p", ("a",)))))
    frame = pl.DataFrame({"case:concept:name": [*"123"], "concept:name": ["a"] * 3, "case:patient": ["p"] * 3})
    reading = Reading(order="file", unit=unit, max_cases=2, counted="cases")
    for source in (log, tmp_path / "log.xes", frame, frame.rename({"case:patient": "patient"})):
        assert dict(read(source, reading).items()) == {("a",): 2}
