"""A pm4py program changes one import: DataFrame in, DataFrame out, the input untouched, parameters with pm4py's meaning."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pandas as pd
import pm4py
import pm4py.privacy
import pytest

import travas
from travas.pm4py import GUARANTEE, anonymize_differential_privacy

STEPS = ("register", "visit", "test", "release")


def frame_of(cases: int = 1500) -> pd.DataFrame:
    """Cases of one hour per step; every third stops after two steps. A person has two cases."""
    rows = [
        (
            f"c{case}",
            step,
            pd.Timestamp("2025-01-01", tz="UTC") + pd.Timedelta(hours=case + number),
            f"p{case // 2}",
            "<1>",
        )
        for case in range(cases)
        for number, step in enumerate(STEPS[:2] if case % 3 == 0 else STEPS)
    ]
    return pd.DataFrame(rows, columns=["case:concept:name", "concept:name", "time:timestamp", "case:who", "note"])


@pytest.fixture(scope="module")
def log() -> pd.DataFrame:
    return frame_of()


def variants(frame: pd.DataFrame) -> dict[tuple[str, ...], int]:
    return dict(pm4py.get_variants(frame))


def test_the_first_parameters_are_those_of_pm4py() -> None:
    theirs = list(inspect.signature(pm4py.privacy.anonymize_differential_privacy).parameters.values())
    ours = list(inspect.signature(anonymize_differential_privacy).parameters.values())
    assert [one.name for one in theirs] == [one.name for one in ours[: len(theirs)]] == ["log", "epsilon", "k", "p"]
    assert all(one.kind is one.POSITIONAL_OR_KEYWORD for one in ours[: len(theirs)])
    assert all(one.default is not one.empty for one in ours[1:])  # `anonymize_differential_privacy(log)` is enough


def test_a_frame_becomes_a_frame_and_is_not_changed(log: pd.DataFrame) -> None:
    before = log.copy(deep=True)
    released = anonymize_differential_privacy(log)
    pd.testing.assert_frame_equal(log, before)
    assert log.attrs == before.attrs
    assert {"case:concept:name", "concept:name", "time:timestamp"} <= set(released.columns)
    assert "note" not in released.columns and "case:who" not in released.columns
    assert released["time:timestamp"].dt.year.between(2020, 2030).mean() > 0.5  # generated, not artificial
    assert max(variants(released).items(), key=lambda item: item[1])[0] == STEPS
    assert (
        released.attrs[GUARANTEE].startswith("ε = 1, δ = 1e-6 for one case") and "proven" in released.attrs[GUARANTEE]
    )
    model = pm4py.discover_petri_net_inductive(released)
    assert pm4py.fitness_token_based_replay(log, *model)["log_fitness"] > 0.9


def test_k_is_the_maximum_length(log: pd.DataFrame) -> None:
    released = anonymize_differential_privacy(log, 1.0, 2)
    assert max(map(len, variants(released))) == 2
    assert max(map(len, variants(anonymize_differential_privacy(log, 1.0)))) >= 4


def test_p_is_the_least_number_of_cases_of_a_variant() -> None:
    few = frame_of(900)
    rare = [
        (f"r{n}", step, pd.Timestamp("2025-01-01", tz="UTC"), "x", "") for n in range(40) for step in ("test", "visit")
    ]
    log = pd.concat([few, pd.DataFrame(rare, columns=few.columns)])
    released = anonymize_differential_privacy(log, epsilon=2.0, k=10, p=150)
    assert set(variants(released)) <= {STEPS, STEPS[:2]} and min(variants(released).values()) >= 150
    assert released.attrs[GUARANTEE] and list(released.index) == list(range(len(released)))
    assert len(anonymize_differential_privacy(log, p=10**6)) == 0


def test_an_event_log_is_read_like_its_frame(log: pd.DataFrame) -> None:
    objects = pm4py.convert_to_event_log(log[["case:concept:name", "concept:name", "time:timestamp"]])
    released = anonymize_differential_privacy(objects)
    assert max(variants(released).items(), key=lambda item: item[1])[0] == STEPS
    assert released["time:timestamp"].dt.year.max() > 2000


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


@pytest.mark.parametrize(("name", "value"), [("k", 0), ("k", 2.5), ("p", -1), ("epsilon", 0), ("delta", 2)])
def test_parameters_are_checked(name: str, value: Any, log: pd.DataFrame) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(travas.ParameterError, match=name) as refused:
        anonymize_differential_privacy(log, **given)
    assert refused.value.field == name


def test_pm4py_is_not_imported() -> None:
    script = "import sys, travas.pm4py\nassert not {'pm4py', 'pandas', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
