"""Reading a release of travas gives back the names that its format could not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import travas
from travas import Optimal
from travas.log.escaped_names import escape_name
from travas.releases.release import Profile
from travas.verification.opened import read_release

TRACES = {
    ("a\x01", "b"): 500,
    (r"\u{1}", "\x00"): 400,
    (r"\u{FFFFFFFF}", r"\u{5C}"): 300,
    ("=1+2", "-b", r"\u{3D}1+2"): 700,
    ("plain",): 600,
}


@pytest.mark.parametrize(
    ("suffix", "profile"),
    [
        *((suffix, "travas") for suffix in (".csv", ".csv.gz", ".xes", ".xes.gz", ".parquet", ".json")),
        (".csv.gz", "pm4py"),
    ],
)
def test_names_are_read_as_they_were(suffix: str, profile: Profile, tmp_path: Path) -> None:
    made = travas.anonymize(TRACES, Optimal(epsilon=1, delta="1e-6"))
    path = made.write(tmp_path / f"out{suffix}", profile=profile)
    assert dict(travas.read(path).items()) == dict(zip(made.variants, made.counts, strict=True))
    assert set(made.variants) == set(TRACES)


@pytest.mark.parametrize("column", ['q"', '"a""b"', "a\tb", "\n", "\u2028", "\x01", "=1+2"])
@pytest.mark.parametrize("suffix", [".csv", ".xes", ".parquet"])
def test_a_release_with_an_odd_column_verifies(suffix: str, column: str, tmp_path: Path) -> None:
    log = travas.Log.from_mapping({(("a\x01", "x"), ("b", "\x02")): 500}, ("concept:name", column))
    path = travas.anonymize(log, Optimal(epsilon=1, delta="1e-6")).write(tmp_path / f"out{suffix}")
    assert travas.verify(f"{path}.guarantee.json", path).digest_checked
    assert read_release(path).columns == ("concept:name", column)


def test_other_logs_are_read_as_they_are(tmp_path: Path) -> None:
    name = escape_name("a\x01")
    table = tmp_path / "log.csv"
    table.write_text(f"case:concept:name,concept:name,time:timestamp\n1,{name},2024-01-01\n")
    assert dict(travas.read(table).items()) == {(name,): 1}
    xes = tmp_path / "log.xes"
    trace = (
        '<trace><string key="concept:name" value="{}"/><event><string key="concept:name" value="{}"/></event></trace>'
    )
    late = '<string key="travas:names" value="escaped"/>'
    xes.write_text(f"<log>{trace.format(1, name)}{late}{trace.format(2, name)}</log>")
    assert dict(travas.read(xes).items()) == {(name,): 2}
    xes.write_text(f"<log>{late}{trace.format(1, name)}{trace.format(2, name)}{trace.format(3, name)}</log>")
    assert dict(travas.read(xes).items()) == {("a\x01",): 3}
