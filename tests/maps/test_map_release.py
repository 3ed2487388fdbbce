"""Process maps after the noise: the cap, intervals, consistency, durations, files in which names are text, and models."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import travas
from travas import Log, MapRelease, ParameterError
from travas.errors import OutputError
from travas.log.plain import measurements_from_plain, plain
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.mechanism import with_random_bytes
from travas.releases.map_numbers import MapMeasurements, choose_cap, cut, kept_pairs
from travas.trusted.contributions import SIZE_CELLS
from travas.trusted.samplers import Seeded

HOSTILE = "</svg><script>alert(1)</script>\"'&\\N{BULLET}\n-->\x07"
LOG: dict[Trace, int] = {("a", "b", "c"): 3000, ("a", "b", "b", "c"): 1500, ("a", HOSTILE): 800}


def made(log: dict[Trace, int] = LOG, seed: int | None = None, **options: Any) -> MapRelease:
    rule = mechanism("map", 1, "1e-6", **options)
    released = (rule if seed is None else with_random_bytes(rule, Seeded(seed))).release(Log.from_mapping(log))
    assert isinstance(released, MapRelease)
    return released


def true_pairs(log: dict[Trace, int]) -> dict[tuple[Any, Any], int]:
    counts: dict[tuple[Any, Any], int] = {}
    for trace, cases in log.items():
        for pair in set(zip((None, *trace), (*trace, None), strict=True)):
            counts[pair] = counts.get(pair, 0) + cases
    return counts


def many_cases(seed: int, cases: int = 2000) -> dict[Trace, int]:
    """A log of which most cases differ, and some have many different pairs."""
    random = np.random.default_rng(seed)
    log: dict[Trace, int] = {}
    for _ in range(cases):
        length = int(random.geometric(0.12))
        trace = ("start", *(f"x{step % 12:02d}" for step in np.cumsum(random.integers(0, 3, length)).tolist()), "end")
        log[trace] = log.get(trace, 0) + 1
    return log


def test_intervals_cover_what_is_true() -> None:
    """About 1,500 intervals of 40 maps of a log in which the cap matters: 92 % and more are to cover."""
    log = many_cases(1)
    truth, covered, estimates = true_pairs(log), [], []
    for seed in range(40):
        for pair in made(log, seed).pairs:
            if "other" in (pair.before.kind, pair.after.kind):
                continue
            number = truth.get((pair.before.activity, pair.after.activity), 0)
            covered.append(pair.cases.low <= number <= pair.cases.high)
            estimates.append(pair.cases.low <= pair.cases.value <= pair.cases.high)
    assert len(covered) > 1000 and np.mean(covered) > 0.92 and all(estimates)


def test_the_number_of_cases_is_covered() -> None:
    """95 % are expected of 60 maps; fewer than 50 have a chance below 1e-3."""
    log = many_cases(2)
    totals = [made(log, seed).total for seed in range(60)]
    assert sum(total.low <= 2000 <= total.high for total in totals) >= 50
    assert np.std([total.value for total in totals]) < 100


def test_intervals_of_rework_cover_what_is_true() -> None:
    """Every case goes twice through 20 activities: it has 22 distinct pairs, and 40 cells of rework."""
    names = tuple(f"a{number:02d}" for number in range(20))
    covered = [
        number.low <= 5000 <= number.high
        for seed in range(40)
        for activity in made({names * 2: 5000}, seed, alphabet=names, parts=["rework"]).activities
        for number in (activity.present, activity.repeated)
        if number is not None
    ]
    assert len(covered) == 1600 and np.mean(covered) > 0.92


def test_consistency_moves_estimates_within_their_intervals_and_reduces_the_error() -> None:
    """START's pairs add up to the number of cases; least squares do not make the error of the ends larger."""
    log: dict[Trace, int] = {(f"first {n:02d}", "last"): 300 for n in range(12)}
    before = after = 0.0
    for seed in range(40):
        released = made(log, seed, alphabet=sorted({name for trace in log for name in trace}))
        measurements = released.measurements
        raw = measurements.pairs / measurements.weight("pairs")
        row = released.numbers.estimate[-1, :12]
        before += float(((raw[-1, :12] - 300) ** 2).sum())
        after += float(((row - 300) ** 2).sum())
    assert after < before


def test_the_cap_is_at_the_quantile_unless_clipping_costs_more_than_noise() -> None:
    sizes = [0.0] * len(SIZE_CELLS)
    sizes[SIZE_CELLS.index(8)] = 950.0
    sizes[SIZE_CELLS.index(64)] = 50.0
    assert choose_cap(sizes, 20.0, 1000.0, 10) == 8  # noise is large: clip
    assert choose_cap(sizes, 1.0, 0.001, 10) == 64  # noise is small: do not
    assert choose_cap([0.0] * len(SIZE_CELLS), 1.0, 1.0, 10) == 10
    assert choose_cap([-5.0] * len(SIZE_CELLS), 1.0, 1.0, 10) == 10


@pytest.mark.parametrize("activities", [0, 3, 100])
def test_about_one_pair_is_kept_by_noise_alone(activities: int) -> None:
    cells = (activities + 2) ** 2 - 1
    expected = cells * 0.5 * math.erfc(cut(cells) / math.sqrt(2))
    assert expected <= 1.0 + 1e-9 or cut(cells) == 1.5
    assert cut(10_000) > cut(24) >= 1.5
    noisy = np.full((activities + 2, activities + 2), 1 << 40)
    assert not kept_pairs(noisy)[-1, -1] and kept_pairs(noisy).sum() == cells


