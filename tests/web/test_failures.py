"""An error keeps its fields on the way to the page, which names the step with the field to change."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from travas.errors import ChargedError, LogError, MissingExtraError, OutputError, ParameterError, TravasError
from travas.mechanisms import MECHANISMS
from travas.mechanisms.registry import options_of
from travas.sources.reading import Reading
from travas.web.failures import in_words, known_as
from travas.web.preview import preview
from travas.web.tasks import read_log


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ParameterError("too many", field="max_cases"), "too many (step Protect)"),
        (
            LogError("row 3", field="times", other_fields=("on_missing",)),
            "row 3 (“Events without case, activity or time”, step Columns, More)",
        ),
        (LogError("the value 'set unit to x'"), "the value 'set unit to x'"),
        (LogError("no sheet", field="sheet"), "no sheet"),
    ],
)
def test_the_field_of_an_error_and_not_its_words_decides_about_the_step(error: TravasError, words: str) -> None:
    assert in_words(error) == words


ON_THE_PAGE = {
    "Columns": "case activities timestamp",
    "Protect": "mechanism epsilon delta unit max_cases abstraction period end_activity gap grace minimum_cases "
    "splits max_length prune rungs alphabet parts times attributes without attribute bins zone resolution",
    "Forecast": "stated_cases",
    "Confirm": "dataset reason signed_off_by",
}


@pytest.mark.parametrize("step", ON_THE_PAGE)
def test_every_field_of_the_page_has_its_step(step: str) -> None:
    assert {in_words(ParameterError("wrong", field=name)) for name in ON_THE_PAGE[step].split()} == {
        f"wrong (step {step})"
    }


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_option_of_a_mechanism_has_a_step(name: str) -> None:
    for option in options_of(MECHANISMS[name]):
        assert in_words(ParameterError("wrong", field=option)) == "wrong (step Protect)"


@pytest.mark.parametrize(
    ("content", "field", "other_fields"),
    [
        ("case,activity\n1,a\n1,b\n", "order", ()),
        ("case,activity,time\n1,a,2024-01-01\n1,,2024-01-02\n", "on_missing", ()),
        ("case,activity,time\n1,a,Monday\n", "timestamp_format", ()),
        ('case,activity,time\n1,"a"b,2024-01-01\n', "delimiter", ("quote", "encoding")),
        ("case,activity,time\n1,a,2024-01-01,\n", "delimiter", ("quote", "encoding")),
        ("case,activity,time\n1,Röntgen,2024-01-01,x\n", "encoding", ()),
        ("case,äctivity,time\n1,a,2024-01-01\n", "encoding", ()),
    ],
)
def test_an_error_of_a_reader_is_about_the_file_that_the_user_knows_and_has_its_fields(
    content: str, field: str, other_fields: tuple[str, ...], tmp_path: Path
) -> None:
    stored = tmp_path / "log-0123.csv"
    stored.write_text(content, encoding="latin-1")
    with pytest.raises(LogError, match=r"^hospital\.csv") as caught:
        read_log(stored, "hospital.csv", Reading(), lambda *_: None)
    assert str(tmp_path) not in str(caught.value)
    assert (caught.value.field, caught.value.other_fields) == (field, other_fields)


def test_a_renamed_error_keeps_its_charge_and_other_facts() -> None:
    with pytest.raises(ChargedError) as charged, known_as({"/tmp/1.csv": "a.csv"}):
        raise ChargedError("/tmp/1.csv: cannot be written", account="ward", interrupted=True)
    assert str(charged.value).startswith("a.csv: cannot be written; the charge to 'ward' stands")
    assert charged.value.interrupted
    with pytest.raises(OutputError) as written, known_as({"/tmp/": ""}):
        raise OutputError("/tmp/b.csv: exists", field="existing", confidential=True)
    assert str(written.value).startswith("b.csv: exists") and written.value.confidential
    assert written.value.field == "existing"


def errors_of_travas(kind: type[TravasError] = TravasError) -> Iterator[TravasError]:
    """An error of every class, with all fields set."""
    fields: dict[str, Any] = {"field": "unit", "other_fields": ("prune",), "confidential": True}
    if kind is ChargedError:
        yield ChargedError("interrupted", account="ward", interrupted=True, completed=True)
    elif kind is MissingExtraError:
        yield MissingExtraError("a model", "models")
    else:
        yield kind("row 3", **fields)
    for known in kind.__subclasses__():
        if known.__module__ == "travas.errors":
            yield from errors_of_travas(known)


@pytest.mark.parametrize("error", list(errors_of_travas()), ids=lambda error: type(error).__name__)
def test_every_error_keeps_all_its_fields_between_processes(error: TravasError) -> None:
    error.field = "max_cases"  # as readers do that know the parameter better
    came = pickle.loads(pickle.dumps(error))
    assert type(came) is type(error) and (str(came), came.args, vars(came)) == (str(error), error.args, vars(error))


def test_a_preview_names_the_file_once(tmp_path: Path) -> None:
    stored = tmp_path / "log-0123.csv"
    with pytest.raises(TravasError, match="^a file.csv: a file or folder cannot be used"):
        asyncio.run(preview(stored, "a file.csv"))
    stored.touch()
    with pytest.raises(TravasError, match="^a file.csv: the file is empty"):
        asyncio.run(preview(stored, "a file.csv"))
