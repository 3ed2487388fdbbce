"""The HTML of the web app: what the templates show, and that no text becomes markup."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from travas.plots.html import part
from travas.web.access import Access
from travas.web.entrance import Entrance, entrance_page
from travas.web.settings import Settings
from travas.web.steps import kind_pictures

HOSTILE = "<script>alert(1)</script>\x07&\"'"
SHOWN = HOSTILE.replace("\x07", "\ufffd")


def shown(macro: str, *values: Any) -> ElementTree.Element:
    return ElementTree.fromstring(f"<main>{part('travas.web', 'parts.html', macro, *values)}</main>")


@pytest.mark.parametrize(
    ("macro", "values"),
    [
        ("title", [HOSTILE]),
        ("heading", [HOSTILE]),
        ("legend", [HOSTILE]),
        ("ability", ["Can", HOSTILE]),
        ("table", [[HOSTILE, "b"], [["1", "2"]], ()]),
        ("table", [["a", "b"], [["1", HOSTILE]], {1}]),
        ("heatmap", [HOSTILE, ["1"], [("kind", [0.5])]]),
        ("heatmap", ["1e-6", [HOSTILE], [("kind", [0.5])]]),
        ("heatmap", ["1e-6", ["1"], [(HOSTILE, [0.5])]]),
        ("figures", [[SimpleNamespace(words=HOSTILE, value="3")]]),
        ("figures", [[SimpleNamespace(words="cases", value=HOSTILE)]]),
    ],
)
def test_text_is_shown_as_it_is_and_is_never_markup(macro: str, values: list[Any]) -> None:
    page = shown(macro, *values)
    assert SHOWN in "".join(page.itertext()) and page.find(".//script") is None


def test_a_table_aligns_its_columns_of_numbers() -> None:
    page = shown("table", ["Release", "ε"], [["first", "1"], ["second", "0.5"]], frozenset({1}))
    assert [[cell.text for cell in row] for row in page.iter("tr")] == [
        ["Release", "ε"], ["first", "1"], ["second", "0.5"],
    ]  # fmt: skip
    assert [cell.get("class") for cell in page.iter("td")] == [None, "number", None, "number"]
    assert [cell.get("class") for cell in page.iter("th")] == [None, "number"]


def test_a_heatmap_has_a_cell_for_each_kind_and_epsilon() -> None:
    page = shown("heatmap", "1e-6", ["0.1", "1"], [("variants", [0.285, 1]), ("process map (steps)", [0, 0.0004])])
    assert [[cell.text for cell in row] for row in page.iter("tr")] == [
        ["δ = 1e-6", "ε = 0.1", "ε = 1"],
        ["variants", "28%", "100%"],
        ["process map (steps)", "0%", "0%"],
    ]
    shares = ["--share: 0.285", "--share: 1.000", "--share: 0.000", "--share: 0.000"]
    assert [cell.get("style") for cell in page.iter("td")] == shares


def test_a_budget_bar_says_in_words_what_its_widths_are() -> None:
    [bar] = shown("budget_bar", f"ε: 25% spent {HOSTILE}", {"spent": 0.25, "this": 1 / 3})
    assert bar.get("aria-label") == f"ε: 25% spent {SHOWN}" and bar.get("role") == "img"
    assert [(piece.get("class"), piece.get("style")) for piece in bar] == [
        ("budget-spent", "width: 25.0%"), ("budget-this", "width: 33.3%"),
    ]  # fmt: skip


def test_the_bar_of_a_notebook_escapes_its_phase() -> None:
    bar = ElementTree.fromstring(f"<main>{part('travas.plots', 'progress.html', 'progress', HOSTILE, '0.500')}</main>")
    assert SHOWN in "".join(bar.itertext()) and bar.find(".//script") is None
    assert (
        (found := bar.find("progress")) is not None
        and found.get("aria-label") == SHOWN
        and found.get("value") == "0.500"
    )


def test_the_script_of_the_entrance_is_the_one_that_its_policy_allows(tmp_path: Path) -> None:
    answer = entrance_page(200)
    script = bytes(answer.body).decode().partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer.headers["content-security-policy"] and "const open" in script
    entrance = Entrance(Settings(), Access(), tmp_path)
    assert f'location.replace("{entrance.link}")' in entrance.file.read_text()
    assert entrance.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("picture", [kind_pictures.VARIANTS, kind_pictures.SYNTHETIC, kind_pictures.MAP])
def test_a_picture_of_a_kind_is_well_formed_and_follows_the_theme(picture: str) -> None:
    drawn = ElementTree.fromstring(picture)
    assert str(drawn.get("aria-label")).startswith("Made-up example") and "#222222" not in picture
