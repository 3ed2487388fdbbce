"""Frames: every value is read by its own type, and what was converted together is refused with the conversion."""

import datetime as dt
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from travas import LogError, Reading, read

MIDNIGHT = dt.datetime(2020, 1, 1)
ABROAD = dt.timezone(dt.timedelta(hours=2))
VALUES: list[Any] = [
    1, 2.5, True, b"x", Decimal("1.25"), 2**63 + 5, np.int8(5), np.float32(0.1), dt.date(2020, 1, 1), MIDNIGHT,
    MIDNIGHT.replace(tzinfo=dt.UTC), MIDNIGHT.replace(tzinfo=ABROAD), pd.Timestamp(1), dt.time(5), dt.timedelta(1),
    uuid.UUID(int=5), np.datetime64("2020-01-01", "D"), 1e19, [1], {"a": 1}, ("a",), object(), pd.Period("2020"),
]  # fmt: skip


def frame(**columns: Any) -> pd.DataFrame:
    whole = {"case_id": ["1", "2"], "activity": ["a", "b"], "timestamp": [1, 2], "person": ["p", "q"]}
    return pd.DataFrame(whole | columns)


@pytest.mark.parametrize("column", ["case_id", "activity", "timestamp", "person"])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_an_object_column_holds_text_or_is_refused_with_the_conversion(value: Any, column: str) -> None:
    for values in (["x", value], [None, value], [value, value]):
        with pytest.raises(
            LogError, match=rf"column '{column}' holds a value of type .* in row \d.*convert it"
        ) as error:
            read(frame(**{column: pd.Series(values, dtype=object)}), Reading(unit="person", max_cases=1))
        assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_texts_and_what_is_missing() -> None:
    names = pd.Series(["NA", None, float("nan"), pd.NA, pd.NaT, "", np.str_("1.0"), "x"], dtype=object)
    log = pd.DataFrame({"case_id": [str(n) for n in range(8)], "activity": names})
    drop = Reading(on_missing="drop", order="file")
    assert dict(read(log, drop).items()) == {("NA",): 1, ("1.0",): 1, ("x",): 1}
    log["activity"] = pd.Series(["\ud800"] * 8, dtype=object)
    with pytest.raises(LogError, match="contains a lone surrogate"):
        read(log, drop)


@pytest.mark.parametrize("column", ["case_id", "activity", "timestamp", "person"])
@pytest.mark.parametrize(
    "values",
    [
        pd.Series([2**53 + 1, None]),
        pd.Series([1, 2], dtype="Float64"),
        pd.Series([1, 2], dtype=complex),
        pd.Series([dt.timedelta(1)] * 2),
        pd.Series(pd.period_range("2020", periods=2)),
        pd.Series(pd.interval_range(0, 2)),
        pd.Series([1.5, 2.5], dtype="category"),
        pd.Series([Decimal("1.5"), "x"], dtype="category"),
        pd.Series([[1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pd.Series([Decimal("1.5"), Decimal("2.25")], dtype=pd.ArrowDtype(pa.decimal128(9, 3))),
        pd.Series([1.5, 2.5], dtype=pd.ArrowDtype(pa.float64())),
        pd.Series(["a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    ],
    ids=lambda values: str(values.dtype),
)
def test_types_that_may_have_been_converted_together_are_refused(values: pd.Series, column: str) -> None:
    with pytest.raises(LogError, match=rf"column '{column}' .*convert it first: df\['{column}'\] = ") as error:
        read(frame(**{column: values}), Reading(unit="person", max_cases=1))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([3, 4]),
        pd.Series([3, 4], dtype="Int64"),
        pd.Series([3, 4], dtype="uint8"),
        pd.Series(["3", "4"], dtype="string"),
        pd.Series(["3", "4"], dtype=object),
        pd.Series(["3", "4"], dtype="category"),
        pd.Series([3, 4], dtype="category"),
        pd.Series(["3", "4"], dtype=pd.ArrowDtype(pa.large_string())),
        pd.Series([3, 4], dtype=pd.ArrowDtype(pa.int32())),
    ],
    ids=lambda values: str(values.dtype),
)
def test_types_that_are_accepted(values: pd.Series) -> None:
    assert dict(read(frame(activity=values)).items()) == {("3",): 1, ("4",): 1}
    assert dict(read(frame(case_id=values)).items()) == {("a",): 1, ("b",): 1}
    missing = frame(activity=values)
    missing["activity"] = missing["activity"].astype("category").where(pd.Series([True, False]))
    assert dict(read(missing, Reading(on_missing="drop")).items()) == {("3",): 1}


def test_timestamps_of_several_zones_are_instants() -> None:
    """As text value by value; as objects refused; converted with utc=True they are one column."""
    texts = ["2020-01-01T10:00:00+02:00", "2020-01-01T09:00:00Z", "2020-01-01T08:30:00"]
    log = pd.DataFrame({"case_id": ["1"] * 3, "activity": ["a", "c", "b"], "timestamp": pd.Series(texts, dtype=object)})
    assert dict(read(log).items()) == {("a", "b", "c"): 1}
    log["timestamp"] = pd.to_datetime(log["timestamp"], utc=True, format="ISO8601")
    assert dict(read(log).items()) == {("a", "b", "c"): 1}
    log["timestamp"] = log["timestamp"].dt.tz_convert("America/New_York")
    assert dict(read(log).items()) == {("a", "b", "c"): 1}


NESTED: dict[str, Callable[[], pl.Series]] = {
    "object": lambda: pl.Series([object(), object()], dtype=pl.Object),
    "list": lambda: pl.Series([["a"], ["b"]]),
    "struct": lambda: pl.Series([{"a": 1}, {"a": 2}]),
    "array": lambda: pl.Series([[1], [2]], dtype=pl.Array(pl.Int64, 1)),
    "scale": lambda: pl.Series([Decimal("1.5"), Decimal("2.5")]),
    "float": lambda: pl.Series([1.0, 2.0]),
    "clock": lambda: pl.Series([dt.time(1, 2, 3, 4), dt.time(1, 2, 3, 5)]),
}


@pytest.mark.parametrize("column", ["case_id", "activity", "person"])
@pytest.mark.parametrize("kind", NESTED)
def test_polars_columns_of_objects_and_nested_types_are_refused(kind: str, column: str) -> None:
    whole = {"case_id": ["1", "2"], "activity": ["a", "b"], "timestamp": [1, 2], "person": ["p", "q"]}
    log = pl.DataFrame(whole).with_columns(NESTED[kind]().alias(column))
    for given in (log, log.lazy()):
        with pytest.raises(LogError, match=rf"column '{column}' has type .*convert it to"):
            read(given, Reading(unit="person", max_cases=1))
    if kind not in ("scale", "float", "clock"):
        given = pl.DataFrame(whole).with_columns(NESTED[kind]().alias("timestamp"))
        with pytest.raises(LogError, match="column 'timestamp' has type .*, which cannot order events"):
            read(given)
