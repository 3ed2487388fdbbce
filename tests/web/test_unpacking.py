"""What a file becomes when it is unpacked: measured without unpacking it, and limited whatever it is called."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import time
import zlib
from pathlib import Path

import polars as pl
import pytest

import travas
from parquet_bomb import write_bomb
from travas.errors import LogError
from travas.sources.tabular.parquet_size import BYTES_A_VALUE, parquet_size
from travas.sources.tabular.thrift import ThriftError, read_struct
from travas.web import unpacking
from travas.web.jobs import Job, Limits
from travas.web.preview import Preview, look

TEXT = b"case_id,activity\n1,visit\n"
ROOM = 1 << 35


def quiet(_: str, __: float) -> None:
    pass


def looked(path: Path) -> Preview:
    return look(path, "mine", ROOM, travas.Reading(), quiet)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("log.csv", b"\x28\xb5\x2f\xfd" + TEXT, "compressed with zstd"),
        ("log.csv.gz", bz2.compress(TEXT), "compressed with bzip2"),
        ("log.xes", lzma.compress(TEXT), "compressed with xz"),
        ("log.csv", zlib.compress(TEXT), "compressed with zlib"),
        ("log.parquet", b"PK\x03\x04" + TEXT, "compressed with zip"),
        ("log.csv", b"PAR1" + TEXT, "its content is Parquet"),
        ("log.parquet", TEXT, "its first bytes are different"),
        ("log.parquet", gzip.compress(TEXT, mtime=0), "its first bytes are different"),
        ("log.parquet", b"PAR1" + TEXT + b"PAR1", "damaged metadata"),
    ],
)
def test_the_first_bytes_say_what_a_file_is(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LogError, match=f"^mine: .*{why}"):
        looked(path)


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.xes", "log.xes.gz"])
def test_gzip_is_measured_under_any_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(bytes(8 << 20)))
    unpacking.check_unpacked(path, ROOM, quiet)
    with pytest.raises(LogError, match="unpacks to more than"):
        unpacking.check_unpacked(path, 1 << 20, quiet)
    monkeypatch.setattr("travas.sources.compression.HARMLESS", 1 << 20)
    with pytest.raises(LogError, match="unpacks to more than"):  # 8 MB are few, but 1,000 times the file
        unpacking.check_unpacked(path, ROOM, quiet)


def test_the_size_of_a_parquet_file_is_known_from_its_headers(tmp_path: Path) -> None:
    rows = 50_000
    frame = pl.DataFrame({"case_id": range(rows), "activity": ["visit"] * rows})
    for compression in ("zstd", "snappy", "gzip", "uncompressed"):
        path = tmp_path / f"{compression}.parquet"
        frame.write_parquet(path, compression=compression, row_group_size=20_000)
        size = parquet_size(path)
        assert 2 * rows * BYTES_A_VALUE <= size <= 4 * rows * BYTES_A_VALUE
        assert parquet_size(path, row_groups=1) <= size
        unpacking.check_unpacked(path, ROOM, quiet)
        assert len(looked(path).rows) == 6


@pytest.mark.parametrize("declared", [None, 100])
def test_a_parquet_file_that_becomes_huge_is_refused_at_once(tmp_path: Path, declared: int | None) -> None:
    path = write_bomb(tmp_path / "bomb.parquet", 1_600_000_000, declared)
    assert path.stat().st_size < 49_000 and parquet_size(path) > 7e9
    for refused in (lambda: looked(path), lambda: unpacking.check_unpacked(path, ROOM, quiet)):
        with pytest.raises(LogError, match="unpacks to more than 0.25 GB"):
            refused()


def test_a_page_at_the_start_of_a_parquet_file_is_refused(tmp_path: Path) -> None:
    """Polars reads it, although the file has no head; an offset of 0 says that there is no page."""
    path = write_bomb(tmp_path / "bomb.parquet", 1_600_000_000, 100, head=b"")
    for refused in (lambda: looked(path), lambda: travas.read(path), lambda: parquet_size(path)):
        with pytest.raises(LogError, match="damaged metadata|its first bytes are different"):
            refused()


def test_a_dictionary_after_the_data_of_a_parquet_file_is_refused(tmp_path: Path) -> None:
    """Polars starts at the dictionary, wherever it is."""
    path = write_bomb(tmp_path / "bomb.parquet", 1_600_000_000, 100, dictionary=True)
    for refused in (lambda: looked(path), lambda: travas.read(path), lambda: parquet_size(path)):
        with pytest.raises(LogError, match="damaged metadata"):
            refused()


def test_whatever_the_bytes_are_reading_ends(tmp_path: Path) -> None:
    dice = random.Random(1)
    whole = write_bomb(tmp_path / "small.parquet", 1 << 20).read_bytes()
    path = tmp_path / "damaged.parquet"
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(dice.randrange(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged)
        try:
            assert parquet_size(path) >= 0
        except LogError:
            refused += 1
    assert refused > 50
    for data in (b"", b"\x1c" * 100, b"\x19\xfc\xff\xff\xff\xff\x0f", b"\x18\xff\xff\x03ab", b"\xff" * 20):
        with pytest.raises(ThriftError):
            read_struct(data)


def hoards(_: object) -> int:
    return len(b"x" * (1 << 30))


def dawdles(_: object) -> None:
    time.sleep(60)


@pytest.mark.parametrize(
    ("task", "why"), [(hoards, "not enough memory|needed more than 300 MB"), (dawdles, "took longer than 5 s")]
)
def test_a_task_keeps_to_its_limits(task: object, why: str) -> None:
    job = Job(task, limits=Limits(memory=300 << 20, seconds=5))  # type: ignore[arg-type]
    job.start()
    end = time.monotonic() + 30
    while not job.done and time.monotonic() < end:
        time.sleep(0.02)
    assert job.done and not job._process.is_alive()
    assert any(words in str(job.error) for words in why.split("|"))
