"""The count of a variant is the best estimate of its own cases, wherever it is written or shown."""

from pathlib import Path
from typing import Literal

import pytest

from travas import Log, Optimal, PrivacyUnit, Reading, open_release, read
from travas.log.traces import Trace
from travas.mechanisms.mechanism import with_random_bytes
from travas.pipeline import Request, run
from travas.releases.release import VariantRelease
from travas.trusted.samplers import Seeded

LOG = {("frequent",): 900, ("rare",): 45, **{(f"very rare {number}",): 13 for number in range(16)}}
"""At ε = 1, δ = 1e-6 some of many rare variants are released, and stand for those that are not."""

UNIT = PrivacyUnit("patient", 1)
READING = Reading(unit="patient", max_cases=1, order="file")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """One case per patient."""
    cases = [trace[0] for trace, count in LOG.items() for _ in range(count)]
    rows = [f"{case},{activity},patient {case}\n" for case, activity in enumerate(cases)]
    path = tmp_path / "log.csv"
    path.write_text("".join(["case_id,activity,patient\n", *rows]))
    return path


def released(
    log: Path | Log, out: Path | None, frequencies: Literal["estimated", "spread", "noisy"] = "estimated"
) -> VariantRelease:
    rule = with_random_bytes(Optimal(1, "1e-6", unit=UNIT), Seeded(0))
    request = Request(
        log, rule, reading=READING, output=out, frequencies=frequencies, guarantee="not required"
    )  # seeded noise has no guarantee
    release = run(request).release
    assert isinstance(release, VariantRelease)
    return release


def counts_in(path: Path) -> dict[Trace, int]:
    return dict(read(path, Reading(order="file")).items())


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz", ".csv", ".csv.gz", ".parquet", ".json"])
def test_a_variant_has_its_own_cases_in_every_format(suffix: str, log: Path, tmp_path: Path) -> None:
    release = released(log, tmp_path / f"out{suffix}")
    counts = dict(zip(release.variants, release.counts, strict=True))
    assert len(counts) >= 5 and abs(counts["frequent",] - 900) < 30
    assert abs(counts["rare",] - 45) < 20  # the share of the missing cases made it 116
    assert all(count <= 25 for trace, count in counts.items() if "very" in str(trace))
    assert sum(counts.values()) < sum(LOG.values())
    assert counts == counts_in(tmp_path / f"out{suffix}")
    if suffix == ".json":
        opened = open_release(tmp_path / "out.json")
        assert isinstance(opened, VariantRelease) and opened.counts == release.counts


def test_spread_is_for_similarity_studies(log: Path) -> None:
    """Each variant also has a share of the missing cases; the noisy counts and the estimates are the same."""
    counted = read(log, READING)
    own, spread = (released(counted, None, kind) for kind in ("estimated", "spread"))
    assert own.noisy == spread.noisy and own.estimate == spread.estimate
    assert all(more >= count for more, count in zip(spread.counts, own.counts, strict=True))
    assert sum(spread.counts) > sum(own.counts) + 100
