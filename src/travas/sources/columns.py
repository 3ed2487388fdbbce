"""How the events of a file become variants: which columns, which order. Everything here is a rule case by case."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, get_args

from ..errors import CONFIDENTIAL, LogError, ParameterError, shown
from ..model.abstraction import FULL, Abstraction
from ..model.variants import Roles
from ..privacy.guarantee import ONE_CASE, Counted, PrivacyUnit
from .encodings import check_encoding
from .timestamps import check_format

Order = Literal["file", "time"]
OnMissing = Literal["fail", "drop"]
DuplicateCases = Literal["fail", "separate", "merge"]

CASE = "case:concept:name"
ACTIVITY = "concept:name"
TIMESTAMP = "time:timestamp"
BY_QUERY = (
    "the log was read by a query, which must work case by case: what it selects of a case depends on that case alone"
)

_USUAL = {
    "case": (CASE, "case_id", "caseid", "case"),
    "activity": (ACTIVITY, "activity"),
    "timestamp": (TIMESTAMP, "timestamp"),
}


_LONGEST_NAME = 60
_SETTINGS = (
    "case", "timestamp", "timestamp_format", "order", "ties", "on_missing", "duplicate_cases", "unit", "max_cases",
    "counted", "table",
)  # fmt: skip
_DESCRIBED = ("activities", "abstraction", "query", "columns", "recognised")

QUERY_USED = "a query was used"
"""What a description says of a query: its text may name persons."""


@dataclass(frozen=True)
class Reading:
    """The rule from events to variants. What is None is found: columns by their usual names, the rest by the file.

    `order`: `file` (default for XES) or `time` (default for tables). A table without a recognised timestamp needs one
    of `timestamp` and `order="file"`.
    `ties`, for events of one case at one time: `file` (default for files), `activity` (by name; default where rows have
    no order: databases, Spark) or a column.
    `on_missing`: events without a case, an activity or, where needed, a timestamp; cases without a unit.
    `duplicate_cases`: several traces of one name in XES.
    `abstraction`: a public rule on every trace before counting; a text such as `first | prefix:8` is parsed.
    `unit`: the column (in XES: trace attribute) that tells whose a case is; at most `max_cases` of one unit count, by the
    rule of `logs.units`. `counted`: None is what the mechanism needs, or else units. `table` or `query`: of a database.
    """

    case: str | None = None
    activities: tuple[str, ...] = ()
    timestamp: str | None = None
    timestamp_format: str | None = None
    order: Order | None = None
    ties: str | None = None
    on_missing: OnMissing = "fail"
    duplicate_cases: DuplicateCases = "fail"
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    abstraction: Abstraction = FULL
    unit: str | None = None
    max_cases: int | None = None
    counted: Counted | None = None
    table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (("order", Order), ("on_missing", OnMissing), ("duplicate_cases", DuplicateCases)):
            value = getattr(self, name)
            if value not in get_args(choices) and not (value is None and name == "order"):
                raise ParameterError(f"{name} is {shown(value)}: use one of {', '.join(get_args(choices))}")
        for name in ("delimiter", "quote"):
            value = getattr(self, name)
            one = value is None or (
                isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\r\n"
            )
            if not one and (name, value) != ("quote", "none"):
                hint = ", or 'none' if nothing is quoted" if name == "quote" else ""
                raise ParameterError(
                    f"{name} is {shown(value)}; set one ASCII character that is no line break{hint}", field=name
                )
        self._check_unit()
        for column in (self.case, *self.activities, self.timestamp, self.ties):
            if column == "":
                raise ParameterError("a column is named '': give the name of a column")
        if len(set(self.activities)) != len(self.activities):
            raise ParameterError(f"activity columns are {self.activities}: one is named twice")
        if any(name in (CASE, TIMESTAMP) for name in released_columns(self.activities)):
            raise ParameterError(
                f"activity columns are {self.activities}: {CASE} and {TIMESTAMP} cannot be part of one"
            )
        if self.table is not None and self.query is not None:
            raise ParameterError("table and query are both given: the log is one of them")
        if self.order == "file" and self.ties not in (None, "file"):
            raise ParameterError(f"ties is {self.ties!r} but order is 'file', which has no ties: give --order time")
        if isinstance(self.abstraction, str):
            object.__setattr__(self, "abstraction", Abstraction.parse(self.abstraction))
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.timestamp_format is not None:
            check_format(self.timestamp_format)

    def _check_unit(self) -> None:
        if self.counted is not None and self.counted not in get_args(Counted):
            raise ParameterError(f"counted is {self.counted!r}: take one of {', '.join(get_args(Counted))}")
        if self.unit is None:
            if self.max_cases is not None or self.counted is not None:
                raise ParameterError(f"max_cases is {self.max_cases}, but of whom? Give --unit COLUMN, too")
            return
        if self.max_cases is None:
            raise ParameterError(
                f"unit is {self.unit!r}, but how many cases of one count? Give --max-cases, too: a number that is fixed "
                "without looking at the log"
            )
        if self.unit == "case":
            raise ParameterError("unit is 'case', which is the word for no unit: rename the column, or leave it out")
        if self.duplicate_cases == "separate":
            raise ParameterError(
                f"unit is {self.unit!r}, but with duplicate_cases separate cases have no names of their own to choose by: "
                "take merge, or leave out the unit"
            )
        _ = self.privacy_unit  # refused here if it makes no sense

    @property
    def privacy_unit(self) -> PrivacyUnit:
        """Whom the counts can be made to protect."""
        if self.unit is None or self.max_cases is None:
            return ONE_CASE
        return PrivacyUnit(self.unit, self.max_cases)

    @property
    def counts_of(self) -> Counted:
        """What is counted: cases if they are the unit, else units unless told otherwise."""
        return "cases" if self.unit is None else self.counted or "units"

    def for_counts_of(self, counted: Counted | None) -> Reading:
        """The same, counting what a mechanism needs; refused if it was told otherwise, or its abstraction forbids it."""
        if self.unit is None or counted is None:
            return self
        if self.counted not in (None, counted):
            raise ParameterError(f"counted is {self.counted!r}, but this mechanism needs {counted}: leave it out")
        self.abstraction.check(self.privacy_unit, counted)
        return replace(self, counted=counted)

    def describe(self, roles: Roles) -> dict[str, Any]:
        """The whole rule from events to variants as plain values, for the guarantee file.

        Args:
            roles: The columns that were read, given or recognised.

        Returns:
            Every setting by its name; None where it was not set. `columns` has what was read, and `recognised` the names
            by which a column that was not set is found. Of a query it says only that there is one: its text may name
            persons.
        """
        settings = {name: getattr(self, name) for name in _SETTINGS}
        return settings | {
            "activities": list(self.activities),
            "abstraction": self.abstraction.as_json(),
            "query": None if self.query is None else QUERY_USED,
            "columns": {"case": roles.case, "activities": list(roles.activities), "timestamp": roles.timestamp},
            "recognised": {role: list(names) for role, names in _USUAL.items()},
        }

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Reading:
        """The reading that `describe` described, but for its query. ParameterError if it makes no sense."""
        if not isinstance(description, Mapping) or set(description) != {*_SETTINGS, *_DESCRIBED}:
            raise ParameterError("the reading is not described completely", field="reading")
        settings: dict[str, Any] = {name: description[name] for name in _SETTINGS}
        for name, value in settings.items():
            if value is not None and not isinstance(value, int if name == "max_cases" else str):
                raise ParameterError(f"the reading has {name} = {shown(value)}", field=name)
        activities = description["activities"]
        if not isinstance(activities, list) or not all(isinstance(name, str) for name in activities):
            raise ParameterError("the reading has activities that are no texts", field="activities")
        _check_roles(description["columns"])
        return cls(
            activities=tuple(activities), abstraction=Abstraction.from_json(description["abstraction"]), **settings
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee rests on that nobody can check: docs/reading.md, lemma 9."""
        return () if self.query is None else (BY_QUERY,)

    def by_time(self) -> bool:
        """Whether time orders the events: where asked for, also by naming a timestamp or ties."""
        if self.order is None:
            return self.timestamp is not None or self.ties not in (None, "file")
        return self.order == "time"

    def tie_column(self) -> str | None:
        """The column that orders the events of one time, if it is one."""
        return None if self.ties in ("file", "activity") else self.ties


