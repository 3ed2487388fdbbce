"""Tables for pm4py and spreadsheets, read back as these programs read them."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import travas as package
from timed_log import timed_frame
from travas import Attribute, Optimal, Times, verify
from travas.log.escaped_names import escape_cell
from travas.releases.synthetic_log import SyntheticRelease
from travas.verification.opened import read_release

OPTIMAL = Optimal(epsilon=1, delta="1e-6")
PM4PY_FORMATS = (".csv", ".csv.gz", ".parquet")


@pytest.fixture(scope="module")
def variants() -> Any:
    return package.anonymize({("=1+2", 'b;\t"c"', "ä"): 400, ('b;\t"c"',): 300, ("-", "@x"): 200}, OPTIMAL)


@pytest.fixture(scope="module")
def synthetic() -> SyntheticRelease:
    return package.synthesize(
        timed_frame(1_500),
        epsilon=8,
        delta="1e-4",
        times=Times(zone="Europe/Berlin"),
        attributes=["sex", Attribute("age", bins=[0, 20, 40, 60, 80, 100])],
    )


def guarantee(path: Path) -> Path:
    return Path(f"{path}.guarantee.json")


@pytest.mark.parametrize("suffix", PM4PY_FORMATS)
def test_pm4py_reads_variants_and_times_of_one_type(
    suffix: str, variants: Any, synthetic: SyntheticRelease, tmp_path: Path
) -> None:
    import pm4py

    for number, made in enumerate((variants, synthetic)):
        path = made.write(tmp_path / f"{number}{suffix}")
        frame = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path)
        frame = pm4py.format_dataframe(
            frame, case_id="case:concept:name", activity_key="concept:name", timestamp_key="time:timestamp"
        )
        assert pd.api.types.is_datetime64_any_dtype(frame["time:timestamp"])  # also for times of several offsets
        expected: dict[object, int] = {}
        for trace, count in zip(made.variants, made.counts, strict=True):
            read_as = trace if suffix == ".parquet" else tuple(map(escape_cell, trace))
            expected[read_as] = expected.get(read_as, 0) + count
        if number == 0 or suffix == ".parquet":
            assert dict(pm4py.get_variants(frame)) == expected
        verify(guarantee(path), path)


def test_a_spreadsheet_finds_no_formula_and_reading_back_gives_the_names(variants: Any, tmp_path: Path) -> None:
    path = variants.write(tmp_path / "out.csv")
    names = set(pd.read_csv(path)["concept:name"])
    assert {r"\u{3D}1+2", "-", r"\u{40}x", "ä"} <= names
    assert {name for trace in read_release(path).variants for name in trace} == {"=1+2", 'b;\t"c"', "ä", "-", "@x"}
    verify(guarantee(path), path)
