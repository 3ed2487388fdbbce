"""Neighbouring logs that are hard to protect, and mechanisms with detectable parameters, as lists.

Every mechanism with a proof is audited, with its OPTIONS; a pair of logs joins by an entry in PAIRS.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sampled_losses import View

import travas
from travas import Mechanism, Reading
from travas.mechanisms import MECHANISMS as ALL
from travas.mechanisms import mechanism as by_name
from travas.mechanisms.gaussian import GaussianMechanism
from travas.mechanisms.mechanism import protecting
from travas.releases.release import counted_of

EPSILON, DELTA = "0.5", "0.05"
"""Small enough to be kept, large enough to be measured with some thousand runs."""

Trace = tuple[str, ...]
PlainLog = dict[Trace, int]
Rows = list[tuple[str, str, str]]
"""Events as case, activity and patient, in order."""

ACTIVITIES = ("a", "b", "c")


TREE: dict[str, Any] = {"max_length": 2, "prune": 2, "alphabet": ACTIVITIES}
OPTIONS: dict[str, dict[str, Any]] = {
    "utravas": {"splits": 2},
    "ladder": {"rungs": "full,prefix:1"},
    "prefix-tree": TREE,
    "sacofa": TREE,
}
"""Options of mechanisms that need some, or that show more with them."""


def _made(name: str) -> Callable[[], Mechanism]:
    return lambda: by_name(name, EPSILON, DELTA, **OPTIONS.get(name, {}))


MECHANISMS: dict[str, Callable[[], Mechanism]] = {name: _made(name) for name in ALL}
"""Every mechanism of travas that has a proof."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring logs, as counts of traces, or as events with a person."""

    name: str
    one: PlainLog | Rows
    other: PlainLog | Rows
    max_cases: int = 0

    @property
    def reading(self) -> Reading:
        """How both are read."""
        return (
            Reading(order="file", unit="patient", max_cases=self.max_cases) if self.max_cases else Reading(order="file")
        )


def _person(variants: int, cases: int) -> Rows:
    """Other patients with one case each, and perhaps one with several."""
    rows = [(f"other {case}", f"v{case % 3}", f"q{case}") for case in range(12)]
    return rows + [(f"own {case}", f"v{case % variants}", "p") for case in range(cases)]


COMMON: PlainLog = {("a", "b"): 6, ("a",): 5}
PAIRS = (
    Pair("a singleton", COMMON, COMMON | {("b", "a"): 1}),
    Pair("counts around the threshold", COMMON | {("b",): 4}, COMMON | {("b",): 5}),
    Pair("frequent counts", {("a", "b"): 60, ("a",): 60}, {("a", "b"): 61, ("a",): 60}),
    Pair("one very long trace", COMMON, COMMON | {("a", "b", "c") * 1000: 1}),
    Pair("one activity 1,000 times", COMMON, COMMON | {("a",) * 1000: 1}),
    Pair("new activities", COMMON, COMMON | {("c", "b"): 1}),
    Pair("a person with several cases of one variant", _person(1, 0), _person(1, 5), 3),
    Pair("a person with several variants", _person(3, 0), _person(3, 6), 3),
    Pair("a case that becomes empty", COMMON, COMMON | {(): 1}),
    Pair("an empty log", {}, {("a",): 1}),
)


def mechanism_for(name: str, pair: Pair) -> Mechanism:
    """The mechanism for the unit of a pair, with verified noise."""
    rule = protecting(MECHANISMS[name](), pair.reading.privacy_unit)
    rule.guarantee()
    return rule


def source_of(log: PlainLog | Rows) -> Any:
    """A log as it is given to the Python function: counted variants, or a data frame with persons."""
    if isinstance(log, dict):
        return travas.Log.from_mapping(log)
    import polars as pl

    return pl.DataFrame(log, schema=["case_id", "activity", "patient"], orient="row")


def release_in_python(mechanism: Mechanism, source: Any, pair: Pair) -> View:
    """What one run of the Python function shows; with Gaussian noise, the measurements that all is made from."""
    if isinstance(mechanism, GaussianMechanism):
        measured: Any = mechanism
        return shown_by_measurements(
            measured.measure(travas.read(source, pair.reading.for_counts_of(counted_of(mechanism))))
        )
    release = travas.anonymize(source, mechanism, reading=pair.reading, frequencies="noisy")
    return views_of(release.variants, release.noisy, release.rungs, release.cases)


def views_of(
    variants: tuple[Any, ...], noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> View:
    """What a release of variants shows: which, with which counts, which counts of each rung, and the number of cases."""
    differences = tuple(count - noisy[0] for count in noisy)
    sizes = len(variants), max(map(len, variants), default=0)
    largest = max(noisy, default=0) >> 3
    return (
        (variants, rungs),
        (variants, noisy, rungs),
        (variants, differences),
        sizes,
        sizes[1],
        largest,
        cases and cases >> 6,
    )


def shown_by_measurements(measured: Any) -> View:
    """What was selected, and the sum of each table of noisy values in steps of two deviations."""
    parts = [getattr(measured, field.name) for field in fields(measured)]
    tables = (int(part.sum()) >> 21 for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "i")
    variants = tuple(trace for trace, _ in getattr(measured, "variants", ()))
    return variants, tuple(measured.activities), *tables
