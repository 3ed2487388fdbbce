"""Files: formats by their extensions, folders and globs, compression, encodings, and where a log is.

All files of a folder or a glob are read, or there is an error: nothing is skipped silently. The content of a file decides
nothing but its compression, by its first bytes.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import IO, Any, Literal, TypeGuard
from urllib.parse import unquote

from ..errors import LogError, MissingExtraError, is_encodable, number_of
from ..mechanisms.mechanism import Progress

Format = Literal["xes", "csv", "parquet", "arrow", "xlsx"]
Packing = Literal["gzip", "zstd", "zip"]

_PACKED = ("", ".gz", ".zst")
_TEXT: dict[str, Format] = {".xes": "xes", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}
_BINARY: dict[str, Format] = {
    **dict.fromkeys((".feather", ".arrow", ".ipc"), "arrow"),
    **dict.fromkeys((".xlsx", ".xlsm"), "xlsx"),
    ".parquet": "parquet",
}
FORMATS: dict[str, Format] = {suffix + packed: form for suffix, form in _TEXT.items() for packed in _PACKED} | _BINARY
"""The format of each extension. `.tsv` and `.txt` are CSV, whose delimiter is detected from the header as always."""

XES_SUFFIXES = (".xes", ".xes.gz")
CSV_SUFFIXES = (".csv", ".csv.gz")
PARQUET_SUFFIXES = (".parquet",)
RELEASE_SUFFIXES = (".json",)
ARCHIVE_SUFFIXES = (".zip",)
SUFFIXES = (*FORMATS, *RELEASE_SUFFIXES, *ARCHIVE_SUFFIXES)
"""All extensions that can be read."""

FOLDER_SUFFIXES = tuple(suffix for suffix in FORMATS if not suffix.startswith(".txt"))
"""The extensions that are read in a folder, in which other files are listed in a note."""

DATABASE_SUFFIXES = (".duckdb", ".db", ".sqlite", ".sqlite3")
"""The extensions of DuckDB and SQLite files; which of the two wrote a file is in its first bytes."""

_MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_GZIP: Any = import_module("isal.igzip" if find_spec("isal") else "gzip")  # isal is faster
_HIDDEN = (".", "_")
_SHOWN = 3
_ZSTD_BYTES = 1 << 16

_SEVERAL_BYTES = "big5(hkscs)?|euc_(jis_2004|jisx0213|jp|kr)|gb18030|gb2312|gbk|johab|shift_jis(_2004|x0213)?"
"""Multi-byte encodings in which a line feed is never the second byte, so that an error stays within its line."""

_ONE_BYTE = r"ascii|iso8859-\d+|cp\d{3,4}|koi8-[rtu]|mac-\w+|hp-roman8|kz1048|palmos|ptcp154|tis-620"
_ENCODINGS = re.compile(f"utf-8(-sig)?|utf-(16|32)(-[lb]e)?|{_SEVERAL_BYTES}|{_ONE_BYTE}")


def suffix_of(path: PurePath, suffixes: Sequence[str]) -> str | None:
    """Return the longest of `suffixes` that a file name ends with."""
    lower = path.name.lower()
    return max((end for end in suffixes if lower.endswith(end) and lower != end), key=len, default=None)


def file_format(path: Path, form: Format | None) -> Format:
    """Return the format of a file: as set, else by its extension, or by that of the log in a zip archive."""
    name = member_of(path) if suffix_of(path, ARCHIVE_SUFFIXES) else path
    known = form or FORMATS.get(suffix_of(PurePath(name), tuple(FORMATS)) or "")
    if known is None:
        raise LogError(
            f"{path}: unsupported file extension; supported: {', '.join(SUFFIXES)}; or set format", field="format"
        )
    return known


def check_file(path: Path) -> None:
    """Raise LogError unless this is a file that can be opened and is not empty."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
            raise LogError(f"{path}: not a regular file; save the log to a file first, or use - for standard input")
        path.open("rb").close()
    except (OSError, ValueError) as error:
        raise unopened(path, error) from None
    if not status.st_size:
        raise LogError(f"{path}: the file is empty; check that it is the right file")


