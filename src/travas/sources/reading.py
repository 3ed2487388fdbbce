"""The rule from events to variants: columns, order, ties and missing values. It treats every case independently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

import attrs
from attrs.validators import optional

from ..errors import ParameterError, are_texts, check_encodable, one_of, shown, text_tuple
from ..log.abstraction import FULL, Abstraction
from ..log.log import Roles
from ..log.plain import from_plain, plain
from ..log.questions import NO_DETAILS, DetailColumn, Details
from ..trusted.guarantee import ONE_CASE, Counted, PrivacyUnit
from .files import Format, is_supported
from .period import Period

Lifecycle = Literal["all", "complete", "start", "pairs"]
DuplicateEvents = Literal["keep", "drop"]
Decimal = Literal[",", "."]

TRACE_LEVEL = "case:"
"""Prefix of trace attributes of XES in `where`, as in pm4py's data frames."""

Order = Literal["file", "time"]
OnMissing = Literal["fail", "drop"]
DuplicateCases = Literal["fail", "separate", "merge"]
CASE = "case:concept:name"
ACTIVITY = "concept:name"
TIMESTAMP = "time:timestamp"
BY_QUERY = (
    "the log was read by a query, which must work case by case: what it selects of a case depends on that case alone"
)

ATTRIBUTE_NUMBER = r"^[+-]?[0-9]{1,15}([.][0-9]{1,15})?([eE][+-]?[0-9]{1,2})?$"
"""Text that is a number. Every engine parses it to the same float; other text is a missing number."""

_MARKS = {",": "[.' \\x{a0}\\x{202f}]", ".": "[,' \\x{a0}\\x{202f}]"}
LOCAL_NUMBERS: Mapping[Decimal, str] = {
    mark: rf"^[+-]?([0-9]{{1,3}}({_MARKS[mark]}[0-9]{{3}}){{1,4}}|[0-9]{{1,15}})([{mark}][0-9]{{1,15}})?([eE][+-]?[0-9]{{1,2}})?$"
    for mark in (",", ".")
}
"""The same by the sign of decimals, with marks between thousands."""


NUMBERED = {
    "epoch-seconds": (0, 1_000_000),
    "epoch-milliseconds": (0, 1_000),
    "epoch-microseconds": (0, 1),
    "excel": (25_569, 86_400_000_000),
}
"""Formats that are numbers: the number of 1970-01-01 and the microseconds of one unit. `excel` counts days from 1900."""

STANDARD: dict[str, tuple[str, ...]] = {
    "case": ("case:concept:name", "case_id", "caseid", "case"),
    "activity": ("concept:name", "activity"),
    "timestamp": ("time:timestamp", "timestamp"),
    "lifecycle": ("lifecycle:transition", "lifecycle"),
}
"""The standard names of each role, the first one that is present wins."""

_SAMPLE = datetime(2001, 2, 3, 16, 5, 6, 789000, tzinfo=UTC)

QUERY_USED = "a query was used"
"""Replaces the text of a query in descriptions, because it may name persons."""


