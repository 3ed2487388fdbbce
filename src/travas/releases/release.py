"""The release: the public result of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

import attrs

from ..errors import ParameterError, check_choice, shown
from ..log.abstraction import FULL, Abstraction
from ..log.options import SERVICE_TIMES, case_column
from ..log.questions import LIFECYCLE, SERVICE, Details
from ..log.traces import Trace
from ..trusted.guarantee import Counted, Guarantee
from ..trusted.samplers import Integers
from .estimate import Estimate, estimate_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ..log.options import Attribute, CaseColumn, Times
    from ..mechanisms.mechanism import Mechanism


def later(module: str, function: str) -> Any:
    """A function of a module above this one, imported when it is used."""
    return getattr(import_module(f"travas.{module}"), function)


Kind = Literal["variants", "synthetic log", "process map"]
"""What a release contains: variants of the log with their counts, traces generated from noisy measurements, or pairs of
activities with the numbers of cases that have them."""

KINDS: tuple[Kind, ...] = get_args(Kind)

EVENT_LOGS: frozenset[Kind] = frozenset({"variants", "synthetic log"})
"""The kinds of release that are event logs: only they have cases and events."""

TimestampKind = Literal["artificial", "generated", "none"]
"""What the timestamps of a released log are."""

_ABOUT_TIMES: dict[TimestampKind, str] = {
    "artificial": "artificial: only their order within a case means anything",
    "generated": "generated from noisy measurements: no time is that of a real event",
    "none": "none: a process map has no events",
}


Frequencies = Literal["estimated", "spread", "noisy"]
"""Which counts an event log contains: the best estimate of a variant's own cases; that and a share of the missing cases,
for similarity studies; or the noisy count. See docs/mechanisms/frequencies.md."""

RULE = "case:travas:abstraction"
"""The column that names the rule by which a case was generalised, if there are rules; in XES an attribute of the trace."""

TIMES_MARK = "travas:timestamps"
"""The column, in XES the attribute of the log, that says that timestamps are artificial or generated."""

ORIGIN = "case:travas:origin"
"""The column that states for every case of a synthetic log whether its variant was released as such or generated."""

SYNTHETIC = "travas:synthetic"
"""The notice by which every file of a synthetic log says that it is one."""

SEGMENT = "travas:segment"
"""The notice by which a file says which cases were released, if there are segments."""

STANDING = "privacy:standing"
"""The column by which every event of a release without an established guarantee says so."""

TIMED_PARTS = frozenset({"durations", "throughput", "service"})
"""The parts of a process map for which timestamps are read."""

START_TIMESTAMP = "start_timestamp"
"""The column of the starts of events, as pm4py calls it; in XES, starts are events."""

RESERVED_COLUMNS = frozenset(
    {"case:concept:name", "time:timestamp", START_TIMESTAMP, TIMES_MARK, RULE, ORIGIN, STANDING}
)
"""Columns that every table may have: no activity or attribute can be released under these names."""


def name_of(mechanism: Mechanism | type[Mechanism]) -> str:
    """Its name in descriptions, grids and on the command line."""
    return mechanism._name


def kind_of(mechanism: Mechanism | type[Mechanism]) -> Kind:
    """What its releases contain."""
    return mechanism._kind


def counted_of(mechanism: Mechanism | type[Mechanism]) -> Counted | None:
    """What must be counted for it if a unit has several cases; None if it protects single cases only."""
    return mechanism._counted


def released_times(mechanism: Mechanism) -> Times | None:
    """How times are measured and generated; None if they are not released."""
    return getattr(mechanism, "times", None)


def released_attributes(mechanism: Mechanism) -> tuple[Attribute, ...]:
    """The case attributes that are measured and generated."""
    return getattr(mechanism, "attributes", ())


def released_event_attributes(mechanism: Mechanism) -> tuple[Attribute, ...]:
    """The attributes of events that are measured and generated."""
    return getattr(mechanism, "event_attributes", ())


def details_of(mechanism: Mechanism) -> Details:
    """What has to be read of a log in addition to its variants."""
    cases, events = released_attributes(mechanism), released_event_attributes(mechanism)
    parts = getattr(mechanism, "parts", ())
    is_timed = released_times(mechanism) is not None or TIMED_PARTS.intersection(parts)
    columns = (
        *(each.column("case") for each in cases),
        *(each.column("event") for each in events if each != SERVICE_TIMES),
    )
    return Details("read" if is_timed else "ignore", columns, "service" in parts or SERVICE_TIMES in events)


def of_pairs(mechanism: Mechanism) -> Mechanism:
    """The mechanism for a log of starts and completions: where it measures durations, it measures service times, too."""
    changed: dict[str, Any] = {}
    if released_times(mechanism) is not None and hasattr(mechanism, "event_attributes"):
        changed["event_attributes"] = tuple(dict.fromkeys((*released_event_attributes(mechanism), SERVICE_TIMES)))
    elif "durations" in (parts := getattr(mechanism, "parts", ())):
        changed["parts"] = (*parts, "service")
    return cast("Mechanism", attrs.evolve(cast(Any, mechanism), **changed))


def timestamp_kind(mechanism: Mechanism) -> TimestampKind:
    """What the timestamps of a released log are; a process map has no events."""
    if kind_of(mechanism) not in EVENT_LOGS:
        return "none"
    return "artificial" if released_times(mechanism) is None else "generated"


def about_timestamps(mechanism: Mechanism) -> str:
    """What the timestamps of a released log mean, in words."""
    return _ABOUT_TIMES[timestamp_kind(mechanism)]


def count_noun(mechanism: Mechanism, person: str = "person") -> str:
    """What the count of a variant is a number of: with a unit, not all cases or persons are counted."""
    if mechanism.unit.is_case:
        return "cases"
    return "counted cases" if counted_of(mechanism) == "cases" else f"counted {person}s"


def check_frequencies(value: str) -> Frequencies:
    """Check which counts an event log contains, before anything is spent."""
    check_choice(value, Frequencies, "frequencies")
    return cast(Frequencies, value)


def check_columns(columns: tuple[str, ...], mechanism: Mechanism) -> None:
    """Refuse activity columns that a table of the release cannot have, before anything is spent."""
    if kind_of(mechanism) not in EVENT_LOGS:
        return
    attributes = {case_column(attribute.name) for attribute in released_attributes(mechanism)}
    attributes |= {attribute.name for attribute in released_event_attributes(mechanism)}
    attributes |= {LIFECYCLE} if SERVICE in attributes else set()
    for index, column in enumerate(columns):
        if column in RESERVED_COLUMNS | attributes or column in columns[:index]:
            raise ParameterError(
                f"activity has {shown(column)}, the name of another column of the released log; rename the column",
                field="activity",
            )


@dataclass(frozen=True, repr=False)
class Release:
    """The public result of a mechanism, with its guarantee.

    Attributes:
        mechanism: The mechanism that made it.
        columns: The columns of which activities consist.
        abstractions: The public rules by which traces were generalised before counting.
        assumptions: Those of reading the log, such as that a query works case by case; the guarantee holds under them.
        reading: The rule from events to traces, for the guarantee file; None if the source was counts.
        segment: Which cases were released, such as `ward = A`; empty for all of them.
    """

    mechanism: Mechanism
    _: KW_ONLY
    columns: tuple[str, ...] = ("concept:name",)
    abstractions: tuple[Abstraction, ...] = (FULL,)
    assumptions: tuple[str, ...] = ()
    reading: Mapping[str, Any] | None = None
    segment: str = ""

    def __repr__(self) -> str:
        guarantee = self.guarantee
        return f"<{self.headline}; {guarantee.mechanism}, {guarantee.standing}>"

    @property
    def guarantee(self) -> Guarantee:
        """What it guarantees, with all assumptions."""
        guarantee = self.mechanism.guarantee()
        return replace(guarantee, assumptions=(*guarantee.assumptions, *self.assumptions))

    @property
    def is_abstracted(self) -> bool:
        """Whether a rule generalises traces. This is public: it does not depend on the log."""
        return any(rule != FULL for rule in self.abstractions)

    @property
    def used_abstractions(self) -> tuple[Abstraction, ...]:
        """The rules of what was released; all rules if nothing was released."""
        return self.abstractions

    @property
    def headline(self) -> str:
        """What was released and how much of it, in a few words."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """What the release is called in file headers and pictures."""
        return "released by travas"

    @property
    def notices(self) -> dict[str, str]:
        """What every file must say about the release as a whole, by key."""
        return {SEGMENT: self.segment} if self.segment else {}

    def _repr_html_(self) -> str:
        """The release in a notebook: HTML without scripts, from the release alone."""
        return cast(str, later("report.notebook", "release_html")(self))

    def to_polars(self) -> pl.DataFrame:
        """Return an event log with the column names of pm4py, or the pairs of a process map.

        Returns:
            A Polars data frame with one row per event, or per pair.
        """
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of `to_polars` for pandas: `pm4py.get_variants(release.to_pandas())` are the variants.

        Returns:
            A pandas data frame.
        """
        raise NotImplementedError

    def to_pm4py(self) -> Any:
        """Return what pm4py works on: an event log with its column names, or the dictionaries of `pm4py.view_dfg`.

        Returns:
            A pandas data frame with one row per event; of a process map, the dictionaries.
        """
        return self.to_pandas()

    def write(self, path: str | Path, existing: Literal["fail", "replace"] = "fail") -> Path:
        """Write the release, its guarantee file, `PATH.guarantee.json`, and `PATH.README.txt`.

        Args:
            path: A `.xes`, `.xes.gz`, `.csv`, `.csv.gz`, `.parquet` or `.json` file.
            existing: `"fail"` refuses existing files; `"replace"` replaces them.

        Returns:
            The path of the release.
        """
        return cast(Path, later("outputs.write", "write_release")(self, Path(path), existing))

    def draw(self, path: str | Path) -> Path:
        """Draw the process of what was released, as the page of a map shows it at first.

        Args:
            path: A `.svg` file. One that exists is replaced.

        Returns:
            The path.
        """
        return cast(Path, later("outputs.map_files", "write_picture")(self, Path(path)))


