"""The functions of Python users: reading options as keywords, what they log, and progress in notebooks."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import travas
from travas import progress
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

Call = Callable[..., Any]
CALLS: dict[str, Call] = {
    "anonymize": lambda source, **options: travas.anonymize(source, epsilon=1, delta="1e-6", **options),
    "synthesize": lambda source, **options: travas.synthesize(source, epsilon=1, delta="1e-6", times=None, **options),
    "process_map": lambda source, **options: travas.process_map(source, epsilon=1, delta="1e-6", **options),
    "read": travas.read,
}


def test_keywords_are_a_short_form_of_a_reading(events: pl.DataFrame) -> None:
    assert dict(travas.read(events, **COLUMNS).items()) == {TRACE: 60}
    assert dict(travas.read(events, **COLUMNS, order="file").items()) == {TRACE[::-1]: 60}
    counted = travas.read(events, **COLUMNS, unit="who", max_cases=1)
    assert (counted.unit.name, counted.unit.max_cases, dict(counted.items())) == ("who", 1, {TRACE: 30})


# ----------------------------------------------------------------------------------------------------------- logging


def test_stages_are_logged_without_anything_of_the_log(events: pl.DataFrame, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="travas")
    travas.anonymize(events, epsilon=1, delta="1e-6", **COLUMNS)
    lines = [record.getMessage() for record in caplog.records if record.name == "travas"]
    assert lines == [*map(str, Phase)]
    other = events.head(3).with_columns(what=pl.lit("another"))
    caplog.clear()
    travas.anonymize(other, epsilon=1, delta="1e-6", **COLUMNS)
    assert [record.getMessage() for record in caplog.records if record.name == "travas"] == lines


class Failing(logging.Handler):
    """A handler that fails at some messages."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self._at = at

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith(self._at):
            raise ValueError(SECRET)


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize(("watched", "logged"), [("done", ""), ("", "done"), (str(Phase.WRITING), "")])
def test_progress_and_logging_cannot_hide_the_charge(
    watched: str, logged: str, is_written: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A release in memory is lost; one that was published is complete whatever fails then."""
    caplog.set_level(logging.INFO, logger="travas")

    def watch(phase: str, share: float) -> None:
        if phase == watched:
            raise OSError(SECRET)

    ledger, output = travas.Ledger(tmp_path / "ledger.db"), tmp_path / "release.json"
    ledger.create_account("hospital")
    asked: dict[str, Any] = {"output": output if is_written else None, "ledger": ledger, "dataset": "hospital"}
    handler = Failing(logged or "never")
    logging.getLogger("travas").addHandler(handler)
    try:
        with pytest.raises(ChargedError, match="'hospital' is not refunded") as failed:
            run(Request({("a",): 50}, travas.Optimal(1, "1e-6"), **asked), watch)
    finally:
        logging.getLogger("travas").removeHandler(handler)
    assert SECRET not in str(failed.value) + caplog.text and len(ledger.account("hospital").entries) == 1
    assert failed.value.completed == output.is_file() == (is_written and watched != str(Phase.WRITING))


@pytest.mark.parametrize("value", ["Required", "requird", None, True])
def test_a_misspelt_rule_never_allows_what_has_no_guarantee(value: Any) -> None:
    unproven = by_name("utravas-published", 1, "1e-6")
    with pytest.raises(ParameterError, match="use one of required, not required") as refused:
        travas.anonymize({("a",): 50}, unproven, guarantee=value)
    assert refused.value.field == "guarantee"


# ---------------------------------------------------------------------------------------------- progress in notebooks


class Notebook:
    """What a notebook shows below a cell: a stand-in for IPython, which travas only looks up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.outputs: list[str] = []
        shell = SimpleNamespace(kernel=object())
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
        tools = SimpleNamespace(HTML=str, display=self._display)
        monkeypatch.setitem(sys.modules, "IPython.display", tools)
        monkeypatch.setattr(progress, "PATIENCE", -1.0)
        monkeypatch.setattr(progress, "_INTERVAL", 0.0)

    def _display(self, html: str, display_id: bool) -> Any:
        assert display_id
        self.outputs.append(html)
        return SimpleNamespace(update=self.outputs.append)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    return Notebook(monkeypatch)


@pytest.mark.parametrize("name", CALLS)
def test_a_notebook_shows_a_bar_and_removes_it(name: str, notebook: Notebook, events: pl.DataFrame) -> None:
    CALLS[name](events, **COLUMNS)
    if name == "read":
        assert notebook.outputs == []  # a data frame is read at once
    else:
        assert all("<progress" in shown for shown in notebook.outputs[:-1])
        assert [str(phase) in "".join(notebook.outputs) for phase in Phase][:-1] == [True] * 4
        assert notebook.outputs[-1] == ""


def test_a_bar_that_cannot_be_shown_or_removed_does_not_end_a_charged_release(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, events: pl.DataFrame
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise OSError("the browser is gone")

    def interrupted(html: str) -> None:
        if not html:
            raise KeyboardInterrupt

    for display in (broken, lambda html, display_id: SimpleNamespace(update=interrupted)):
        monkeypatch.setattr(sys.modules["IPython.display"], "display", display)
        assert travas.anonymize(events, epsilon=1, delta="1e-6", **COLUMNS).variants == (TRACE,)