def by_column(where: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the values that are selected, by column.

    >>> by_column([("ward", "A"), ("ward", "B"), ("kind", "urgent")])
    {'ward': ('A', 'B'), 'kind': ('urgent',)}
    """
    values: dict[str, tuple[str, ...]] = {}
    for column, value in where:
        values[column] = (*values.get(column, ()), value)
    return values


def _check_format(_: object, __: object, form: str | None) -> None:
    """Check a format of `datetime.strptime` or of numbers before any log is opened."""
    if form is None or form in NUMBERED:
        return
    try:
        datetime.strptime(_SAMPLE.strftime(form), form)
    except (TypeError, ValueError, re.error, UnicodeError, OverflowError):
        raise ParameterError(
            f"timestamp_format is {shown(form)}, which is not a format of strptime; use '%Y-%m-%d %H:%M:%S', or one of "
            f"{', '.join(NUMBERED)}",
            field="timestamp_format",
        ) from None


def _check_text(_: object, attribute: Any, value: object) -> None:
    name = attribute.name
    if value is not None and (not isinstance(value, str) or not value):
        raise ParameterError(f"{name} is {shown(value)}; use text that is not empty", field=name)
    check_encodable(name, str(value or ""))


def _text() -> Any:
    """A setting that is text, or None."""
    return attrs.field(default=None, validator=_check_text)


def _check_character(_: object, attribute: Any, value: Any) -> None:
    name = attribute.name
    is_one = isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\r\n"
    if not is_one and value is not None and (name, value) != ("quote", "none"):
        hint = ", or 'none' if nothing is quoted" if name == "quote" else ""
        raise ParameterError(f"{name} is {shown(value)}; use one ASCII character but no line break{hint}", field=name)


def _check_encoding(_: object, attribute: Any, name: Any) -> None:
    _check_text(_, attribute, name)
    if name is not None and not is_supported(name):
        raise ParameterError(f"encoding {name!r} is not supported; try utf-8, utf-16 or cp1252", field="encoding")


def _are_different(_: object, attribute: Any, texts: tuple[str, ...]) -> None:
    if len(set(texts)) != len(texts):
        raise ParameterError(f"{attribute.name} is {texts}; remove the duplicate", field=attribute.name)


def _are_activities(_: object, __: object, names: tuple[str, ...]) -> None:
    if any(name in (CASE, TIMESTAMP) for name in released_columns(names)):
        raise ParameterError(f"activity is {names}; {CASE} and {TIMESTAMP} cannot be activities", field="activity")


def _of(kind: type) -> Any:
    """The validator of an optional value of a class."""

    def check(_: object, attribute: Any, value: object) -> None:
        if value is not None and not isinstance(value, kind):
            raise ParameterError(
                f"{attribute.name} is {shown(value)}; use travas.{kind.__name__}(...)", field=attribute.name
            )

    return check


def _abstraction(rule: Any) -> Any:
    if isinstance(rule, str):
        return Abstraction.parse(rule)
    return Abstraction.from_json(rule) if isinstance(rule, list) else rule


def _activities(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else text_tuple(columns)


def _pairs(where: Any) -> tuple[tuple[str, str], ...]:
    """Return pairs of a column and a value; of `COLUMN=VALUE`, the first equals sign separates them."""
    pairs: list[Any] = [
        each.split("=", 1) if isinstance(each, str) else each
        for each in (where if isinstance(where, list | tuple) else [where])
    ]
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(t, str) and t for t in pair):
            raise ParameterError(f"where is {shown(where)}; use COLUMN=VALUE, or pairs of texts", field="where")
        check_encodable("where", *pair)
    return tuple(map(tuple, pairs))


def _delimiter(character: str | None) -> str | None:
    return "\t" if character in ("tab", "\\t") else character


@attrs.frozen
class Reading:
    """The rule from events to variants. Columns that are None are recognised by their usual names.

    Attributes:
        case: The case column; in XES, a trace attribute.
        activity: The activity columns, or the name of one; several columns make an activity a tuple.
        timestamp: The timestamp column.
        timestamp_format: The format of timestamps, as for `datetime.strptime`; None is ISO 8601.
        order: Order of the events of a case: `file` (default for XES) or `time` (default for tables). A table without
            a recognised timestamp needs `timestamp` or `order="file"`.
        ties: Order of simultaneous events of a case: `file` (default for files), `activity` (by name; default for
            databases and Spark, whose rows have no order) or a column, then by name.
        on_missing: Whether to refuse or drop events without a case, an activity or a required timestamp, and cases
            without a unit.
        duplicate_cases: How to handle XES traces with the same name.
        lifecycle: Which events are read: `complete`, `start` or `all`. An event without a transition is complete. With
            `pairs`, complete events are read, and starts for their service times.
        where: Pairs of a column and a value, or texts such as `ward=A`: only events with one of the values in each of
            the columns are read. In XES, `case:NAME` is an attribute of the trace.
        duplicate_events: Whether to keep or drop further events of a case with the same activity and timestamp.
        format: The format of the file, such as `csv`; None is that of its extension. Required for standard input.
        decimal: The sign of decimals in text that is read as a number, `,` or `.`; then marks between thousands are also
            accepted. None accepts plain numbers such as `1234.5` only.
        sheet: The sheet of an Excel workbook; None is the only one.
        delimiter: The delimiter of CSV files, or `tab`; None detects it from the header.
        quote: The quote character of CSV files, or `none`; None detects it from the header.
        encoding: The encoding of CSV files; None uses the byte order mark, or UTF-8.
        abstraction: A public rule applied to every trace before counting; text such as `first | prefix:8` is parsed.
        unit: The column (in XES: trace attribute) that identifies the person of a case; None protects single cases.
        max_cases: The maximum number of cases counted per unit: docs/unit.md.
        counted: What is counted, cases or units; None is what the mechanism needs.
        table: The table of events in a database.
        query: A SELECT that returns the events, instead of a table.
        details: What is read in addition to the variants; set by what the mechanism measures.
        period: Count only the cases that are closed in a period, each up to its closing: docs/mechanisms/periods.md.
            Events are then ordered by time.
        by: A case attribute: one release for each of `segments`, under one guarantee: docs/segments.md.
        segments: Its values, a public list; `other` is every other value, and none.
    """

    case: str | None = _text()
    activity: tuple[str, ...] = attrs.field(
        default=(), converter=_activities, validator=[are_texts, _are_different, _are_activities]
    )
    timestamp: str | None = _text()
    timestamp_format: str | None = attrs.field(default=None, validator=_check_format)
    order: Order | None = attrs.field(default=None, validator=optional(one_of(Order)))
    ties: str | None = _text()
    on_missing: OnMissing = attrs.field(default="fail", validator=one_of(OnMissing))
    duplicate_cases: DuplicateCases = attrs.field(default="fail", validator=one_of(DuplicateCases))
    lifecycle: Lifecycle = attrs.field(default="all", validator=one_of(Lifecycle))
    where: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_pairs)
    duplicate_events: DuplicateEvents = attrs.field(default="keep", validator=one_of(DuplicateEvents))
    decimal: Decimal | None = attrs.field(default=None, validator=optional(one_of(Decimal)))
    format: Format | None = attrs.field(default=None, validator=optional(one_of(Format)))
    sheet: str | None = _text()
    delimiter: str | None = attrs.field(default=None, converter=_delimiter, validator=_check_character)
    quote: str | None = attrs.field(default=None, validator=_check_character)
    encoding: str | None = attrs.field(default=None, validator=_check_encoding)
    abstraction: Abstraction = attrs.field(default=FULL, converter=_abstraction, validator=_of(Abstraction))
    unit: str | None = _text()
    max_cases: int | None = None
    counted: Counted | None = attrs.field(default=None, validator=optional(one_of(Counted)))
    table: str | None = _text()
    query: str | None = _text()
    details: Details = attrs.field(default=NO_DETAILS, validator=_of(Details))
    period: Period | None = attrs.field(default=None, validator=_of(Period))
    by: str | None = _text()
    segments: tuple[str, ...] = attrs.field(default=(), converter=text_tuple, validator=[are_texts, _are_different])

    def __attrs_post_init__(self) -> None:
        for field, problem in self._inconsistent():
            raise ParameterError(problem, field=field)
        _ = self.privacy_unit  # raises if it is invalid
        if self.by is not None and (column := DetailColumn(self.by)) not in self.details.columns:
            object.__setattr__(self, "details", replace(self.details, columns=(column, *self.details.columns)))

    def _inconsistent(self) -> Iterator[tuple[str, str]]:
        """Yield each parameter that does not go with another one, and why."""
        if self.table is not None and self.query is not None:
            yield "query", "table and query are both set; set only one of them"
        if self.order == "file" and self._needs_times():
            yield "order", "order is 'file' but ties, period or duplicate_events needs times; set order to 'time'"
        if self.details.service and self.lifecycle != "pairs":
            yield "lifecycle", f"service times are measured but lifecycle is {self.lifecycle!r}; set it to 'pairs'"
        if self.unit is None and (self.max_cases is not None or self.counted is not None):
            yield (
                "unit",
                "max_cases or counted is set but unit is not; set unit to the column that identifies the person",
            )
        if self.unit is not None and self.max_cases is None:
            yield "max_cases", f"unit is {self.unit!r} but max_cases is not set; choose it without looking at the log"
        if self.unit == "case":
            yield "unit", "unit is 'case', which is reserved for single cases; rename the column"
        if self.by is None and self.segments:
            yield "by", "segments is set but by is not; set by to the case attribute with these values"
        if self.by is not None and not self.segments:
            yield "segments", f"by is {self.by!r} but segments is not set; list its values, without looking at the log"
        if self.unit is not None and self.duplicate_cases == "separate":
            yield (
                "duplicate_cases",
                "unit is set but duplicate_cases is 'separate': cases have no unique names; use 'merge'",
            )

    @property
    def privacy_unit(self) -> PrivacyUnit:
        """The unit that the counts can protect."""
        if self.unit is None or self.max_cases is None:
            return ONE_CASE
        return PrivacyUnit(self.unit, self.max_cases)

    @property
    def counts_of(self) -> Counted:
        """What is counted: cases without a unit; otherwise `counted`, by default units."""
        return "cases" if self.unit is None else self.counted or "units"

    @property
    def known_case(self) -> str:
        """What a case is, as far as it is known before the log is opened; empty if it is not."""
        return "" if self.duplicate_cases == "separate" else self.case or ""

    def for_counts_of(self, counted: Counted | None) -> Reading:
        """Return the reading that counts what a mechanism needs.

        Args:
            counted: What the mechanism counts; None for a mechanism that protects single cases only.

        Returns:
            A copy of the reading with `counted` set.

        Raises:
            ParameterError: `counted` is set to another value, or the abstraction cannot be used with it.
        """
        if self.unit is None or counted is None:
            return self
        if self.counted not in (None, counted):
            raise ParameterError(
                f"counted is {self.counted!r}, but this mechanism needs {counted!r}; do not set it", field="counted"
            )
        self.abstraction.check(self.privacy_unit, counted)
        return attrs.evolve(self, counted=counted)

    def describe(self, roles: Roles) -> dict[str, Any]:
        """Describe the complete rule from events to variants as plain values, for the guarantee file.

        Args:
            roles: The columns that were read, set or recognised.

        Returns:
            Every setting by name; None if it is not set. `columns` are the columns that were read. The text of a query is
            left out: it may name persons.
        """
        columns = {"case": roles.case, "activities": list(roles.activities), "timestamp": roles.timestamp}
        return {name: value for name, value in plain(self).items() if name != "details"} | {
            "query": None if self.query is None else QUERY_USED,
            "columns": columns | ({} if roles.lifecycle is None else {"lifecycle": roles.lifecycle}),
        }

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Reading:
        """Rebuild a reading, without its query.

        Args:
            description: What `describe` returned.

        Returns:
            The reading.

        Raises:
            ParameterError: The description is incomplete or invalid.
        """
        settings = dict(description) if isinstance(description, Mapping) else {}
        roles = from_plain(settings.pop("columns", None), Roles, "reading")
        reading = from_plain(settings, cls, "reading")
        if reading.describe(roles) != description:
            raise ParameterError("the description of the reading is incomplete or inconsistent", field="reading")
        return attrs.evolve(reading, query=None)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the guarantee that cannot be checked, unless the source is a query: `engine.assumptions_of`."""
        by_query = () if self.query is None else (BY_QUERY,)
        of_period = () if self.period is None else (self.period.assumption,)
        listed = f"the values of {self.by!r} that are released apart were listed without looking at the log"
        return (*by_query, *of_period, *((listed,) if self.by is not None else ()))

    @property
    def named_segments(self) -> tuple[str, ...]:
        """What every segment is called in its release, such as `ward = A`; one empty name without segments."""
        return ("",) if self.by is None else tuple(f"{self.by} = {value}" for value in self.segments)

    def by_time(self) -> bool:
        """Return whether events are ordered by time: by `order`, or implied by another setting that needs times.

        Returns:
            True if events are ordered by time.
        """
        if self.order is None:
            return self.timestamp is not None or self._needs_times()
        return self.order == "time"

    def _needs_times(self) -> bool:
        return self.period is not None or self.duplicate_events == "drop" or self.ties not in (None, "file")

    def tie_column(self) -> str | None:
        """Return the column that orders simultaneous events; None if it is not a column.

        Returns:
            The name of the column, or None.
        """
        return None if self.ties in ("file", "activity") else self.ties


def released_columns(activities: tuple[str, ...]) -> tuple[str, ...]:
    """Return the column names of released activities: the original ones, of which one must be `concept:name`."""
    return activities if ACTIVITY in activities else (ACTIVITY, *activities[1:])


DEFAULT_READING = Reading()
