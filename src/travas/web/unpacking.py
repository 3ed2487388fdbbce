"""The unpacked size of a file, recognised by its first bytes regardless of its name and measured in chunks.

A small file that unpacks to a huge one is refused before anything holds it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from ..errors import LogError
from ..sources.compression import allowed, too_large
from ..sources.tabular.parquet_size import parquet_size

FileContent = Literal["gzip", "parquet", "text"]

MEMORY_LIMIT = 2 << 30
"""The largest compressed CSV, which is unpacked into memory."""

_UNREADABLE = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x78\x01": "zlib",
    b"\x78\x9c": "zlib",
    b"\x78\xda": "zlib",
}


def file_content(path: Path) -> FileContent:
    """What a file is by its first bytes. LogError where it is compressed in a way that is not read here."""
    with path.open("rb") as stream:
        head = stream.read(8)
    for magic, name in _UNREADABLE.items():
        if head.startswith(magic):
            raise LogError(f"{path}: compressed with {name}; unpack it first, or compress it with gzip")
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    return "parquet" if head.startswith(b"PAR1") else "text"


def check_unpacked(path: Path, limit: int, watch: Callable[[str, float], None]) -> None:
    """Raise LogError if a file unpacks to more than the limit.

    Args:
        path: The file.
        limit: The maximum number of bytes after unpacking.
        watch: Called with the progress.
    """
    content, packed = file_content(path), path.stat().st_size
    if content == "gzip":
        in_memory = ".csv" in path.suffixes[-2:]
        _check_gzip(path, allowed(packed, min(limit, MEMORY_LIMIT) if in_memory else limit), watch)
    elif content == "parquet":
        check_size(path, parquet_size(path), allowed(packed, limit))


def check_size(path: Path, size: int, limit: int) -> None:
    """Refuse what is too large."""
    if size > limit:
        raise too_large(path, limit)


def _check_gzip(path: Path, limit: int, watch: Callable[[str, float], None]) -> None:
    size, whole, seen = 0, max(path.stat().st_size, 1), -1.0
    with path.open("rb") as raw:
        try:
            with gzip.GzipFile(fileobj=raw) as stream:
                while chunk := stream.read(1 << 20):
                    size += len(chunk)
                    check_size(path, size, limit)
                    if (share := raw.tell() / whole) - seen >= 0.02:
                        seen = share
                        watch("checking the compressed file", share)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            return  # the reader has the better words for it
