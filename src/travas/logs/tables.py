"""Tables in: Parquet, data frames and what CSV gives, through Polars.

Every step is a rule on one row or one case. Columns are coded to integers while they are read, so that memory holds
a few numbers per event and no text. A log too long for that is read in several passes, each over the cases of one
hash: a case is in one pass as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from ..errors import PRIVATE, EmptyLogError, LogError, MissingExtraError
from ..variants import CODE, CODE_BYTES, Activity, Codes, Variants
from .columns import Columns, Reading, missing_message, released_columns
from .instants import NANOSECONDS, TIME, UnknownFormatError, instants
from .units import digest, several_units

EVENTS_PER_PASS = 32_000_000
"""A pass takes about 75 bytes an event."""

_CASE, _TIE, _ROW, _UNIT, _DIGEST = "case", "tie", "row", "unit", "digest"


def read_parquet(paths: Sequence[Path], reading: Reading, where: str) -> Variants:
    """The variants of a log in `.parquet` files; the order of the files is the order of the rows."""
    try:
        table = pl.scan_parquet(list(paths), glob=False, hive_partitioning=False)
        return variants_of(table, reading, where, events=table.select(pl.len()).collect().item())
    except LogError:
        raise
    except pl.exceptions.SchemaError:
        raise LogError(f"{where}: the files have different columns or types; give those of one log") from None
    except BaseException as error:  # Polars' own words may quote the data; a damaged file can make it panic
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise LogError(f"{where}: cannot be read as Parquet ({type(error).__name__}); is the file whole?") from None


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
    lazy: pl.LazyFrame, reading: Reading, where: str, blank_rows: Callable[[], list[int]] = list, events: int = 0
) -> Variants:
    """Read, order, gather the events of each case, count equal cases.

    `blank_rows` are rows that are no events; `events` is about how many there are, where that is known.
    """
    schema = lazy.collect_schema()
    columns = Columns.of(reading, schema.names(), where)
    for name in (columns.case, *columns.activities, columns.timestamp, columns.ties, columns.unit):
        if f"{name}_duplicated_0" in schema:
            raise LogError(f"{where}: two columns are named {name!r}; rename one {PRIVATE}")
    needed = {_CASE: columns.case} | {f"activity {place}": name for place, name in enumerate(columns.activities)}
    coded = [_case(columns.case, schema[columns.case]).alias(_CASE)]
    coded += [_name(name, schema[name]).alias(part) for part, name in needed.items() if part != _CASE]
    parts = list(needed)[1:]
    if columns.timestamp is not None:
        needed[TIME] = columns.timestamp
        coded.append(_time(columns.timestamp, schema[columns.timestamp]).alias(TIME))
    missing = lazy.select(expression.is_null() for expression in coded)
    if columns.ties is not None:
        coded.append(_column(columns.ties).alias(_TIE))
    if columns.unit is not None:
        coded.append(_case(columns.unit, schema[columns.unit]).alias(_UNIT))

    # a person's cases may be in any pass, so with a unit there is one only
    passes, codes, counted = 1 if columns.unit else events // EVENTS_PER_PASS + 1, Codes(), []
    notes: tuple[str, ...] | None = None
    for number in range(passes):
        cases = lazy if passes == 1 else lazy.filter(_hash(columns.case, schema[columns.case]) % passes == number)
        table = cases.select(coded).collect(engine="streaming")
        try:
            if columns.timestamp is not None:
                table = table.with_columns(instants(table[TIME], reading.timestamp_format))
        except UnknownFormatError as error:
            raise _unknown_timestamp(error, lazy, columns.timestamp, reading, where) from None
        if any(table[name].null_count() for name in needed):
            notes = _missing(missing, needed, reading, where, blank_rows) if notes is None else notes
            table = table.drop_nulls(list(needed))
        owners = None
        if columns.unit is not None and table.height:
            owners, more = _owners(table, columns, reading, where)
            table, notes = table.drop(_UNIT), (notes or ()) + more
        if columns.timestamp is not None:
            table = _in_time_order(table, parts, reading)
        table = _one_activity(table, parts, codes)
        gathered = table.lazy().group_by(_CASE).agg("activity")
        if owners is not None:
            gathered = _kept(gathered.join(owners.lazy(), on=_CASE), reading)
        counted.append(gathered.group_by("activity").len("count").collect())
        del table, gathered
    traces = counted[0] if passes == 1 else pl.concat(counted).group_by("activity").agg(pl.col("count").sum())
    if not traces.height:
        raise EmptyLogError(f"{where}: the log is empty, it has no events; is it the right file?")
    keys = keys_of(traces["activity"].explode(), traces["activity"].list.len())
    counts = traces["count"].to_numpy().astype(np.int64)
    named = released_columns(columns.activities)
    return Variants(list(codes), keys, counts, named, notes or (), unit=reading.privacy_unit, counted=reading.counts_of)


def keys_of(activities: pl.Series, lengths: pl.Series) -> list[bytes]:
    """The codes of all traces, one after the other, cut into keys."""
    codes = activities.to_numpy().astype(CODE, copy=False).tobytes()
    ends = np.cumsum(lengths.to_numpy(), dtype=np.int64) * CODE_BYTES
    starts = np.concatenate(([0], ends[:-1]))
    return [codes[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


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


def _hash(column: str, kind: pl.DataType) -> pl.Expr:
    """Equal for equal cases, in whichever file they are."""
    value = _column(column)
    return (value if kind.is_numeric() else value.cast(pl.String)).hash()


def _time(column: str, kind: pl.DataType) -> pl.Expr:
    """A timestamp as it is; NaN and the empty text are missing."""
    if kind.is_temporal() or kind.is_numeric():
        return _column(column).fill_nan(None) if kind.is_float() else _column(column)
    text = _column(column).cast(pl.String)
    return pl.when(text != "").then(text)


def _missing(
    missing: pl.LazyFrame, needed: dict[str, str], reading: Reading, where: str, blank_rows: Callable[[], list[int]]
) -> tuple[str, ...]:
    """Refuse events without a case, an activity or, where it orders, a timestamp; or say how many are dropped."""
    rows = missing.with_row_index(_ROW).filter(pl.any_horizontal(list(needed))).collect(engine="streaming")
    rows = rows.filter(~pl.col(_ROW).is_in(blank_rows()))
    notes = []
    for name, column in needed.items():
        lacking = rows.filter(pl.col(name))[_ROW]
        if not len(lacking):
            continue
        what = f"events without {'a case' if name == _CASE else 'a timestamp' if name == TIME else 'an activity'}"
        if reading.on_missing == "fail":
            first = f"row {int(lacking[0]) + 1:,} (the header not counted)"
            drop = "leave them out with --on-missing drop"
            raise LogError(missing_message(f"{where}, column {column!r}", what, len(lacking), first, drop))
        notes.append(f"{len(lacking):,} {what} were left out")
    return tuple(notes)


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


def _unknown_timestamp(
    error: UnknownFormatError, lazy: pl.LazyFrame, column: str | None, reading: Reading, where: str
) -> LogError:
    assert column is not None
    text, given = str(error), reading.timestamp_format
    found = lazy.select(_column(column).cast(pl.String).alias(TIME)).with_row_index(_ROW).filter(pl.col(TIME) == text)
    row = int(found.select(pl.col(_ROW).min()).collect(engine="streaming").item()) + 1
    remedy = "give --timestamp-format" if given is None else f"it is not of the format {given!r}"
    return LogError(
        f"{where}, column {column!r}, row {row:,} (the header not counted): {text[:60]!r} is not a timestamp I know; "
        f"{remedy} {PRIVATE}"
    )


def _in_time_order(events: pl.DataFrame, parts: list[str], reading: Reading) -> pl.DataFrame:
    """All events by time; one stable sort of the whole log also orders the events of each case."""
    by: list[pl.Expr] = [pl.col(name) for name in (TIME, NANOSECONDS) if name in events.columns]
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
    elif len(by) == 1 and events[TIME].is_sorted():
        return events.drop(TIME)
    return events.sort(by, maintain_order=True, nulls_last=True).drop(TIME, NANOSECONDS, _TIE, strict=False)


def _one_activity(events: pl.DataFrame, parts: list[str], codes: Codes) -> pl.DataFrame:
    """Activities as codes, the same in every pass; several columns make tuples."""
    kinds = events.select(parts).unique()
    rows = kinds.with_columns(pl.col(part).cast(pl.String) for part in parts).rows()
    names: list[Activity] = [row[0] for row in rows] if len(parts) == 1 else list(rows)
    coded = np.array([codes[name] for name in names], dtype=CODE)
    physical = kinds.with_columns(pl.col(part).to_physical() for part in parts)
    table = events.select(_CASE, *(pl.col(part).to_physical() for part in parts))
    if len(parts) == 1:
        numbers = physical.to_series().to_numpy()
        dense = np.zeros(int(numbers.max(initial=0)) + 1, dtype=CODE)
        dense[numbers] = coded
        return table.select(_CASE, pl.Series("activity", dense[table[parts[0]].to_numpy()]))
    physical = physical.with_columns(pl.Series("activity", coded))
    return table.join(physical, on=parts, how="left", maintain_order="left").select(_CASE, "activity")