def released_columns(activities: tuple[str, ...]) -> tuple[str, ...]:
    """The names under which activities are written: their own, but one must be pm4py's `concept:name`."""
    return activities if ACTIVITY in activities else (ACTIVITY, *activities[1:])


def _check_roles(described: Any) -> None:
    """Refuse described columns that are not what `Reading.describe` writes."""
    known = isinstance(described, Mapping) and set(described) == {"case", "activities", "timestamp"}
    if not known or not isinstance(described["case"], str) or not isinstance(described["activities"], list):
        raise ParameterError("the reading does not state the columns that were read", field="reading")


DEFAULT_READING = Reading()


@dataclass(frozen=True)
class Columns:
    """The columns of one table, found or given."""

    case: str
    activities: tuple[str, ...]
    timestamp: str | None
    ties: str | None
    unit: str | None

    @property
    def roles(self) -> Roles:
        """What the guarantee file and the ledger say about them."""
        return Roles(self.case, self.activities, self.timestamp)

    @classmethod
    def of(cls, reading: Reading, present: Sequence[str], where: str) -> Columns:
        """Map the reading onto the columns that are there."""
        case = _column(reading.case, "case", present, where)
        activities = reading.activities or (_column(None, "activity", present, where),)
        for name in activities:
            _column(name, "activity", present, where)
        timestamp: str | None = None
        if reading.by_time():
            timestamp = _column(reading.timestamp, "timestamp", present, where)
        elif reading.order is None and (timestamp := recognised("timestamp", present)) is None:
            raise LogError(
                f"{where}: no column for the timestamp recognised; set timestamp, or set order to 'file' if the rows of "
                f"every case are in order; {there_are(present, 30)}",
                field="order",
            )
        ties = reading.tie_column()
        if ties is not None:
            _column(ties, "ties", present, where)
        unit = None if reading.unit is None else _column(reading.unit, "unit", present, where)
        return cls(case, activities, timestamp, ties, unit)