def with_times(tmp_path: Path) -> Path:
    lines = ["case,activity,timestamp"]
    for case in range(2000):
        day = f"2024-01-{case % 28 + 1:02d}"
        lines += [f"{case},a,{day}T08:00:00", f"{case},b,{day}T10:00:00", f"{case},c,{day}T10:00:20"]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_durations_and_throughput_of_a_file(tmp_path: Path) -> None:
    released = travas.process_map(
        with_times(tmp_path), epsilon=2, delta="1e-6", parts=["durations", "rework", "throughput"]
    )
    by_pair = {
        (pair.before.activity or pair.before.kind, pair.after.activity or pair.after.kind): pair.duration
        for pair in released.pairs
    }
    slow, quick = by_pair["a", "b"], by_pair["b", "c"]
    assert slow is not None and 4096 <= slow.median <= 16384  # two hours: from 4^6 to 4^7 seconds
    assert quick is not None and 16 <= quick.median <= 64
    assert (
        by_pair["start", "a"] is None and by_pair["c", "end"] is None
    )  # a pair of `other` by noise alone may have one
    assert released.throughput is not None and 4096 <= released.throughput.median <= 16384
    path = released.write(tmp_path / "map.json")
    assert travas.verify(f"{path}.guarantee.json", path).digest_checked
    again = travas.open_release(path)
    assert isinstance(again, MapRelease) and (again.pairs, again.throughput) == (released.pairs, released.throughput)
    assert "median" in released.to_polars().columns
    assert "Median times between two activities" in released._repr_html_()


def test_durations_need_timestamps() -> None:
    with pytest.raises(ParameterError, match="timestamp"):
        made(parts=["durations"])


def test_measurements_survive_their_file(tmp_path: Path) -> None:
    released = made(parts=["rework"])
    again = travas.open_release(released.write(tmp_path / "map.json"))
    assert isinstance(again, MapRelease)
    assert plain(again.measurements) == plain(released.measurements) and again.pairs == released.pairs
    assert measurements_from_plain(plain(released.measurements), MapMeasurements).digest == released.measurements.digest
    for field, wrong in (("pairs", [[1]]), ("sizes", [1]), ("rework", [[1], [2]]), ("cap", 7), ("contributions", {})):
        with pytest.raises(travas.LogError):
            measurements_from_plain(plain(released.measurements) | {field: wrong}, MapMeasurements)


def test_names_are_text_in_every_format(tmp_path: Path) -> None:
    released = made(seed=1)
    assert HOSTILE in [activity.activity for activity in released.activities]
    html = released.write(tmp_path / "map.html").read_text()
    assert "<script>alert" not in html and "\x07" not in html and html.count("<script") == 3
    root = ElementTree.fromstring(released.write(tmp_path / "map.svg").read_text())
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert any("alert(1)" in (element.text or "") for element in root.iter())
    table = released.to_polars()
    assert HOSTILE in table["after"].to_list()
    assert set(table["privacy:standing"]) == {"not established"}  # it was drawn from a seed


def test_pm4py_gets_dictionaries_with_unique_names() -> None:
    log: dict[Trace, int] = {("(other)", "b"): 4000, **{("(other)", f"rare {n}"): 1 for n in range(3000)}}
    pairs, starts, ends = made(log, seed=2).to_pm4py()
    assert ("(other)", "((other))") in pairs and ("(other)", "b") in pairs
    assert abs(starts["(other)"] - 7000) < 400 and {"b", "((other))"} <= set(ends)
    assert all(isinstance(number, int) and number >= 1 for number in (*pairs.values(), *starts.values()))


@pytest.mark.parametrize("suffix", [".bpmn", ".pnml", ".ptml"])
def test_models_of_a_map(suffix: str, tmp_path: Path) -> None:
    """A name that XML cannot hold is escaped: it does not decide between a model and an error."""
    path = made({("a", "b", "c"): 4000, ("a", HOSTILE): 4000}).model(tmp_path / f"model{suffix}")
    elements = list(ElementTree.parse(path).iter())
    names = {value for element in elements for value in (element.text, *element.attrib.values()) if value}
    assert {"a", "b", "c"} <= names and any("\\u{7}" in name for name in names)
    assert not any("script" in element.tag for element in elements)
    with pytest.raises(OutputError, match="exists"):
        made().model(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name]


def test_a_model_is_discovered_although_paths_are_missing(tmp_path: Path) -> None:
    """Noise can hide every way into or out of an activity; an empty map has no model."""
    released = made({("a", "b"): 3000, ("c", "d"): 3000})
    noisy = released.measurements.pairs.copy()
    noisy[-1, :] = noisy[:, -1] = 0
    hidden = replace(released, measurements=replace(released.measurements, pairs=noisy))
    assert hidden.model(tmp_path / "model.pnml").is_file()
    nothing = replace(released.measurements, pairs=np.zeros_like(noisy))
    with pytest.raises(OutputError, match="no pairs"):
        replace(released, measurements=nothing).model(tmp_path / "none.pnml")
    with pytest.raises(OutputError, match="use .bpmn"):
        released.model(tmp_path / "model.png")


@pytest.mark.parametrize("seed", range(8))
def test_every_map_with_pairs_has_a_model(seed: int, tmp_path: Path) -> None:
    """pm4py's miner fails on some graphs: then the model is that of the shortest traces through every pair."""
    assert made(many_cases(3, 800), seed).model(tmp_path / "model.pnml").is_file()


def test_the_map_of_an_empty_log_can_be_drawn() -> None:
    """Noise alone can leave a layer of the picture without an activity."""
    for seed in range(30):
        assert made({}, seed)._repr_html_().count("<svg") == 1
