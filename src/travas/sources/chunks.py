"""The bytes of a file, decompressed where it is compressed, with clear words about what is wrong with it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator
from pathlib import Path

from ..errors import LogError
from ..model.mechanism import Progress

_GZIP = b"\x1f\x8b"


def is_gzip(path: Path) -> bool:
    """Whether the content is compressed, whatever the name says."""
    with path.open("rb") as raw:
        return raw.read(len(_GZIP)) == _GZIP


def chunks(path: Path, progress: Progress, size: int = 1 << 18) -> Generator[bytes, None, None]:
    """The decompressed bytes, so many at a time; `progress` hears how far we are in the file."""
    whole = max(path.stat().st_size, 1)
    zipped = is_gzip(path)
    with path.open("rb") as raw:
        if path.suffix.lower() == ".gz" and not zipped:
            raise LogError(f"{path}: named .gz, but not compressed with gzip; rename it or compress it")
        stream = gzip.GzipFile(fileobj=raw) if zipped else raw
        try:
            while chunk := stream.read(size):
                yield chunk
                progress(raw.tell() / whole)
        except EOFError:
            raise LogError(f"{path}: the gzip file ends too early, it was cut off; copy it again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise LogError(f"{path}: the gzip file is damaged ({error}); copy it again") from None
