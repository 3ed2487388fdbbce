"""Which column is the case, activity, time, lifecycle and person: by names, and where those do not decide, by values."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs
import polars as pl

from ...errors import number_of
from ..columns import candidates, person_columns, plain, recognised
from ..reading import Reading, spellings
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
        texts = [name for name in table.columns if table.schema[name] == pl.String]
        self._of_time = [name for name in texts if times_of(self._sample[name]).are_times]
        self._ends = {name: ends for name in texts if (ends := self._completions(name))}

    def find(self) -> Reading:
        """Return the reading with the columns, the time format and the transitions that are needed."""
        self._timestamp()
        self._case()
        self._activity()
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
            known = candidates("timestamp", names)
            typed = [column for column in names if self.table[column].dtype.is_temporal()]
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
        clocks = [each for each in self.table.columns if each != name and self._is_clock(each)]
        if clocks:
            text = f"column {clocks[0]!r} is a time of day: join it with the date to one column; as it is, events of one day"
            self._note("time", f"{text} are in the order of the file", "choice")
        self.times = times = times_of(column)
        if not times.are_times:
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
            text = (
                "all with a time zone" if times.zoned else "without a time zone, read as UTC; only their order matters"
            )
            self._note("time zone", text)

    def _is_clock(self, name: str) -> bool:
        """Return whether a column has times of day without a date."""
        if self._sample.schema[name] != pl.String:
            return False
        values = self._sample[name].drop_nulls().head(50)
        return len(values) > 0 and bool(values.str.contains(_CLOCK).all())

    def _case(self) -> None:
        if self.case is not None:
            self._note("case", f"column {self.case!r}")
            return
        possible = candidates("case", self.table.columns) or self._by_values(most=True)
        if not possible:
            self._note("case", "no column identifies cases; set case", "problem", "case")
            return
        self.reading = attrs.evolve(self.reading, case=possible[0])
        self._say("case", possible[0], possible)

    def _activity(self) -> None:
        if self.activity is not None:
            self._note("activity", f"column {self.activity!r}")
            return
        possible = candidates("activity", self.table.columns) or self._by_values(most=False)
        if not possible:
            self._note("activity", "no column of activities; set activity", "problem", "activity")
            return
        self.reading = attrs.evolve(self.reading, activity=(possible[0],))
        self._say("activity", possible[0], possible)

    def _by_values(self, *, most: bool) -> list[str]:
        """Return columns whose values repeat, those with the most or with the fewest different values first."""
        names = self.table.columns
        used = {self.case, self.timestamp, recognised("lifecycle", names), *self._of_time, *self._ends}
        used |= {*person_columns(names)}
        kinds = self.table.schema
        counts = {
            name: self._sample[name].n_unique()
            for name in names
            if name not in used and not (kinds[name].is_float() or kinds[name].is_temporal() or kinds[name].is_nested())
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
        try:
            counts = self.table[name].cast(pl.String).fill_null("").value_counts(sort=True)
        except pl.exceptions.PolarsError:
            kind = self.table.schema[name]
            self._note("columns", f"column {name!r} has the type {kind}, whose values are not names", "problem")
            return
        shown = ", ".join(f"{str(text)[:20] or 'none'} {number:,}" for text, number in counts.head(6).iter_rows())
        if not ends:
            self._note("lifecycle", f"column {name!r}: {shown}; all events are read")
            return
        if name == standard and set(ends) <= {*spellings("complete")}:
            self.reading, how, field = (
                attrs.evolve(reading, lifecycle="complete"),
                "lifecycle to 'complete' (or 'pairs', for service times)",
                "lifecycle",
            )
        else:
            pairs = tuple((name, text) for text in ends)
            self.reading, field = attrs.evolve(reading, where=(*reading.where, *pairs)), "where"
            how = f"where to {' and '.join(repr(f'{name}={text}') for text in ends)}"
        text = (
            f"column {name[:40]!r}: {shown}; to read every activity once, set {how}; otherwise it is read several times"
        )
        self._note("lifecycle", text, "choice", field)

    def _persons(self) -> None:
        """Find columns that are named like a person and have one value in every case."""
        found: dict[str, int] = {}
        for name in person_columns(self.table.columns):
            if self.case is None or name in (self.case, self.activity):
                continue
            columns = {"case": self.table[self.case], "person": self.table[name]}
            try:
                pairs = pl.DataFrame({role: column.cast(pl.String) for role, column in columns.items()}).drop_nulls()
            except pl.exceptions.PolarsError:  # lists, or bytes that are not UTF-8
                continue
            pairs = pairs.filter(pl.col("person") != "").unique()
            cases, persons = pairs["case"].n_unique(), pairs["person"].n_unique()
            if several := pairs.group_by("case").len().filter(pl.col("len") > 1).height:
                text = f"{number_of(several, 'cases')} with several values: it is not one person per case"
                self._note("persons", f"column {name!r}: {text}")
                continue
            found[name] = persons
            some = "fewer than cases, so that some have several" if persons < cases else "as many as cases"
            text = f"column {name!r} may identify the person ({persons:,} values, {some}); to protect persons, set unit, and "
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
