"""Times and attributes in the mechanism: stages, shares, questions, thresholds, descriptions and refusals."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

import numpy as np
import polars as pl
import pytest

from timed_log import timed_frame
from travas import (
    Attribute,
    Ledger,
    Log,
    ParameterError,
    PrivacyUnit,
    Standing,
    Synthesis,
    SyntheticRelease,
    Times,
    TravasError,
    from_description,
    read,
    synthesize,
)
from travas.errors import VerificationError
from travas.log.questions import CellQuestion, DetailColumn, Details, Question
from travas.mechanisms.mechanism import with_random_bytes
from travas.mechanisms.synthesis import CONTROL_FLOW, TIMES
from travas.pipeline import Request, run
from travas.search.calibration import largest_mu, split_delta
from travas.search.ramps import RELEASED, RESIDUAL
from travas.sources.reading import Reading
from travas.trusted.samplers import Seeded
from travas.trusted.stage_check import verify_calibration
from travas.trusted.stages import SMOOTHING_VARIANCE, STANDARD_DEVIATION

AGE = Attribute("age", bins=[0, 20, 40, 60, 80])
EVERYTHING = Details("read", (DetailColumn("sex"), DetailColumn("age", "number")))
MU = largest_mu(Fraction(1), split_delta(Fraction(1, 10**6))[0])


def rule(**options: Any) -> Synthesis:
    return Synthesis(1, "1e-6", **options)


def contribution(share: Fraction, cases: int = 1) -> int:
    return isqrt(int(MU * MU * (STANDARD_DEVIATION**2 - SMOOTHING_VARIANCE) * share)) // cases


# ----------------------------------------------------------------------------------------------------------- stages


def test_the_default_shares_are_those_of_the_specification() -> None:
    for options, flow in (
        ({}, Fraction(1)),
        ({"times": Times()}, Fraction(75, 100)),
        ({"times": Times(), "attributes": ["a"]}, Fraction(65, 100)),
        ({"attributes": ["a"]}, Fraction(90, 100)),
    ):
        made, persons = rule(**options), rule(unit=PrivacyUnit("patient", 2), **options)
        assert 1 - sum(made._shares) == flow and sum(plan.share for plan in made.plans()) == 1
        residual = 1 - CONTROL_FLOW["variants"]
        for name, share in CONTROL_FLOW.items():
            assert persons.noise.stage(name).contribution == contribution(share * flow, 2)
            overlapping = RELEASED - 1 + flow if name == "variants" else (RESIDUAL - 1 + flow) * share / residual
            assert made.noise.stage(name).contribution == contribution(overlapping)


def test_every_stage_of_times_and_attributes_is_calibrated_and_verified() -> None:
    made = rule(times=Times(), attributes=["sex", AGE])
    assert made.guarantee().standing is Standing.PROVEN
    for name, share in TIMES.items():
        assert made.noise.stage(name).contribution == contribution(share / 4)
    for name in ("attribute sex", "refined attribute sex", "attribute age", "refined attribute age"):
        assert made.noise.stage(name).contribution == contribution(Fraction(1, 40))
    calibration = made.noise.calibration
    for index, stage in enumerate(calibration.stages):
        larger = replace(
            stage, contribution=stage.contribution + STANDARD_DEVIATION // 4, threshold=10 * stage.threshold
        )
        stages = (*calibration.stages[:index], larger, *calibration.stages[index + 1 :])
        with pytest.raises(VerificationError, match="too (large|fast) for"):
            verify_calibration(replace(calibration, stages=stages))


def test_attributes_are_one_selection_divided_among_the_names() -> None:
    made = rule(times=Times(), attributes=["a", "b", AGE])
    deltas = {stage.name: stage.delta for stage in made.noise.calibration.stages if stage.delta}
    third = Fraction(1, 3 * 10**7)
    assert deltas == {"variants": third, "activities": third, "attribute a": third / 2, "attribute b": third / 2}
    stage = made.noise.stage("attribute a")
    calibration = made.noise.calibration
    lower = tuple(
        replace(part, threshold=part.threshold - 1) if part.name == stage.name else part for part in calibration.stages
    )
    with pytest.raises(VerificationError, match="'attribute a' is too low"):
        verify_calibration(replace(calibration, stages=lower))


# -------------------------------------------------------------------------------------------------------- questions


class Recording:
    """Passes on questions and remembers them."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.details, self.asked = inner, inner.details, list[Question]()

    def sums(self, question: CellQuestion) -> Any:
        self.asked.append(question)
        return self.inner.sums(question)

    def value_sums(self, question: Any) -> Any:
        self.asked.append(question)
        return self.inner.value_sums(question)


