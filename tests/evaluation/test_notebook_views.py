"""Forecasts and comparisons in notebooks: marked as confidential, complete, escaped."""

from itertools import pairwise
from xml.etree import ElementTree

import travas
from travas.errors import CONFIDENTIAL_HEADING
from travas.evaluation.compare import MapComparison
from travas.evaluation.details import DetailComparison

LOG: dict[tuple[str, ...], int] = {("register", "visit", "release"): 90, ("register", "<i>release"): 10}


def texts_of(page: str) -> list[str]:
    return [text for text in ElementTree.fromstring(page).itertext() if text.strip()]


def test_plain_texts_of_confidential_results_are_marked() -> None:
    """Consoles, tracebacks and `text/plain` of notebooks show these."""
    forecast = travas.forecast(LOG, [travas.Optimal(1, "1e-6")], "full")
    of_map = MapComparison(0.1, 0.9, 0.1, 3, None)
    results = (travas.compare(LOG, LOG), forecast, travas.read(LOG).summary(), of_map, DetailComparison(None, ()))
    for result in results:
        assert repr(result).startswith(f"{CONFIDENTIAL_HEADING}: {type(result).__name__}(")
    assert "cells=(Expected(" in repr(forecast)


def test_a_comparison_is_marked_complete_and_escaped() -> None:
    comparison = travas.compare(LOG, {("register", "visit", "release"): 80, ("new",): 1})
    page = comparison._repr_html_()
    texts = texts_of(page)
    assert texts[0] == CONFIDENTIAL_HEADING and "<i>" not in page
    values = dict(pairwise(texts))
    assert values["case coverage"] == "0.9000" and values["fake variants"] == "1"
    assert "Note: the released log has 1 activity that the original does not have." in texts
