"""Tables in: CSV, Parquet and data frames, through Polars.

Every step is a rule on one row or one case. Columns are coded to integers while they are read, so that memory holds
a few numbers per event and no text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import polars.selectors as cs

from ..errors import PRIVATE, EmptyLogError, LogError, MissingExtraError, ParameterError
from ..variants import CODE, CODE_BYTES, Variants
from .columns import Columns, Reading, missing_message, parse_timestamp, released_columns
from .units import digest, several_units

_CASE, _TIME, _NANOSECONDS, _TIE, _UNIT, _DIGEST = "case", "time", "nanoseconds", "tie", "unit", "digest"
_MICROSECONDS = pl.Datetime("us")
_ISO_FORMATS = [
    *(
        f"%Y-%m-%d{between}{clock}{zone}"
        for between in "T "
        for clock in ("%H:%M:%S%.f", "%H:%M")
        for zone in ("%#z", "")
    ),
    "%Y-%m-%d",
]


def read_parquet(path: Path, reading: Reading) -> Variants:
    """The variants of a `.parquet` file."""
    try:
        return variants_of(pl.scan_parquet(path, glob=False), reading, str(path))
    except LogError:
        raise
    except BaseException as error:  # Polars' own words may quote the data; a damaged file can make it panic
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LogError(f"{path}: cannot be read as Parquet ({type(error).__name__}); is the file whole?") from None


def read_frame(frame: Any, reading: Reading) -> Variants:
    """The variants of a Polars or pandas data frame."""
    where = "data frame"
    lazy = frame.lazy() if isinstance(frame, pl.DataFrame) else frame
    if not isinstance(lazy, pl.LazyFrame):
        lazy = _from_pandas(frame, reading, where)
    try:
        return variants_of(lazy, reading, where)
    except pl.exceptions.PolarsError as error:
        raise LogError(f"{where}: a column is of a type that is no name or time ({type(error).__name__})") from None


def _from_pandas(frame: Any, reading: Reading, where: str) -> pl.LazyFrame:
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        raise LogError(
            f"a {type(frame).__name__} is not an event log: give a path, a DataFrame, or a mapping of tuples to counts"
        )
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise LogError(f"{where}: two columns have the same name; rename one")
    columns = Columns.of(reading, names, where)
    wanted = {columns.case, *columns.activities, columns.timestamp, columns.ties, columns.unit}
    try:
        named = frame.set_axis(names, axis=1)
        table: pl.DataFrame = pl.from_pandas(named[[name for name in names if name in wanted]])
        return table.lazy()
    except ImportError:
        raise MissingExtraError("reading a pandas DataFrame", "pandas") from None
    except Exception as error:  # pyarrow raises many kinds, some quoting a cell
        raise LogError(f"{where}: a column mixes types ({type(error).__name__}); convert it to text") from None


def variants_of(
    lazy: pl.LazyFrame, reading: Reading, where: str, blank_rows: Callable[[], list[int]] = list
) -> Variants:
    """Read, order, gather the events of each case, count equal cases. `blank_rows` are rows that are no events."""
    schema = lazy.collect_schema()
    columns = Columns.of(reading, schema.names(), where)
    for name in (columns.case, *columns.activities, columns.timestamp, columns.ties, columns.unit):
        if f"{name}_duplicated_0" in schema:
            raise LogError(f"{where}: two columns are named {name!r}; rename one {PRIVATE}")
    parts = [f"activity {place}" for place in range(len(columns.activities))]
    coded = [_case(columns.case, schema[columns.case]).alias(_CASE)]
    coded += [_name(name, schema[name]).alias(part) for part, name in zip(parts, columns.activities, strict=True)]
    if columns.timestamp is not None:
        coded.append(_column(columns.timestamp).alias(_TIME))
    if columns.ties is not None:
        coded.append(_column(columns.ties).alias(_TIE))
    if columns.unit is not None:
        coded.append(_case(columns.unit, schema[columns.unit]).alias(_UNIT))
    events = lazy.select(coded).collect(engine="streaming")
    if columns.timestamp is not None:
        events = events.with_columns(_instants(events[_TIME], reading, f"{where}, column {columns.timestamp!r}"))
    events, notes = _without_missing(events, columns, reading, where, blank_rows)
    if not events.height:
        raise EmptyLogError(f"{where}: the log is empty, it has no events; is it the right file?")
    owners = None
    if columns.unit is not None:
        owners, more = _owners(events, columns, reading, where)
        events, notes = events.drop(_UNIT), notes + more
    if columns.timestamp is not None:
        events = _in_time_order(events, parts, reading)
    events, alphabet = _one_activity(events, parts)
    cases = events.lazy().group_by(_CASE).agg("activity")
    if owners is not None:
        cases = _kept(cases.join(owners.lazy(), on=_CASE), reading)
    traces = cases.group_by("activity").len("count").collect()
    del events
    codes = traces["activity"].explode().to_numpy().astype(CODE, copy=False).tobytes()
    ends = np.cumsum(traces["activity"].list.len().to_numpy(), dtype=np.int64) * CODE_BYTES
    starts = np.concatenate(([0], ends[:-1]))
    keys = [codes[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    counts = traces["count"].to_numpy().astype(np.int64)
    named = released_columns(columns.activities)
    return Variants(alphabet, keys, counts, named, notes, unit=reading.privacy_unit, counted=reading.counts_of)


def _column(name: str) -> pl.Expr:
    """The column of this very name: `pl.col` would take some names for patterns."""
    return cs.by_name(name).as_expr()


def _text(column: str, kind: pl.DataType) -> pl.Expr:
    """A value as text; a whole float is the integer it stands for, NaN is missing."""
    value = _column(column)
    if not kind.is_float():
        return value.cast(pl.String)
    value = value.fill_nan(None)
    whole = value.cast(pl.Int64, strict=False).cast(pl.String)
    return pl.when(value == value.round()).then(whole).otherwise(value.cast(pl.String))


def _name(column: str, kind: pl.DataType) -> pl.Expr:
    """Text as numbers with a dictionary. The empty text and NaN are missing."""
    text = _text(column, kind)
    return pl.when(text != "").then(text).cast(pl.Categorical(pl.Categories.random()))


def _case(column: str, kind: pl.DataType) -> pl.Expr:
    """A case identifier is only compared: numbers stay as they are, NaN is missing."""
    if kind.is_float():
        return _column(column).fill_nan(None)
    return _column(column) if kind.is_integer() else _name(column, kind)


def _without_missing(
    events: pl.DataFrame, columns: Columns, reading: Reading, where: str, blank_rows: Callable[[], list[int]]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Only events with a case, an activity and, where it orders, a timestamp; the others are dropped or refused."""
    names = {_CASE: columns.case, _TIME: columns.timestamp or ""}
    names |= {f"activity {place}": name for place, name in enumerate(columns.activities)}
    needed = [name for name in events.columns if name in names]
    if not any(events[name].null_count() for name in needed):
        return events, ()
    blank = np.zeros(events.height, dtype=bool)
    blank[blank_rows()] = True
    notes = []
    for name in needed:
        missing = events[name].is_null().to_numpy() & ~blank
        if not (number := int(missing.sum())):
            continue
        what = f"events without {'a case' if name == _CASE else 'a timestamp' if name == _TIME else 'an activity'}"
        if reading.on_missing == "fail":
            first = f"row {int(missing.argmax()) + 1:,} (the header not counted)"
            drop = "leave them out with --on-missing drop"
            raise LogError(missing_message(f"{where}, column {names[name]!r}", what, number, first, drop))
        notes.append(f"{number:,} {what} were left out")
    return events.drop_nulls(needed), tuple(notes)


