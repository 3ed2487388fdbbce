"""Result: what its screens show is what was released, decisions are kept, and nothing true of the log is on a public screen."""

# ruff: noqa: F401, F811

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from archived import KINDS, Bench, bench, releases

import travas
from travas.web.releases import VIEW, Record, finish
from travas.web.result import PANELS


@pytest.mark.parametrize("kind", KINDS)
def test_every_panel_of_every_kind_is_a_page_without_inline_code(
    bench: Bench, releases: dict[str, Record], kind: str
) -> None:
    address = f"/result/{releases[kind].id}"
    shown = bench.page(address)
    panels = set(re.findall(rf'href="{address}/(\w+)"', shown)) & set(PANELS)
    assert (
        panels
        == {
            "variants": {"variants", "compare", "details"},
            "synthetic log": set(PANELS),
            "process map": {"times", "compare", "details"},
        }[kind]
    )
    for panel in panels:
        whole = bench.page(f"{address}/{panel}")
        part = bench.page(f"{address}/{panel}", **{"HX-Request": "true", "HX-Target": "side"})
        assert "travas-map" in whole and "<html" not in part and part.strip() in whole
        assert not re.search(r"\sstyle=|\son\w+=|<style", whole)
        assert all("src=" in tag or "application/json" in tag for tag in re.findall(r"<script[^>]*>", whole))
    assert bench.browser.get(f"{address}/nothing").status_code == 404


def test_the_map_and_the_numbers_are_those_of_the_release(bench: Bench, releases: dict[str, Record]) -> None:
    record = releases["synthetic log"]
    release = travas.open_release(bench.archive.folder(record.id) / "release.json")
    view = json.loads((bench.archive.folder(record.id) / VIEW).read_text())
    assert isinstance(release, travas.SyntheticRelease)
    assert view["figures"][0][0] == f"{sum(release.counts):,}"
    rows, names = view["variants"]["rows"], view["variants"]["names"]
    traces = [tuple(names[code] for code, times in row["trace"] for _ in range(times)) for row in rows]
    assert dict(zip(traces, (row["cases"] for row in rows), strict=True)) == dict(
        zip(release.variants, release.counts, strict=True)
    )
    assert [row["cases"] for row in rows] == sorted((row["cases"] for row in rows), reverse=True)
    model = json.loads(re.findall(r'application/json">(.*?)</script>', bench.page(f"/result/{record.id}"))[0])
    started = sum(path["count"] for path in model["paths"] if path["before"] == "start")
    assert started == sum(release.counts)
    assert {"sex", "age"} == {attribute["name"] for attribute in view["attributes"]}
    assert sum(share for _, share, _ in view["times"]["arrivals"]["bars"]) == pytest.approx(1)


@pytest.mark.parametrize("typed", ["", "abc", "²", "9" * 5000])
def test_any_share_of_the_cases_can_be_asked_for(bench: Bench, releases: dict[str, Record], typed: str) -> None:
    assert "variants" in bench.page(f"/result/{releases['variants'].id}/variants?coverage={typed}")


def test_names_of_activities_are_text(bench: Bench, tmp_path: Path) -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    log = tmp_path / "log.csv"
    log.write_text(
        "case_id,activity\n" + "".join(f'{n},"{evil.replace(chr(34), chr(34) * 2)}"\n{n},b\n' for n in range(300))
    )
    for options in ({"mechanism": "optimal"}, {"mechanism": "synthesis"}, {"mechanism": "map"}):
        record = bench.made(log=log, order="file", **options)
        for panel in ("", "/variants", "/details"):
            page = bench.page(f"/result/{record.id}{panel}")
            assert "<img src=x" not in page and "img src=x" in page


# ------------------------------------------------------------------------------------- decisions, files and the log


def test_a_decision_is_taken_on_the_page(bench: Bench) -> None:
    record = bench.made(**KINDS["variants"])
    address = f"/result/{record.id}"
    assert "Waiting for sign-off" in bench.page(address)
    form = {"verdict": "approved", "name": "Grace", "recipients": "the ward", "comment": "<i>fine</i>"}
    assert bench.browser.post(f"{address}/decide", data=form).headers["location"] == address
    page = bench.page(address)
    assert "approved for the ward by Grace" in page and "&lt;i&gt;fine" in page and "/download" not in page
    bench.wait()
    answer = bench.browser.get(f"{address}/download")
    assert record.bundle in answer.headers["content-disposition"] and answer.content[:2] == b"PK"
    bench.browser.post(f"{address}/decide", data={"verdict": "rejected"})
    decision = bench.get(record).decision
    assert decision is not None and decision.verdict == "rejected" and decision.name
    bench.browser.post(f"{address}/delete")
    assert bench.browser.get(address).status_code == 404 and bench.browser.get(f"{address}/download").status_code == 404


def test_where_the_policy_wants_a_sign_off_it_is_another_person_s(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = bench.made(**KINDS["variants"])
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "ours"\n[rules.sign_off]\nrequired = true\nbecause = "two people"\n')
    monkeypatch.setenv("TRAVAS_POLICY", str(policy))
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    for name, status in (("", 409), (" ADA ", 409), ("grace", 303)):
        answer = bench.browser.post(f"/result/{record.id}/decide", data={"verdict": "approved", "name": name})
        assert answer.status_code == status
    assert [decision.name for decision in bench.get(record).decisions] == ["grace"]


def test_files_that_a_killed_process_did_not_write_are_written_when_the_page_is_opened(bench: Bench) -> None:
    record = bench.made(**KINDS["process map"])
    folder = bench.archive.folder(record.id)
    for name in (record.bundle, VIEW, "report.html"):
        (folder / name).unlink()
    bench.page(f"/result/{record.id}")
    bench.wait()
    assert "Download" in bench.page(f"/result/{record.id}") and (folder / record.bundle).is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_before_and_after_has_the_true_numbers_while_the_log_is_here(bench: Bench, kind: str) -> None:
    record = bench.made(**KINDS[kind])
    address = f"/result/{record.id}/compare"
    assert "no longer here" in bench.page(address)
    draft = bench.bench.drafts.new()
    draft.set_log(str(bench.folder / "log.csv"), "log.csv", "copy")
    draft.released.append(record.id)
    assert bench.browser.post(address).headers["location"] == address
    assert "Confidential" not in bench.page(address)
    bench.wait()
    page = bench.page(address)
    model = json.loads(re.findall(r'application/json">(.*?)</script>', page)[0])
    assert "Confidential" in page and model["headline"] and draft.looked_at
    assert sum(path["original"] for path in model["paths"] if path["before"] == "start") == 600
    assert "Confidential" not in bench.page(f"/result/{record.id}")
    files = bench.archive.folder(record.id).iterdir()
    assert not any(model["headline"].encode() in path.read_bytes() for path in files)
    draft.set_log(str(bench.folder / "other.csv"), "other.csv", "copy")
    assert "no longer here" not in bench.page(address)  # it is still in memory


def test_a_release_of_nothing_has_a_page(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity,timestamp\n1,a,2026-01-01\n")
    for options in KINDS.values():
        plain = {name: value for name, value in options.items() if name != "attributes"}
        record = bench.made(log=log, epsilon="0.05", delta="1e-9", **plain)
        finish(bench.archive.folder(record.id), record)
        for panel in ("", "/variants", "/times", "/attributes", "/details"):
            bench.page(f"/result/{record.id}{panel}")
