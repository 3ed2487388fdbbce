"""Synthetic logs of unusual logs, and what every release and its files say."""

import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import polars as pl
import pytest
from silent_noise import without_noise
from small_synthesis import SMALL, outputs_of, synthesis

from travas import Log, ParameterError, Standing, read
from travas.log.plain import measurements_from_plain, plain
from travas.log.traces import Trace
from travas.mechanisms.gaussian import MOST_ACTIVITIES
from travas.outputs.json_writer import json_content
from travas.releases.synthetic_log import NOTICE, SyntheticRelease
from travas.synthesis.measurements import Measurements
from travas.trusted.guarantee import PrivacyUnit
from travas.trusted.samplers import Seeded


@pytest.mark.parametrize(
    "log",
    [
        {},
        {("a",): 1},
        {tuple("ab"): 10**6},
        {("a",) * 5000: 300},
        pytest.param(
            {(f"activity {number}", "end"): 200 for number in range(MOST_ACTIVITIES + 100)}, marks=pytest.mark.slow
        ),
    ],
    ids=["empty", "one case", "one variant", "very long", "many activities"],
)
def test_every_log_is_released(log: dict[Trace, int], tmp_path: Path) -> None:
    release = synthesis("1", "1e-6").release(Log.from_mapping(log))
    assert isinstance(release, SyntheticRelease)
    assert len(release.measurements.activities) <= MOST_ACTIVITIES
    assert release.write(tmp_path / "out.csv").is_file()
    release.quality()


def test_long_traces_fall_into_the_open_bucket() -> None:
    """4,096 events and more. Σc² is above Δ² for very long ones: they add nothing to the transitions, and that is valid."""
    log = {("a",) * 6000: 5000, ("a", "b") * 2048: 5000}
    release = synthesis("4", "1e-6").release(Log.from_mapping(log))
    assert isinstance(release, SyntheticRelease)
    assert dict(release.measurements.variants).keys() == log.keys()


def test_a_public_alphabet_is_not_measured() -> None:
    rule = synthesis("1", "1e-6", alphabet=["b", "a", "never"])
    assert "activities" not in {stage.name for stage in rule.noise.calibration.stages}
    assert sum(stage.delta for stage in rule.noise.calibration.stages) == Fraction(1, 10**7)
    outputs = outputs_of({("a", "b"): 3, ("secret",): 2}, rule)
    assert outputs.activities == ("a", "b", "never")
    with pytest.raises(ParameterError, match="columns"):
        synthesis(alphabet=[("a", "complete")]).release(Log.from_mapping(SMALL))
    for wrong in ([], [""], [1], [str(number) for number in range(MOST_ACTIVITIES + 1)]):
        with pytest.raises(ParameterError, match="alphabet"):
            synthesis(alphabet=wrong)


def test_persons_share_what_a_case_may_add() -> None:
    two, six = (synthesis("1", "1e-6", unit=PrivacyUnit("patient", cases)) for cases in (2, 6))
    for fewer, shared in zip(two.noise.calibration.stages, six.noise.calibration.stages, strict=True):
        assert shared.contribution == fewer.contribution // 3
        assert shared.threshold >= fewer.threshold
    assert six.guarantee().delta_spent <= Fraction(1, 10**6)


# ------------------------------------------------------------------------------------------- release and its files


def released(seed: int = 1) -> SyntheticRelease:
    rule = attrs.evolve(synthesis("4", "1e-3"), random_bytes=Seeded(seed))
    rare: dict[Trace, int] = {("a", *"bc" * repeats): 2 for repeats in range(4, 40)}
    release = rule.release(Log.from_mapping({trace: 50 * cases for trace, cases in SMALL.items()} | rare))
    assert isinstance(release, SyntheticRelease)
    return release


def test_the_order_of_the_log_does_not_show() -> None:
    rule = without_noise(attrs.evolve(synthesis("4", "1e-3"), random_bytes=Seeded(3)))
    log = {trace: 50 * cases for trace, cases in SMALL.items()}
    one, other = (rule.release(Log.from_mapping(dict(items))) for items in (log.items(), reversed(log.items())))
    assert isinstance(one, SyntheticRelease) and isinstance(other, SyntheticRelease)
    assert (one.variants, one.counts, one.origins) == (other.variants, other.counts, other.origins)
    assert json.dumps(json_content(one)) == json.dumps(json_content(other))


def test_the_order_of_first_occurrence_does_not_show_in_memory_either() -> None:
    """Activities are selected by A; their mapping is sorted by name, whatever came first in the log."""
    traces: list[Trace] = [tuple(names) for names in itertools.permutations("zyxw")]
    rule = without_noise(synthesis("4", "1e-3"))
    for order in (traces, traces[::-1]):
        outputs = outputs_of(dict.fromkeys(order, 3), rule)
        assert list(outputs.activity_sums) == list("wxyz") == list(outputs.activities)


def test_the_seed_of_the_generation_is_not_that_of_the_noise() -> None:
    """From the operating system by default; setting it does not cost the guarantee."""
    rule = synthesis("4", "1e-3")
    log = Log.from_mapping(SMALL)
    first, second = rule.release(log), rule.release(log)
    assert isinstance(first, SyntheticRelease) and isinstance(second, SyntheticRelease)
    assert first.seed != second.seed
    chosen = first.regenerate(seed=7)
    assert chosen.seed == 7 and chosen.guarantee.standing is Standing.PROVEN
    for wrong in (-1, True, 1.5):
        with pytest.raises(ParameterError, match="seed is"):
            first.regenerate(seed=wrong)  # type: ignore[arg-type]
    assert attrs.evolve(rule, random_bytes=Seeded(1)).guarantee().standing is Standing.NOT_ESTABLISHED


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz", ".csv", ".parquet", ".json"])
def test_every_file_says_that_it_is_synthetic(suffix: str, tmp_path: Path) -> None:
    release = released()
    path = release.write(tmp_path / f"out{suffix}")
    stated = json.loads(path.with_name(path.name + ".guarantee.json").read_text())
    assert stated["mechanism"] == "synthesis" and stated["release"]["notices"]["travas:synthetic"] == NOTICE
    if suffix == ".json":
        content = json.loads(path.read_text())
        assert content["notices"] == release.notices and content["origins"] == list(release.origins)
        again = measurements_from_plain(content["measurements"], Measurements)
        assert plain(again) == plain(release.measurements)
    if suffix == ".xes":
        text = path.read_text()
        assert f'<string key="travas:synthetic" value="{NOTICE}"/>' in text.partition("<trace>")[0]
        assert text.count('<string key="travas:origin" value="') == sum(release.counts)
    if suffix == ".parquet":
        assert pl.read_parquet_metadata(path)["travas:synthetic"] == NOTICE
    if suffix != ".json":
        cases = Counter[Any]()
        for trace, count in zip(release.variants, release.counts, strict=True):
            cases[trace] += count
        assert dict(read(path).items()) == cases