def unopened(path: Path, error: Exception) -> LogError:
    """Return the error for a path that cannot be opened."""
    if isinstance(error, LogError):
        return error
    if isinstance(error, FileNotFoundError):
        return LogError(f"{path}: no such file; check the path")
    reason = getattr(error, "strerror", None) or "not a path"
    return LogError(f"{path}: cannot be opened ({reason}); check the path and your permissions")


# --- folders and globs


def is_pattern(name: str) -> bool:
    """Whether a name contains a mark of a glob pattern: `*`, `?` or `[`."""
    return any(mark in name for mark in "*?[")


def listing(path: Path) -> tuple[list[Path], tuple[str, ...]]:
    """List the files of a log, sorted by name: a file, a folder or a glob; and a note about files that are not read.

    A path that exists is not a glob. Unreadable folders and links to folders are refused.
    """
    present: list[Path] = [path]
    suffixes: tuple[str, ...] = ("",)
    try:
        if path.is_dir():
            present, suffixes = list(_files_below(path)), FOLDER_SUFFIXES
        elif not path.exists() and is_pattern(str(path)):
            present = [file for file in matches_of(path) if not file.is_dir()]
    except (OSError, ValueError) as error:
        raise unopened(Path(getattr(error, "filename", None) or path), error) from None
    files = sorted(file for file in present if file.name.lower().endswith(suffixes))
    if not files:
        raise LogError(f"{path}: contains no log; use a file, or a folder or glob of files of one format")
    for file in files:
        if not is_encodable(str(file)):  # Polars cannot open it
            raise LogError(f"{str(file)!r}: the name is not valid UTF-8; rename the file or its folder")
    others = sorted(set(present) - set(files))
    names = ", ".join(repr(str(file.relative_to(path))) for file in others[:_SHOWN])
    more = ", …" if len(others) > _SHOWN else ""
    what = number_of(len(others), "files")
    return files, (f"{what} not read because of the file extension: {names}{more}",) if others else ()


def matches_of(pattern: Path) -> Iterator[Path]:
    """Yield the files and folders that match a glob."""
    return Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))


def _files_below(path: Path) -> Iterator[Path]:
    """Yield the files of a folder and of all folders in it, except those with hidden names, as in data lakes."""

    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(path, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        if link := next((Path(folder, name) for name in folders if Path(folder, name).is_symlink()), None):
            raise LogError(f"{link}: a link to a folder, which is not followed; replace it with the folder")
        yield from (Path(folder, name) for name in files if not name.startswith(_HIDDEN))


# --- compression


def packing_of(path: Path) -> Packing | None:
    """Return how a file is compressed, by its first bytes, regardless of its name."""
    with path.open("rb") as raw:
        head = raw.read(4)
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), None)


def chunks(path: Path, progress: Progress = lambda _: None, size: int = 1 << 18) -> Generator[bytes, None, None]:
    """Yield the decompressed bytes of a file in pieces of about `size` bytes."""
    total = max(path.stat().st_size, 1)
    with path.open("rb") as raw, closing(_unpacked(path, raw, size)) as pieces:
        for piece in pieces:
            yield piece
            progress(raw.tell() / total)


def content(path: Path, progress: Progress = lambda _: None) -> bytes:
    """Return the decompressed bytes of a whole file."""
    return b"".join(chunks(path, progress, 1 << 20))


def member_of(path: Path) -> str:
    """Return the name of the only log in a zip archive; hidden files and folders are ignored."""
    with _archive(path) as archive:
        names = [name for name in archive.namelist() if not any(part.startswith(_HIDDEN) for part in name.split("/"))]
    logs = [name for name in names if suffix_of(PurePath(name), tuple(_TEXT))]
    if len(logs) != 1:
        number = "no log" if not logs else f"{len(logs):,} logs"
        raise LogError(
            f"{path}: contains {number}; a zip archive must contain exactly one XES or text file, not compressed again; "
            "unpack it, and use the file or the folder"
        )
    return logs[0]


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except LogError:
        raise
    except Exception:  # zipfile raises many kinds
        raise LogError(
            f"{path}: the zip archive cannot be unpacked: it is encrypted or damaged; unpack it first"
        ) from None


