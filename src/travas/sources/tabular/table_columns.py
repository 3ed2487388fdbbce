"""The columns of one table: set in the reading, or recognised by their usual names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import LogError
from ...model.totals import Details
from ...model.variants import Roles
from ..reading import Reading
from ..row_selection import by_column
from ..wording import available_names
from .column_names import candidates, recognised

_LONGEST_NAME = 60


@dataclass(frozen=True)
class Columns:
    """The columns of one table, set or recognised."""

    case: str
    activities: tuple[str, ...]
    timestamp: str | None
    ties: str | None
    unit: str | None
    by_time: bool
    details: Details
    lifecycle: str | None = None
    where: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of all case attributes, those with names before those with numbers."""
        return (*self.details.attributes, *self.details.numbers)

    @property
    def roles(self) -> Roles:
        """The columns as stated in the guarantee file and the ledger."""
        return Roles(self.case, self.activities, self.timestamp, self.lifecycle)

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read, each once."""
        single = (self.case, *self.activities, self.timestamp, self.ties, self.unit, self.lifecycle)
        return [name for name in dict.fromkeys((*single, *self.attributes, *self.where)) if name is not None]

    @classmethod
    def of(cls, reading: Reading, present: Sequence[str], where: str) -> Columns:
        """Map the reading onto the columns of a table. All columns that are missing are named in one error."""
        search = _Search(present)
        case = search.column(reading.case, "case")
        activities = tuple(search.column(name, "activity") for name in reading.activities or (None,))
        timestamp: str | None = None
        has_times = (reading.timestamp or recognised("timestamp", present)) in present
        details = reading.details.settled("recorded" if has_times else "not recorded")
        if reading.by_time() or details.times == "read":
            timestamp = search.column(reading.timestamp, "timestamp")
        elif reading.order is None and (timestamp := recognised("timestamp", present)) is None:
            search.no_timestamp()
        ties = None if (tie := reading.tie_column()) is None else search.column(tie, "ties")
        unit = None if reading.unit is None else search.column(reading.unit, "unit")
        for name in details.attributes:
            search.column(name, "attribute", "attributes")
        for name in details.numbers:
            search.column(name, "attribute", "bins")
        lifecycle = None if reading.lifecycle == "all" else search.column(None, "lifecycle")
        selected = tuple(search.column(name, "where") for name in by_column(reading.where))
        search.check(where)
        by_time = timestamp is not None and reading.order != "file"
        return cls(case, activities, timestamp, ties, unit, by_time, details, lifecycle, selected)


class _Search:
    """Finds columns, and collects what is missing for one error."""

    def __init__(self, present: Sequence[str]) -> None:
        self._present = present
        self._problems: list[tuple[str, str]] = []  # (field, problem)
        self._missing = ""

    def column(self, name_set: str | None, role: str, field: str = "") -> str:
        """Return the column of a role. `field` is the parameter that sets it, if it is not named like the role."""
        name = name_set if name_set is not None else recognised(role, self._present)
        if name is not None and name in self._present:
            return name
        if name_set is not None:
            self._problems.append((field or role, f"no column {name_set!r} for the {role}"))
            self._missing = self._missing or name_set
        elif several := candidates(role, self._present):
            shown_names = " or ".join(repr(name[:_LONGEST_NAME]) for name in several[:4])
            self._problems.append((role, f"the {role} column may be {shown_names}; set {role}"))
        else:
            self._problems.append((role, f"no {role} column recognised; set {role}"))
        return ""

    def no_timestamp(self) -> None:
        self.column(None, "timestamp")
        _, problem = self._problems.pop()
        self._problems.append(("order", f"{problem}, or set order to 'file' if the rows of every case are in order"))

    def check(self, where: str) -> None:
        """Raise LogError with everything that is missing."""
        if not self._problems:
            return
        field, *others = dict.fromkeys(field for field, _ in self._problems)
        problems = "; ".join(dict.fromkeys(problem for _, problem in self._problems))
        raise LogError(
            f"{where}: {problems}; {available_names(self._present, 30, self._missing)}",
            field=field,
            other_fields=tuple(others),
        )


def lifecycle_note(reading: Reading, present: Sequence[str]) -> tuple[str, ...]:
    """Return a note if a log has transitions and all of them are read; by the names of its columns alone."""
    column = recognised("lifecycle", present)
    if reading.lifecycle != "all" or column is None or column in reading.activities:
        return ()
    return (
        f"the log has the lifecycle column {column[:_LONGEST_NAME]!r} and all its events are read; if an activity has a "
        "start and a complete event, set lifecycle to 'complete' or 'start'",
    )
