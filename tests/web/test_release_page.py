"""From a log to a release: what a form says, what is charged, and what is left."""

# ruff: noqa: F401, F811

import re
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from web_client import access, bench, browser, drop, settled, stranger

import travas as package
from travas.settings.project import OFFERED
from travas.settings.table import SETTINGS
from travas.web import release
from travas.web.drafts import NOT_HERE
from travas.web.releases import RELEASE
from travas.web.workbench import Workbench

Drop = Callable[..., Any]
HX = {"HX-Request": "true"}
GERMAN = "Fallnummer;Tätigkeit;Zeitpunkt;Status;Patient\n" + "".join(
    f"F{case};{activity};{1 + case % 27:02d}.02.2025 0{hour}:00;{status};P{case // 2}\n"
    for case in range(60)
    for hour, activity in enumerate(("Aufnahme", "Röntgen", "Entlassung"))
    for status in ("start", "complete")
)


@pytest.fixture
def draft(drop: Drop, small_csv: Path) -> Any:
    return drop("ward.csv", small_csv.read_bytes())


def errors(text: str) -> dict[str, str]:
    """The errors of a page, by field."""
    return {name: words for name, words in re.findall(r'id="error-(\w+)"[^>]*>([^<]*)</p>', text) if words}


def text_of(page: str) -> str:
    """What can be read on a page, without the help in the drawer."""
    return re.sub(r"(?s)<svg.*?</svg>|<details class=\"panel\".*|<[^>]+>", " ", page)


def press(browser: TestClient, draft: Any, **fields: str) -> Any:
    return browser.post(f"/release/{draft.id}/run", data={"turn": str(draft.turn), **fields}, headers=HX)


def test_three_clicks_make_a_release_in_the_archive(browser: TestClient, bench: Workbench, draft: Any) -> None:
    assert draft.project.stated("dataset") == "ward"
    answer = press(browser, draft)
    assert errors(answer.text) == {} and "Cancel" in answer.text
    address = settled(browser, draft.releasing)
    (record,) = bench.archive.records()
    (entry,) = bench.ledger.history()
    assert address == f"/result/{record.id}" and entry.approval.reference == record.id and record.state == "released"
    assert (record.title, record.kind, record.looked_at) == ("ward.csv", "synthetic log", ())
    output = bench.archive.folder(record.id) / RELEASE
    assert package.verify(f"{output}.guarantee.json", output).digest_checked
    assert "ε = 3" in bench.ledger.account("ward").remainder
    assert browser.get("/").text.count(f"/result/{record.id}") == 2  # on its card, and waiting


