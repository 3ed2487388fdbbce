"""Attributes of events in synthetic logs: values by activity, selection, public values, bins and their distances."""

from functools import lru_cache

import polars as pl
import pytest

from timed_log import timed_frame
from travas import Attribute, Log, Reading, Synthesis, SyntheticRelease, read
from travas.evaluation.details import event_attribute_distance, fetched_cases, released_cases
from travas.log.options import OTHER
from travas.log.questions import DetailColumn, Details
from travas.mechanisms.gaussian import MOST_KEYS
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

ROLE, COST = Attribute("role"), Attribute("cost", bins=[10, 20])
LISTED = Attribute("role", values=["doctor", "desk", "nobody"])


@lru_cache
def original(cases: int = 2_000) -> Log:
    """`visit` by a doctor or a nurse, `test` by one of very many devices, `release` by none; a visit costs 15, else 5."""
    frame = timed_frame(cases).with_row_index("row")
    devices = pl.format("device {}", pl.col("row"))
    role = (
        pl.when(activity="register").then(pl.lit("desk"))
        .when((pl.col("activity") == "visit") & (pl.col("row") % 4 == 0)).then(pl.lit("nurse"))
        .when(activity="visit").then(pl.lit("doctor"))
        .when(activity="test").then(devices)
    )  # fmt: skip
    cost = pl.when(activity="visit").then(15.0).otherwise(5.0)
    return read(
        frame.with_columns(role=role, cost=cost),
        Reading(details=Details("read", (DetailColumn("role", of="event"), DetailColumn("cost", "number", "event")))),
    )


def release(*attributes: Attribute, log: Log | None = None) -> SyntheticRelease:
    made = with_random_bytes(Synthesis(2, "1e-6", event_attributes=attributes), Seeded(1)).release(log or original())
    assert isinstance(made, SyntheticRelease)
    return made


def shares_of(made: SyntheticRelease) -> dict[str, dict[str | None, float]]:
    rows = made.to_polars().group_by("concept:name", "role").len()
    found: dict[str, dict[str | None, float]] = {}
    for activity, role, number in rows.iter_rows():
        found.setdefault(activity, {})[role] = number / rows.filter(pl.col("concept:name") == activity)["len"].sum()
    return found


def test_values_follow_the_activity() -> None:
    made = release(ROLE)
    assert made.measurements.event_attributes[0].values == ("desk", "doctor", "nurse")
    shares = shares_of(made)
    assert shares["register"]["desk"] > 0.95 and shares["test"][OTHER] > 0.95 and shares["release"][None] > 0.95
    assert shares["visit"]["nurse"] == pytest.approx(0.25, abs=0.06) and sum(shares["visit"].values()) == pytest.approx(
        1
    )


def test_listed_values_are_not_selected() -> None:
    made = release(LISTED)
    assert [stage.name for stage in made.mechanism.noise.calibration.stages if "role" in stage.name] == [  # type: ignore[attr-defined]
        "event attribute role"
    ]
    shares = shares_of(made)
    assert shares["visit"][OTHER] == pytest.approx(0.25, abs=0.06) and "nobody" not in shares["register"]


def test_numbers_lie_in_the_bins_of_their_activity() -> None:
    costs = release(COST).to_polars().group_by("concept:name").agg(pl.col("cost").median())
    assert {name: cost >= 10 for name, cost in costs.iter_rows()} == {
        "register": False, "visit": True, "test": False, "release": False, "transfer": False,
    }  # fmt: skip


def test_the_distance_is_that_of_the_values_by_activity() -> None:
    made = release(ROLE)
    distance = event_attribute_distance(fetched_cases(original().totals), released_cases(made), ROLE)  # type: ignore[arg-type]
    assert distance.by_activity < 0.05 and distance.near == pytest.approx(1) and distance.baseline > 0.5


def test_one_case_with_very_many_values_adds_to_the_first_of_them_only() -> None:
    activity = Attribute("role")
    rows = pl.DataFrame({"case": ["c"] * 99, "activity": ["a"] * 99, "role": [f"r{number:02}" for number in range(99)]})
    log = read(rows, Reading(order="file", details=Details(columns=(DetailColumn("role", of="event"),))))
    assert log.totals is not None
    made = Synthesis(2, "1e-6", event_attributes=[activity])
    stage = made.noise.stage("values of event attribute role")
    assert stage.selection is not None and stage.selection.most == MOST_KEYS
    from travas.log.questions import EventValues

    sums = log.totals.value_sums(EventValues(contribution=stage.contribution, attribute="role", most=MOST_KEYS))
    assert sums == {f"r{number:02}": stage.weight(MOST_KEYS) for number in range(MOST_KEYS)}
