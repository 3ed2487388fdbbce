"""The bytes of a file: gzip and Zstandard are recognised by their first bytes, zip archives contain one log."""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Literal, Protocol

from ..errors import LogError, MissingExtraError
from ..mechanisms.mechanism import Progress
from .formats import format_of

Packing = Literal["gzip", "zstd", "zip"]


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


_MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_PACKINGS: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd", ".zip": "zip"}
ZIP_FAULTS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    EOFError,
    zlib.error,
    OSError,
    ValueError,
    KeyError,
    struct.error,
)
"""What the library raises for damaged archives; a RuntimeError is one for encrypted and unsupported ones."""

_IN_ARCHIVES = ("xes", "csv", "tsv")
_HIDDEN = (".", "_")
_ZSTD_BYTES = 1 << 16


def packing_of(path: Path) -> Packing | None:
    """Return how a file is compressed, by its first bytes, regardless of its name."""
    with path.open("rb") as raw:
        head = raw.read(4)
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), None)


def chunks(path: Path, progress: Progress, size: int = 1 << 18) -> Generator[bytes, None, None]:
    """Yield the decompressed bytes of a file in pieces of about `size` bytes."""
    total = max(path.stat().st_size, 1)
    with path.open("rb") as raw, closing(_unpacked(path, raw, size)) as pieces:
        for piece in pieces:
            yield piece
            progress(raw.tell() / total)


def content(path: Path, progress: Progress) -> bytes:
    """Return the decompressed bytes of a whole file."""
    return b"".join(chunks(path, progress, 1 << 20))


def member_of(path: Path) -> str:
    """Return the name of the only log in a zip archive; hidden files and folders are ignored."""
    with _archive(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not _is_hidden(name)]
    logs = [name for name in names if format_of(name) in _IN_ARCHIVES and not name.lower().endswith(tuple(_PACKINGS))]
    if len(logs) != 1:
        number = "no log" if not logs else f"{len(logs):,} logs"
        raise LogError(
            f"{path}: contains {number}; a zip archive must contain exactly one XES or text file, not compressed again; "
            "unpack it, and use the file or the folder"
        )
    return logs[0]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in name.split("/"))


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except LogError:
        raise
    except (*ZIP_FAULTS, RuntimeError) as error:
        encrypted = isinstance(error, RuntimeError) and "encrypted" in str(error)
        what = "is encrypted; unpack it first" if encrypted else "cannot be unpacked; copy or create it again"
        raise LogError(f"{path}: the zip archive {what}") from None


def _unpacked(path: Path, raw: IO[bytes], size: int) -> Generator[bytes, None, None]:
    """Yield the decompressed content of a file in pieces, none of them empty."""
    packing, suffix = packing_of(path), path.suffix.lower()
    if suffix in _PACKINGS and packing != _PACKINGS[suffix]:
        raise LogError(
            f"{path}: has the extension {path.suffix} but is not compressed with {_PACKINGS[suffix]}; rename or compress it"
        )
    if packing == "zip" and suffix != ".zip":
        raise LogError(f"{path}: is a zip archive or a workbook, not text; rename it to .zip or .xlsx")
    if packing == "zip":
        name = member_of(path)
        with _archive(path) as archive, archive.open(name) as member:
            yield from _pieces(member, size)
    else:
        with _faults(path, packing):
            yield from _zstd(raw) if packing == "zstd" else _pieces(_stream(raw, packing), size)


def _pieces(stream: _Readable, size: int) -> Iterator[bytes]:
    while piece := stream.read(size):
        yield piece


@contextmanager
def _faults(path: Path, packing: Packing | None) -> Iterator[None]:
    """Replace the errors of decompression."""
    damaged: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error)
    if packing == "gzip" and (fast := _isal()) is not None:
        damaged += (fast.error,)
    if packing == "zstd":
        damaged += (_zstandard().ZstdError,)
    try:
        yield
    except EOFError:
        raise LogError(f"{path}: the {packing} file is truncated; copy it again") from None
    except damaged as error:
        raise LogError(f"{path}: the {packing} file is damaged ({error}); copy it again") from None


def _stream(raw: IO[bytes], packing: Packing | None) -> _Readable:
    if packing != "gzip":
        return raw
    if _isal() is not None:
        from isal import igzip

        return igzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[no-untyped-call]
    return gzip.GzipFile(fileobj=raw)


def _zstd(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of all frames."""
    library = _zstandard()
    frame, pending = None, b""
    while pending := pending or raw.read(_ZSTD_BYTES):
        if frame is None:
            frame = library.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        if piece := frame.decompress(pending):
            yield piece
        pending = frame.unused_data if frame.eof else b""
        frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError


def _isal() -> ModuleType | None:
    """Return the fast decompression of gzip, if it is installed."""
    try:
        from isal import isal_zlib
    except ImportError:
        return None
    module: ModuleType = isal_zlib
    return module


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading a Zstandard file", "compression") from None
    return zstandard