@dataclass(frozen=True, repr=False)
class ReleasedLog(Release):
    """A release that is an event log: traces in canonical order, which reveals nothing about the log."""

    _: KW_ONLY
    variants: tuple[Trace, ...] = ()

    operation: ClassVar[str]
    """What was done to the traces of the original log, in the words of the privacy extension of XES."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many cases of the event log have each trace."""
        raise NotImplementedError

    @property
    def estimated_counts(self) -> tuple[float, ...]:
        """The best estimate of how many cases have each trace."""
        return self.counts

    @property
    def intervals(self) -> tuple[tuple[int, int], ...] | None:
        """95 % intervals of the number of cases of the original log with each trace; None if they are not known."""
        return None

    @property
    def rules(self) -> tuple[str, ...]:
        """The name of the rule of each trace."""
        return (str(self.abstractions[0]),) * len(self.variants)

    @property
    def case_labels(self) -> dict[str, tuple[str, ...]]:
        """Columns that say something about every case, with a value for each trace: how it was generalised."""
        return {RULE: self.rules} if self.is_abstracted else {}

    @property
    def event_times(self) -> Integers | None:
        """The times of all events of all cases, in seconds from 1970 in UTC; None where they are artificial."""
        return None

    @property
    def event_starts(self) -> CaseColumn | None:
        """The starts of all events of all cases, in seconds from 1970 in UTC; None where they are not released."""
        return None

    @property
    def case_columns(self) -> tuple[CaseColumn, ...]:
        """Attributes of single cases, in the order in which cases are written."""
        return ()

    @property
    def event_columns(self) -> tuple[CaseColumn, ...]:
        """Attributes of single events, in the order in which they are written."""
        return ()

    @property
    def zone(self) -> str:
        """The time zone in which times are written."""
        return "UTC"

    @property
    def times_in_words(self) -> str:
        """What the timestamps mean, as a sentence."""
        return f"Timestamps are {about_timestamps(self.mechanism)}."

    def to_polars(self) -> pl.DataFrame:
        return cast("pl.DataFrame", later("outputs.event_tables", "polars_events")(self))

    def to_pandas(self) -> pd.DataFrame:
        return cast("pd.DataFrame", later("outputs.event_tables", "pandas_events")(self))


