"""The lock on an output file: one run at a time writes it.

The lock is a file next to the target (`.NAME.lock`, `flock`). The system frees it when its process dies.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError

if sys.platform != "win32":
    import fcntl

_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}


@contextmanager
def locked(target: Path) -> Iterator[bool]:
    """Hold the lock on a target.

    Args:
        target: The file to be written.

    Yields:
        False if the file system has no locks.

    Raises:
        OutputError: Another run holds the lock.
    """
    path = _lock_path(target)
    handle = _lock(path, target)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            with suppress(OSError):
                path.unlink()  # while it is locked; a run that has opened it in the meantime notices and opens it again
            os.close(handle)


def is_reserved(target: Path) -> bool:
    """Return whether a run that is still alive has reserved a file. The lock of a dead run is held for a moment."""
    try:
        handle = os.open(_lock_path(target), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        if sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _lock_path(target: Path) -> Path:
    return target.with_name(f".{target.name}.lock")


def _lock(path: Path, target: Path) -> int | None:
    if sys.platform == "win32":
        return None
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_open_file(handle, path):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise OutputError(
                f"{target}: another run is writing this file; wait for it, or choose another name", field="output"
            ) from None
        except OSError as error:
            os.close(handle)
            if error.errno not in _NO_LOCKS:
                raise
            with suppress(OSError):
                path.unlink()
            return None
        os.close(handle)


def _is_open_file(handle: int, path: Path) -> bool:
    """Return whether the name still refers to the open file; its last holder may have removed it."""
    opened = os.fstat(handle)
    if not stat.S_ISREG(opened.st_mode):
        raise OSError(errno.EACCES, "not a regular file", str(path))
    try:
        return os.path.samestat(opened, path.lstat())
    except FileNotFoundError:
        return False
