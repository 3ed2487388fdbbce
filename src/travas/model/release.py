"""The release: the public result of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, get_args

from ..errors import ParameterError, number_of, shown
from ..trusted.guarantee import Guarantee
from . import explain
from .abstraction import FULL, Abstraction
from .case_columns import case_column
from .estimate import Estimate
from .mechanism import Mechanism
from .registry import registered
from .release_kind import EVENT_LOGS, NO_TIMES, Kind, TimestampKind
from .traces import Trace

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    from numpy.typing import NDArray

    from .case_columns import CaseColumn

Frequencies = Literal["estimated", "spread", "noisy"]
"""Which counts an event log contains: the best estimate of a variant's own cases; that and a share of the missing cases,
for similarity studies; or the noisy count. See docs/mechanisms/frequencies.md."""

Timestamps = Literal["artificial", "none"]
"""Whether the events of released variants have artificial timestamps."""

Origin = Literal["released", "generated"]
"""Whether a trace is a variant of the log that was released as such, or was generated."""

Profile = Literal["travas", "pm4py", "excel"]
"""For which program a table is written."""

RULE = "case:travas:abstraction"
"""The column that names the rule by which a case was generalised, if there are rules; in XES an attribute of the trace."""

COMPLETENESS = "case:travas:trace"
"""The column that states for every case, if there are rules, whether its rule may have removed events; in XES an attribute."""

TIMES_MARK = "travas:timestamps"
"""The column, in XES the attribute of the log, that says that timestamps are artificial or generated."""

ORIGIN = "case:travas:origin"
"""The column that states for every case of a synthetic log whether its variant was released as such or generated."""

SYNTHETIC = "travas:synthetic"
"""The notice by which every file of a synthetic log says that it is one."""

STANDING = "privacy:standing"
"""The column by which every event of a release without an established guarantee says so."""

RESERVED_COLUMNS = frozenset({"case:concept:name", "time:timestamp", TIMES_MARK, RULE, COMPLETENESS, ORIGIN, STANDING})
"""Columns that every table may have: no activity or attribute can be released under these names."""


def check_frequencies(value: str) -> Frequencies:
    """Check which counts an event log contains, before anything is spent."""
    if not isinstance(value, str) or value not in get_args(Frequencies):
        raise ParameterError(
            f"frequencies is {shown(value)}; use one of {', '.join(get_args(Frequencies))}", field="frequencies"
        )
    return cast(Frequencies, value)


def check_timestamps(value: str, kind: Kind) -> Timestamps:
    """Check whether events have timestamps, before anything is spent."""
    if not isinstance(value, str) or value not in get_args(Timestamps):
        raise ParameterError(
            f"timestamps is {shown(value)}; use one of {', '.join(get_args(Timestamps))}", field="timestamps"
        )
    if value == "none" and kind != "variants":
        raise ParameterError(
            f"timestamps is 'none' but the release is a {kind}; only variants can be written without them",
            field="timestamps",
        )
    return cast(Timestamps, value)


def check_profile(value: str, timestamps: Timestamps) -> Profile:
    """Check for which program a table is written, before anything is spent."""
    if not isinstance(value, str) or value not in get_args(Profile):
        raise ParameterError(f"profile is {shown(value)}; use one of {', '.join(get_args(Profile))}", field="profile")
    if value == "pm4py" and timestamps == "none":
        raise ParameterError(
            "profile is 'pm4py' but timestamps is 'none'; pm4py needs timestamps, so leave one of them out",
            field="profile",
        )
    return cast(Profile, value)


def check_columns(columns: tuple[str, ...], mechanism: Mechanism) -> None:
    """Refuse activity columns that a table of the release cannot have, before anything is spent.

    Args:
        columns: The columns of released activities.
        mechanism: The mechanism, whose attributes are columns too.
    """
    if mechanism.kind not in EVENT_LOGS:
        return
    attributes = {case_column(attribute.name) for attribute in mechanism.released_attributes}
    for index, column in enumerate(columns):
        if column in RESERVED_COLUMNS | attributes or column in columns[:index]:
            raise ParameterError(
                f"activities has {shown(column)}, the name of another column of the released log; rename the column",
                field="activities",
            )


@dataclass(frozen=True)
class Release:
    """The public result: variants with noisy and estimated counts in canonical order, and the guarantee.

    The order is that of the activity sequences and reveals nothing about the log. An empty release is valid.
    `frequencies`: which counts an event log contains. `abstractions`: the public rules by which traces were generalised
    before counting; `rungs`: the index of the rule of each variant. On a ladder, a trace can occur once per rung.
    `reading`: the rule from events to variants, for the guarantee file; None if the source was counts.
    `cases`: the noisy number of all cases, if the mechanism releases it. `assumptions`: those of reading the log, such
    as that a query works case by case; the guarantee holds under them. `timestamps`: whether events have artificial ones.
    `origins`: the origin of each trace of a synthetic log; empty in every other release.
    """

    mechanism: Mechanism
    variants: tuple[Trace, ...]
    noisy: tuple[int, ...]
    columns: tuple[str, ...] = ("concept:name",)
    frequencies: Frequencies = "estimated"
    abstractions: tuple[Abstraction, ...] = (FULL,)
    rungs: tuple[int, ...] = ()
    cases: int | None = None
    assumptions: tuple[str, ...] = ()
    reading: Mapping[str, Any] | None = None
    timestamps: Timestamps = "artificial"
    origins: tuple[Origin, ...] = field(default=(), kw_only=True)

    operation: ClassVar[str] = "addition and suppression"
    """What was done to the traces of the original log, in the words of the privacy extension of XES."""

    def __post_init__(self) -> None:
        rungs = self.rungs or (0,) * len(self.variants)
        canonical = sorted(zip(self.variants, rungs, self.noisy, strict=True))
        object.__setattr__(self, "variants", tuple(trace for trace, _, _ in canonical))
        object.__setattr__(self, "rungs", tuple(rung for _, rung, _ in canonical))
        object.__setattr__(self, "noisy", tuple(count for _, _, count in canonical))
        check_frequencies(self.frequencies)
        check_timestamps(self.timestamps, self.mechanism.kind)

    def __repr__(self) -> str:
        guarantee = self.guarantee
        return f"<Release: {number_of(len(self.variants), 'variants')}, {guarantee.mechanism}, {guarantee.standing}>"

    @cached_property
    def estimate(self) -> Estimate:
        """Counts, intervals and missing cases, estimated from the noisy counts alone."""
        return self.mechanism.estimate_release(self)

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each variant occurs in the event log, by `frequencies`."""
        if self.frequencies == "noisy":
            return self.noisy
        return self.estimate.spread if self.frequencies == "spread" else self.estimate.own

    @property
    def is_abstracted(self) -> bool:
        """Whether a rule generalises traces. This is public: it does not depend on the log."""
        return any(rule != FULL for rule in self.abstractions)

    @property
    def rules(self) -> tuple[str, ...]:
        """The name of the rule of each variant."""
        names = tuple(map(str, self.abstractions))
        return tuple(names[rung] for rung in self.rungs)

    @property
    def used_abstractions(self) -> tuple[Abstraction, ...]:
        """The rules of the released traces; all rules if nothing was released."""
        return tuple(self.abstractions[rung] for rung in sorted(set(self.rungs))) or self.abstractions

    @property
    def is_event_log(self) -> bool:
        """Whether it has cases and events. This is public: it does not depend on the log."""
        return self.mechanism.kind in EVENT_LOGS

    @property
    def headline(self) -> str:
        """What was released and how much of it, in a few words."""
        return f"Released log: {len(self.variants):,} variants"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons against using the release, in sentences, from the release alone."""
        emptiness = explain.of_emptiness(len(self.variants), self.mechanism)
        return (emptiness,) if emptiness else ()

    @property
    def guarantee(self) -> Guarantee:
        guarantee = self.mechanism.guarantee()
        return replace(guarantee, assumptions=(*guarantee.assumptions, *self.assumptions))

    @property
    def case_labels(self) -> dict[str, tuple[str, ...]]:
        """Columns that say something about every case, with a value for each variant: how it was generalised."""
        if not self.is_abstracted:
            return {}
        cut = (
            self.abstractions[rung].may_shorten(trace) for trace, rung in zip(self.variants, self.rungs, strict=True)
        )
        return {RULE: self.rules, COMPLETENESS: tuple("possibly incomplete" if may else "complete" for may in cut)}

    @property
    def event_times(self) -> NDArray[np.int64] | None:
        """The times of all events of all cases, in seconds from 1970 in UTC; None where they are artificial."""
        return None

    @property
    def timestamp_kind(self) -> TimestampKind:
        """What the timestamps are."""
        return "none" if self.timestamps == "none" else self.mechanism.timestamp_kind

    @property
    def about_times(self) -> str:
        """What the timestamps mean, in words."""
        return NO_TIMES if self.timestamps == "none" else self.mechanism.timestamps

    @property
    def times_in_words(self) -> str:
        """What the timestamps mean, as a sentence."""
        if self.timestamp_kind == "none":
            return "There are no timestamps: events are in order but have no times."
        return f"Timestamps are {self.about_times}."

    def without_timestamps(self) -> Self:
        """Return the same release, to be written or turned into a table without artificial timestamps.

        Returns:
            A copy. Its file says that the order of events within a case is that of the file.

        Raises:
            ParameterError: It is a synthetic log or a process map.
        """
        return replace(self, timestamps="none")

    @property
    def zone(self) -> str:
        """The time zone in which times are written."""
        return "UTC"

    @property
    def case_columns(self) -> tuple[CaseColumn, ...]:
        """Attributes of single cases, in the order in which cases are written."""
        return ()

    @property
    def title(self) -> str:
        """What the log is called in file headers and pictures."""
        return "released by travas"

    @property
    def notices(self) -> dict[str, str]:
        """What every file must say about the log as a whole, by key."""
        return {}

    def json_fields(self) -> dict[str, Any]:
        """What the JSON file of this kind of release contains beyond that of variants.

        Returns:
            The further fields by name.
        """
        return {}

    def to_polars(self) -> pl.DataFrame:
        """Return an event log with the column names of pm4py, new case identifiers and artificial timestamps.

        Returns:
            A Polars data frame with one row per event.
        """
        return cast("pl.DataFrame", registered("polars")(self))

    def to_pandas(self) -> pd.DataFrame:
        """Return the event log for pm4py: `pm4py.get_variants(release.to_pandas())` are the variants and counts.

        Returns:
            A pandas data frame with one row per event.
        """
        return cast("pd.DataFrame", registered("pandas")(self))

    def to_pm4py(self) -> Any:
        """Return what pm4py works on: here an event log with its column names, as `to_pandas` returns it.

        Returns:
            A pandas data frame with one row per event; of a process map, the dictionaries of `pm4py.view_dfg`.
        """
        return self.to_pandas()

    def _repr_html_(self) -> str:
        """The release in a notebook: HTML without scripts, from the release alone."""
        return cast(str, registered("html")(self))

    def write(
        self, path: str | Path, existing: Literal["fail", "replace"] = "fail", profile: Profile = "travas"
    ) -> Path:
        """Write the release, its guarantee file, `PATH.guarantee.json`, and `PATH.README.txt`.

        Args:
            path: A `.xes`, `.xes.gz`, `.csv`, `.csv.gz`, `.parquet` or `.json` file.
            existing: `"fail"` refuses existing files; `"replace"` replaces them.
            profile: `"pm4py"` writes a `.csv`, `.csv.gz` or `.parquet` file with times in UTC and no empty text;
                `"excel"` writes a `.csv` file that Excel opens in columns, with local times and no empty cells.

        Returns:
            The path of the release.
        """
        return cast(Path, registered("write")(self, Path(path), existing, profile))

    def draw(self, path: str | Path) -> Path:
        """Draw the most frequent variants and the probability of release.

        Args:
            path: A `.png`, `.svg` or `.pdf` file.

        Returns:
            The path.
        """
        return cast(Path, registered("draw")(self, Path(path)))