def _unpacked(path: Path, raw: IO[bytes], size: int) -> Generator[bytes, None, None]:
    """Yield the decompressed content of a file in pieces, none of them empty."""
    packing = packing_of(path)
    if packing == "zip":
        with _archive(path) as archive, archive.open(member_of(path)) as member:
            yield from iter(lambda: member.read(size), b"")
        return
    pieces = (
        _zstd(raw)
        if packing == "zstd"
        else iter(partial((_GZIP.GzipFile(fileobj=raw) if packing else raw).read, size), b"")
    )
    try:
        yield from pieces
    except Exception as error:  # every library has its own kinds
        what = "truncated" if isinstance(error, EOFError) else f"damaged ({error})"
        raise LogError(f"{path}: the {packing or 'text'} file is {what}; copy it again") from None


def _zstd(raw: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading a Zstandard file", "compression") from None

    def frames() -> Iterator[bytes]:
        frame, pending = None, b""
        while pending := pending or raw.read(_ZSTD_BYTES):
            frame = frame or zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
            if piece := frame.decompress(pending):
                yield piece
            pending = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
        if frame is not None:
            raise EOFError

    return frames()


# --- encodings: those in which no character changes how the following ones are decoded


def is_supported(encoding: str) -> bool:
    """Return whether an encoding is known and has no state across lines, as ISO 2022, UTF-7 and HZ have."""
    try:
        return _ENCODINGS.fullmatch(codecs.lookup(encoding).name) is not None
    except (LookupError, ValueError):
        return False


# --- where a log is: by its location the ledger identifies a log without a name


def url_scheme(text: str) -> str | None:
    """Return the scheme of the URL of a database or of Spark, in lower case; None for anything else, such as a path.

    >>> url_scheme("postgresql://host/db"), url_scheme("spark:"), url_scheme("C:/log.csv"), url_scheme("log.csv")
    ('postgresql', 'spark', None, None)
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]+):(//)?", text, re.IGNORECASE)
    return scheme[1].lower() if scheme and (scheme[2] or scheme[1].lower() == "spark") else None


def database_file(source: str | Path) -> Path | None:
    """Return the file of a DuckDB or SQLite database, by its extension or as `duckdb:///FILE`; None for anything else."""
    text, scheme = str(source), url_scheme(source) if isinstance(source, str) else None
    if scheme in ("duckdb", "sqlite"):  # relative to the root, otherwise to the working directory
        path = Path(unquote(text.partition("://")[2].partition("?")[0]))
        return path if path.is_file() else Path(str(path).lstrip("/"))
    is_database = scheme is None and Path(text).suffix.lower() in DATABASE_SUFFIXES
    return Path(text) if is_database and not Path(text).is_dir() else None


def is_database(source: Any) -> TypeGuard[str | Path]:
    """Return whether a source is a database: its file, or a URL that is not one of Spark."""
    if not isinstance(source, str | Path):
        return False
    return database_file(source) is not None or (isinstance(source, str) and url_scheme(source) not in (None, "spark"))


def location_of(source: Any) -> str | None:
    """Return the location of a log, which never depends on its content: the real path of a file, folder or glob.

    Symbolic links and relative paths to one file have one location; hard links have several.
    """
    if not isinstance(source, str | Path) or str(source) == "-":
        return None
    try:
        if (file := database_file(source)) is None and isinstance(source, str) and url_scheme(source):
            return None
        path = file or Path(source)
        if path.exists():
            return str(path.resolve()) if path.is_file() or path.is_dir() else None
        parts = path.absolute().parts
        first = next((index for index, part in enumerate(parts) if is_pattern(part)), len(parts))
        return str(Path(*parts[:first]).resolve().joinpath(*parts[first:]))
    except (ValueError, OSError, RuntimeError):  # neither a path nor a URL; reading it raises the error
        return None


def without_secrets(message: str) -> str:
    """Remove possible passwords from a message: text before the host of a URL, or after `password=`."""
    message = re.sub(r"://.*@", "://…@", message)  # a password may have spaces
    return re.sub(r"(?i)(password|token|secret)=[^\s&]*", r"\1=…", message)
