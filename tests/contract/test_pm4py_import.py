"""A pm4py program changes one import: DataFrame in, DataFrame out, the input untouched, parameters with pm4py's meaning."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pm4py
import pm4py.privacy
import pytest
from pm4py.objects.log.obj import Event, EventLog, Trace

import travas
from travas.pm4py import GUARANTEE, anonymize_differential_privacy

NEW_YEAR = datetime(2025, 1, 1, tzinfo=UTC)
STEPS = ("register", "visit", "test", "release")


def frame_of(cases: int = 1500) -> pd.DataFrame:
    """Cases of one hour per step; every third stops after two steps. A person has two cases."""
    rows = [
        (f"c{case}", step, NEW_YEAR + timedelta(hours=case + number), f"p{case // 2}", "<1>")
        for case in range(cases)
        for number, step in enumerate(STEPS[:2] if case % 3 == 0 else STEPS)
    ]
    return pd.DataFrame(rows, columns=["case:concept:name", "concept:name", "time:timestamp", "case:who", "note"])


@pytest.fixture(scope="module")
def log() -> pd.DataFrame:
    return frame_of()


def variants(frame: pd.DataFrame) -> dict[tuple[str, ...], int]:
    return dict(pm4py.get_variants(frame))


def test_a_frame_becomes_a_frame_and_is_not_changed(log: pd.DataFrame) -> None:
    before = log.copy(deep=True)
    released = anonymize_differential_privacy(log)
    pd.testing.assert_frame_equal(log, before)
    assert log.attrs == before.attrs
    assert {"case:concept:name", "concept:name", "time:timestamp"} <= set(released.columns)
    assert "note" not in released.columns and "case:who" not in released.columns
    assert released["time:timestamp"].dt.year.between(2020, 2030).mean() > 0.5  # generated, not artificial
    assert max(variants(released).items(), key=lambda item: item[1])[0] == STEPS
    assert released.attrs[GUARANTEE] == "ε = 1, δ = 1e-6 for adding or removing one case: proven"
    model = pm4py.discover_petri_net_inductive(released)
    assert pm4py.fitness_token_based_replay(log, *model)["log_fitness"] > 0.9


def test_k_is_the_maximum_length(log: pd.DataFrame) -> None:
    released = anonymize_differential_privacy(log, 1.0, 2)
    assert max(map(len, variants(released))) == 2
    assert max(map(len, variants(anonymize_differential_privacy(log, 1.0)))) >= 4


def trace_of(name: str, *events: dict[str, Any], **attributes: Any) -> Trace:
    times = {"time:timestamp": NEW_YEAR}
    return Trace([Event(times | event) for event in events], attributes={"concept:name": name} | attributes)


def wards(cases: int = 1000) -> list[Trace]:
    return [trace_of(f"c{case}", {"concept:name": "a"}, age=30 + case % 3, ward="W") for case in range(cases)]


def test_a_trace_says_nothing_about_others() -> None:
    evil = [{"concept:name": "evil", "case:concept:name": f"c{case}", "case:ward": "X"} for case in range(1000)]
    released = anonymize_differential_privacy(
        EventLog([*wards(), trace_of("z", *evil, ward="W")]), epsilon=2, attributes=["case:ward"]
    )
    assert variants(released)[("a",)] > 900 and "evil" not in set(released["concept:name"])
    assert (released["case:ward"] == "W").mean() > 0.9


@pytest.mark.parametrize(
    "odd",
    [
        trace_of("x", {"concept:name": "a", "time:timestamp": datetime(2025, 1, 1)}, age=3),
        trace_of("x", {"concept:name": "a", "time:timestamp": "2025-01-01T00:00:00+02:00"}, age=3),
        trace_of("x", {"concept:name": "a"}),
        trace_of("x", {"concept:name": "a"}, age="old"),
        trace_of("x", {"concept:name": "a"}, age=2**70),
        trace_of("x", {"concept:name": "a", "note": 3}),
    ],
    ids=["naive", "text", "no age", "age in words", "large age", "another key"],
)
def test_a_trace_does_not_change_how_others_are_read(odd: Trace) -> None:
    age = travas.Attribute("case:age", bins=[0, 20, 40, 60])
    released = anonymize_differential_privacy(EventLog([*wards(), odd]), epsilon=2, attributes=[age])
    assert released["case:age"].between(20, 40).mean() > 0.9
    assert released["time:timestamp"].dt.year.isin((2024, 2025)).mean() > 0.9  # the week of New Year


def test_persons_attributes_and_the_ledger(log: pd.DataFrame, tmp_path: Any) -> None:
    ledger = travas.Ledger(tmp_path / "ledger.db")
    ledger.create_account("clinic")
    released = anonymize_differential_privacy(
        log.rename(columns={"note": "case:note"}), epsilon=2, delta="1e-5", unit="case:who", max_cases=2,
        attributes=["case:note"], ledger=ledger, dataset="clinic",
    )  # fmt: skip
    assert "case:who" in released.attrs[GUARANTEE] and "case:note" in released.columns
    assert [(str(entry.spending.epsilon), entry.spending.mechanism) for entry in ledger.account("clinic").entries] == [
        ("2", "synthesis")
    ]


def test_a_failed_conversion_says_that_the_charge_stands(
    log: pd.DataFrame, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Any) -> None:
        raise MemoryError("secret")

    monkeypatch.setattr("travas.releases.synthetic_log.SyntheticRelease.to_pandas", fails)
    with pytest.raises(MemoryError):
        anonymize_differential_privacy(log)  # nothing is charged
    ledger = travas.Ledger(tmp_path / "ledger.db")
    ledger.create_account("clinic")
    with pytest.raises(travas.ChargedError, match="'clinic' is not refunded") as failed:
        anonymize_differential_privacy(log, ledger=ledger, dataset="clinic")
    assert "secret" not in str(failed.value) and len(ledger.account("clinic").entries) == 1
