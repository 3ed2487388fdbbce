"""What a file becomes when it is unpacked: measured without unpacking it, and limited whatever it is called."""

from __future__ import annotations

import bz2
import gzip
import lzma
import time
import zlib
from pathlib import Path

import pytest

import travas
from travas.errors import LogError
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
