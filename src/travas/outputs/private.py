"""Folders that only their owner can enter: of the archive and of uploads."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import OutputError


def private_folder(path: Path) -> Path:
    """Make a folder that nobody else can enter, or check that it is one.

    Args:
        path: The folder.

    Returns:
        The folder.
    """
    try:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700, parents=True)
        status = path.lstat()
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == getattr(os, "getuid", lambda: status.st_uid)()
        if is_own:
            path.chmod(0o700)
    except OSError as error:
        raise OutputError(f"{path}: cannot be used ({error.strerror}); use another folder", field="archive") from None
    if not is_own:
        raise OutputError(f"{path}: is not a folder of yours; remove it, or use another one", field="archive")
    return path


def working_folder(root: Path) -> tuple[Path, FileLock]:
    """Make a new folder and lock it, after those of programs that do not run any more are deleted.

    Args:
        root: The private folder that contains it.

    Returns:
        The folder and its lock. A program that starts at the same time may remove it before it is locked: then another one.
    """
    for left in private_folder(root).iterdir():
        with suppress(Timeout, OSError), FileLock(left / ".lock", timeout=0):
            shutil.rmtree(left, ignore_errors=True)
    while True:
        path = Path(tempfile.mkdtemp(dir=root))
        lock = FileLock(path / ".lock")
        with suppress(Timeout, OSError):
            lock.acquire(timeout=0)
            if (path / ".lock").exists():
                return path, lock
            lock.release()
