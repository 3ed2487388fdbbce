"""Times and attributes in words."""

from __future__ import annotations

import polars as pl
import pytest

from timed_log import timed_frame
from travas import Times, synthesize
from travas.explain import details_in_words, duration_in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (1, "1 second"), (90, "1.5 minutes"), (7200, "2 hours"), (86_400, "1 day"), (4e9, "127 years")],
)
def test_durations_are_formatted_in_their_largest_unit(seconds: float, words: str) -> None:
    assert duration_in_words(seconds) == words


def test_an_attribute_without_shared_values_is_said_to_be_empty() -> None:
    frame = timed_frame(300)
    log = frame.with_columns(number=frame["case_id"], nothing=pl.lit(None, dtype=pl.String))
    made = synthesize(log, epsilon=1, delta="1e-6", times=Times(), attributes=["number", "nothing", "sex"])
    words = dict(details_in_words(made.quality()))
    empty = "no value was released: too few cases have the same one"
    # by noise, a few cases may seem to have no value
    assert words["attribute number"].partition(";")[0] == empty
    assert words["attribute nothing"].startswith(f"{empty}; missing in ")
    assert "measured pairs" in words["durations"] and "(95 %)" in words["throughput"]
