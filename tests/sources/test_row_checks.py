"""What the doctor counts in rows, and columns of odd types."""

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