def test_a_double_press_charges_once(browser: TestClient, bench: Workbench, draft: Any) -> None:
    fields, answers = {"turn": str(draft.turn)}, []
    threads = [
        threading.Thread(
            target=lambda: answers.append(browser.post(f"/release/{draft.id}/run", data=fields, headers=HX))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settled(browser, draft.releasing)
    assert "another tab" in errors(browser.post(f"/release/{draft.id}/run", data=fields, headers=HX).text)["go"]
    assert len(bench.ledger.history()) == 1 == len(bench.archive.records())


WRONG = (
    ("epsilon", "0"), ("epsilon", "30"), ("delta", "2"), ("unit", "no such column"), ("max_cases", "x"), ("dataset", ""),
    ("zone", "Nowhere"), ("abstraction", "what"), ("period", "13"), ("stated_cases", "0"), ("budget", "none"),
    ("budget", "0.5"),
)  # fmt: skip


def test_what_is_wrong_is_said_at_its_field_and_costs_nothing(
    browser: TestClient, bench: Workbench, draft: Any
) -> None:
    right = {each.name: release.shown_value(draft, each) for each in SETTINGS if each.name in dict(WRONG)}
    for field, value in WRONG:
        answer = press(browser, draft, **right | {"dataset": f"{field} {value}"} | {field: value})
        if draft.releasing:
            settled(browser, draft.releasing)
            answer = browser.get(f"/release/{draft.id}")
        also = {"budget": "dataset", "unit": "max_cases"}.get(field, field)
        assert {field, also} & set(errors(answer.text)), (field, value)
    assert not bench.ledger.history() and not bench.archive.records()


def test_the_budget_is_enforced(browser: TestClient, bench: Workbench, draft: Any) -> None:
    bench.ledger.create_budget("ward", epsilon=1, delta="1e-5")
    press(browser, draft)
    settled(browser, draft.releasing)
    assert "does not allow" in errors(press(browser, draft).text)["dataset"]
    assert len(bench.ledger.history()) == 1


def test_a_cancelled_release_leaves_nothing(browser: TestClient, bench: Workbench, draft: Any) -> None:
    press(browser, draft)
    answer = browser.post(f"/jobs/{draft.releasing.number}/cancel", headers=HX)
    if draft.releasing.cancelled:
        assert answer.headers["HX-Redirect"] == f"/release/{draft.id}"
        assert not bench.ledger.history() and not bench.archive.records()
        assert "cancelled" in browser.get(f"/release/{draft.id}").text


def test_the_doctor_reads_a_german_export(browser: TestClient, drop: Drop) -> None:
    draft = drop("krankenhaus.csv", GERMAN.encode("cp1252"))
    assert draft.column("case") == "Fallnummer" and draft.column("activity") == "Tätigkeit"
    assert draft.applied.items() >= {"encoding": "cp1252", "timestamp_format": "%d.%m.%Y %H:%M"}.items()
    page = browser.get(f"/release/{draft.id}").text
    assert "Patient (a person?)" in page and "unit" not in draft.project.values  # proposed, never applied
    assert "Röntgen" not in page and not re.search(
        r"\b(60|30)\b", text_of(page)
    )  # neither values nor numbers of the log
    browser.post(f"/release/{draft.id}", data={"undo": "timestamp_format"})
    assert "timestamp_format" not in draft.project.values and "timestamp_format" not in draft.applied


def test_a_page_that_is_sent_as_it_is_changes_nothing_and_another_form_of_the_log_is_examined(
    browser: TestClient, drop: Drop
) -> None:
    draft = drop("krankenhaus.csv", GERMAN.encode("cp1252"))
    fields = {each.name: release.shown_value(draft, each) for each in SETTINGS if each.name not in ("log", "output")}
    before, applied = draft.project, dict(draft.applied)
    assert errors(browser.post(f"/release/{draft.id}", data=fields, headers=HX).text) == {}
    assert (draft.project, draft.applied) == (before, applied)
    answer = browser.post(f"/release/{draft.id}", data=fields | {"encoding": "latin-1"}, headers=HX)
    assert answer.headers["HX-Redirect"] == f"/release/{draft.id}" and draft.is_unread


def test_values_are_hidden_until_asked_for_and_the_look_is_recorded(
    browser: TestClient, bench: Workbench, drop: Drop
) -> None:
    draft = drop("krankenhaus.csv", GERMAN.encode("cp1252"))
    page = browser.post(f"/release/{draft.id}", data={"look": ""}).text
    assert "Röntgen" in page and not re.search(r"\b(60|30)\b", text_of(page))
    press(browser, draft, dataset="ward", epsilon="2")
    settled(browser, draft.releasing)
    assert bench.archive.records()[0].looked_at == (release.VALUES,)


def test_another_log_forgets_what_was_set_for_the_first(
    browser: TestClient, bench: Workbench, drop: Drop, small_csv: Path
) -> None:
    draft = drop("krankenhaus.csv", GERMAN.encode("cp1252"))
    upload, turn = Path(draft.source), draft.turn
    browser.post("/drafts", data={"draft": draft.id}, files={"log": ("ward.csv", small_csv.read_bytes())})
    assert not draft.applied and not upload.read_bytes().startswith(b"Fall") and draft.turn == turn + 1
    assert "encoding" not in draft.project.values


@pytest.mark.parametrize(
    ("name", "content"), [("x.pdf", b"%PDF"), ("travas.toml", b"[log]\nwrong = 1"), ("travas.toml", b"\xff")]
)
def test_what_is_no_log_is_refused_in_one_line(
    browser: TestClient, bench: Workbench, name: str, content: bytes
) -> None:
    answer = browser.post("/drafts", files={"log": (name, content)})
    assert (
        answer.status_code == 422 and name in errors(answer.text)["log"] and str(bench.drafts.path) not in answer.text
    )


def test_a_log_that_cannot_be_read_is_refused_at_its_place(browser: TestClient, drop: Drop) -> None:
    draft = drop("log.csv", b"%PDF-1.4 a document")
    assert "PDF" in errors(browser.get(f"/release/{draft.id}").text)["log"]
    assert "log" in errors(press(browser, draft).text)


def test_a_project_is_saved_and_opened(browser: TestClient, draft: Any, drop: Drop) -> None:
    press_fields = {"kind": "process map", "epsilon": "1/3", "parts": "durations\nrework", "reason": "agreed"}
    assert errors(browser.post(f"/release/{draft.id}", data=press_fields, headers=HX).text) == {}
    saved = browser.get(f"/release/{draft.id}/travas.toml").content
    values = tomllib.loads(saved.decode())
    assert values["log"]["log"] == "ward.csv" and values["privacy"]["epsilon"] == "1/3"
    again = drop("travas.toml", saved.replace(b"[account]", b'[account]\npolicy = "/etc/passwd"\nledger = "other.db"'))
    kept = {key: value for key, value in draft.project.values.items() if key != "log"}
    assert dict(again.project.values) == kept


@pytest.mark.parametrize("line", ['[reading]\nby = "ward"\nsegments = ["A"]', '[privacy]\nguarantee = "not required"'])
def test_a_project_that_is_not_for_a_page_is_refused(browser: TestClient, line: str) -> None:
    assert browser.post("/drafts", files={"log": ("travas.toml", line.encode())}).status_code == 422


def test_only_files_of_the_folders_are_opened(
    browser: TestClient, bench: Workbench, small_csv: Path, tmp_path: Path
) -> None:
    inside = tmp_path / "logs" / "ward.csv"
    inside.write_bytes(small_csv.read_bytes())
    (tmp_path / "logs" / "link.csv").symlink_to(small_csv)
    assert str(inside) in browser.get("/").text
    for path in (
        small_csv,
        tmp_path / "logs" / "link.csv",
        tmp_path / "logs" / ".." / small_csv.name,
        "duckdb:////etc/passwd",
    ):
        assert browser.post("/drafts", data={"path": str(path)}).status_code == 422
    answer = browser.post("/drafts", data={"path": str(inside)})
    draft = bench.drafts.get(answer.url.path.rpartition("/")[2])
    assert draft is not None and (draft.origin, draft.title) == ("original", "ward.csv")


def test_every_setting_is_on_the_page_or_is_left_out_on_purpose(browser: TestClient, draft: Any) -> None:
    names: set[str] = set()
    for kind, mechanisms in OFFERED.items():
        for mechanism in mechanisms:
            browser.post(f"/release/{draft.id}", data={"kind": kind}, headers=HX)
            browser.post(f"/release/{draft.id}", data={"mechanism": mechanism}, headers=HX)
            names |= set(re.findall(r'name="(\w+)"', browser.get(f"/release/{draft.id}").text))
    left_out = {*NOT_HERE, "output", "folder", "ledger", "policy", "every"}
    assert {each.name for each in SETTINGS} - names == left_out


def test_one_kind_is_recommended_and_none_but_the_owner_chooses(browser: TestClient, draft: Any) -> None:
    def change(**fields: str) -> str:
        return str(browser.post(f"/release/{draft.id}", data=fields, headers=HX).text)

    assert re.search(r'id="keep-process-map"[^<]*<span[^>]*>recommended', change(stated_cases="300"))
    assert release.chosen_kind(draft.project) == "synthetic log"
    assert 'id="drawer"' in change(kind="variants") and release.chosen_kind(draft.project) == "variants"
    assert 'id="drawer"' not in change(kind="variants", minimum_cases="5", stated_cases="4000")
    change(kind="process map")
    assert "minimum_cases" not in draft.project.values  # a map has no such setting


def test_what_exceeds_the_budget_cannot_be_pressed(browser: TestClient, bench: Workbench, draft: Any) -> None:
    page = browser.post(f"/release/{draft.id}", data={"epsilon": "8"}, headers=HX).text
    assert "ε at most 4" in errors(page)["budget"] and "data-stop" in page
    bench.ledger.create_budget("small", epsilon="1/2", delta="1e-5")
    page = browser.post(f"/release/{draft.id}", data={"dataset": "small", "epsilon": "1"}, headers=HX).text
    assert "ε at most 0.5" in errors(page)["dataset"] and "data-stop" in page
    assert "data-stop" not in browser.post(f"/release/{draft.id}", data={"epsilon": "1/4"}, headers=HX).text


def test_a_made_up_picture_needs_no_log(browser: TestClient, bench: Workbench) -> None:
    wanted = {"kind": "process map", "epsilon": "2"}
    assert browser.get("/preview.json", params=wanted).status_code == 202
    (job,) = bench.pictures.values()
    job.join(120)
    model = browser.get("/preview.json", params=wanted).json()
    assert "register" in {one["name"] for one in model["activities"]}
    assert browser.get("/preview.json", params=wanted | {"epsilon": "x"}).status_code == 409
