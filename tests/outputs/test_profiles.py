"""Tables for pm4py and Excel, read back as these programs read them."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import travas as package
from conftest import Run
from timed_log import timed_frame
from travas import Attribute, Optimal, ParameterError, Times, verify
from travas.errors import OutputError, VerificationError
from travas.outputs.profiles import MISSING, escape_for_excel
from travas.releases.release import Profile
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
        path = made.write(tmp_path / f"{number}{suffix}", profile="pm4py")
        frame = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path)
        times = pd.to_datetime(frame["time:timestamp"])  # fails for times of several offsets
        assert str(times.dtype).endswith("UTC]")
        texts = frame.select_dtypes(exclude="number")
        assert not texts.isna().any().any()
        frame = pm4py.format_dataframe(
            frame, case_id="case:concept:name", activity_key="concept:name", timestamp_key="time:timestamp"
        )
        expected: dict[object, int] = {}
        for trace, count in zip(made.variants, made.counts, strict=True):
            expected[trace] = expected.get(trace, 0) + count
        if number == 0 or suffix == ".parquet":
            assert dict(pm4py.get_variants(frame)) == expected
        verify(guarantee(path), path)
        assert json.loads(guarantee(path).read_text())["release"]["profile"] == "pm4py"


def test_missing_values_are_named_for_pm4py(synthetic: SyntheticRelease, tmp_path: Path) -> None:
    frame = pd.read_csv(synthetic.write(tmp_path / "p.csv", profile="pm4py"))
    plain = pd.read_csv(synthetic.write(tmp_path / "t.csv"))
    assert plain["case:sex"].isna().sum() == (frame["case:sex"] == MISSING).sum() > 0
    assert frame["case:age"].dtype.kind == plain["case:age"].dtype.kind == "f" or frame["case:age"].dtype.kind == "i"


def excel_rows(path: Path) -> list[list[str]]:
    """The cells as Excel shows them: a byte order mark of UTF-16 means tabs."""
    raw = path.read_bytes()
    assert raw[:2] == b"\xff\xfe"
    with path.open(encoding="utf-16", newline="") as stream:
        return list(csv.reader(stream, delimiter="\t"))


def test_excel_has_columns_dates_and_no_empty_cells(synthetic: SyntheticRelease, tmp_path: Path) -> None:
    path = synthetic.write(tmp_path / "out.csv", profile="excel")
    header, *rows = excel_rows(path)
    plain = pd.read_csv(synthetic.write(tmp_path / "plain.csv"))
    assert header == list(plain.columns) and len(rows) == len(plain)
    assert all(cell for row in rows for cell in row)
    when = header.index("time:timestamp")
    for row, text in zip(rows[:500], plain["time:timestamp"], strict=False):
        assert datetime.strptime(row[when], "%Y-%m-%d %H:%M:%S") == datetime.fromisoformat(text).replace(tzinfo=None)
    assert sum(row[header.index("case:sex")] == MISSING for row in rows) == plain["case:sex"].isna().sum() > 0
    verify(guarantee(path), path)


def test_excel_gets_no_formulas_and_reading_back_gives_the_names(variants: Any, tmp_path: Path) -> None:
    path = variants.write(tmp_path / "out.csv", profile="excel")
    header, *rows = excel_rows(path)
    names = {row[header.index("concept:name")] for row in rows}
    assert not any(name[0] in "=+-@" for name in names)
    assert {r"\u{3D}1+2", r"\u{2D}", r"\u{40}x", "ä"} <= names
    assert read_release(path) == read_release(variants.write(tmp_path / "plain.csv"))
    verify(guarantee(path), path)


def test_names_that_are_escaped_twice_stay_different() -> None:
    assert escape_for_excel(r"\u{3D}1") == r"\u{5C}u{3D}1" != escape_for_excel("=1")
    assert escape_for_excel("\t") == r"\u{9}" and escape_for_excel("") == ""


@pytest.mark.parametrize(
    ("profile", "suffix"), [("excel", ".csv.gz"), ("excel", ".parquet"), ("pm4py", ".xes"), ("pm4py", ".json")]
)
def test_other_formats_are_refused(profile: Profile, suffix: str, variants: Any, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=f"profile is '{profile}' but the release is a {suffix} file") as error:
        variants.write(tmp_path / f"out{suffix}", profile=profile)
    assert error.value.field == "profile" and not list(tmp_path.iterdir())


def test_pm4py_needs_timestamps(variants: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="pm4py needs timestamps"):
        variants.without_timestamps().write(tmp_path / "out.csv", profile="pm4py")
    excel_rows(variants.without_timestamps().write(tmp_path / "out.csv", profile="excel"))
    with pytest.raises(ParameterError, match="profile is 'word'; use one of travas, pm4py, excel"):
        variants.write(tmp_path / "o.csv", profile="word")


def test_a_changed_profile_is_noticed(variants: Any, tmp_path: Path) -> None:
    path = variants.write(tmp_path / "out.csv", profile="excel")
    stated = json.loads(guarantee(path).read_text())
    stated["release"]["profile"] = "pm4py"
    guarantee(path).write_text(json.dumps(stated))
    with pytest.raises(VerificationError):
        verify(guarantee(path), path)


def test_the_command_line_has_profiles(small_csv: Path, tmp_path: Path, travas: Run) -> None:
    out = tmp_path / "out.csv"
    parameters = ("--epsilon", "1", "--delta", "1e-6", "-o", out)
    refused = travas("anonymize", small_csv, *parameters, "--profile", "pm4py", "--timestamps", "none")
    assert refused.code == 2 and "(option --profile)" in refused.err
    ran = travas("anonymize", small_csv, *parameters, "--profile", "excel")
    assert ran.code == 0 and len(excel_rows(out)) > 1
    assert travas("verify", guarantee(out), out).code == 0
