"""What the code really sums, for neighbouring logs and the same earlier outputs: the recorder and the random logs.

A log is measured with "noise" that is chosen at random on many scales; the outputs are recorded. The same outputs are then
replayed on the log with one case, or all cases of one person, more, and the integer sums of both are compared.
"""

import dataclasses
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from numpy.typing import NDArray

import travas
from travas import Attribute, Log, PrivacyUnit, ProcessMap, Reading, Rules, Synthesis, Times
from travas.log.options import OTHER, SERVICE_TIMES
from travas.log.questions import AttributeValues, EventValues
from travas.mechanisms.gaussian import GaussianMechanism
from travas.releases.release import details_of
from travas.sources.engine import segments
from travas.synthesis.measurements import first_stage, values_stage
from travas.trusted.stages import STANDARD_DEVIATION

Integers = NDArray[np.int64]
Row = dict[str, str | None]
COLUMNS = ("case", "activity", "time", "unit", "group", "number", "role", "cost", "lifecycle")
STARTS = (
    datetime(2026, 1, 31, 22),
    datetime(2026, 2, 14, 10),
    datetime(1969, 12, 28, 23, 59, 59),
    datetime(2026, 3, 29, 0, 30),
    datetime(2127, 1, 1),
    datetime(9999, 12, 30, 23),
    datetime(2026, 10, 25, 0, 59),
)
STEPS = (0, 0, 1, -1, 4, 59, -3600, 3600, 86_400, 30 * 86_400, -86_400 * 400)


@dataclass
class Stage:
    """The sums of a stage on the smaller log, by key where keys are selected, and what was returned for them."""

    sums: Any
    output: Any
    larger: Any = None


