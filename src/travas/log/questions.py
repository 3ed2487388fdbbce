"""Questions to an engine in addition to the variants: what all counted cases add to public cells, as one sum per cell.

A question is a public, frozen value. What a case adds is a vector of non-negative integers of Euclidean norm at most
`contribution` (Δ), which depends on that case and the question alone. "Counts ÷ norm" means W·c, where c counts the
events or steps of the case by cell and W = isqrt(⌊Δ²/Σc²⌋).

Every case is first reduced to the activities of the question, after the abstraction of the reading. A case without
events after that adds nothing. Times are whole microseconds; a step back in time counts as 0. What a timestamp without
a zone, a date, a missing value or a date out of range means: docs/reading.md.

Questions without fields of their own are dataclasses as their parents are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from ..errors import ParameterError
from ..trusted.numbers import whole_number
from ..trusted.samplers import Integers
from .calendar import BLOCKS, SECOND, WEEKS_PER_BLOCK
from .traces import Activity

if TYPE_CHECKING:
    from .abstraction import Abstraction


Others = Literal["drop", "node"]
"""What happens to events of activities that a question does not list: they are removed, or all become one node."""

DURATION_EDGES = tuple(SECOND * 4**power for power in range(15))
"""Microseconds: a duration is in bucket k if it is at least the first k edges; the last bucket has no upper edge."""

DURATION_BUCKETS = len(DURATION_EDGES) + 1

THROUGHPUT_EDGES = (*DURATION_EDGES[:8], *(SECOND * isqrt(1 << power) for power in range(32, 61)))
"""Microseconds: finer from 18 hours on, by a factor √2."""

MAX_CONTRIBUTION = 1 << 26
"""Δ² and W² stay below 2^52, where the square roots of all engines are exact."""

LIFECYCLE = "lifecycle:transition"
"""The attribute of events by which XES tells starts and completions apart."""

SERVICE = "travas:service time"
"""The numeric attribute of events that pairs of a start and a completion give: the seconds between both."""

SERVICE_EDGES = tuple(edge // SECOND for edge in DURATION_EDGES)
"""The edges of its bins: the buckets of durations."""

KINDS_OF_DAY = 2
"""Rows of the cells of hours: working days, then weekend days."""


@dataclass(frozen=True)
class DetailColumn:
    """An attribute that is read: its name, what its values are, and what has them."""

    name: str
    values: Literal["name", "number"] = "name"
    of: Literal["case", "event"] = "case"


SERVICE_COLUMN = DetailColumn(SERVICE, "number", "event")
"""Where service times are, like a column."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What every question has.

    Attributes:
        contribution: Δ, the largest Euclidean norm of what one case adds.
    """

    contribution: int

    def __post_init__(self) -> None:
        whole_number(self.contribution, "contribution", 1, MAX_CONTRIBUTION)


class CellQuestion(Question):
    """A question whose cells are public: its answer is an array of `shape`, for many questions always the same `cells`."""

    cells: ClassVar[tuple[int, ...]] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the answer."""
        return self.cells


@dataclass(frozen=True, kw_only=True)
class ProjectedQuestion(CellQuestion):
    """A question about the events of certain activities.

    Attributes:
        activities: The activities, without duplicates. Their indexes stand for them in `pairs` and in answers.
        others: What happens to all other events. With `node` they are activity number `len(activities)`.
    """

    activities: tuple[Activity, ...]
    others: Others = "drop"

    @property
    def nodes(self) -> int:
        """The number of different activities after the projection."""
        return len(self.activities) + (self.others == "node")


@dataclass(frozen=True, kw_only=True)
class Durations(ProjectedQuestion):
    """Durations of directly-follows steps: counts ÷ norm of (pair, bucket). Steps of other pairs are not counted.

    Attributes:
        pairs: The pairs that are cells, as indexes of the two activities, without duplicates.
        are_waiting: Whether a step ends with the start of its second event, if that has a service time.
    """

    pairs: tuple[tuple[int, int], ...]
    are_waiting: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.pairs), DURATION_BUCKETS)


@dataclass(frozen=True, kw_only=True)
class Throughput(ProjectedQuestion):
    """Time from the first to the last event: Δ in the bucket of the duration.

    Attributes:
        edges: The edges of the buckets, in microseconds.
    """

    edges: tuple[int, ...] = DURATION_EDGES

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.edges) + 1,)


@dataclass(frozen=True, kw_only=True)
class CalendarQuestion(ProjectedQuestion):
    """A question about the wall clock of a public zone.

    Attributes:
        zone: A name of the IANA time zone database. Timestamps with a zone are converted to it; those without are taken
            as its wall clock.
    """

    zone: str


class StartBlocks(CalendarQuestion):
    """Block of 64 weeks of the first event: Δ in one cell."""

    cells = (BLOCKS,)


@dataclass(frozen=True, kw_only=True)
class StartWeeks(CalendarQuestion):
    """Week of the first event, in chosen blocks: Δ in one cell; a case that starts in another block adds nothing.

    Attributes:
        blocks: The chosen blocks, without duplicates: the rows of the answer.
        width: How many weeks are one cell: a power of two.
    """

    blocks: tuple[int, ...]
    width: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.blocks), WEEKS_PER_BLOCK // self.width)


class StartWeekdays(CalendarQuestion):
    """Weekday of the first event, Monday first: Δ in one cell."""

    cells = (7,)


