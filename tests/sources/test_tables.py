import gzip
from itertools import product
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from travas import LogError, ParameterError, Reading, read
from travas.sources.instants import _ISO_FORMATS, _parsed, recognised_instants


def variants(source: object, reading: Reading = Reading()) -> dict[object, int]:  # noqa: B008
    return dict(read(source, reading).items())


def csv(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.csv"


HEAD = "case_id,activity,timestamp\n"
BY_FILE = Reading(order="file")


def test_rows_become_variants_in_the_order_of_time(path: Path) -> None:
    csv(path, HEAD + "1,b,2020-01-02 00:00:00\nNA,a,2020-01-01 00:00:00\n1,a,2020-01-01 00:00:00\n")
    assert variants(path) == {("a", "b"): 1, ("a",): 1}
    assert variants(path, Reading(order="file")) == {("b", "a"): 1, ("a",): 1}


def test_without_a_timestamp_the_order_of_the_rows_must_be_asked_for(path: Path) -> None:
    """A shuffled table has other variants, and nothing in it says so."""
    csv(path, "case_id,activity\n1,b\n2,a\n1,a\n")
    pl.read_csv(path, infer_schema=False).write_parquet(parquet := path.with_suffix(".parquet"))
    for source in (path, parquet, path.parent / "*.csv", pl.read_csv(path), pd.read_csv(path, dtype=str)):
        with pytest.raises(LogError, match="no timestamp column recognised; set timestamp, or set order to 'file'"):
            variants(source)
        with pytest.raises(LogError, match="set order to 'file'"):
            variants(source, Reading(ties="file"))
        assert variants(source, BY_FILE) == {("b", "a"): 1, ("a",): 1}
        with pytest.raises(LogError, match="no timestamp column"):
            variants(source, Reading(order="time"))


def test_a_missing_column_is_named_with_the_nearest(path: Path) -> None:
    csv(path, "id,task,when\n1,a,2020-01-01\n")
    with pytest.raises(
        LogError, match=r"no case column recognised; set case; .*no timestamp.*; available: 'id', 'task', 'when'"
    ):
        variants(path)
    with pytest.raises(LogError, match=r"no column 'tusk' for the activity; .*did you mean 'task'\?"):
        variants(path, Reading(case="id", activity=("tusk",)))
    assert variants(path, Reading(case="id", activity=("task",), timestamp="when")) == {("a",): 1}


def test_encodings(path: Path) -> None:
    csv(path, "case_id,activity\n1,Prüfung\n".encode("cp1252"))
    with pytest.raises(LogError, match="not encoded as utf-8 near row 1; set encoding, such as cp1252"):
        variants(path, BY_FILE)  # never guessed from the content: one case would decide how all others read
    assert variants(path, Reading(order="file", encoding="cp1252")) == {("Prüfung",): 1}
    csv(path, "case_id,activity\n1,Прием\n".encode("cp1251"))
    assert variants(path, Reading(order="file", encoding="cp1251")) == {("Прием",): 1}
    csv(path, b"case_id,activity\n1,\x81\x8d\n")
    with pytest.raises(LogError, match="not encoded as cp1252; set another"):
        variants(path, Reading(order="file", encoding="cp1252"))
    for wrong in ("utf-99", "base64", "rot13", "punycode", "hz", "utf-7", "iso2022_jp", "unicode_escape"):
        with pytest.raises(ParameterError, match=wrong):
            Reading(encoding=wrong)


def test_gzip_faults(path: Path) -> None:
    packed = gzip.compress((HEAD + "".join(f"{n},a{n},2020-01-01\n" for n in range(5000))).encode())
    zipped = path.with_suffix(".csv.gz")
    assert len(variants(csv(zipped, packed))) == 5000
    with pytest.raises(LogError, match="is truncated"):
        variants(csv(zipped, packed[:-1000]))
    assert len(variants(csv(zipped, (HEAD + "1,a,2020-01-01\n").encode()))) == 1  # not compressed after all
    assert len(variants(csv(zipped, packed + bytes(512)))) == 5000  # padding is allowed
    damaged = bytearray(packed)
    damaged[-6] ^= 0xFF
    with pytest.raises(LogError, match="damaged"):
        variants(csv(zipped, bytes(damaged)))


def test_what_is_missing_is_counted(path: Path) -> None:
    csv(path, HEAD + "1,a,2020-01-01\n1,,2020-01-01\n,a,2020-01-01\n2,a,\n2,b,2020-01-01\n,a,2020-01-01\n")
    with pytest.raises(LogError, match=r"column 'case_id': 2 events without a case; .*set on_missing to 'drop'"):
        variants(path)
    found = read(path, Reading(on_missing="drop"))
    assert dict(found.items()) == {("a",): 1, ("b",): 1}
    assert len(found.notes) == 3
    assert variants(path, Reading(on_missing="drop", order="file")) == {("a",): 1, ("a", "b"): 1}
    csv(path, HEAD + '1,"",2020-01-01\n')
    with pytest.raises(LogError, match="1 event without an activity"):
        variants(path)


def test_rows_without_any_cell_are_not_events(path: Path) -> None:
    for empty in ("", ",,"):
        assert variants(csv(path, HEAD + f"1,a,2020-01-01\n{empty}\n2,a,2020-01-01\n{empty}\n")) == {("a",): 2}
    with pytest.raises(LogError, match="1 event without a case"):
        variants(csv(path, "case_id,activity,x\n1,a,y\n\n,,z\n"), BY_FILE)
    empty_row = {"case_id": ["1", None], "activity": ["b", None]}
    for frame in (pl.DataFrame(empty_row), pd.DataFrame(empty_row | {"x": [1, 2]})):
        with pytest.raises(LogError, match="1 event without a case"):
            variants(frame, BY_FILE)


@pytest.mark.parametrize(
    "times",
    [
        ("2020-01-01T10:00:00", "2020-01-01T10:00:01"),
        ("2020-01-01 10:00", "2020-01-01 10:00:01"),
        ("2020-01-01T10:00:00.999", "2020-01-01T10:00:01"),
        ("2020-01-01T10:00:00+02:00", "2020-01-01T09:00:00+00:00"),
        ("2020-01-01T10:00:00+0200", "2020-01-01T09:00:00Z"),
        ("2020-01-01T08:00:00", "2020-01-01T10:00:01+02:00"),
        ("2020-01-01", "2020-01-01 00:00:01"),
        ("2019-12-31 23:59:59.5", "2020-01-01"),
        ("2020-01-01", "9999-12-31"),
        ("0001-01-01", "2020-01-01"),
    ],
)
def test_timestamps_of_every_iso_kind_mixed(path: Path, times: tuple[str, str]) -> None:
    csv(path, HEAD + f"1,second,{times[1]}\n1,first,{times[0]}\n")
    assert variants(path) == {("first", "second"): 1}


def test_timestamps_of_a_given_format(path: Path) -> None:
    csv(path, HEAD + "1,b,02.01.2020 07:30\n1,a,01.02.2019 23:59\n")
    with pytest.raises(
        LogError, match=r"column 'timestamp': '02.01.2020 07:30' is not a timestamp.*set timestamp_format"
    ):
        variants(path)
    assert variants(path, Reading(timestamp_format="%d.%m.%Y %H:%M")) == {("a", "b"): 1}
    csv(path, HEAD + "1,b,01/02/2020 10:00:00.25\n1,a,01/02/2020 10:00:00.125\n")
    assert variants(path, Reading(timestamp_format="%d/%m/%Y %H:%M:%S.%f")) == {("a", "b"): 1}
    csv(path, HEAD + '1,b,"2020-02-01 10:00:00,5"\n1,a,"2020-02-01 10:00:00,123"\n')
    assert variants(path, Reading(timestamp_format="%Y-%m-%d %H:%M:%S,%f")) == {("a", "b"): 1}
    with pytest.raises(LogError, match=r".* is not a timestamp of the format '%Y'"):
        variants(path, Reading(timestamp_format="%Y"))


def test_parquet_of_every_column_type(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    frame = pl.DataFrame({"case_id": ["1", "2", "1"], "activity": ["a", "a", "b"], "timestamp": [1, 2, 3]})
    for case in (pl.String, pl.Int64, pl.Decimal(38, 0), pl.Binary, pl.Categorical):
        for time in (pl.Int64, pl.Float64, pl.Datetime("ns"), pl.Datetime("ms", "Europe/Berlin"), pl.Date):
            shaped = frame.with_columns(
                pl.col("case_id")
                .cast(pl.Int64)
                .cast(case if case in (pl.Int64, pl.Decimal(38, 0)) else pl.String)
                .cast(case),
                pl.col("timestamp").cast(pl.Int32 if time == pl.Date else pl.Int64).cast(time),
            )
            shaped.write_parquet(path)
            assert variants(path) == {("a", "b"): 1, ("a",): 1}
    frame.with_columns(pl.lit(7).alias("activity")).write_parquet(path)
    assert variants(path) == {("7", "7"): 1, ("7",): 1}
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LogError, match="cannot be read as Parquet"):
        variants(path)


# ---- Text timestamps: every value has at most one reading, so it does not matter which value of a column is met first.


DATES = ("2020-01-01", "2020-1-1", "20200101", "0020-01-01", "+2020-01-01")
CLOCKS = ("", "10:00", "10:00:00", "1:2", "1:2:3", "10:00:00.5", "10:00.5", "10:00:60", "1000", "10:00:00,5", "10:00:")
ZONES = (
    "",
    "Z",
    "z",
    "+01",
    "+0100",
    "+01:00",
    " +01:00",
    "-05",
    "-5",
    "+01:0",
    "UTC",
    "−01:00",
    "-00:00",
    ":00",
    "+0130",
)


def test_no_text_has_two_of_the_formats() -> None:
    texts = pl.Series(sorted({"".join(parts) for parts in product(DATES, ("T", " ", ""), CLOCKS, ZONES)}))
    parsed = pl.DataFrame([_parsed(texts, form).is_not_null().alias(form) for form in _ISO_FORMATS])
    ways = parsed.sum_horizontal()
    assert ways.max() == 1 and int((ways == 1).sum()) > 100
    known = texts.filter(ways == 1)
    alone = recognised_instants(known, None)
    for order in (known.sort(descending=True), known.shuffle(seed=1)):
        again = recognised_instants(order, None)
        assert dict(zip(order, again, strict=True)) == dict(zip(known, alone, strict=True))


@pytest.mark.parametrize("form", ["%d%d", "%Q", "%", "", "%Y-%Y", "\ud800", "%m[", "%-d"])
def test_a_format_that_strptime_cannot_use_is_refused_before_the_log_is_opened(form: str) -> None:
    """`%d%d` is an error of the module `re`, not a ValueError."""
    try:
        reading = Reading(timestamp_format=form)
    except ParameterError as refused:
        assert refused.field == "timestamp_format"
        return
    with pytest.raises(LogError, match="no such file"):
        read("missing.csv", reading)
