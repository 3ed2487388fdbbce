"""Which column is the case, activity, time, lifecycle and person, by names and values; and what the rows are like.

Rows are examined for missing cells, numbers, duplicates, ties, order and spellings, and how to read such rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import attrs
import polars as pl
import polars.selectors as cs

from ...errors import number_of
from ..columns import candidates, is_name_type, person_columns, plain, recognised
from ..instants import TIME, recognised_instants
from ..reading import ATTRIBUTE_NUMBER, LOCAL_NUMBERS, Reading, spellings
from .diagnosis import Observation, ObservationLevel, ReadingChoice
from .time_formats import TimeValues, examples, times_of

_END_WORDS = ("end", "complete", "ende", "fin", "einde", "fim", "fine", "completion", "closed")
_START_WORDS = ("start", "begin", "anfang", "debut", "inicio", "inizio")
_BEGINS = re.compile(
    "start|started|begin|begins|begun|beginn|begonnen|anfang|gestartet|debute?|commencee?|inicio|iniciado|inizio|iniziato|aanvang|"
    "gestart|schedule|scheduled|assign|assigned|geplant|zugewiesen|planifiee?|assignee?|programado|programmato"
)
_COMPLETES = re.compile(
    "complete|completed|completion|end|ended|ende|beendet|abgeschlossen|fertig|fin|finie?|terminee?|finished|finish|einde|"
    "voltooid|beeindigd|fine|finito|completato|concluido|fim|completado|terminado|done"
)
_OTHERS = re.compile(
    "reassign|suspend|suspended|resume|resumed|withdraw|autoskip|manualskip|ateabort|piabort|abort|aborted|unknown|"
    "unterbrochen|fortgesetzt|abgebrochen|storniert|cancelled|canceled"
)
"""Transitions of the XES standard and what programs call them: values by which the column of the lifecycle is recognised."""

_CLOCK = r"^[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?$"
_SAMPLE, _MOST_TRANSITIONS = 20_000, 20


class ColumnSearch:
    """Finds the columns of a table and collects what there is to say about them."""

    def __init__(self, table: pl.DataFrame, reading: Reading) -> None:
        self.table, self.reading = table, reading
        self.findings: list[Observation] = []
        self.choices: list[ReadingChoice] = []
        self.times: TimeValues | None = None
        self.people: list[str] = []
        self._sample = table.head(_SAMPLE)
        texts = table.select(cs.string()).columns
        self._of_time = [name for name in texts if times_of(self._sample[name]).formats]
        self._ends = {name: ends for name in texts if (ends := self._completions(name))}

    def find(self) -> Reading:
        """Return the reading with the columns, the time format and the transitions that are needed."""
        self._timestamp()
        if (case := self._named("case", self.case)) is not None:
            self.reading = attrs.evolve(self.reading, case=case)
        if (activity := self._named("activity", self.activity)) is not None:
            self.reading = attrs.evolve(self.reading, activity=(activity,))
        self._lifecycle()
        self._persons()
        return self.reading

    @property
    def case(self) -> str | None:
        return self.reading.case or recognised("case", self.table.columns)

    @property
    def activity(self) -> str | None:
        return next(iter(self.reading.activity), None) or recognised("activity", self.table.columns)

    @property
    def timestamp(self) -> str | None:
        if self.reading.order == "file":
            return None
        return self.reading.timestamp or recognised("timestamp", self.table.columns)

    def _timestamp(self) -> None:
        reading, names = self.reading, self.table.columns
        if reading.order == "file":
            return
        name = self.timestamp
        if name is None:
            known, typed = candidates("timestamp", names), self.table.select(cs.temporal()).columns
            possible = [column for column in known if column in self._of_time] or known or typed or self._of_time
            if not possible:
                self.reading = attrs.evolve(reading, order="file")
                self._note("time", "no column of times; the rows of every case must be in order in the file", "choice")
                return
            name = _preferred(possible)
            self.reading = attrs.evolve(reading, timestamp=name)
            self._say("timestamp", name, possible)
        else:
            self._note("time", f"column {name!r}")
        self._format(name)

    def _format(self, name: str) -> None:
        column = self.table[name]
        if column.dtype != pl.String:
            self._note("time", f"of type {column.dtype}; no format is needed")
            return
        if clocks := [each for each in self.table.columns if each != name and self._is_clock(each)]:
            text = f"column {clocks[0]!r} is a time of day; join it with the date to one column"
            self._note("time", text, "choice")
        self.times = times = times_of(column)
        if not column.len():  # a log without events is released, too
            return
        if not times.formats:
            what = f"values such as {times.example[:40]!r} have no known format; set timestamp_format"
            if self._is_clock(name):
                what = f"values such as {times.example[:40]!r} have no date; join them with the date to one column"
            self._note("time", what, "problem", "timestamp_format")
            return
        if self.reading.timestamp_format is not None:
            return
        form = times.formats[0]
        if len(times.formats) > 1:
            options = examples(times.example, times.formats)
            self.choices.append(ReadingChoice("timestamp_format", options))
            readings = " or ".join(f"with {form!r} {meaning}" for form, meaning in options)
            self._note("time", f"the format is ambiguous: {readings}; decide which is right", "choice")
        else:
            text = "ISO 8601" if form is None else f"the format {form!r}"
            century = "; years have two digits, 69 to 99 are 19.." if "%y" in (form or "") else ""
            self._note("time", f"{text}, such as {times.example[:40]!r}{century}", "choice" if form else "fact")
        self.reading = attrs.evolve(self.reading, timestamp_format=form)
        if times.unfit:
            text = f"{times.unfit:,} values have another format, such as {times.unfit_example[:40]!r}; fix the log"
            self._note("time", text, "problem")
        if 0 < times.zoned < 1:
            text = f"{times.zoned:.0%} have a time zone, the others are read as UTC, so that their order may be wrong"
            self._note("time zone", text, "problem")
        else:
            self._note("time zone", "all have one" if times.zoned else "none, read as UTC; only their order matters")

    def _is_clock(self, name: str) -> bool:
        """Return whether a column has times of day without a date."""
        if self._sample.schema[name] != pl.String:
            return False
        values = self._sample[name].drop_nulls().head(50)
        return len(values) > 0 and bool(values.str.contains(_CLOCK).all())

    def _named(self, role: Literal["case", "activity"], known: str | None) -> str | None:
        """Return the column to set for a role; None if it is known, or if there is none."""
        if known is not None:
            self._note(role, f"column {known!r}")
            return None
        possible = candidates(role, self.table.columns) or self._by_values(most=role == "case")
        if not possible:
            self._note(role, f"no column has the {role}; set {role}", "problem", role)
            return None
        self._say(role, possible[0], possible)
        return possible[0]

    def _by_values(self, *, most: bool) -> list[str]:
        """Return columns whose values repeat, those with the most or with the fewest different values first."""
        names = self.table.columns
        used = {self.case, self.timestamp, recognised("lifecycle", names), *self._of_time, *self._ends}
        used |= {*person_columns(names)}
        kinds = self.table.schema
        counts = {
            name: self._sample[name].n_unique()
            for name in names
            if name not in used and not (kinds[name].is_float() or kinds[name].is_temporal())
        }
        fit = [name for name, different in counts.items() if 1 < different < max(self._sample.height, 3)]
        return sorted(fit, key=lambda name: counts[name], reverse=most)

    def _completions(self, name: str) -> tuple[str, ...]:
        """Return the values that mean complete, if all values are transitions, and some mean that an activity begins."""
        if self._sample[name].n_unique() > _MOST_TRANSITIONS:
            return ()
        values = {text: plain(text) for text in self.table[name].drop_nulls().unique().sort() if text}
        ends = tuple(text for text, word in values.items() if _COMPLETES.fullmatch(word))
        kinds = [[bool(kind.fullmatch(word)) for kind in (_BEGINS, _COMPLETES, _OTHERS)] for word in values.values()]
        return ends if all(map(any, kinds)) and any(begins for begins, *_ in kinds) else ()

    def _lifecycle(self) -> None:
        """Propose to read every activity once, if there are beginnings and ends."""
        reading, standard = self.reading, recognised("lifecycle", self.table.columns)
        used = {self.case, self.timestamp, *reading.activity, self.activity, *(name for name, _ in reading.where)}
        if reading.lifecycle != "all" or standard in used - {None}:
            return
        found = [name for name in dict.fromkeys((standard, *self._ends)) if name is not None and name not in used]
        if not found:
            return
        name, ends = found[0], self._ends.get(found[0], ())
        counts = self.table[name].cast(pl.String).fill_null("").value_counts(sort=True)
        shown = ", ".join(f"{str(text)[:20] or 'none'} {number:,}" for text, number in counts.head(6).iter_rows())
        if not ends:
            self._note("lifecycle", f"column {name!r}: {shown}; all events are read")
            return
        if name == standard and set(ends) <= {*spellings("complete")}:
            self.reading, field = attrs.evolve(reading, lifecycle="complete"), "lifecycle"
            value = "'complete' (or 'pairs', for service times)"
        else:
            pairs = tuple((name, text) for text in ends)
            self.reading, field = attrs.evolve(reading, where=(*reading.where, *pairs)), "where"
            value = " and ".join(repr(f"{name}={text}") for text in ends)
        remedy = f"to read every activity once, set {field} to {value}; otherwise it is read several times"
        self._note("lifecycle", f"column {name[:40]!r}: {shown}; {remedy}", "choice", field)

    def _persons(self) -> None:
        """Find columns that are named like a person and have one value in every case."""
        found: dict[str, int] = {}
        for name in person_columns(self.table.columns):
            if self.case is None or name in (self.case, self.activity):
                continue
            pairs = pl.DataFrame({"case": self.table[self.case], "person": self.table[name]}).cast(pl.String)
            pairs = pairs.drop_nulls().filter(pl.col("person") != "").unique()
            cases, persons = pairs["case"].n_unique(), pairs["person"].n_unique()
            if several := pairs.group_by("case").len().filter(pl.col("len") > 1).height:
                text = f"{number_of(several, 'cases')} with several values: it is not one person per case"
                self._note("persons", f"column {name!r}: {text}")
                continue
            found[name] = persons
            some = "fewer values than cases" if persons < cases else "as many values as cases"
            text = f"column {name!r} may identify the person ({some}); to protect persons, set unit, and "
            self._note("persons", f"{text}choose max_cases without the log", "choice", "unit")
        self.people = sorted(found, key=lambda name: found[name])

    def _say(self, role: str, column: str, possible: Sequence[str]) -> None:
        others = ", ".join(repr(name[:40]) for name in possible if name != column)
        more = f"; it could also be {others}: check it" if others else ""
        self._note("time" if role == "timestamp" else role, f"column {column[:40]!r}{more}", "choice")

    def _note(self, topic: str, text: str, level: ObservationLevel = "fact", field: str = "") -> None:
        self.findings.append(Observation(topic, text, level, field))


def _preferred(possible: list[str]) -> str:
    """Return the column of completion times if there are several, else the first one that is not a start."""
    ends = [name for name in possible if any(word in plain(name) for word in _END_WORDS)]
    others = [name for name in possible if not any(word in plain(name) for word in _START_WORDS)]
    return (ends or others or possible)[0]


# --------------------------------------------------------------------------------------- what the rows are like

_CASE, _ACTIVITY, _ROW, _NUMBER, _TIED = "case", "activity", "row", "number", "tied"
_SHOWN, _SHUFFLED, _MOST = 3, 0.05, 0.9


class RowChecks:
    """Examines the rows, and adds to the reading what they need."""

    def __init__(self, table: pl.DataFrame, search: ColumnSearch, reading: Reading) -> None:
        self._table, self._search, self.reading = table, search, reading

    def findings(self) -> Iterator[Observation]:
        """Yield what the rows are like."""
        table, search = self._table, self._search
        case, activity, time = search.case, search.activity, search.timestamp
        yield Observation("rows in the file", f"{table.height:,}")
        yield from self._missing([name for name in (case, activity, time) if name is not None])
        yield from self._decimals([name for name in (case, activity, time, *search.people) if name is not None])
        if case is None or activity is None:
            return
        names: dict[str, pl.Series] = {}
        for role, name in ((_CASE, case), (_ACTIVITY, activity)):
            if not is_name_type(kind := table.schema[name]):
                text = f"column {name!r} has the type {kind}, whose values are not exact names; convert it to text"
                yield Observation("columns", text, "problem", role)
                return
            names[role] = _emptied(table[name].cast(pl.String))
        counted = {
            role: column.alias(role).drop_nulls().value_counts(sort=True, name=_NUMBER)
            for role, column in names.items()
        }
        cases, activities = counted[_CASE].height, counted[_ACTIVITY].height
        yield Observation("size", f"{number_of(cases, 'cases')}, {number_of(activities, 'activities')}")
        if time is not None and (moments := self._moments(time)) is not None:
            yield from self._order(names[_CASE], names[_ACTIVITY], moments)
        yield from _spellings(counted[_ACTIVITY])

    def _missing(self, needed: list[str]) -> Iterator[Observation]:
        people = [name for name in (self.reading.unit, *self._search.people) if name in self._table.columns]
        for name in dict.fromkeys((*needed, *people)):
            lacking = _emptied(self._table[name]).is_null()
            if number := int(lacking.sum()):
                cells = f"{number_of(number, 'cells missing')}, the first in row {int(lacking.arg_max() or 0) + 1:,}"
                what = "these events" if name in needed else "cases without a person"
                text = f"column {name!r}: {cells}; to leave out {what}, set on_missing to 'drop'"
                yield Observation("missing", text, "choice", "on_missing")
                self.reading = attrs.evolve(self.reading, on_missing="drop")

    def _decimals(self, used: list[str]) -> Iterator[Observation]:
        """Find numbers with decimal commas or marks between thousands, which need a setting."""
        if self.reading.decimal is not None:
            return
        for name in self._table.columns:
            if name in used or self._table.schema[name] != pl.String:
                continue
            values = _emptied(self._table[name]).drop_nulls()
            plain_ones = values.str.contains(ATTRIBUTE_NUMBER)
            fits = {mark: int(values.str.contains(form).sum()) for mark, form in LOCAL_NUMBERS.items()}
            best = max(fits, key=lambda mark: fits[mark])  # of equal ones the comma
            if plain_ones.sum() < fits[best] >= _MOST * len(values):
                example = str(values.filter(~plain_ones)[0])[:20]
                text = f"column {name[:40]!r} has numbers such as {example!r}; to release it in bins, set decimal to {best!r}"
                yield Observation("numbers", text, "choice", "decimal")
                self.reading = attrs.evolve(self.reading, decimal=best)
                return

    def _moments(self, name: str) -> pl.Series | None:
        column, form, times = self._table[name], self._search.reading.timestamp_format, self._search.times
        if times is not None and times.instants is not None and times.formats[0] == form:
            return times.instants
        if column.dtype != pl.String:
            return column
        texts = _emptied(column)
        parsed = recognised_instants(texts, form)
        return parsed if parsed.null_count() == texts.null_count() else None

    def _order(self, case: pl.Series, activity: pl.Series, time: pl.Series) -> Iterator[Observation]:
        """Report duplicates, simultaneous events and rows that are not in the order of time.

        Cases are compared by their hashes: 8 bytes instead of text for every event.
        """
        events = pl.DataFrame({_CASE: case.hash(), TIME: time}).with_row_index(_ROW)
        known = events.filter(case.is_not_null() & time.is_not_null()).sort(_CASE, maintain_order=True)
        follows = pl.col(_CASE) == pl.col(_CASE).shift()
        backward = follows & (pl.col(TIME) < pl.col(TIME).shift())
        steps, backwards = known.select(steps=follows.sum(), backwards=backward.sum()).row(0)
        if backwards:
            known = known.sort(_CASE, TIME)
        known = known.with_columns((follows & (pl.col(TIME) == pl.col(TIME).shift())).fill_null(False).alias(_TIED))
        groups = known.filter(pl.col(_TIED) | pl.col(_TIED).shift(-1))
        tied = int(groups[_TIED].sum())
        groups = groups.with_columns(activity.gather(groups[_ROW]).alias(_ACTIVITY))
        duplicates = groups.height - groups.n_unique(subset=[_CASE, TIME, _ACTIVITY])
        if duplicates:
            text = f"{number_of(duplicates, 'events')} of a case with the same activity and time as another; to read them once, "
            yield Observation("duplicates", text + "set duplicate_events to 'drop'", "choice", "duplicate_events")
        if backwards:
            text = f"{number_of(backwards, 'rows')} before an earlier row of the case; events are sorted by time"
            yield Observation("order", text)
        if tied > duplicates and self.reading.ties is None:
            text = f"{number_of(tied - duplicates, 'events')} at the same time as another activity of the case, "
            if backwards > _SHUFFLED * steps:
                text += "and the rows are not in order: the order of the file says nothing about them; set ties to 'activity'"
                self.reading = attrs.evolve(self.reading, ties="activity")
            else:
                text += "read in the order of the file; for another order, set ties to 'activity' or a column"
            yield Observation("ties", text, "choice", "ties")


def _emptied(column: pl.Series) -> pl.Series:
    """Return a column with null instead of empty text."""
    return column.set(column == "", None) if column.dtype == pl.String else column


def _spellings(activities: pl.DataFrame) -> Iterator[Observation]:
    counts = dict(activities.iter_rows())
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(plain(str(name)), []).append(str(name))
    several = [names for key, names in groups.items() if len(names) > 1 and key]
    if several:
        shown = "; ".join(
            " and ".join(f"{name[:30]!r} ({counts[name]:,})" for name in names[:3]) for names in several[:_SHOWN]
        )
        text = f"{number_of(len(several), 'activities')} in several spellings, as different activities: {shown}"
        yield Observation("spelling", text, "choice")