def recognised(role: str, present: Sequence[str]) -> str | None:
    """The column of this role (case, activity, timestamp) by its usual names, if there is one."""
    for usual in _USUAL[role]:
        if usual in present:
            return usual
    plain = {re.sub(r"[ _:-]", "", name).lower(): name for name in reversed(present)}
    for usual in _USUAL[role]:
        if (name := plain.get(re.sub(r"[ _:-]", "", usual))) is not None:
            return name
    return None


def _column(given: str | None, role: str, present: Sequence[str], where: str) -> str:
    name = given if given is not None else recognised(role, present)
    if name is not None and name in present:
        return name
    if given is None:
        raise LogError(f"{where}: no column for the {role} recognised; give --{role} NAME; {there_are(present, 30)}")
    raise LogError(f"{where}: no column {given!r} for the {role}; {there_are(present, 30, given)}")


def there_are(present: Sequence[str], most: int, given: str = "") -> str:
    """The end of a message about a name that is not there: the nearest, and those that are."""
    names = [name[:_LONGEST_NAME] for name in present]  # of a log without a header, a name can be a whole row or more
    near = get_close_matches(given, names, n=1)
    hint = f"did you mean {near[0]!r}? There are" if near else "there are"
    return f"{hint} {', '.join(map(repr, names[:most]))}{', …' if len(names) > most else ''} {CONFIDENTIAL}"


def some(number: int, what: str) -> str:
    """`1 event without …`, `2 events without …`: `what` begins with the plural."""
    plural, space, rest = what.partition(" ")
    return f"{number:,} {plural.removesuffix('s') if number == 1 else plural}{space}{rest}"


def left_out(number: int, what: str) -> str:
    """A note about what is not in the variants."""
    return f"{some(number, what)} {'was' if number == 1 else 'were'} left out"


NO_EVENTS = "the log has no events; check that it is the right one"
"""A note, not a refusal: whether a log is empty may depend on one case."""


def missing_message(where: str, what: str, number: int, first: str, drop: str) -> str:
    """One line about values that are not there: how many, the first, and the way out."""
    return f"{where}: {some(number, what)}, the first at {first}; mend the log, or {drop} {CONFIDENTIAL}"
