"""The result of a release in a real browser: what is shown and what is downloaded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from browser import Server
from web_flow import (
    card,
    choose,
    protect_persons,
    release,
    result_tab,
    saved,
    to_confirm,
    to_protection,
    to_release,
    upload,
)

import travas as package
from conftest import DATA, Run
from travas.outputs.example import write_hospital_log

pytest_plugins = ["web_fixtures"]


def test_from_upload_to_a_verified_release(page: Any, server: Server, tmp_path: Path) -> None:
    log = DATA / "sepsis.xes.gz"
    if not log.exists():
        log = write_hospital_log(tmp_path / "hospital.csv")
    upload(page, log)
    to_release(page, "3", "1e-3")
    page.get_by_label("Why these parameters").fill("Agreed with the <works council>")
    release(page)
    files = {suffix: saved(page, f"release{suffix}", tmp_path, f"r{suffix}") for suffix in (".xes.gz", ".json", ".csv")}
    true = dict(package.read(log).items())
    found = {suffix: dict(package.read(path).items()) for suffix, path in files.items()}
    assert found[".xes.gz"] == found[".json"] == found[".csv"] and set(found[".json"]) <= set(true) and found[".json"]
    guarantee = saved(page, "release.xes.gz.guarantee.json", tmp_path, "g.json")
    assert package.verify(guarantee, files[".xes.gz"]).digest_checked
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "Agreed with the &lt;works council&gt;" in report and "95 % interval" in report
    folders = [path for path in server.storage.rglob("*") if path.is_dir()]
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in [server.storage, *folders])


def test_a_release_that_protects_patients(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    protect_persons(page, "patient", "2")
    page.get_by_text("guess whether a given patient was in the log").wait_for()
    half = page.get_by_text(
        re.compile("different patient values to be released with a probability above 50 %")
    ).inner_text()
    to_confirm(page)
    assert page.get_by_role("cell", name="adding or removing all cases of one patient").count() == 1
    release(page)
    shown = page.locator(".card").inner_text()
    assert "adding or removing all cases of one patient: proven" in shown and "standing for" not in shown
    assert "patient–variant pairs" in shown and "Not released: roughly" in shown
    result_tab(page, "Variants")
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert heads == [
        "#",
        "Estimated number of different patient values",
        "95 % interval",
        "Variant",
        "Count in the file",
    ]
    for suffix in (".xes.gz", ".json"):
        file = saved(page, f"release{suffix}", tmp_path, f"r{suffix}")
        promise = saved(page, f"release{suffix}.guarantee.json", tmp_path, f"r{suffix}.guarantee.json")
        assert travas("verify", promise, file).code == 0
    chosen = package.verify(promise).mechanism
    assert chosen.unit == package.PrivacyUnit("patient", 2)
    first = next(n for n in range(1, 1000) if (chosen.keep_probability(n) or 0) >= 0.5)
    assert f"a variant needs {first:,} " in half
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "each once per variant: at most 2 different variants per patient" in report


def test_a_ladder_from_rungs_to_a_verified_release(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    page.get_by_text("More: mechanism").click()
    choose(page, "Mechanism", "ladder")
    page.get_by_label("Rungs (none: the default ladder)").click()
    for rung in ("full", "first", "prefix:2"):
        page.get_by_role("option", name=rung, exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_text("On a ladder it depends on the rung; here: full").wait_for()
    to_confirm(page)
    release(page)
    shown = result_tab(page, "Variants")
    assert "Abstraction" in shown and "prefix:2" in shown and "full" in shown
    for suffix in (".csv", ".json"):
        file = saved(page, f"release{suffix}", tmp_path, f"r{suffix}")
        promise = saved(page, f"release{suffix}.guarantee.json", tmp_path, f"r{suffix}.guarantee.json")
        assert travas("verify", promise, file).code == 0
    report = saved(page, "release.csv.report.html", tmp_path, "r.html").read_text()
    assert "Step by step" in report and "95 % interval" in report and "prefix:2: The first n activities" in report


def test_a_synthetic_log_is_called_one_on_every_page(page: Any, travas: Run, tmp_path: Path) -> None:
    to_protection(page)
    card(page, "Synthetic log")
    page.get_by_text("How exact it is depends on the number of cases").wait_for()
    to_confirm(page)
    release(page, "Synthetic log")
    shown = page.locator(".card").inner_text()
    assert "generated cases" in shown and "have a variant that was released as such" in shown
    result_tab(page, "Variants")
    assert page.get_by_role("columnheader").all_inner_texts() == ["#", "Cases", "Variant", "Origin"]
    assert "in the synthetic log" in result_tab(page, "Map")
    for suffix in (".xes.gz", ".json"):
        file = saved(page, f"release{suffix}", tmp_path, f"r{suffix}")
        promise = saved(page, f"release{suffix}.guarantee.json", tmp_path, f"r{suffix}.guarantee.json")
        assert travas("verify", promise, file).code == 0
    assert package.open_release(tmp_path / "r.json").origins
    report = saved(page, "release.xes.gz.report.html", tmp_path, "r.html").read_text()
    assert "Synthetic log." in report and "<td>generated</td>" in report
