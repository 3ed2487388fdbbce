"""The functions of Python users: reading options as keywords, a watch that fails, and misspelt rules."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import travas
from travas.errors import ChargedError, ParameterError
from travas.mechanisms import mechanism as by_name
from travas.pipeline import Phase, Request, run

SECRET = "Planted Name"


@pytest.fixture
def events() -> pl.DataFrame:
    """Sixty cases of thirty persons, in columns whose names no reader recognises; rows in reverse order of time."""
    rows = [
        (f"v{case}", f"p{case % 30}", step, f"2025-01-0{1 + number}")
        for case in range(60)
        for number, step in enumerate(("register", SECRET, "release"))
    ]
    return pl.DataFrame(rows[::-1], schema=["visit", "who", "what", "day"], orient="row").with_columns(
        pl.col("day").str.to_date()
    )


COLUMNS: dict[str, Any] = {"case": "visit", "activity": "what", "timestamp": "day"}
TRACE = ("register", SECRET, "release")


def test_keywords_are_a_short_form_of_a_reading(events: pl.DataFrame) -> None:
    assert dict(travas.read(events, **COLUMNS).items()) == {TRACE: 60}
    assert dict(travas.read(events, **COLUMNS, order="file").items()) == {TRACE[::-1]: 60}
    counted = travas.read(events, **COLUMNS, unit="who", max_cases=1)
    assert (counted.unit.name, counted.unit.max_cases, dict(counted.items())) == ("who", 1, {TRACE: 30})


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("watched", [Phase.DONE, Phase.WRITING])
def test_a_watch_cannot_hide_the_charge(watched: Phase, is_written: bool, tmp_path: Path) -> None:
    """A release in memory is lost; one that was published is complete whatever fails then."""

    def watch(phase: str, share: float) -> None:
        if phase == watched:
            raise OSError(SECRET)

    ledger, output = travas.Ledger(tmp_path / "ledger.db"), tmp_path / "release.json"
    ledger.create_account("hospital")
    asked: dict[str, Any] = {"output": output if is_written else None, "ledger": ledger, "dataset": "hospital"}
    with pytest.raises(ChargedError, match="'hospital' is not refunded") as failed:
        run(Request({("a",): 50}, travas.Optimal(1, "1e-6"), **asked), watch)
    assert SECRET not in str(failed.value) and len(ledger.account("hospital").entries) == 1
    assert failed.value.completed == output.is_file() == (is_written and watched != Phase.WRITING)


@pytest.mark.parametrize("value", ["Required", "requird", None, True])
def test_a_misspelt_rule_never_allows_what_has_no_guarantee(value: Any) -> None:
    unproven = by_name("utravas-published", 1, "1e-6")
    with pytest.raises(ParameterError, match="use one of required, not required") as refused:
        travas.anonymize({("a",): 50}, unproven, guarantee=value)
    assert refused.value.field == "guarantee"
