"""The report of a synthetic log has its own wording: what was generated, and what rests on noise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from travas import Synthesis, SyntheticRelease, synthesize, write_report

LOG: dict[tuple[str, ...], int] = {
    ("register", "visit", "release"): 900,
    **{("register", *["test"] * (n % 7), "visit", *["x-ray"] * (n // 7), "release"): 3 for n in range(1, 210)},
}


@pytest.fixture(scope="module")
def release() -> SyntheticRelease:
    return synthesize(LOG, epsilon=5, delta="1e-6")


def report_of(release: SyntheticRelease, folder: Path, suffix: str) -> str:
    path = release.write(folder / f"synthetic{suffix}")
    return write_report(f"{path}.guarantee.json", path, folder / "report.html").read_text(encoding="utf-8")


def test_a_synthetic_log_is_reported_as_one(release: SyntheticRelease, tmp_path: Path) -> None:
    page = report_of(release, tmp_path, ".json")
    assert "<strong>Synthetic log.</strong> This is a synthetic log" in page
    assert f"{sum(release.counts):,} generated cases" in page and "directly-follows pairs used is noise" in page
    assert "discrete Gaussian" in page and release.measurements.digest in page
    assert "<td>released</td>" in page and "<td>generated</td>" in page
    for wrong in (
        "How likely a variant is released",
        "none is invented",
        "95 % interval",
        "Not released",
        "tree of prefixes",
    ):
        assert wrong not in page
    machine = json.loads(re.findall(r'id="travas-report">(.*?)</script>', page, flags=re.DOTALL)[0])
    assert machine["kind"] == "synthetic log" and machine["post_processing"].startswith("traces generated")


def test_steps_that_are_noise_are_listed(release: SyntheticRelease, tmp_path: Path) -> None:
    noisy = release.quality().mostly_noise
    page = report_of(release, tmp_path, ".json")
    assert noisy and ("Steps that cannot be told from noise" in page)
    assert all(f"{pair.before or '(start)'} → {pair.after or '(end)'}" in page for pair in noisy[:40])


def test_an_event_log_has_no_measurements_to_report(release: SyntheticRelease, tmp_path: Path) -> None:
    page = report_of(release, tmp_path, ".csv")
    assert "Synthetic log." in page and "the .json release has the measurements" in page


def test_a_log_generated_again_says_so(release: SyntheticRelease, tmp_path: Path) -> None:
    page = report_of(release.regenerate(cases=50, seed=1), tmp_path, ".json")
    assert "Generated again" in page and "no further privacy cost" in page


def test_an_empty_synthetic_log_is_explained(tmp_path: Path) -> None:
    made = Synthesis(1, "1e-6")
    page = report_of(synthesize({}, epsilon=made.epsilon, delta=made.delta), tmp_path, ".json")
    assert "The synthetic log is empty" in page and "use a ladder" not in page
