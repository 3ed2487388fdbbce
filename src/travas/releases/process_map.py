"""A process map as a release: numbers of cases with intervals, the measurements they come from, and the guarantee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import ParameterError
from ..log.traces import Activity
from ..synthesis.measurements import MeasuredNumber
from .map_numbers import MapCounts, MapDurations, MapMeasurements, Quartiles
from .release import Release, later

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


NOTICE = (
    "process map: numbers of cases with noise, each with a 95 % interval; activities that were not selected are one node, "
    "'other'"
)

NodeKind = Literal["start", "activity", "other", "end"]
"""What a node is. Start, end and `other` are kinds of node, not names: an activity may have any name."""

ModelFormat = Literal["bpmn", "pnml", "ptml"]
"""A BPMN diagram, a Petri net, or a process tree."""

Dfg = dict[tuple[str, str], int]
"""Numbers of cases by pair of names, as `pm4py.view_dfg` takes them."""


@dataclass(frozen=True)
class MapNode:
    """A node of the map.

    Attributes:
        kind: What it is.
        activity: The activity; None for start, end and `other`.
    """

    kind: NodeKind
    activity: Activity | None = None


START, OTHER, END = MapNode("start"), MapNode("other"), MapNode("end")


@dataclass(frozen=True)
class MapPair:
    """A directly-follows pair.

    Attributes:
        before: The first node.
        after: The second node.
        cases: In how many cases the pair occurs, with a 95 % interval.
        duration: The time between both, if durations were measured; None for start and end. With service times, the
            waiting time: until the second one starts.
    """

    before: MapNode
    after: MapNode
    cases: MeasuredNumber
    duration: Quartiles | None = None


@dataclass(frozen=True)
class MapActivity:
    """An activity that has its own node.

    Attributes:
        activity: The activity.
        present: In how many cases it occurs; None if rework was not measured.
        repeated: In how many cases it occurs more than once; None if rework was not measured.
        service: The time from its start to its end; None if that was not measured, or is mostly noise.
    """

    activity: Activity
    present: MeasuredNumber | None = None
    repeated: MeasuredNumber | None = None
    service: Quartiles | None = None


@dataclass(frozen=True, repr=False)
class MapRelease(Release):
    """A process map: `pairs`, `activities`, `total` and `throughput` are what is released.

    Attributes:
        measurements: The noisy measurements: public, and all that the map depends on.
    """

    _: KW_ONLY
    measurements: MapMeasurements

    @cached_property
    def numbers(self) -> MapCounts:
        """All numbers of cases as tables, by node: activities, `other`, and START or END."""
        return MapCounts.of(self.measurements)

    @property
    def total(self) -> MeasuredNumber:
        """The number of cases, with a 95 % interval."""
        return self.numbers.total

    @property
    def expected_false_pairs(self) -> float:
        """How many pairs are expected to be there by noise alone."""
        return self.numbers.expected_false

    @cached_property
    def activities(self) -> tuple[MapActivity, ...]:
        """The activities that have their own node, sorted by name."""
        names, numbers = self.measurements.activities, self.numbers
        service = map(self.times.of_node.get, range(len(names)))
        unknown = (None,) * len(names)
        return tuple(map(MapActivity, names, numbers.present or unknown, numbers.repeated or unknown, service))

    @cached_property
    def pairs(self) -> tuple[MapPair, ...]:
        """The directly-follows pairs that stand out from the noise: start first, then by activity, `other` last."""
        numbers = self.numbers
        inner = [*(MapNode("activity", name) for name in self.measurements.activities), OTHER]
        before, after = [*inner, START], [*inner, END]
        rows = [len(inner), *range(len(inner))]
        return tuple(
            MapPair(
                before[row],
                after[column],
                MeasuredNumber(*(float(table[row, column]) for table in (numbers.estimate, numbers.low, numbers.high))),
                self.times.of_pair.get((row, column)),
            )
            for row in rows
            for column in numbers.kept[row].nonzero()[0].tolist()
        )

    @cached_property
    def times(self) -> MapDurations:
        """All durations, by pair of nodes."""
        return MapDurations.of(self.measurements)

    @property
    def throughput(self) -> Quartiles | None:
        """Quartiles of the time from the first to the last event of a case; None if not measured."""
        return self.times.throughput

    @property
    def parts(self) -> tuple[str, ...]:
        """What the map has beyond counts."""
        return tuple(cast(Any, self.mechanism).parts)

    @property
    def title(self) -> str:
        """What the map is called in file headers and pictures."""
        return "process map, released by travas"

    @property
    def notices(self) -> dict[str, str]:
        """What every file says about the map as a whole."""
        digest = f"SHA-256 {self.measurements.digest}"
        return super().notices | {"travas:map": NOTICE, "travas:measurements": digest}

    @property
    def headline(self) -> str:
        """What was released and how much of it, in a few words."""
        return f"Process map: {len(self.activities):,} activities, {len(self.pairs):,} pairs"

    # ------------------------------------------------------------------------------------------------ other forms

    def to_pm4py(self) -> tuple[Dfg, dict[str, int], dict[str, int]]:
        """Dictionaries for `pm4py.view_dfg(*release.to_pm4py())`: pairs, start activities and end activities.

        Numbers are of cases, not of events: a pair that a case has twice counts once. Activities of several columns are
        joined by " / ", and `other` is named "(other)", with more parentheses if an activity has this name.

        Returns:
            Numbers of cases by pair, by start activity and by end activity.
        """
        return self.graph(self.label)

    def graph(self, name: Callable[[MapNode], str]) -> tuple[Dfg, dict[str, int], dict[str, int]]:
        """The dictionaries of `to_pm4py`, with names of another form.

        Args:
            name: The name of a node; no two nodes may have the same.

        Returns:
            Numbers of cases by pair, by start activity and by end activity.
        """
        pairs: Dfg = {}
        starts: dict[str, int] = {}
        ends: dict[str, int] = {}
        for pair in self.pairs:
            cases = max(1, round(pair.cases.value))
            if pair.before == START:
                starts[name(pair.after)] = cases
            elif pair.after == END:
                ends[name(pair.before)] = cases
            else:
                pairs[name(pair.before), name(pair.after)] = cases
        return pairs, starts, ends

    def label(self, node: MapNode) -> str:
        """The name of a node, unique within the map, for programs in which a node is its name.

        Args:
            node: A node of the map.

        Returns:
            The name.
        """
        if node.activity is not None:
            return self._names[node.activity]
        name, names = f"({node.kind})", set(self._names.values())
        while name in names:
            name = f"({name})"
        return name

    @cached_property
    def _names(self) -> dict[Activity, str]:
        """The names of activities; columns are joined by " / ", and quoted if some names were the same otherwise."""
        names = {one: one if isinstance(one, str) else " / ".join(one) for one in self.measurements.activities}
        if len(set(names.values())) == len(names):
            return names
        return {one: " / ".join(map(repr, one)) for one in names}

    def to_polars(self) -> pl.DataFrame:
        """Return the pairs as a table: one row per pair, with numbers of cases, intervals and durations in seconds.

        Returns:
            A Polars data frame.
        """
        return cast("pl.DataFrame", later("outputs.map_files", "map_table")(self))

    def to_pandas(self) -> pd.DataFrame:
        """Return the pairs as a table, as `to_polars` does.

        Returns:
            A pandas data frame.
        """
        return self.to_polars().to_pandas()

    def model(self, path: str | Path, existing: Literal["fail", "replace"] = "fail") -> Path:
        """Discover a process model from the map with pm4py's inductive miner and write it. Post-processing: no cost.

        Args:
            path: A `.bpmn`, `.pnml` or `.ptml` file.
            existing: `"fail"` refuses an existing file; `"replace"` replaces it.

        Returns:
            The path.

        Raises:
            MissingExtraError: pm4py is not installed.
        """
        return cast(Path, later("evaluation.pm4py_models", "write_model")(self, Path(path), existing))


def map_release(release: Release) -> MapRelease:
    """The release as a process map."""
    if not isinstance(release, MapRelease):
        raise ParameterError("the release is not a process map; use travas.process_map")
    return release
