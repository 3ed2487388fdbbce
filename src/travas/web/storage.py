"""Storage of uploads: one owner-only directory per running server; directories of stopped servers are removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..errors import OutputError


class Storage:
    """A directory that only the owner can access. It is locked while the server runs and removed when it stops."""

    def __init__(self, parent: Path | None = None) -> None:
        root = (parent or Path(tempfile.gettempdir())) / f"travas-web-{os.getuid()}"
        private_directory(root, "set TMPDIR to another directory")
        self._remove_abandoned(root)
        self.path, self._lock = self._own_directory(root)

    def folder(self, name: str) -> Path:
        """A new directory of this name."""
        path = self.path / name
        path.mkdir(mode=0o700)
        return path

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    @staticmethod
    def _own_directory(root: Path) -> tuple[Path, IO[str]]:
        """Make a directory and lock it. A server that starts at the same time may remove it before it is locked."""
        while True:
            path = Path(tempfile.mkdtemp(dir=root))
            with suppress(FileNotFoundError):
                lock = try_lock(path)
                if lock is not None and (path / ".lock").exists():
                    return path, lock
                if lock is not None:
                    lock.close()

    @staticmethod
    def _remove_abandoned(root: Path) -> None:
        for left in root.iterdir():
            if left.is_symlink() or not left.is_dir():
                left.unlink(missing_ok=True)
                continue
            lock = try_lock(left)
            if lock is not None:
                shutil.rmtree(left, ignore_errors=True)
                lock.close()


def private_directory(path: Path, remedy: str) -> None:
    """Make a directory that nobody else can enter, or check that it is one; raises OutputError with the remedy."""
    with suppress(FileExistsError):
        path.mkdir(mode=0o700, parents=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise OutputError(f"{path}: is not a directory owned by you; remove it, or {remedy}")
    if stat.S_IMODE(status.st_mode) != 0o700:
        path.chmod(0o700)


def try_lock(folder: Path) -> IO[str] | None:
    """Take the lock of a directory, which ends with this process; None if a running server holds it."""
    stream = (folder / ".lock").open("w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return None
    return stream
