"""Check: a zip of travas is verified and shown, a changed one is not, and a zip of others writes nothing elsewhere."""

# ruff: noqa: F401, F811

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from archived import KINDS, Bench, bench, quiet, releases

from travas.errors import LogError, VerificationError
from travas.web.check import MOST_FILES, verified
from travas.web.releases import Record


def bundle(bench: Bench, record: Record) -> Path:
    return bench.archive.folder(record.id) / record.bundle


@pytest.mark.parametrize("kind", KINDS)
def test_our_zip_is_verified_and_shown(bench: Bench, releases: dict[str, Record], tmp_path: Path, kind: str) -> None:
    shutil.copy(bundle(bench, releases[kind]), tmp_path / "r.zip")
    found = verified(tmp_path, "r.zip", quiet)
    assert found["has_release"] and found["view"]["kind"] == kind
    assert bool(found["notes"]) == (kind == "process map")  # its table has the digest alone


@pytest.mark.parametrize("kind", KINDS)
def test_the_details_of_every_kind_are_shown(bench: Bench, releases: dict[str, Record], kind: str) -> None:
    path = bundle(bench, releases[kind])
    address = bench.browser.post("/check", files=[("files", (path.name, path.read_bytes()))]).headers["location"]
    bench.wait()
    assert "What it protects" in bench.page(f"{address}/details")


def test_the_page_shows_the_seal_and_the_reader_s_view(bench: Bench, releases: dict[str, Record]) -> None:
    path = bundle(bench, releases["synthetic log"])
    answer = bench.browser.post("/check", files=[("files", (path.name, path.read_bytes()))])
    address = answer.headers["location"]
    assert "progress" in bench.page(address)
    before = set(bench.bench.drafts.path.iterdir())
    bench.wait()
    page = bench.page(address)
    assert "The guarantee holds" in page and "travas-map" in page and "/decide" not in page and "Delete" not in page
    assert "ER" not in page.split("<h1>")[0] and "variants" in bench.page(f"{address}/variants")
    assert not any(path.is_dir() for path in before if path.exists())
    assert bench.browser.get("/check/0").headers["location"] == "/check"


def test_a_release_that_was_changed_is_refused(bench: Bench, releases: dict[str, Record], tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle(bench, releases["process map"])) as packed:
        packed.extractall(tmp_path)
    target = next(tmp_path.glob("*.csv"))
    target.write_bytes(target.read_bytes().replace(b"visit", b"visjt"))
    with pytest.raises(VerificationError) as refused:
        verified(tmp_path, "files", quiet)
    assert str(tmp_path) not in str(refused.value)
    files = [("files", (path.name, path.read_bytes())) for path in tmp_path.iterdir()]
    address = bench.browser.post("/check", files=files).headers["location"]
    bench.wait()
    assert "is not verified" in bench.page(address)


def test_a_release_and_its_guarantee_under_other_names_are_a_pair(
    bench: Bench, releases: dict[str, Record], tmp_path: Path
) -> None:
    folder = bench.archive.folder(releases["variants"].id)
    shutil.copy(folder / "release.json", tmp_path / "one.json")
    shutil.copy(folder / "release.json.guarantee.json", tmp_path / "other.json")
    assert verified(tmp_path, "files", quiet)["has_release"]
    (tmp_path / "one.json").unlink()
    assert verified(tmp_path, "files", quiet) == {"has_release": False, "notes": [], "view": None}
    (tmp_path / "other.json").unlink()
    with pytest.raises(LogError):
        verified(tmp_path, "files", quiet)


def test_a_zip_writes_nothing_elsewhere_and_has_limits(tmp_path: Path, releases: dict[str, Record]) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    with zipfile.ZipFile(inner / "evil.zip", "w") as packed:
        for name in ("../../evil.json", "/tmp/evil-of-travas.json", "..\\evil2.json", "evil3/"):
            packed.writestr(name, "{}")
    with pytest.raises(LogError):
        verified(inner, "evil.zip", quiet)
    assert {path.name for path in tmp_path.rglob("*.json")} == {"evil.json", "evil-of-travas.json", "evil2.json"}
    assert all(path.parent == inner for path in tmp_path.rglob("*.json"))
    for number, size in ((MOST_FILES + 1, 1), (1, 1 << 33)):
        path = inner / "large.zip"
        with zipfile.ZipFile(path, "w") as packed:
            for index in range(number):
                packed.writestr(f"{index}.json", "")
            packed.infolist()[0].file_size = size
        with pytest.raises(LogError, match="larger than any zip"):
            verified(inner, "large.zip", quiet)
        path.unlink()
    (inner / "torn.zip").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(LogError):
        verified(inner, "torn.zip", quiet)
