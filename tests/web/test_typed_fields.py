"""Fields of the steps, drawn without a browser: lone surrogates, which a browser can send, are replaced in names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nicegui import Client, ui
from nicegui.page import page as address
from web_drafts import Draft

import travas
from travas.web.preview import Preview
from travas.web.steps.protect_more import more
from travas.web.steps.protect_whom import whom
from travas.web.steps.reading_fields import ReadingFields

HALF = "x\ud800"


@pytest.fixture
def draft(tmp_path: Path) -> Iterator[Draft]:
    made = Draft(tmp_path)
    made.session.preview = Preview("xes", ("name",), ("name",), (), None, None, None)
    yield made
    made.archive.close()


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(address("/test"), request=None) as made:
        yield made
    made.delete()


def enter(client: Client, label: str, text: str) -> None:
    """Put a text into the field whose label starts like this."""
    fields: list[Any] = [
        each for each in client.elements.values() if isinstance(each, ui.textarea | ui.input | ui.select)
    ]
    (field,) = [each for each in fields if str(each.props.get("label")).startswith(label)]
    if isinstance(field, ui.select):
        field.set_options([text])
    field.set_value(text)


def test_activities_that_close_a_case(draft: Draft, client: Client) -> None:
    more(draft.page(), lambda: None)
    enter(client, "Or activities that close a case", f" {HALF}\n")
    assert draft.session.recipe.period.end_activity == "x?"


def test_the_column_of_the_person(draft: Draft, client: Client) -> None:
    draft.session.recipe = replace(draft.recipe, whom="person")
    whom(draft.page(), lambda: None)
    enter(client, "Column that identifies the person", HALF)
    assert draft.session.recipe.unit == "x?"


def test_the_column_of_ties(client: Client) -> None:
    fields = ReadingFields(travas.Reading())
    enter(client, "Ties", HALF)
    assert fields.reading(travas.Reading(), None).ties == "x?"
