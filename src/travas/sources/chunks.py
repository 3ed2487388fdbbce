"""The bytes of a file in chunks, decompressed if necessary."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from ..model.mechanism import Progress
from .compression import allowed, memory_limit, packing_of, too_large, unpacked


def chunks(path: Path, progress: Progress, size: int = 1 << 18) -> Generator[bytes, None, None]:
    """Yield the decompressed bytes of a file, which are bounded by a ratio to its size.

    Args:
        path: The file; compression is recognised by its first bytes.
        progress: Called with the share of the file that was read.
        size: The approximate number of bytes of a chunk.

    Yields:
        The chunks.

    Raises:
        LogError: The file is damaged, or unpacks to too much.
    """
    total = max(path.stat().st_size, 1)
    limit = None if packing_of(path) is None else allowed(total)
    read = 0
    with path.open("rb") as raw, closing(unpacked(path, raw, size)) as pieces:
        for piece in pieces:
            read += len(piece)
            if limit is not None and read > limit:
                raise too_large(path, limit)
            yield piece
            progress(raw.tell() / total)


def content(path: Path, progress: Progress) -> bytes:
    """Return the decompressed bytes of a whole file, if they fit into memory.

    Args:
        path: The file.
        progress: Called with the share of the file that was read.

    Returns:
        The bytes.

    Raises:
        LogError: The file is damaged, or unpacks to more than the memory of this machine.
    """
    limit, pieces, read = memory_limit(), [], 0
    for piece in chunks(path, progress, 1 << 20):
        read += len(piece)
        if read > limit:
            raise too_large(path, limit)
        pieces.append(piece)
    return b"".join(pieces)
