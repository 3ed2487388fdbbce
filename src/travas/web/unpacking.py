"""What a file is by its first bytes, regardless of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..errors import LogError

FileContent = Literal["gzip", "parquet", "text"]

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
