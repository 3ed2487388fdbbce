"""A comparison reads a release by the rules of its own file."""

from pathlib import Path
from typing import Any

import attrs
import pytest

import travas as package
from travas.pipeline import Request, run

ODD = "take\x01blood"
LOG = {(ODD, "visit"): 60, ("visit", r"\u{41}"): 50}


@pytest.mark.parametrize("suffix", [".csv", ".xes", ".xes.gz", ".parquet", ".json"])
def test_escaped_names_are_the_names_of_the_log(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"release{suffix}"
    package.anonymize(LOG, epsilon=5, delta="1e-2").write(path)
    compared = package.compare(LOG, path, ["case_coverage"])
    assert compared.values == {"case_coverage": 1.0} and compared.remarks == ()


@pytest.mark.parametrize("frequencies", ["estimated", "spread", "noisy"])
def test_a_comparison_states_which_counts_it_used(frequencies: Any, tmp_path: Path) -> None:
    """Spread counts lift the similarity: a number without this is misread."""
    release, path = package.anonymize(LOG, epsilon=5, delta="1e-2", frequencies=frequencies), tmp_path / "release.csv"
    release.write(path)
    for released in (release, path):
        assert package.compare(LOG, released, ["case_coverage"]).as_json()["frequencies"] == frequencies
    assert package.compare(LOG, LOG, ["case_coverage"]).frequencies == ""


@pytest.mark.parametrize("metrics", [5, "case_coverage", [5]])
def test_what_is_no_list_of_metrics_is_refused(metrics: Any) -> None:
    with pytest.raises(package.ParameterError, match=r"metrics is .*; use a list of names"):
        package.compare(LOG, LOG, metrics)


def test_two_halves_of_the_original_are_the_floor(tmp_path: Path) -> None:
    """Another sample of the same process differs by as much: without it, numbers cannot be judged."""
    frequent = {("a", "b"): 6000, ("a", "c"): 3000, ("b",): 1000}
    found = package.compare(frequent, package.anonymize(frequent, epsilon=1, delta="1e-6"))
    assert found.halves is not None and found.halves.values.keys() == found.values.keys()
    assert 0.97 < found.halves.values["relative_log_similarity"] < 1 and found.halves.values["case_coverage"] == 1
    assert package.compare(dict(reversed(frequent.items())), frequent).halves == found.halves  # drawn by a fixed seed
    unique = {(f"{number}",): 1 for number in range(100)}
    assert package.compare(unique, unique, ["case_coverage"]).as_json()["halves"] == {"case_coverage": 0.0}
    assert package.compare({("a",): 1}, unique).as_json()["halves"] == {}  # one case has no halves
    of_map = package.compare(frequent, package.process_map(frequent, epsilon=1, delta="1e-6"))
    assert of_map.halves is not None and of_map.halves.process_map is not None
    assert 0 < of_map.halves.process_map.total_variation < 0.05


@pytest.mark.parametrize("name", ["out.json", "out.csv", "log.json", "map.json"])
def test_a_segment_is_compared_with_its_own_cases(name: str, tmp_path: Path) -> None:
    """With the whole log, a perfect release of a small segment seems to lose most cases."""
    rows = [f"{n},{each},{ward}" for n in range(200) for ward in ["AB"[n % 4 == 0]] for each in ("in", ward)]
    (log := tmp_path / "wards.csv").write_text("\n".join(["case,activity,ward", *rows]))
    mechanisms = {"log": package.Synthesis(epsilon=9, delta="1e-2"), "map": package.ProcessMap(epsilon=9, delta="1e-2")}
    mechanism = mechanisms.get(name[:3], package.Optimal(epsilon=9, delta="1e-2"))
    reading = package.Reading(case="case", order="file", by="ward", segments=["A", "B"])
    made = run(Request(log, mechanism, reading, output=tmp_path / name))
    for release, path in zip(made.releases, made.outputs, strict=True):
        for released in (release, path):
            found = package.compare(log, released)
            compared = found.process_map
            kept = found.values["case_coverage"] if compared is None else compared.kept_mass
            assert kept == 1.0 and (compared is None or compared.total_variation < 0.2)
        with pytest.raises(package.ParameterError, match="of the segment 'ward = "):
            package.compare(log, path, reading=package.Reading(by="ward", segments=["C"]))
        with pytest.raises(package.LogError, match="pass the file of the original log"):
            package.compare(made.variants, release)
    other = {("in", "B"): 50}
    of_b = package.compare(log, other, ["log_size_difference"], reading=attrs.evolve(reading, segments=["B"]))
    assert of_b.values == {"log_size_difference": 0}
    with pytest.raises(package.ParameterError, match="not of one segment"):
        package.compare(log, other, reading=reading)