def test_every_question_has_the_contribution_of_its_stage_and_is_asked_once() -> None:
    log = read(timed_frame(1000), Reading(details=EVERYTHING))
    recording = Recording(log.totals)
    made = with_random_bytes(rule(times=Times("Asia/Tokyo"), attributes=["sex", AGE]), Seeded(1))
    measured = made.measure(replace(log, totals=recording))  # type: ignore[arg-type]
    sizes = [question.contribution for question in recording.asked]
    assert sizes == [stage.contribution for stage in made.noise.calibration.stages[len(CONTROL_FLOW) :]]
    projected = [question for question in recording.asked if hasattr(question, "activities")]
    assert all(question.activities == measured.activities for question in projected)
    zones = {question.zone for question in recording.asked if hasattr(question, "zone")}
    assert zones == {"Asia/Tokyo"}


def test_what_is_measured_is_the_sum_plus_noise_of_the_stated_deviation() -> None:
    """Of 148 cells the largest error exceeds 7 standard deviations with a probability below 1e-9; no noise at all fails."""
    log = read(timed_frame(1000), Reading(details=EVERYTHING))
    measured = rule(times=Times()).measure(log)
    assert measured.times is not None and log.totals is not None
    recording = Recording(log.totals)
    exact = with_random_bytes(rule(times=Times()), Seeded(2)).measure(replace(log, totals=recording))  # type: ignore[arg-type]
    assert exact.times is not None
    for question, noisy in zip(
        [part for part in recording.asked if type(part).__name__ in ("Throughput", "StartBlocks")],
        [exact.times.throughput, exact.times.start_blocks],
        strict=True,
    ):
        assert isinstance(question, CellQuestion)
        error = np.subtract(noisy, log.totals.sums(question)) / STANDARD_DEVIATION
        assert 0.3 < np.sqrt(np.mean(error**2)) < 2 and np.abs(error).max() < 7


def test_a_value_of_one_case_is_not_released() -> None:
    frame = timed_frame(300)
    one = frame["case_id"] == "c7"
    frame = frame.with_columns(sex=frame["sex"].fill_null("x").set(one, "the only one"))
    log = read(frame, Reading(details=Details(columns=(DetailColumn("sex"),))))
    for seed in range(20):
        made = with_random_bytes(rule(attributes=["sex"]), Seeded(seed)).measure(log)
        assert "the only one" not in made.attributes[0].values


def test_a_log_without_times_is_refused_before_the_charge_if_times_are_measured(ledger_path: Path) -> None:
    book = Ledger(ledger_path)
    book.create_account("ward")
    untimed = timed_frame(30).drop("timestamp")
    request = Request(untimed, rule(times=Times()), Reading(order="file"), ledger=book, dataset="ward")
    with pytest.raises(TravasError) as refused:
        run(request)
    assert refused.value.field == "timestamp" and not book.account("ward").entries
    with pytest.raises(ParameterError) as refused:
        rule(times=Times()).release(Log.from_mapping({("a",): 5}))
    assert refused.value.field == "times"
    with pytest.raises(ParameterError) as refused:
        rule(times="if recorded")  # the pipeline decides it, by the columns of the log
    assert refused.value.field == "times"