class EventWeekdays(CalendarQuestion):
    """Weekdays of all events, Monday first: counts ÷ norm."""

    cells = (7,)


@dataclass(frozen=True, kw_only=True)
class HoursQuestion(CalendarQuestion):
    """A question about hours of working days and of weekend days.

    Attributes:
        weekend: The weekend days; Monday is 0.
    """

    weekend: tuple[int, ...] = (5, 6)

    cells = (KINDS_OF_DAY, 24)


class StartHours(HoursQuestion):
    """Hour of the first event, on a working day or a weekend day: Δ in one cell."""


class EventHours(HoursQuestion):
    """Hours of all events, on working days and weekend days: counts ÷ norm."""


@dataclass(frozen=True, kw_only=True)
class AttributeValues(Question):
    """Values of a case attribute: every counted case adds Δ to its value. The values are not public.

    The answer is a mapping of values to sums. Cases without a value add to `None`.

    Attributes:
        attribute: The name of the attribute, one that is read.
    """

    attribute: str


@dataclass(frozen=True, kw_only=True)
class ValueQuestion(CellQuestion):
    """A question about names, or about numbers in bins, as cells.

    Attributes:
        attribute: The name of the attribute.
        values: The names that are cells; one more cell is for all others, and one for missing ones.
        edges: Instead, increasing numbers: a value is in bin k if it is at least the first k edges. Comparison is of binary
            floating-point numbers of 64 bits. Missing numbers are in one more bin, the last.
    """

    attribute: str
    values: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    of: ClassVar[Literal["case", "event"]] = "case"

    @property
    def size(self) -> int:
        """The number of cells of values."""
        return len(self.values) + len(self.edges) + 2

    @property
    def column(self) -> DetailColumn:
        """The attribute as it is read."""
        return DetailColumn(self.attribute, "number" if self.edges else "name", self.of)


class AttributeCells(ValueQuestion):
    """Value of a case attribute: every counted case adds Δ to one cell."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)


@dataclass(frozen=True, kw_only=True)
class AttributeByLast(ProjectedQuestion, ValueQuestion):
    """Value of a case attribute × last activity: Δ in one cell."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size, self.nodes)


@dataclass(frozen=True, kw_only=True)
class EventValuesByActivity(ProjectedQuestion, ValueQuestion):
    """Activity × value of an attribute of events: counts ÷ norm."""

    of = "event"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.nodes, self.size)


@dataclass(frozen=True, kw_only=True)
class EventValues(Question):
    """Values of an attribute of events: a case adds isqrt(⌊Δ²/m⌋) to each of its first m ≤ `most` different values.

    The values are not public: the answer is a mapping of values to sums, without missing ones.

    Attributes:
        attribute: The name of the attribute, one that is read.
        most: K: at most this many values of a case count.
    """

    attribute: str
    most: int


TimesRead = Literal["ignore", "if recorded", "read"]
"""Whether timestamps are read: never, if the log has a column for them, or always."""


@dataclass(frozen=True)
class Details:
    """What is read of a log in addition to its variants, decided before it is opened, or by its columns.

    Attributes:
        times: Whether timestamps are read. Then every event needs one, whatever orders the events.
        columns: The attributes that are read, those of cases first.
        service: Whether service times are read; they are no column.
    """

    times: TimesRead = "ignore"
    columns: tuple[DetailColumn, ...] = ()
    service: bool = False

    def __bool__(self) -> bool:
        return self.times == "read" or bool(self.columns)

    def settled(self, recorded: Literal["recorded", "not recorded"]) -> Details:
        """Return the details for a log whose columns are known."""
        if self.times != "if recorded":
            return self
        return replace(self, times="read") if recorded == "recorded" else Details(columns=self.columns)

    def covers(self, other: Details) -> bool:
        """Return whether everything that is read with `other` is read with this."""
        times = self.times == "read" or other.times != "read"
        return times and {*other.columns} <= {*self.columns} and self.service >= other.service


NO_DETAILS = Details()


class Totals(Protocol):
    """Answers questions about exactly the cases that the variants count. Holds the log, or access to it."""

    @property
    def details(self) -> Details:
        """What was read: questions about anything else cannot be answered."""

    def sums(self, question: CellQuestion) -> Integers:
        """Return what all cases add to the cells of a question, of its `shape`. Confidential."""

    def value_sums(self, question: AttributeValues | EventValues) -> dict[str | None, int]:
        """Return what all cases add to the values that occur; None stands for missing ones. Confidential."""

    def fetched(self) -> Any:
        """Return the answers from encoded cases in this process. Confidential."""

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further by an abstraction."""


def check_details(totals: Totals | None, details: Details) -> None:
    """Raise ParameterError unless questions about these details can be answered: by what was asked for, not by values."""
    if not details or (totals is not None and totals.details.covers(details)):
        return
    known = NO_DETAILS if totals is None else totals.details
    missing = min({*details.columns} - {*known.columns}, key=lambda column: column.name, default=None)
    if details.times == "read" and known.times == "ignore":
        what, field = "without timestamps; use a log with a timestamp column", "times"
    elif missing is None:
        what, field = "without service times; set lifecycle to 'pairs'", "lifecycle"
    else:
        what = f"without the attribute {missing.name!r}; use a log with this column"
        field = "attributes" if missing.of == "case" else "event_attributes"
    raise ParameterError(f"the log does not have what is to be measured: it was read {what}", field=field)
