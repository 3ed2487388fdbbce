"""Pictures of what was measured against the original log are titled as confidential; a release's picture is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from travas import Log, PrivacyUnit, VariantRelease, anonymize
from travas.evaluation.compare import draw_comparison
from travas.evaluation.forecast import chances, draw_chances, draw_forecast, forecast
from travas.log.abstraction import parse_ladder
from travas.mechanisms import mechanism
from travas.plots import figures

LOG = Log.from_mapping({("a", "b"): 300, ("a",): 20, ("b",): 1})


@pytest.fixture
def titles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []

    def rendered(figure: Any, form: figures.PictureFormat) -> bytes:
        seen.append(figure._suptitle.get_text() if figure._suptitle is not None else "")
        return b"a picture"

    monkeypatch.setattr(figures, "rendered", rendered)
    return seen


def test_what_shows_the_original_log_says_so(titles: list[str], tmp_path: Path) -> None:
    rule = mechanism("optimal", "1", "1e-6")
    draw_comparison(LOG, LOG, tmp_path / "c.png")
    draw_forecast(forecast(LOG, [rule], parse_ladder("full,set")), tmp_path / "f.png")
    assert len(titles) == 2 and all(title.startswith("CONFIDENTIAL") for title in titles)


def test_what_shows_no_log_or_a_release_does_not(titles: list[str], tmp_path: Path) -> None:
    rule = mechanism("optimal", "1", "1e-6")
    draw_chances([(rule, chances(rule))], tmp_path / "k.png")
    anonymize({("a", "b"): 300}, epsilon=1, delta="1e-6").draw(tmp_path / "r.png")
    assert titles[0] == "" and titles[1].startswith("Released log: 1 variants ")


def test_axes_say_what_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    labels: list[str] = []

    def drawn(figure: Any, form: figures.PictureFormat) -> bytes:
        labels.append(figure.axes[0].get_xlabel())
        return b"a picture"

    monkeypatch.setattr(figures, "rendered", drawn)
    patient = PrivacyUnit("patient", 3)
    rule = mechanism("optimal", 1, "1e-6", unit=patient)
    draw_chances([(rule, chances(rule))], tmp_path / "k.png")
    ladder = mechanism("ladder", 1, "1e-6", unit=patient)
    VariantRelease.of(ladder, [("a",)], [300], abstractions=ladder.rungs).draw(tmp_path / "r.png")  # type: ignore[attr-defined]
    assert "different persons" in labels[0] and "number of counted cases" in labels[1]