@dataclass(frozen=True, repr=False)
class VariantRelease(ReleasedLog):
    """Variants of the log with noisy and estimated counts. An empty release is valid.

    Attributes:
        variants: The released variants.
        noisy: The noisy count of each.
        rungs: The index of the rule of each. On a ladder, a trace can occur once per rung.
        cases: The noisy number of all cases, if the mechanism releases it.
        frequencies: Which counts the event log contains.
    """

    _: KW_ONLY
    noisy: tuple[int, ...] = ()
    rungs: tuple[int, ...] = ()
    cases: int | None = None
    frequencies: Frequencies = "estimated"

    operation: ClassVar[str] = "addition and suppression"

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        variants: Iterable[Trace],
        noisy: Iterable[int],
        columns: tuple[str, ...] = ("concept:name",),
        abstractions: tuple[Abstraction, ...] = (FULL,),
        rungs: Iterable[int] | None = None,
        cases: int | None = None,
    ) -> VariantRelease:
        """Return the release of variants with noisy counts in any order, each by the first rule unless rungs say otherwise."""
        rows = sorted(zip(variants, repeat(0) if rungs is None else rungs, noisy, strict=rungs is not None))
        made = dict(zip(("variants", "rungs", "noisy"), map(tuple, zip(*rows, strict=True)), strict=False))
        return cls(mechanism, columns=columns, abstractions=abstractions, cases=cases, **cast(Any, made))

    @cached_property
    def estimate(self) -> Estimate:
        """Counts, intervals and missing cases, estimated from the noisy counts alone."""
        return estimate_of(self.mechanism, self.noisy, self.rungs, self.cases)

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each variant occurs in the event log, by `frequencies`."""
        if self.frequencies == "noisy":
            return self.noisy
        return self.estimate.spread if self.frequencies == "spread" else self.estimate.own

    @property
    def estimated_counts(self) -> tuple[float, ...]:
        return self.estimate.counts

    @property
    def intervals(self) -> tuple[tuple[int, int], ...] | None:
        return self.estimate.intervals

    @property
    def rules(self) -> tuple[str, ...]:
        names = tuple(map(str, self.abstractions))
        return tuple(names[rung] for rung in self.rungs)

    @property
    def used_abstractions(self) -> tuple[Abstraction, ...]:
        return tuple(self.abstractions[rung] for rung in sorted(set(self.rungs))) or self.abstractions

    @property
    def headline(self) -> str:
        return f"Released log: {len(self.variants):,} variants"


def frequencies_of(release: Release) -> Frequencies:
    """Return which counts a release states; those of synthetic logs and process maps are noisy."""
    return release.frequencies if isinstance(release, VariantRelease) else "noisy"
