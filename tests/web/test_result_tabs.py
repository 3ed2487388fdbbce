"""What the result of a release says: figures, order and verdict are those of the estimates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import travas
from timed_log import timed_frame
from travas.budget.account import Account, Entry
from travas.budget.accounting import Spending
from travas.log.abstraction import parse_ladder
from travas.log.log import Log
from travas.log.traces import Trace
from travas.outputs.readme_file import release_files
from travas.plots.charts import coverage_curve
from travas.plots.chevrons import colour_of
from travas.plots.map_graph import release_graph
from travas.plots.svg import activity_text
from travas.report.decision import decision_on
from travas.report.report_file import write_report
from travas.sources.example_log import PAPER_LOG
from travas.sources.reading import Reading
from travas.trusted.samplers import Seeded
from travas.web import tasks
from travas.web.recipe import Recipe
from travas.web.result.comparison import both_graph, compare_release
from travas.web.result.handover import bundled, contents, pack
from travas.web.result.result_variants import headings, ranking, remarks, variant_rows

LOG: dict[Trace, int] = {("register", f"visit {n}", "release"): 400 - 20 * n for n in range(12)}


def quiet(_: str, __: float) -> None:
    pass


def variants_release() -> Any:
    return travas.anonymize(LOG, epsilon=1, delta="1e-4")


def test_order_and_figures_are_those_of_the_estimates() -> None:
    release = variants_release()
    ranked = ranking(release)
    rows, names = variant_rows(release, ranked)
    estimates = release.estimate
    assert estimates.intervals is not None
    assert [row["value"] for row in rows] == [round(estimates.counts[place], 1) for place in ranked]
    assert [row["value"] for row in rows] == sorted((row["value"] for row in rows), reverse=True)
    assert [(row["low"], row["high"]) for row in rows] == [estimates.intervals[place] for place in ranked]
    traces = [tuple(names[number] for number in row["trace"]) for row in rows]
    assert traces == [tuple(map(activity_text, release.variants[place])) for place in ranked]
    number, cases, share, privacy = decision_on(release).figures
    assert number.value == f"{len(release.variants):,}" and privacy.value == "ε = 1"
    low, high = decision_on(release).coverage or (0, 0)
    assert cases.value == f"{sum(estimates.counts):,.0f}" and share.value == f"{low:.0%} – {high:.0%}" and low <= high
    assert "interval" in headings(release) and "origin" not in headings(release)


def test_the_map_of_variants_adds_up_to_their_estimates() -> None:
    release = variants_release()
    graph = release_graph(release)
    started = sum(pair.count for pair in graph.paths if pair.before == "start")
    assert started == pytest.approx(sum(release.estimate.counts))


@pytest.mark.parametrize(
    ("missing_cases", "words"),
    [((0, 100), "covers most of the cases"), ((0, 3000), "may be missing"), ((9000, 20000), "ewer than half")],
)
def test_the_verdict_says_what_is_covered(missing_cases: tuple[float, float], words: str) -> None:
    facts = decision_on(variants_release())
    assert facts.estimate is not None
    assert words in replace(facts, estimate=replace(facts.estimate, missing_cases_interval=missing_cases)).use


def test_the_verdict_warns() -> None:
    release = variants_release()
    assert decision_on(release, ("weak",)).warnings == ("weak",)
    assert replace(decision_on(release), variants=1).warnings
    chosen = travas.Optimal(epsilon=1, delta="1e-4").with_random_bytes(Seeded(1))
    seeded = chosen.release(Log.from_mapping(LOG))
    assert "not established" in decision_on(seeded).verdict
    assert decision_on(release).missing[0].startswith("Not released: ")


def test_figures_of_a_synthetic_log_and_of_a_map() -> None:
    synthetic = travas.synthesize(LOG, epsilon=2, delta="1e-4")
    assert decision_on(synthetic).figures[0].value == f"{sum(synthetic.counts):,}" and "origin" in headings(synthetic)
    drawn = travas.process_map(LOG, epsilon=2, delta="1e-4")
    assert (
        decision_on(drawn).figures[1].value == f"{len(drawn.pairs):,}"
        and "noise alone" in decision_on(drawn).missing[1]
    )
    assert len(release_graph(drawn).paths) == len(drawn.pairs)


def test_the_report_on_any_file_of_a_map_has_its_numbers(tmp_path: Path) -> None:
    drawn = travas.process_map(LOG, epsilon=2, delta="1e-4")
    path = drawn.write(tmp_path / "release.csv")
    spent = Entry("ward", Spending.of(drawn.mechanism), number=1, time="2026-11-18T10:00:00Z")
    account = Account("ward", None, (spent,))
    tasks.report(drawn, path, tmp_path / "r.html", "", account, Recipe(epsilon="2", delta="1e-4"), quiet)
    page = (tmp_path / "r.html").read_text()
    assert f"SHA-256 {drawn.measurements.digest}" in page and "not in this report" not in page


def test_an_activity_has_one_colour_that_dark_text_can_be_read_on() -> None:
    assert colour_of("visit") == colour_of("visit") and len({colour_of(f"a{n}") for n in range(100)}) > 30

    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    for name in (f"activity {n}" for n in range(300)):
        red, green, blue = (int(colour_of(name)[place : place + 2], 16) for place in (1, 3, 5))
        luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        assert (luminance + 0.05) / (linear(0x11) + 0.05) > 4.5


def test_the_coverage_curve_says_what_it_shows() -> None:
    assert "half of them by the first 2 variants, 80% by all" in coverage_curve([40, 20, 20], 100, "cases")
    assert "less than half of them by all variants" in coverage_curve([10], 100, "cases")


def test_before_and_after_compares_with_the_original_itself_and_its_steps_as_released(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("case_id,activity\n" + "".join(f"{case},{name}\n" for case in range(400) for name in "abc"))
    reading = Reading(order="file", abstraction=parse_ladder("prefix:2")[0])
    release = travas.anonymize(path, epsilon=5, delta="0.1", reading=reading)
    found = compare_release(path, "log.csv", reading, release, quiet)
    values = {name: value for name, value, _ in found.metrics}
    assert values["case coverage"] == "0.000" and values["case coverage abstracted"] == "1.000"
    assert {(row.before, row.after): row.original for row in found.differences} == {
        ("", "a"): 400, ("a", "b"): 400, ("b", ""): 400,
    }  # fmt: skip


def test_before_and_after_of_a_synthetic_log_has_its_times(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    timed_frame(300).write_csv(path)
    release = travas.synthesize(path, epsilon=4, delta="1e-4", times=travas.Times())
    found = compare_release(path, "log.csv", Reading(), release, quiet)
    assert "throughput" in {name for name, _, _ in found.metrics} and found.differences


def test_an_empty_synthetic_log_is_shown_as_one(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    timed_frame(300).head(3).write_csv(path)
    release = travas.synthesize(path, epsilon="0.05", delta="1e-9", times=travas.Times())
    assert not release.variants and headings(release) == {"value": "Cases", "origin": "Origin"}
    assert "in the synthetic log" in release_graph(release).captions[0]
    assert [words.split(":")[0] for words in remarks(release, 0)] == ["Origin"]
    found = compare_release(path, "log.csv", Reading(), release, quiet)
    assert dict(row[:2] for row in found.metrics)["throughput"] == "one of the two logs has no cases"
    details = travas.compare(path, release).as_json()["details"]
    assert details["times"]["throughput"] is None


def test_before_and_after_has_the_true_numbers_on_one_side(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    traces = [trace for trace, cases in PAPER_LOG.items() for _ in range(cases)]
    rows = [f"{case},{activity_text(activity)}" for case, trace in enumerate(traces) for activity in trace]
    path.write_text("case_id,activity\n" + "\n".join(rows) + "\n")
    release = travas.anonymize(PAPER_LOG, epsilon=5, delta="0.1")
    found = compare_release(path, "log.csv", Reading(order="file"), release, quiet)
    true = {(row.before, row.after): row.original for row in found.differences}
    assert true["register", "visit"] == 35 and true["", "register"] == sum(PAPER_LOG.values())
    assert {name for name, _, _ in found.metrics} >= {"case coverage", "variant coverage", "fake variants"}
    graph = both_graph(found)
    assert sum(path.original or 0 for path in graph.paths if path.before == "start") == sum(PAPER_LOG.values())


def test_the_zip_has_everything_a_recipient_needs(tmp_path: Path) -> None:
    release = variants_release()
    path = release.write(tmp_path / bundled(release))
    write_report(release_files(path)[1], path, contents(path)[-1])
    pack(contents(path), tmp_path / "release.zip", quiet)
    with ZipFile(tmp_path / "release.zip") as packed:
        names = packed.namelist()
        packed.extractall(tmp_path / "out")
    assert names == [file.name for file in contents(path)] and len(names) == 4
    assert travas.verify(tmp_path / "out" / names[1], tmp_path / "out" / path.name).digest_checked
    assert (tmp_path / "release.zip").stat().st_mode & 0o777 == 0o600
