"""Which column is the case, activity, time, lifecycle and person, by names and values; and what the rows are like.

Rows are examined for missing cells, numbers, duplicates, ties, order and spellings, and how to read such rows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import polars as pl
import polars.selectors as cs

from ...errors import number_of
from ..columns import candidates, is_name_type, person_columns, plain, recognised
from ..instants import TIME, ZONED
from ..reading import ATTRIBUTE_NUMBER, LOCAL_NUMBERS
from .diagnosis import Findings
from .time_formats import meanings, times_of

_END_WORDS = re.compile("end|complet|fin|einde|fim|closed")
_START_WORDS = re.compile("start|begin|anfang|debut|inicio|inizio")
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
_CASE, _ACTIVITY = "case", "activity"
_SHOWN, _SHUFFLED, _MOST = 3, 0.05, 0.9

_Role = Literal["case", "activity", "timestamp"]

RowOrder = Literal["recorded", "unknown"]
"""Whether rows have an order; those of a database have none."""


class TableExamination:
    """Finds the columns of a table and examines its rows."""

    case: str | None = None
    activity: str | None = None
    timestamp: str | None = None
    _times: pl.Series | None = None

    def __init__(self, found: Findings, table: pl.DataFrame) -> None:
        self.found, self.table, self.names = found, table, table.columns
        self._sample = table.head(_SAMPLE)
        texts = table.select(cs.string()).columns
        self._of_time = [name for name in texts if times_of(self._sample[name]).formats]
        self._ends = {name: ends for name in texts if (ends := self._completions(name))}

    def columns(self) -> None:
        """Propose the columns, the time format and the transitions that are needed."""
        reading = self.found.reading
        if reading.order != "file":
            self.timestamp = self._column("timestamp", reading.timestamp)
        if self.timestamp is not None:
            self._times = self._instants(self.timestamp)
        self.case = self._column("case", reading.case)
        self.activity = self._column("activity", next(iter(reading.activity), None))
        self._lifecycle()
        if self.case is not None:
            self.found.people = self._persons(self.case)

    def _column(self, role: _Role, stated: str | None) -> str | None:
        """Return the column of a role, and propose it if it is not known."""
        found, topic = self.found, "time" if role == "timestamp" else role
        if (known := stated or recognised(role, self.names)) is not None:
            found.note(topic, f"column {known!r}")
            return known
        if possible := self._possible(role):
            best, *others = (name[:40] for name in possible)
            more = f"; it could also be {', '.join(map(repr, others))}: check it" if others else ""
            found.note(topic, f"column {best!r}{more}", "choice")
            found.propose(**{role: possible[0]})
            return possible[0]
        if role == "timestamp":
            found.propose(order="file")
            found.note(topic, "no column of times; the rows of every case must be in order in the file", "choice")
        else:
            found.note(topic, f"no column has the {role}; set {role}", "problem")
        return None

    def _possible(self, role: _Role) -> list[str]:
        """Return the columns that may have a role, the best one first: by their names, then by their values."""
        named = candidates(role, self.names)
        if role == "timestamp":
            typed = self.table.select(cs.temporal()).columns
            possible = [name for name in named if name in self._of_time] or named or typed or self._of_time
            words = {name: plain(name) for name in possible}
            return sorted(
                possible, key=lambda name: (not _END_WORDS.search(words[name]), bool(_START_WORDS.search(words[name])))
            )
        if named:
            return named
        known = {self.case, self.timestamp, recognised("lifecycle", self.names), *person_columns(self.names)}
        used = known.union(self._of_time, self._ends)
        exact = self.table.select(~(cs.float() | cs.temporal())).columns
        counts = {name: self._sample[name].n_unique() for name in exact if name not in used}
        fit = [name for name, different in counts.items() if 1 < different < max(self._sample.height, 3)]
        return sorted(fit, key=lambda name: counts[name], reverse=role == "case")

    def _instants(self, name: str) -> pl.Series | None:
        """Say which format times have, and return them, if all of them have it."""
        found, column = self.found, self.table[name]
        if column.dtype != pl.String:
            found.note("time", f"of type {column.dtype}; no format is needed")
            return column
        if clocks := [each for each in self.names if each != name and self._is_clock(each)]:
            text = f"column {clocks[0]!r} is a time of day; join it with the date to one column"
            found.note("time", text, "choice")
        if column.is_empty():  # a log without events is released, too
            return None
        times = times_of(column, stated := found.reading.timestamp_format)
        if not times.formats:
            what = "no date; join them with the date to one column" if self._is_clock(name) else "no known format"
            text = f"values such as {times.example[:40]!r} have {what}; set timestamp_format"
            found.note("time", text, "problem")
            return None
        form = times.formats[0]
        if len(times.formats) > 1:
            options = found.choices["timestamp_format"] = meanings(times.example, times.formats)
            readings = " or ".join(f"with {form!r} {meaning}" for form, meaning in options.items())
            found.note("time", f"the format is ambiguous: {readings}; decide which is right", "choice")
        elif stated is None:
            text = "ISO 8601" if form is None else f"the format {form!r}"
            century = "; years have two digits, 69 to 99 are 19.." if "%y" in (form or "") else ""
            found.note("time", f"{text}, such as {times.example[:40]!r}{century}", "choice" if form else "fact")
        found.propose(timestamp_format=form)
        if len(times.unfit):
            text = (
                f"{len(times.unfit):,} values have another format, such as {str(times.unfit.min())[:40]!r}; fix the log"
            )
            found.note("time", text, "problem")
        zoned = _emptied(column).str.contains(ZONED).drop_nulls()
        if zoned.any() and not zoned.all():
            text = f"{zoned.sum():,} have a time zone, the others are read as UTC, so that their order may be wrong"
            found.note("time zone", text, "problem")
        else:
            found.note("time zone", "all have one" if zoned.any() else "none, read as UTC; only their order matters")
        return times.instants

    def _is_clock(self, name: str) -> bool:
        """Return whether a column has times of day without a date."""
        if self._sample.schema[name] != pl.String:
            return False
        values = self._sample[name].drop_nulls().head(50)
        return len(values) > 0 and values.str.contains(_CLOCK).all()

    def _completions(self, name: str) -> tuple[str, ...]:
        """Return the values that mean complete, if all values are transitions, and some mean that an activity begins."""
        if self._sample[name].n_unique() > _MOST_TRANSITIONS:
            return ()
        words = {text: plain(text) for text in self.table[name].drop_nulls().unique().sort() if text}
        begins, ends, others = (
            tuple(text for text, word in words.items() if kind.fullmatch(word))
            for kind in (_BEGINS, _COMPLETES, _OTHERS)
        )
        return ends if begins and {*begins, *ends, *others} == words.keys() else ()

    def _lifecycle(self) -> None:
        """Propose to read every activity once, if there are beginnings and ends."""
        reading, standard = self.found.reading, recognised("lifecycle", self.names)
        used = {self.case, self.timestamp, *reading.activity, self.activity, *(name for name, _ in reading.where)}
        name = standard or next((name for name in self._ends if name not in used), None)
        if name is None or name in used or reading.lifecycle != "all":
            return
        counts = self.table[name].cast(pl.String).fill_null("").value_counts(sort=True)
        shown = ", ".join(f"{str(text)[:20] or 'none'} {number:,}" for text, number in counts.head(6).iter_rows())
        ends = self._ends.get(name, ())
        if not ends:
            self.found.note("lifecycle", f"column {name!r}: {shown}; all events are read")
            return
        if name == standard and {each.lower() for each in ends} <= {"complete"}:
            field, value = "lifecycle", "'complete' (or 'pairs', for service times)"
            self.found.propose(lifecycle="complete")
        else:
            field, value = "where", " and ".join(repr(f"{name}={text}") for text in ends)
            self.found.propose(where=(*reading.where, *((name, text) for text in ends)))
        remedy = f"to read every activity once, set {field} to {value}; otherwise it is read several times"
        self.found.note("lifecycle", f"column {name[:40]!r}: {shown}; {remedy}", "choice")

    def _persons(self, case: str) -> list[str]:
        """Return the columns that are named like a person and have one value in every case."""
        found: dict[str, int] = {}
        for name in person_columns(self.names):
            if name in (case, self.activity):
                continue
            pairs = pl.DataFrame({"case": self.table[case], "person": self.table[name]}).cast(pl.String)
            pairs = pairs.drop_nulls().filter(pl.col("person") != "").unique()
            cases, persons = pairs["case"].n_unique(), pairs["person"].n_unique()
            if cases < pairs.height:
                self.found.note("persons", f"column {name!r}: a case has several values: it is not one person per case")
                continue
            found[name] = persons
            some = "fewer values than cases" if persons < cases else "as many values as cases"
            text = f"column {name!r} may identify the person ({some}); to protect persons, set unit, and "
            self.found.note("persons", f"{text}choose max_cases without the log", "choice")
        return sorted(found, key=lambda name: found[name])

    # ------------------------------------------------------------------------------------------------ the rows

    def rows(self, order: RowOrder) -> None:
        """Propose what the rows need."""
        found, columns = self.found, (self.case, self.activity, self.timestamp)
        found.note("rows in the file", f"{self.table.height:,}")
        needed = [name for name in columns if name is not None]
        self._missing(needed)
        self._decimals([*needed, *found.people])
        if self.case is None or self.activity is None:
            return
        for name in (self.case, self.activity):
            if not is_name_type(kind := self.table.schema[name]):
                text = f"column {name!r} has the type {kind}, whose values are not exact names; convert it to text"
                found.note("columns", text, "problem")
                return
        case, activity = (_emptied(self.table[name].cast(pl.String)) for name in (self.case, self.activity))
        activities = activity.drop_nulls().value_counts(sort=True)
        cases = number_of(case.drop_nulls().n_unique(), "cases")
        found.note("size", f"{cases}, {number_of(activities.height, 'activities')}")
        if self._times is not None:
            self._order(case, activity, self._times, order)
        self._spellings(activities)

    def _missing(self, needed: Sequence[str]) -> None:
        people = [name for name in (self.found.reading.unit, *self.found.people) if name in self.names]
        for name in dict.fromkeys((*needed, *people)):
            lacking = _emptied(self.table[name]).is_null()
            if number := int(lacking.sum()):
                cells = f"{number_of(number, 'cells missing')}, the first in row {int(lacking.arg_max() or 0) + 1:,}"
                what = "these events" if name in needed else "cases without a person"
                text = f"column {name!r}: {cells}; to leave out {what}, set on_missing to 'drop'"
                self.found.note("missing", text, "choice")
                self.found.propose(on_missing="drop")

    def _decimals(self, used: Sequence[str]) -> None:
        """Find numbers with decimal commas or marks between thousands, which need a setting."""
        if self.found.reading.decimal is not None:
            return
        for name in self.table.select(cs.string()).columns:
            if name in used:
                continue
            values = _emptied(self.table[name]).drop_nulls()
            plain_ones = values.str.contains(ATTRIBUTE_NUMBER)
            fits = {mark: int(values.str.contains(form).sum()) for mark, form in LOCAL_NUMBERS.items()}
            best = max(fits, key=lambda mark: fits[mark])  # of equal ones the comma
            if plain_ones.sum() < fits[best] >= _MOST * len(values):
                example = str(values.filter(~plain_ones)[0])[:20]
                text = f"column {name[:40]!r} has numbers such as {example!r}; to release it in bins, set decimal to {best!r}"
                self.found.note("numbers", text, "choice")
                self.found.propose(decimal=best)
                return

    def _order(self, case: pl.Series, activity: pl.Series, time: pl.Series, order: RowOrder) -> None:
        """Report duplicates, simultaneous events and rows that are not in the order of time.

        Names are compared by their hashes: 8 bytes instead of text for every event.
        """
        events = pl.DataFrame({_CASE: case.hash(), TIME: time, _ACTIVITY: activity.hash()})
        events = events.filter(case.is_not_null() & time.is_not_null()).sort(_CASE, maintain_order=True)
        same_case, same_time, same_activity = (pl.col(name) == pl.col(name).shift() for name in events.columns)
        backward = same_case & (pl.col(TIME) < pl.col(TIME).shift())
        steps, backwards = events.select(steps=same_case.sum(), backwards=backward.sum()).row(0)
        at_once = same_case & same_time
        tied, duplicates = (
            events.sort(events.columns).select(tied=at_once.sum(), same=(at_once & same_activity).sum()).row(0)
        )
        if duplicates:
            text = f"{number_of(duplicates, 'events')} of a case with the same activity and time as another; to read them once, "
            self.found.note("duplicates", text + "set duplicate_events to 'drop'", "choice")
        if order == "unknown":
            return
        if backwards:
            text = f"{number_of(backwards, 'rows')} before an earlier row of the case; events are sorted by time"
            self.found.note("order", text)
        if tied > duplicates and self.found.reading.ties is None:
            text = f"{number_of(tied - duplicates, 'events')} at the same time as another activity of the case, "
            if backwards > _SHUFFLED * steps:
                text += "and the rows are not in order: the order of the file says nothing about them; set ties to 'activity'"
                self.found.propose(ties="activity")
            else:
                text += "read in the order of the file; for another order, set ties to 'activity' or a column"
            self.found.note("ties", text, "choice")

    def _spellings(self, activities: pl.DataFrame) -> None:
        groups = defaultdict(list)
        for name, number in activities.iter_rows():
            groups[plain(name)].append(f"{name[:30]!r} ({number:,})")
        several = [names for key, names in groups.items() if len(names) > 1 and key]
        if several:
            shown = "; ".join(" and ".join(names[:_SHOWN]) for names in several[:_SHOWN])
            text = f"{number_of(len(several), 'activities')} in several spellings, as different activities: {shown}"
            self.found.note("spelling", text, "choice")


def _emptied(column: pl.Series) -> pl.Series:
    """Return a column with null instead of empty text."""
    return column.set(column == "", None) if column.dtype == pl.String else column