class Recorder:
    """Stands for `Draws`: chooses outputs on the smaller log, and replays them on the larger one."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.stages = chance, dict[str, Stage]()
        self.scale, self.kept = chance.choice([0, 0.01, 1, 1, 5]), chance.choice([0.0, 0.3, 0.6, 1.0])
        self.keys: dict[str, Sequence[Any]] = {}
        self.is_replay = False

    def of(self, rule: GaussianMechanism) -> "Recorder":
        """As `Draws` of this mechanism."""
        self.stage = rule.noise.stage
        return self

    def noisy(self, name: str, sums: Integers, where: Integers | None = None) -> Integers:
        """As `Draws.noisy`."""
        if (keys := self.keys.get(name)) is not None:
            cells = np.ones(sums.shape, dtype=bool) if where is None else where
            values = {key: int(value) for key, value, is_cell in zip(keys, sums, cells, strict=True) if is_cell}
            if not self.is_replay:
                passes = {key: self.chance.random() < self.kept for key in values}
                self.stages[name] = Stage(
                    values, {key: 99 * STANDARD_DEVIATION if passes[key] else -(10**9) for key in values}
                )
            self.stages[name].larger = values
            output = self.stages[name].output
            return np.array([output.get(key, -(10**9)) if key in values else 0 for key in keys], dtype=np.int64)
        if not self.is_replay:
            drawn = [int(self.chance.gauss(0, 1) * STANDARD_DEVIATION * self.scale) for _ in range(sums.size)]
            boosted = [60 * STANDARD_DEVIATION * (self.chance.random() < 0.2) for _ in range(sums.size)]
            noise = np.array(drawn, dtype=np.int64) + np.array(boosted, dtype=np.int64)
            output = sums + noise.reshape(sums.shape)
            self.stages[name] = Stage(sums.copy(), output if where is None else np.where(where, output, 0))
        stage = self.stages[name]
        assert stage.sums.shape == sums.shape, f"the shape of {name} depends on the data"
        stage.larger = sums.copy()
        output = stage.output.copy()
        return output if isinstance(output, np.ndarray) else np.array(output)


@dataclass(frozen=True)
class Totals:
    """The totals of a log, which tell the recorder the values of an attribute in their order."""

    totals: Any
    recorder: Recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.totals, name)

    def value_sums(self, question: AttributeValues | EventValues) -> dict[str | None, int]:
        sums: dict[str | None, int] = self.totals.value_sums(question)
        values = sorted(value for value in sums if value is not None and value != OTHER)
        if isinstance(question, EventValues):
            self.recorder.keys[values_stage(question.attribute)] = values
        else:
            self.recorder.keys[first_stage(question.attribute)] = [*values, None]
        return sums


def measured(rule: Any, variants: Log, recorder: Recorder) -> None:
    """Measure a log with the outputs of a recorder."""
    recorder.keys = {"variants": variants.traces(range(len(variants))), "activities": list(variants.alphabet)}
    if variants.totals is not None:
        variants = dataclasses.replace(variants, totals=Totals(variants.totals, recorder))
    with patch.object(GaussianMechanism, "_draws", lambda rule: recorder.of(rule)):
        rule.measure(variants)


def violations(
    kind: str, pairs: int, seed: int, *, unit: bool = False, more_cases: int = 0, by: str | None = None
) -> Iterator[str]:
    """What exceeds its claim in random pairs of neighbouring logs, in all segments together.

    Args:
        kind: `synthesis` or `map`.
        pairs: The number of pairs.
        seed: The seed of the logs and outputs.
        unit: Whether a person with several cases is added.
        more_cases: How many cases too many are counted of a person: a fault.
        by: The attribute of the segments.
    """
    chance = random.Random(seed)
    for number in range(pairs):
        most = chance.choice([1, 2, 3, 7]) if unit else 1
        rule = _rule(kind, chance, PrivacyUnit("unit", most) if unit else PrivacyUnit())
        smaller, extra = _logs(chance, unit)
        larger = _merged(smaller, extra, chance)
        bounded: Any = {"unit": "unit", "max_cases": most + more_cases, "counted": "cases"} if unit else {}
        reading = Reading(
            case="case", activity=("activity",), timestamp="time", on_missing="drop", details=details_of(rule),
            lifecycle="pairs" if details_of(rule).service else chance.choice(["all", "complete", "start"]),
            abstraction=chance.choice(["full", "full", "first", "prefix:8"]),
            by=by, segments=() if by is None else chance.choice([("a", "b"), ("b", "other"), ("a", "b", "other")]), **bounded,
        )  # fmt: skip
        recorders = [Recorder(chance) for _ in reading.named_segments]
        for rows in (smaller, larger):
            frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))
            variants = dataclasses.replace(travas.read(frame, reading), unit=rule.unit)
            for part, recorder in zip(segments(variants, reading), recorders, strict=True):
                measured(rule, part, recorder)
                recorder.is_replay = True
        for recorder in recorders:
            yield from (f"pair {number}: {why}" for why in _flow_of_released(rule, recorder))
        for name in recorders[0].stages:
            stage = _together([recorder.stages[name] for recorder in recorders])
            yield from (f"pair {number}: {name}: {why}" for why in _faults_of(rule.noise.stage(name), stage, most))


def _together(parts: list[Stage]) -> Stage:
    """The cells, or keys, of all segments."""
    if not isinstance(parts[0].sums, dict):
        sums, larger = (np.concatenate([np.ravel(getattr(part, of)) for part in parts]) for of in ("sums", "larger"))
        return Stage(sums, None, larger)
    keyed = [
        {(number, key): value for number, part in enumerate(parts) for key, value in getattr(part, of).items()}
        for of in ("sums", "larger")
    ]
    return Stage(keyed[0], None, keyed[1])


def _flow_of_released(rule: Any, recorder: Recorder) -> Iterator[str]:
    """Cases of released variants add nothing to the flow (Theorem 2)."""
    variants = recorder.stages.get("variants", Stage({}, {}, {}))
    changed = [key for key, value in variants.larger.items() if value != variants.sums.get(key)]
    if changed and all(variants.output.get(key, 0) > 0 for key in changed):
        for name, stage in recorder.stages.items():
            if rule.noise.stage(name).group == "residual" and not _are_equal(stage.sums, stage.larger):
                yield f"{name}: a case of a released variant adds something"


def _are_equal(sums: Any, larger: Any) -> bool:
    return bool(sums == larger if isinstance(sums, dict) else np.array_equal(sums, larger))


def _passing(claimed: Any, value: int) -> float:
    """The probability that a new key with this sum is published."""
    above = [(1.0, claimed.threshold - value)]
    if claimed.ramp is not None:
        falls = enumerate(claimed.ramp.falls, claimed.ramp.first)
        above = [(fall / 2**32, least * claimed.contribution - value) for least, fall in falls]
    return sum(share * math.erfc(far / STANDARD_DEVIATION / math.sqrt(2)) / 2 for share, far in above)


def _faults_of(claimed: Any, stage: Stage, most: int) -> Iterator[str]:
    """Every case adds a non-negative vector of norm at most Δ; a new key passes with at most the stage's δ."""
    if isinstance(stage.sums, dict):
        changes = [value - stage.sums.get(key, 0) for key, value in stage.larger.items()]
        changes += [-value for key, value in stage.sums.items() if key not in stage.larger]
        new = [value for key, value in stage.larger.items() if key not in stage.sums and key[1] is not None]
        if claimed.selection is not None and new:
            passing = sum(_passing(claimed, value) for value in new)
            if passing > float(claimed.delta) * (1 + 1e-9):
                yield f"new keys pass with {passing}, more than {float(claimed.delta)}"
    else:
        changes = (stage.larger - stage.sums).reshape(-1).tolist()
    squares = sum(change * change for change in changes)
    if squares > (claimed.contribution * most) ** 2:
        yield f"the squared norm is {squares}, more than {(claimed.contribution * most) ** 2}"
    if any(change < 0 for change in changes):
        yield "a case takes something away"