def _owners(
    events: pl.DataFrame, columns: Columns, reading: Reading, where: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Whose each case is, and its digest; cases that are nobody's are dropped or refused."""
    values = pl.col(_UNIT).drop_nulls()
    found = events.lazy().group_by(_CASE).agg(values.n_unique().alias("values"), values.first()).collect()
    texts = found.select(pl.coalesce(_text(_CASE, found[_CASE].dtype), pl.col(_CASE).cast(pl.String))).to_series()
    if (several := found["values"] > 1).any():
        raise several_units(where, str(columns.unit), str(texts.filter(several).min()))
    notes: tuple[str, ...] = ()
    if number := int((nobody := found["values"] == 0).sum()):
        what = f"cases without the unit {columns.unit!r}"
        if reading.on_missing == "fail":
            first = f"case {str(texts.filter(nobody).min())[:60]!r}"
            raise LogError(missing_message(where, what, number, first, "leave them out with --on-missing drop"))
        if number == found.height:
            raise EmptyLogError(f"{where}: no case has the unit {columns.unit!r}; check the name of the column")
        notes = (f"{number:,} {what} were left out",)
    digests = pl.Series(_DIGEST, [digest(text) for text in texts], dtype=pl.Binary)
    return found.select(_CASE, _UNIT).with_columns(digests).filter(~nobody), notes


def _kept(cases: pl.LazyFrame, reading: Reading) -> pl.LazyFrame:
    """The cases that count (logs.units). Of what was kept of parts of a log, it keeps what it would of the whole."""
    if reading.counts_of == "units":
        cases = cases.group_by(_UNIT, "activity").agg(pl.col(_DIGEST).min())
    return cases.filter(pl.col(_DIGEST).rank("ordinal").over(_UNIT) <= reading.privacy_unit.max_cases)


def _instants(texts: pl.Series, reading: Reading, where: str) -> list[pl.Series]:
    """Timestamps as something that sorts: microseconds, and the nanoseconds beyond them where there are any.

    Text is parsed value by value; without a zone it is taken as UTC.
    """
    if texts.dtype.is_temporal() or texts.dtype.is_numeric():
        return [texts.fill_nan(None) if texts.dtype.is_float() else texts]
    texts = texts.cast(pl.String)
    texts = texts.set(texts == "", None)
    given = reading.timestamp_format
    formats = list(_ISO_FORMATS) if given is None else [given]
    instants = pl.Series(_TIME, [None], dtype=_MICROSECONDS).new_from_index(0, len(texts))
    while (rest := instants.is_null() & texts.is_not_null()).any():
        row = int(cast(int, rest.arg_max()))
        form = next((form for form in formats if _parsed(texts[row : row + 1], form).null_count() == 0), None)
        if form is None:
            remedy = "give --timestamp-format" if given is None else f"it is not of the format {given!r}"
            raise LogError(
                f"{where}, row {row + 1:,} (the header not counted): {texts[row][:60]!r} is not a timestamp I know; "
                f"{remedy} {PRIVATE}"
            )
        formats.remove(form)
        instants = instants.zip_with(~rest, _parsed(texts, form))
    finer = texts.str.extract(r"[.,][0-9]{6}([0-9]{1,3})")
    if given is not None or finer.null_count() == len(finer):
        return [instants.alias(_TIME)]
    return [instants.alias(_TIME), finer.str.pad_end(3, "0").cast(pl.Int64).fill_null(0).alias(_NANOSECONDS)]


def _parsed(texts: pl.Series, form: str) -> pl.Series:
    """Null where a text is not of this format, which is strptime's, here and in XES."""
    form = form.replace(".%f", "%.f")
    if "%f" in form:  # a fraction after something else than a point: only Python's own parser knows it
        return texts.map_elements(lambda text: _strptime(text, form), return_dtype=pl.Int64).cast(_MICROSECONDS)
    try:
        parsed = texts.str.to_datetime(form, time_unit="us", strict=False)
    except pl.exceptions.PolarsError:
        raise ParameterError(f"timestamp_format is {form!r}, which is not a format: try '%Y-%m-%d %H:%M:%S'") from None
    if isinstance(parsed.dtype, pl.Datetime) and parsed.dtype.time_zone is not None:
        parsed = parsed.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return parsed.cast(_MICROSECONDS)


def _strptime(text: str, form: str) -> int | None:
    try:
        return parse_timestamp(text, form.replace("%.f", ".%f")) // 1000
    except ValueError:
        return None


def _in_time_order(events: pl.DataFrame, parts: list[str], reading: Reading) -> pl.DataFrame:
    """All events by time; one stable sort of the whole log also orders the events of each case."""
    by: list[pl.Expr] = [pl.col(name) for name in (_TIME, _NANOSECONDS) if name in events.columns]
    if reading.ties == "activity":
        by += [pl.col(part).cast(pl.String) for part in parts]
    elif _TIE in events.columns:
        tie = pl.col(_TIE)
        if isinstance(events[_TIE].dtype, pl.Categorical | pl.Enum):
            tie = tie.cast(pl.String)
        if (
            not events[_TIE].dtype.is_numeric() and not events[_TIE].dtype.is_temporal()
        ):  # whole numbers by size, then other texts, then what is missing
            tie = pl.when(tie != "").then(tie)
            number = pl.when(tie.str.contains(r"^[+-]?[0-9]{1,18}$")).then(tie).cast(pl.Int64, strict=False)
            by += [number, pl.when(number.is_null()).then(tie)]
        else:
            by.append(tie)
    elif len(by) == 1 and events[_TIME].is_sorted():
        return events.drop(_TIME)
    return events.sort(by, maintain_order=True, nulls_last=True).drop(_TIME, _NANOSECONDS, _TIE, strict=False)


def _one_activity(events: pl.DataFrame, parts: list[str]) -> tuple[pl.DataFrame, list[Any]]:
    """Activities as codes 0, 1, …, and what they stand for; several columns make tuples."""
    kinds = events.select(parts).unique()
    codes = kinds.with_columns(pl.col(part).to_physical() for part in parts)
    names = kinds.with_columns(pl.col(part).cast(pl.String) for part in parts).rows()
    table = events.select(_CASE, *(pl.col(part).to_physical() for part in parts))
    if len(parts) == 1:
        numbers = codes.to_series().to_numpy()
        dense = np.zeros(int(numbers.max()) + 1, dtype=CODE)
        dense[numbers] = np.arange(len(numbers))
        activity = pl.Series("activity", dense[table[parts[0]].to_numpy()])
        return table.select(_CASE, activity), [name for (name,) in names]
    codes = codes.with_row_index("activity")
    return table.join(codes, on=parts, how="left", maintain_order="left").select(_CASE, "activity"), names
