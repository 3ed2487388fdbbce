"""The archive: what was paid for is there or said to be missing, and what is handed over can be verified."""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from archived import KINDS, Bench, quiet

import travas
from travas.errors import TravasError
from travas.outputs.atomic import reserved
from travas.outputs.guarantee_file import guarantee_path
from travas.outputs.readme_file import release_files
from travas.releases.release import kind_of
from travas.web.release import draw
from travas.web.releases import RELEASE, Archive, Decision, Record, finish


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    found = Bench.at(tmp_path)
    yield found
    found.close()


def unpacked(bench: Bench, record: Record, target: Path) -> set[str]:
    with zipfile.ZipFile(bench.archive.folder(record.id) / record.bundle) as packed:
        packed.extractall(target)
        return set(packed.namelist())


@pytest.mark.parametrize("kind", KINDS)
def test_the_zip_has_what_a_recipient_needs_and_verifies(bench: Bench, tmp_path: Path, kind: str) -> None:
    record = bench.made(**KINDS[kind])
    names, stem = unpacked(bench, record, tmp_path / "out"), record.stem
    assert stem == f"ward-{kind.replace(' ', '-')}-{record.asked[:10]}"
    assert {"README.txt", "map.html", "report.html"} < names
    data = {name for name in names if (tmp_path / "out" / f"{name}.guarantee.json").is_file()}
    wanted = {"variants": (".json", ".xes.gz"), "synthetic log": (".xes.gz",), "process map": (".json", ".csv")}[kind]
    assert data == {stem + suffix for suffix in wanted}
    for name in data:
        path = tmp_path / "out" / name
        assert travas.verify(guarantee_path(path), path).digest_checked
    assert kind_of(travas.open_release(tmp_path / "out" / (stem + wanted[0])).mechanism) == kind
    assert "agreed" in (tmp_path / "out" / "report.html").read_text()


def test_a_decision_is_kept_and_in_the_report_of_the_next_zip(bench: Bench, tmp_path: Path) -> None:
    record = bench.made(**KINDS["variants"])
    decided = Decision("rejected", "Grace <b>Hopper</b>", "2026-11-19T08:00:00+00:00", comment="too few cases")
    bench.archive.decide(record.id, decided)
    assert not (bench.archive.folder(record.id) / record.bundle).exists()
    finish(bench.archive.folder(record.id), bench.get(record))
    unpacked(bench, record, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "rejected by Grace &lt;b&gt;Hopper" in page and "Nobody has signed it off." in page
    bench.archive.decide(record.id, Decision("approved", "Ada", "2026-11-20T08:00:00+00:00", "the ward"))
    finish(bench.archive.folder(record.id), bench.get(record))
    unpacked(bench, record, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "approved for the ward by Ada, 2026-11-20" in page and "Nobody has signed it off." not in page
    assert [each.verdict for each in bench.get(record).decisions] == ["rejected", "approved"]


def test_what_is_deleted_stays_charged_and_recorded(bench: Bench) -> None:
    record = bench.made(**KINDS["variants"])
    bench.archive.delete(record.id)
    assert bench.get(record).state == "deleted" and len(bench.bench.ledger.history()) == 1
    assert {path.name for path in bench.archive.folder(record.id).iterdir()} == {"record.json"}
    with pytest.raises(TravasError):
        bench.archive.decide(record.id, Decision("approved", "Ada", "2026-11-20"))


def test_of_the_log_only_its_title_is_kept(bench: Bench) -> None:
    record = bench.made(log=bench.folder / "log.csv", **KINDS["synthetic log"], unit="case_id", max_cases=1)
    text = (bench.archive.folder(record.id) / "record.json").read_text()
    assert str(bench.folder / "log.csv") not in text and '"log.csv"' in text
    assert os.name != "posix" or (bench.archive.path.stat().st_mode & 0o777) == 0o700


def test_a_record_that_cannot_be_read_is_skipped(bench: Bench) -> None:
    record = bench.made(**KINDS["variants"])
    for name, text in (("aa", "{"), ("bb", "[]"), ("cc", '{"id": "cc", "surprise": 1}')):
        (bench.archive.path / name).mkdir()
        (bench.archive.path / name / "record.json").write_text(text)
    assert [each.id for each in bench.archive.records()] == [record.id]
    assert bench.archive.get("../archive") is None


def test_names_of_data_sets_are_no_paths(bench: Bench) -> None:
    bench.bench.ledger.create_account("../../été / 1")
    record = bench.made(**KINDS["variants"], dataset="../../été / 1")
    finish(bench.archive.folder(record.id), record)
    assert "/" not in record.stem and ".." not in record.stem


# ------------------------------------------------------------------------------------------- servers that were killed


def test_what_was_begun_is_running_until_its_server_ends(bench: Bench) -> None:
    _, record = bench.begun(**KINDS["variants"])
    assert bench.get(record).state == "running"
    other = Archive(bench.archive.path)
    other.tidy(bench.bench.ledger)
    assert other.is_running(record.id)
    bench.archive.ended(record.id)
    assert bench.get(record).state == "not finished"
    other.tidy(bench.bench.ledger)
    assert bench.archive.get(record.id) is None  # nothing was charged


def test_a_charge_without_a_release_stays(bench: Bench) -> None:
    project, record = bench.begun(**KINDS["variants"])
    draw(project, str(bench.folder / "log.csv"), "log.csv", "copy", record.id, bench.folder / "release.json", quiet)
    bench.archive.ended(record.id)
    bench.archive.tidy(bench.bench.ledger)
    assert bench.get(record).state == "not finished"
    answer = bench.browser.get(f"/result/{record.id}")
    assert answer.status_code == 404 and "not refunded" in answer.text


def test_what_was_killed_while_it_was_published_is_completed(bench: Bench) -> None:
    project, record = bench.begun(**KINDS["variants"])
    folder = bench.archive.folder(record.id)
    draw(project, str(bench.folder / "log.csv"), "log.csv", "copy", record.id, folder / RELEASE, quiet)
    bench.archive.ended(record.id)
    (folder / RELEASE).rename(folder / f".{RELEASE}.ready")
    assert bench.get(record).state == "not finished"
    bench.archive.tidy(bench.bench.ledger)
    assert bench.get(record).state == "released"


def test_the_process_of_a_release_that_survives_its_server_is_seen(bench: Bench) -> None:
    _, record = bench.begun(**KINDS["variants"])
    bench.archive.ended(record.id)
    with reserved(release_files(bench.archive.folder(record.id) / RELEASE), "fail"):
        assert bench.get(record).state == "running"
