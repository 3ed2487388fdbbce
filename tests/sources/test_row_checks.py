"""What the doctor counts in rows, compared with a plain count over the cases."""

import random
import re
from collections import Counter
from datetime import datetime

import polars as pl
import pytest

from travas import doctor

ODD = {
    "case_id": [[1], [1], [2]],
    "activity": [b"a", b"\xff", b"a"],
    "timestamp": [{"day": 1}] * 3,
    "lifecycle:transition": [["start"], ["complete"], ["start"]],
    "patient_id": [[1], [2], [3]],
}


@pytest.mark.parametrize("column", ODD)
def test_columns_of_odd_types_are_reported(column: str) -> None:
    plain = {"case_id": ["1", "1", "2"], "activity": ["a", "b", "a"], "timestamp": [datetime(2024, 1, 1)] * 3}
    for values in (ODD[column], [b"\xff"] * 3 if column not in ("timestamp",) else [[1]] * 3):
        found = doctor(pl.DataFrame({**plain, column: values}, strict=False)).problems
        reported = [problem.text for problem in found if problem.topic == "columns"]
        assert len(reported) == (column != "patient_id") and all(column in text for text in reported)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["start", "complete", "schedule"], ["where"]),
        (["Start", "Complete", None], ["where"]),
        (["complete", "complete", "complete"], []),
        (["start", "complete", "fever"], []),
    ],
)
def test_starts_and_completions_are_noticed_whatever_the_column_is_called(
    values: list[str | None], said: list[str]
) -> None:
    times = [datetime(2024, 1, 1)] * 3
    table = {"Fall": ["1", "1", "2"], "Aktivität": ["a", "a", "b"], "Zeit": times, "Status": values}
    found = [each for each in doctor(pl.DataFrame(table)).findings if each.topic == "lifecycle"]
    assert [each.field for each in found] == said and all("'Status=" in each.text for each in found)


Row = tuple[str | None, str, str | None]


def drawn_rows(seed: int) -> list[Row]:
    """Rows of a few cases with ties, duplicates, rows out of order and missing cells."""
    chance = random.Random(seed)
    cases, times = ["1", "2", "3", " 4", None], [*(f"2024-01-01T00:00:{second:02d}" for second in range(6)), ""]
    return [(chance.choice(cases), chance.choice(["a", "b", "A", "c "]), chance.choice(times)) for _ in range(40)]


def plain_counts(rows: list[Row]) -> dict[str, int]:
    """The numbers that the doctor reports, counted one row after the other."""
    known = [(case, activity, time) for case, activity, time in rows if case is not None and time]
    duplicates = len(known) - len(set(known))
    tied = len(known) - len({(case, time) for case, _, time in known}) - duplicates
    last: dict[str, str] = {}
    backwards = 0
    for case, _, time in known:
        backwards += time < last.get(case, "")
        last[case] = time
    counts = {
        "events of a case with the same activity and time": duplicates,
        "events at the same time as another activity": tied,
        "rows before an earlier row": backwards,
        "cells of the case begin or end with a blank": sum(case == " 4" for case, _, _ in rows),
        "cells of the activity begin or end with a blank": sum(activity == "c " for _, activity, _ in rows),
    }
    return {what: number for what, number in counts.items() if number}


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_those_of_a_plain_count(seed: int) -> None:
    rows = drawn_rows(seed)
    table = pl.DataFrame(rows, schema=["case_id", "activity", "timestamp"], orient="row")
    said = [finding.text for finding in doctor(table).findings]
    for what, number in plain_counts(rows).items():
        plural, _, rest = what.partition(" ")
        assert any(re.match(f"{number} {plural}? ?{rest}", text) for text in said), (what, number, said)
    assert f"{len({row[0] for row in rows} - {None})} cases, {len({row[1] for row in rows})} activities" in said
    spelled = Counter(activity for _, activity, _ in rows)
    assert any(f"'a' ({spelled['a']})" in text and f"'A' ({spelled['A']})" in text for text in said)
