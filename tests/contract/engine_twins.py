"""Logs for every engine, and plain twins: sorting and counting with nothing but dicts."""

import hashlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import polars as pl

from travas import Reading

START = datetime(2024, 3, 31, 0, 30, tzinfo=UTC)  # half an hour before the clocks change in Berlin
DEFAULT = Reading(ties="activity")


def log(rows: list[tuple[Any, ...]], kind: pl.DataType | None = None, **more: list[Any]) -> pl.DataFrame:
    """Rows of case, activity, time; a whole number is minutes after START. The rows are shuffled."""
    times = [START + timedelta(minutes=time) if isinstance(time, int) else time for _, _, time in rows]
    columns = {"case_id": [row[0] for row in rows], "activity": [row[1] for row in rows], "timestamp": times}
    frame = pl.DataFrame(columns | more, strict=False)
    if kind is not None:
        frame = frame.with_columns(pl.col("timestamp").cast(kind))
    return frame.sample(fraction=1, shuffle=True, seed=7)


NAMES = ["b", "B", "a", "A", "ä", "z", "é", "_", "-", " a", "a ", "€", "😀", "Z", "aa", "1", "10", "9"]
ODD = [
    '"', "'", "a,b", "a|b", "a→b", "x\ny", "x\r\ny", "\t", "\\", "\\N", "{events}", "%s", "$1", "NULL", "--", ";", "`", "[]",
]  # fmt: skip
ODD_COLUMNS = {"case_id": 'ca"se {id}', "activity": "acti`vity\n'", "timestamp": "^%time:stamp?$"}


def random_log() -> pl.DataFrame:
    """Two thousand events in few times, so that most are tied."""
    numbers = [(n * 2654435761) % 2**32 for n in range(2000)]
    return log([(f"c{n % 211}", NAMES[n // 7 % len(NAMES)], n // 1009 % 4) for n in numbers])


def twin(frame: pl.DataFrame, reading: Reading) -> dict[Any, int]:
    """Sorting and counting with nothing but dicts."""
    activities = reading.activity or ("activity",)
    cases: dict[Any, list[tuple[Any, Any]]] = {}
    for row in frame.iter_rows(named=True):
        if not is_read(row, reading):
            continue
        case, time = row[reading.case or "case_id"], row[reading.timestamp or "timestamp"]
        if isinstance(frame.get_column(reading.timestamp or "timestamp").dtype, pl.Datetime) and time is not None:
            time = row["instant"]
        names = tuple(
            str(v).lower() if isinstance(v, bool) else v if v is None else str(v) for v in (row[a] for a in activities)
        )
        if case in (None, "") or time is None or time != time or None in names or "" in names:
            continue
        key = (
            time,
            tie(row[column]) if (column := reading.tie_column()) else (),
            tuple(str(name).encode() for name in names),
        )
        cases.setdefault(case, []).append((key, names if len(names) > 1 else names[0]))
    for case, events in cases.items():
        events.sort(key=lambda event: event[0])
        if reading.duplicate_events == "drop":
            first = {(event[0][0], event[1]): event for event in reversed(events)}
            cases[case] = [event for event in events if first[event[0][0], event[1]] is event]
    return Counter(tuple(name for _, name in events) for events in cases.values())


def is_read(row: dict[str, Any], reading: Reading) -> bool:
    """The rule of sources/row_selection.py for one row."""
    transition = row.get("lifecycle") or "complete"
    if reading.lifecycle != "all" and transition.lower() != reading.lifecycle.replace("pairs", "complete"):
        return False
    columns = {column for column, _ in reading.where}
    return all(str(row[column]) in [value for name, value in reading.where if name == column] for column in columns)


def tie(value: Any) -> tuple[Any, ...]:
    if value in (None, ""):
        return (2,)
    text = str(value)
    return (0, int(text)) if text.removeprefix("-").isdigit() and "\n" not in text else (1, text.encode())


# ------------------------------------------------------------------------------------------------------- the persons

PERSON = Reading(ties="activity", unit="patient", max_cases=2)


def persons_log() -> pl.DataFrame:
    """One with many cases of few variants, one with many variants, one with one case; events without, but no cases."""
    cases = {f"{n}": ("many", ["ab", "ba", "abc"][n % 3]) for n in range(20)}
    cases |= {f"é {n}\N{MUSICAL SYMBOL G CLEF}": ("NA", "abcdefgh"[n:]) for n in range(8)}
    cases |= {"007": ("Many", "ab"), "7 ": ("many ", "ab"), "A": ("x", "aa"), "a": ("x", "aa"), "b": ("é", "ab")}
    rows = [
        (case, activity, len(trace) % 2 * time)
        for case, (_, trace) in cases.items()
        for time, activity in enumerate(trace)
    ]
    patients: list[str | None] = []
    for place, (patient, trace) in enumerate(cases.values()):
        shown = [patient] * len(trace) if place % 3 == 0 else [patient, *([None, ""] * len(trace))[: len(trace) - 1]]
        patients += shown if place % 2 else shown[::-1]
    return log(rows, patient=patients)


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Cases and patients as whole numbers, some of them negative or long."""
    cases = {case: n * (-1) ** n * (2**40 + 1) ** (n % 2) for n, case in enumerate(sorted(frame["case_id"].unique()))}
    patients = {patient: n for n, patient in enumerate(sorted(set(frame["patient"].drop_nulls()) - {""}))}
    return frame.with_columns(
        pl.col("case_id").replace_strict(cases, return_dtype=pl.Int64),
        pl.col("patient").replace_strict(patients, default=None, return_dtype=pl.Int64),
    )


PERSONS: dict[str, tuple[pl.DataFrame, Reading]] = {
    "texts": (persons_log(), PERSON),
    "numbers": (numbered(persons_log()), PERSON),
    "random": (random_log().with_columns(pl.col("case_id").str.slice(1, 1).alias("patient")), PERSON),
    "the case itself": (random_log(), attrs.evolve(PERSON, unit="case_id")),
    "missing": (
        log(
            [("1", "a", 0), ("1", None, 1), ("2", "a", 0), ("2", "b", 1), ("3", "a", 0), ("4", "", 0), (None, "a", 0)],
            patient=["p", "other", None, "", None, "q", "r"],
        ),
        attrs.evolve(PERSON, on_missing="drop"),
    ),
}


def persons_twin(frame: pl.DataFrame, reading: Reading) -> Counter[Any]:
    """The rule of logs/units.py with nothing but dicts."""
    owners: dict[Any, Any] = {}
    for row in frame.filter(pl.col("case_id").is_not_null(), pl.col("activity") != "").iter_rows(named=True):
        if row[str(reading.unit)] not in (None, ""):
            owners[row["case_id"]] = row[str(reading.unit)]
    own: dict[Any, list[tuple[str, Any]]] = {}
    for case, patient in owners.items():
        [trace] = twin(
            frame.filter(pl.col("case_id") == case).with_columns(pl.col("timestamp").alias("instant")), reading
        )
        own.setdefault(patient, []).append((hashlib.md5(str(case).encode()).hexdigest(), trace))
    counts: Counter[Any] = Counter()
    for cases in own.values():
        if reading.counts_of == "units":
            smallest = {trace: digest for digest, trace in sorted(cases, reverse=True)}
            cases = [(digest, trace) for trace, digest in smallest.items()]
        counts.update(trace for _, trace in sorted(cases)[: reading.max_cases])
    return counts
