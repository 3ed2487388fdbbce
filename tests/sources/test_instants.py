"""Text timestamps: every value has at most one reading, so it does not matter which value of a column is met first."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars as pl
import pytest

from conftest import Run
from travas import LogError, ParameterError, Reading, read
from travas.sources.instants import _ISO_FORMATS, _parsed, instants

DATES = ("2020-01-01", "2020-1-1", "20200101", "0020-01-01", "+2020-01-01")
CLOCKS = ("", "10:00", "10:00:00", "1:2", "1:2:3", "10:00:00.5", "10:00.5", "10:00:60", "1000", "10:00:00,5", "10:00:")
ZONES = (
    "",
    "Z",
    "z",
    "+01",
    "+0100",
    "+01:00",
    " +01:00",
    "-05",
    "-5",
    "+01:0",
    "UTC",
    "−01:00",
    "-00:00",
    ":00",
    "+0130",
)


def test_no_text_has_two_of_the_formats() -> None:
    texts = pl.Series(sorted({"".join(parts) for parts in product(DATES, ("T", " ", ""), CLOCKS, ZONES)}))
    parsed = pl.DataFrame([_parsed(texts, form).is_not_null().alias(form) for form in _ISO_FORMATS])
    ways = parsed.sum_horizontal()
    assert ways.max() == 1 and int((ways == 1).sum()) > 100
    known = texts.filter(ways == 1)
    [alone] = instants(known, None)[:1]
    for order in (known.sort(descending=True), known.shuffle(seed=1)):
        [again] = instants(order, None)[:1]
        assert dict(zip(order, again, strict=True)) == dict(zip(known, alone, strict=True))


@pytest.mark.parametrize("form", ["%d%d", "%Q", "%", "", "%Y-%Y", "\ud800", "%m[", "%-d"])
def test_a_format_that_strptime_cannot_use_is_refused_before_the_log_is_opened(form: str) -> None:
    """`%d%d` is an error of the module `re`, not a ValueError."""
    try:
        reading = Reading(timestamp_format=form)
    except ParameterError as refused:
        assert refused.field == "timestamp_format"
        return
    with pytest.raises(LogError, match="no such file"):
        read("missing.csv", reading)


def test_a_repeated_directive_is_one_clear_line(travas: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case,activity,timestamp\n1,a,2020-01-01\n")
    for form in ("%d%d", "%Y%Y"):
        ran = travas("doctor", log, "--timestamp-format", form)
        assert ran.code == 2 and "timestamp_format is" in ran.err and ran.err.count("\n") == 1
