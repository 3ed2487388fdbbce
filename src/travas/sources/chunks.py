"""The bytes of a file in chunks, decompressed if necessary."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator
from pathlib import Path

from ..errors import LogError
from ..model.mechanism import Progress

_GZIP = b"\x1f\x8b"


def is_gzip(path: Path) -> bool:
    """Return whether the content is gzip, regardless of the file name."""
    with path.open("rb") as raw:
        return raw.read(len(_GZIP)) == _GZIP


def chunks(path: Path, progress: Progress, size: int = 1 << 18) -> Generator[bytes, None, None]:
    """Yield the decompressed bytes in chunks of `size`; `progress` is called with the share of the file that was read."""
    total = max(path.stat().st_size, 1)
    zipped = is_gzip(path)
    with path.open("rb") as raw:
        if path.suffix.lower() == ".gz" and not zipped:
            raise LogError(f"{path}: has the extension .gz but is not compressed with gzip; rename or compress it")
        stream = gzip.GzipFile(fileobj=raw) if zipped else raw
        try:
            while chunk := stream.read(size):
                yield chunk
                progress(raw.tell() / total)
        except EOFError:
            raise LogError(f"{path}: the gzip file is truncated; copy it again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise LogError(f"{path}: the gzip file is damaged ({error}); copy it again") from None
