"""Which column is the case, the activity and the time: by names, and where those do not decide, by values."""

from __future__ import annotations

import attrs
import polars as pl

from ..column_names import candidates, plain, recognised
from ..reading import Reading
from .diagnosis import Observation, ObservationLevel, ReadingChoice
from .time_formats import TimeValues, examples, times_of

_END_WORDS = ("end", "complete", "ende", "fin", "einde", "fim", "fine", "completion", "closed")
_START_WORDS = ("start", "begin", "anfang", "debut", "inicio", "inizio")
UNIT_WORDS = (
    "patient", "patientid", "patientin", "patientennummer", "patientennr", "patientenid", "patientnumber", "patientno",
    "mrn", "kunde", "kundennummer", "kundennr", "kundenid", "personalnummer", "versichertennummer", "customer", "customerid",
    "client", "clientid", "person", "personid", "personnummer", "user", "userid", "cliente", "paziente", "paciente", "klant",
    "klantnummer", "burger", "bsn", "mitarbeiter", "employee", "employeeid", "versicherter", "accountid", "contactid",
)  # fmt: skip
_SAMPLE = 20_000


class ColumnSearch:
    """Finds the columns of a table of text and collects what there is to say about them."""

    def __init__(self, table: pl.DataFrame, reading: Reading) -> None:
        self._table, self.reading = table, reading
        self.findings: list[Observation] = []
        self.choices: list[ReadingChoice] = []
        self.times: TimeValues | None = None
        self._sample = table.head(_SAMPLE)
        self._of_time = {name: times for name in table.columns if (times := self._times(name)).are_times}

    def find(self) -> Reading:
        """Return the reading with the columns and the time format that are needed."""
        self._timestamp()
        self._case()
        self._activity()
        return self.reading

    def unit_columns(self) -> list[str]:
        """Return the columns whose names suggest a person."""
        return [name for name in self._table.columns if plain(name.removeprefix("case:")) in UNIT_WORDS]

    def _times(self, name: str) -> TimeValues:
        column = self._sample[name]
        return times_of(column) if column.dtype == pl.String else TimeValues((), "")

    def _timestamp(self) -> None:
        reading, names = self.reading, self._table.columns
        if reading.order == "file":
            return
        name = reading.timestamp or recognised("timestamp", names)
        typed = [column for column in names if self._table[column].dtype.is_temporal()]
        if name is None:
            known = candidates("timestamp", names)
            possible = [column for column in known if column in self._of_time] or known or typed or list(self._of_time)
            if not possible:
                self.reading = attrs.evolve(reading, order="file")
                self._note("time", "no column of times; the rows of every case must be in order in the file", "choice")
                return
            name = _preferred(possible)
            self.reading = attrs.evolve(reading, timestamp=name)
            self._say("timestamp", name, possible)
            self._separate_clock(name)
        else:
            self._note("time", f"column {name!r}")
        self._format(name)

    def _separate_clock(self, name: str) -> None:
        """Report a date whose time of day is in another column."""
        clocks = [
            column
            for column in self._table.columns
            if column != name
            and self._sample[column].dtype == pl.String
            and bool(
                self._sample[column].drop_nulls().head(50).str.contains(r"^[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?$").all()
            )
            and self._sample[column].drop_nulls().len() > 0
        ]
        if clocks:
            self._note(
                "time",
                f"column {clocks[0]!r} is a time of day: join it with the date to one column; as it is, events of one "
                "day are in the order of the file",
                "choice",
            )

    def _format(self, name: str) -> None:
        column = self._table[name]
        if column.dtype != pl.String:
            self._note("time", f"of type {column.dtype}; no format is needed")
            return
        times = times_of(column)
        self.times = times
        if not times.are_times:
            self._note(
                "time",
                f"values such as {times.example[:40]!r} have no known format; set timestamp_format",
                "problem",
                "timestamp_format",
            )
            return
        if self.reading.timestamp_format is not None:
            return
        if len(times.formats) > 1:
            options = examples(times.example, times.formats)
            self.choices.append(ReadingChoice("timestamp_format", options))
            readings = " or ".join(f"with {form!r} {meaning}" for form, meaning in options)
            self._note("time", f"the format is ambiguous: {readings}; decide which is right", "choice")
        else:
            form = times.formats[0]
            text = "ISO 8601" if form is None else f"the format {form!r}"
            self._note("time", f"{text}, such as {times.example[:40]!r}", "choice" if form else "fact")
        self.reading = attrs.evolve(self.reading, timestamp_format=times.formats[0])
        if times.unfit:
            self._note(
                "time",
                f"{times.unfit:,} values are not of this format, such as {times.unfit_example[:40]!r}",
                "problem",
            )
        zone = (
            "all with a time zone" if times.zoned == 1 else "without a time zone, read as UTC; only their order matters"
        )
        if 0 < times.zoned < 1:
            zone = f"{times.zoned:.0%} have a time zone, the others are read as UTC, so that their order may be wrong"
        self._note("time zone", zone, "problem" if 0 < times.zoned < 1 else "fact")

    def _case(self) -> None:
        names = self._table.columns
        if (name := self.reading.case or recognised("case", names)) is not None:
            self._note("case", f"column {name!r}")
            return
        possible = candidates("case", names) or self._by_values(most=True)
        if not possible:
            self._note("case", "no column identifies cases; set case", "problem", "case")
            return
        self.reading = attrs.evolve(self.reading, case=possible[0])
        self._say("case", possible[0], possible)

    def _activity(self) -> None:
        names = self._table.columns
        name = self.reading.activity[0] if self.reading.activity else recognised("activity", names)
        if name is not None:
            self._note("activity", f"column {name!r}")
            return
        possible = candidates("activity", names) or self._by_values(most=False)
        if not possible:
            self._note("activity", "no column of activities; set activity", "problem", "activity")
            return
        self.reading = attrs.evolve(self.reading, activity=(possible[0],))
        self._say("activity", possible[0], possible)

    def _by_values(self, *, most: bool) -> list[str]:
        """Return columns whose values repeat, those with the most or with the fewest different values first."""
        used = {self.reading.case, self.reading.timestamp, recognised("timestamp", self._table.columns)}
        used |= {recognised("lifecycle", self._table.columns), *self._of_time}
        number = self._sample.height
        counts = {}
        for name in self._table.columns:
            kind = self._sample[name].dtype
            if name not in used and not kind.is_float() and not kind.is_temporal() and not kind.is_nested():
                counts[name] = self._sample[name].n_unique()
        fit = [name for name, different in counts.items() if 1 < different < max(number, 3)]
        return sorted(fit, key=lambda name: counts[name], reverse=most)

    def _say(self, role: str, column: str, possible: list[str]) -> None:
        others = ", ".join(repr(name[:40]) for name in possible if name != column)
        more = f"; it could also be {others}: check it" if others else ""
        topic = "time" if role == "timestamp" else role
        self._note(topic, f"column {column[:40]!r}{more}", "choice")

    def _note(self, topic: str, text: str, level: ObservationLevel = "fact", field: str = "") -> None:
        self.findings.append(Observation(topic, text, level, field))


def _preferred(possible: list[str]) -> str:
    """Return the column of completion times if there are several, else the first one that is not a start."""
    ends = [name for name in possible if any(word in plain(name) for word in _END_WORDS)]
    others = [name for name in possible if not any(word in plain(name) for word in _START_WORDS)]
    return (ends or others or possible)[0]