# ----------------------------------------------------------------------------------------------------- descriptions


@pytest.mark.parametrize(
    "options",
    [
        {"times": Times()},
        {"times": Times("Europe/Berlin", "day", (4, 5))},
        {"attributes": ["a", Attribute("b", ["0.1", 2, 5])]},
        {"times": Times("Asia/Tokyo", recorded="2024-01-01/2024-12-31", longest_case=90)},
        {"attributes": [Attribute("a", values=["y", "x"])], "event_attributes": ["b", Attribute("c", [1, 2])]},
    ],
)
def test_descriptions_round_trip(options: dict[str, Any]) -> None:
    made = rule(**options)
    assert from_description(made.describe()) == made


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Times("Mars/Olympus"), "not a time zone"),
        (lambda: Times(resolution="week"), "resolution is 'week'"),  # type: ignore[arg-type]
        (lambda: Times(weekend=(7,)), "weekend is"),
        (lambda: Times(recorded="2024-02-01/2024-01-01"), "use the first and the last day"),
        (lambda: Times(longest_case=0), "longest_case is 0"),
        (lambda: Attribute("age", [1, 3, 2]), "bins are 1, 3, 2; use increasing numbers"),
        (lambda: rule(attributes=["a", "a"]), "once"),
        (lambda: rule(attributes=["concept:name"]), "column of every released log"),
        (lambda: Attribute("sex", values=["other"]), "without 'other'"),
        (lambda: Attribute("age", bins=[1], values=["f"]), "bins and values"),
        (lambda: rule(event_attributes=["case:sex"]), "set attributes to it"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


# ------------------------------------------------------------------------------------------------------- the log


def test_no_name_of_an_attribute_is_that_of_another_stage() -> None:
    names = ["sex", "refined sex", "sex, refined", "refined attribute sex"]
    assert len(rule(attributes=names).contributions) == 5 + 2 * len(names)


def test_every_zone_that_is_accepted_can_be_written() -> None:
    refused = set()
    for zone in available_timezones():
        try:
            Times(zone)
        except ParameterError:
            refused.add(zone)
        else:
            pl.Series([datetime(2024, 1, 1, tzinfo=UTC)]).dt.convert_time_zone(zone)
    assert refused <= {"Factory", "localtime", "leapseconds", "tzdata.zi"}


def test_times_are_released_by_default_if_there_is_a_column() -> None:
    frame = timed_frame(300)
    made = synthesize(frame, epsilon=1, delta="1e-6")
    assert made.event_times is not None and made.mechanism.describe()["times"]["zone"] == "UTC"
    for source, reading in ((frame.drop("timestamp"), Reading(order="file")), ({("a",): 100}, Reading())):
        made = synthesize(source, epsilon=1, delta="1e-6", reading=reading)
        assert made.event_times is None and made.mechanism.describe()["times"] is None
    assert synthesize(frame, epsilon=1, delta="1e-6", times=None).event_times is None


@pytest.mark.parametrize("seconds", [0, 40 * 365 * 86_400, -86_400, 10**11])
def test_odd_times_are_released(seconds: int) -> None:
    frame = timed_frame(60)
    import polars as pl

    last = pl.col("timestamp").cum_count().over("case_id") == 3
    moved = pl.col("timestamp") + pl.when(last).then(pl.duration(seconds=seconds)).otherwise(pl.duration())
    log = frame.with_columns(moved if seconds else pl.lit(frame["timestamp"][0]).alias("timestamp"))
    made = synthesize(log, epsilon=1, delta="1e-6", reading=Reading(order="file"))
    assert isinstance(made, SyntheticRelease) and made.event_times is not None


def test_an_empty_log_also_has_times() -> None:
    made = synthesize(timed_frame(5).clear(), epsilon=1, delta="1e-6", attributes=["sex"], times=Times())
    assert made.event_times is not None and len(made.to_polars()) == sum(
        len(trace) * count for trace, count in zip(made.variants, made.counts, strict=True)
    )