def _times(chance: random.Random) -> Times:
    recorded = chance.choice([None, None, "1969-12-29/1970-03-01", "2026-01-15/2027-06-30"])
    return Times(chance.choice(["Europe/Berlin", "UTC", "Pacific/Apia"]), recorded=recorded)


def _rule(kind: str, chance: random.Random, unit: PrivacyUnit) -> Synthesis | ProcessMap:
    epsilon, delta = chance.choice(["1", "4", "20"]), chance.choice(["1e-6", "1e-3"])
    alphabet = None if chance.random() < 0.7 else chance.sample([f"a{i}" for i in range(12)], 4)
    if kind == "map":
        parts = chance.choice(
            [
                ("durations", "rework", "throughput"),
                ("rework",),
                ("durations",),
                ("service",),
                ("service", "rework"),
                (),
            ]
        )
        return ProcessMap(epsilon, delta, parts=parts, alphabet=alphabet, unit=unit)
    has_times, has_attributes = chance.random() < 0.8, chance.random() < 0.8
    own = [SERVICE_TIMES] * (has_times and chance.random() < 0.5)
    return Synthesis(
        epsilon, delta, alphabet=alphabet, unit=unit,
        times=_times(chance) if has_times else None,
        attributes=(Attribute("group"), Attribute("number", bins=[0, 5, 10])) if has_attributes else (),
        event_attributes=own + chance.choice([
            [], [Attribute("role")], [Attribute("role", values=["r1", "r2"])],
            [Attribute("role"), Attribute("cost", bins=[0, 5])],
        ]),
        rules=chance.choice([None, Rules(starts_with=["a0"], at_most_once=["a1"], before=["a0 < a2"], follows=["a0 > a1"])]),
    )  # fmt: skip


def _logs(chance: random.Random, unit: bool) -> tuple[list[Row], list[Row]]:
    """A log, and the cases of one person, or one case, that another log has in addition."""
    activities = [f"a{i}" for i in range(chance.choice([1, 2, 3, 5, 8, 12]))]
    smaller: list[Row] = []
    for number in range(chance.choice([0, 1, 2, 3, 5, 8])):
        smaller = _merged(smaller, _case(chance, f"c{number}", f"p{number % 3}", activities), chance)
    extra: list[Row] = []
    others = [*activities, "NEW"] if chance.random() < 0.4 else activities
    twin = _case(chance, "x", "px", others)
    for number in range(chance.choice([1, 2, 3, 9]) if unit else 1):
        is_twin = chance.random() < 0.5
        case = [row | {"case": f"x{number}"} for row in twin] if is_twin else _case(chance, f"x{number}", "px", others)
        extra = _merged(extra, case, chance)
    if not unit and smaller and chance.random() < 0.3:  # the new case is a copy of an old one
        extra = [row | {"case": "x0", "unit": "px"} for row in smaller if row["case"] == smaller[0]["case"]]
    return smaller, extra


def _case(chance: random.Random, name: str, person: str, activities: list[str]) -> list[Row]:
    length = chance.choice([1, 1, 2, 3, 4, 5, 8, 12, 40]) if chance.random() < 0.97 else 150
    kind = chance.random()
    if kind < 0.2:
        trace = [chance.choice(activities)] * length
    elif kind < 0.4 and len(activities) > 1:
        trace = (chance.sample(activities, 2) * length)[:length]
    else:
        trace = [chance.choice(activities) for _ in range(length)]
    time = chance.choice(STARTS)
    group, number = (
        chance.choice(["a", "b", "other", None, f"rare {name}"]),
        chance.choice(["1", "5", "10", "-3", "x", None]),
    )
    rows: list[Row] = []
    for activity in trace:
        with suppress(OverflowError):
            time += timedelta(seconds=chance.choice(STEPS))
        stamp = time.isoformat() + chance.choice(["", "", "Z", "+02:00", ".123456"])
        rows.append(
            {"case": name, "activity": activity if chance.random() > 0.02 else None, "unit": person,
             "time": stamp if chance.random() > 0.03 else None, "group": group, "number": number,
             "role": chance.choice(["r1", "r2", "r3", "other", None, f"r{chance.randrange(99)}"]),
             "cost": chance.choice(["1", "7", "x", None]),
             "lifecycle": chance.choice(["start", "complete", "COMPLETE", None, "x"])}
        )  # fmt: skip
    return rows


def _merged(rows: list[Row], extra: list[Row], chance: random.Random) -> list[Row]:
    """Both, each in its order."""
    places = sorted(chance.randrange(len(rows) + 1) for _ in extra)
    merged = list(rows)
    for shift, (place, row) in enumerate(zip(places, extra, strict=True)):
        merged.insert(place + shift, row)
    return merged
