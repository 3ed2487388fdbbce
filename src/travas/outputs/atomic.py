"""Atomic writes: reserve a name, write a partial file next to it, publish.

Every file that travas writes for a user goes through this module. There are two ways to use it.

One file, such as a report or a picture:

    with atomic_output(path, "fail") as partial:
        partial.write_text(...)

Files that belong together, such as a guarantee and its release, reserved before anything is charged:

    with reserved((guarantee, release), "fail") as output:
        ...                                         # read, charge, draw
        output.partial(guarantee).write_text(...)
        output.partial(release).write_bytes(...)
        output.publish()

Four rules hold, also for threads, containers that share a folder, and `kill -9`:

1. A reservation locks every target (`.NAME.lock`) until it ends. A second one for the same target is refused at once.
   The system frees the lock when its process dies.
2. A target is written as `.NAME.partial` beside it. What a killed run left there is removed by the next reservation of
   the same target, which holds the lock.
3. Files that belong together appear in their order, the last one last, and an old last one is deleted before. So the
   files under their names are always all old, all new, or the last one is absent: a release is never next to the
   guarantee of another one.
4. Before the first name changes, everything is on the disk and the last file is renamed to `.NAME.ready`. If a run is
   killed after that, the next reservation finishes what it began: no complete release is lost.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from ..errors import OutputError, is_encodable

Existing = Literal["fail", "replace"]
"""What to do if an output file exists."""

_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


@dataclass(frozen=True)
class Reservation:
    """Names that only this run may write, and a partial file for each.

    Attributes:
        targets: The files to publish, in the order in which they appear.
        existing: Whether existing files are replaced.
    """

    targets: tuple[Path, ...]
    existing: Existing

    def partial(self, target: Path) -> Path:
        """Return the file to write the content of `target` to; it exists and is empty."""
        return _partial(target)

    def publish(self) -> None:
        """Rename the partial files to their targets."""
        try:
            for target in self.targets:
                _to_disk(_partial(target))
                if self.existing == "fail" and os.path.lexists(target):
                    raise OutputError(
                        f"{target}: exists; another run has written it in the meantime; choose another name",
                        field="output",
                    )
            _rename(_partial(self.targets[-1]), _ready(self.targets[-1]))
            _finish(self.targets)
        except OutputError:
            raise
        except OSError as error:
            if is_interrupted(self.targets):
                words = f"{self.targets[-1]}: is complete but could not be renamed; the next run to this name does it"
                raise OutputError(words, field="output") from None
            raise cannot_write(self.targets[-1], error) from None


def _finish(targets: Sequence[Path]) -> None:
    """Give complete files their names, the last one last. What has its name already is left."""
    if len(targets) > 1:
        targets[-1].unlink(missing_ok=True)
    for target in targets[:-1]:
        with suppress(FileNotFoundError):
            _rename(_partial(target), target)
    _rename(_ready(targets[-1]), targets[-1])


def is_interrupted(targets: Sequence[Path]) -> bool:
    """Return whether a run was killed while it published these files; the next reservation finishes it."""
    *others, last = targets
    written = all(_partial(path).exists() or os.path.lexists(path) for path in others)
    return bool(others) and written and os.path.lexists(_ready(last))


@contextmanager
def reserved(targets: Sequence[Path], existing: Existing) -> Iterator[Reservation]:
    """Reserve names for files that are published together. Errors are raised now, before anything is charged."""
    with ExitStack() as stack:
        for target in sorted(targets):  # the same order in all runs
            check_target(target, "replace")
            stack.enter_context(locked(target))
        try:
            _prepare(targets, existing)
            yield Reservation(tuple(targets), existing)
        finally:
            if not is_interrupted(targets):
                for target in targets:
                    _remove_unpublished(target)


def _prepare(targets: Sequence[Path], existing: Existing) -> None:
    """Finish what a killed run began, check the names, and create the partial files."""
    with writing(targets[-1]):
        if is_interrupted(targets):
            _finish(targets)
        for target in targets:
            check_target(target, existing)
        for target in targets:
            _remove_unpublished(target)
            _partial(target).touch(exist_ok=False)


@contextmanager
def atomic_output(path: Path, existing: Existing) -> Iterator[Path]:
    """Write one file: it is never visible before it is complete, and a failure leaves nothing behind."""
    with reserved([path], existing) as output:
        with writing(path):
            yield output.partial(path)
        output.publish()


def check_target(path: Path, existing: Existing) -> None:
    """Raise OutputError if a file cannot be written, without changing anything."""
    if not is_encodable(str(path)):
        raise OutputError(f"{str(path)!r}: no file can have this name; use another name", field="output")
    with writing(path):
        if not path.parent.is_dir():
            raise OutputError(f"{path}: the directory {str(path.parent)!r} is missing; create it first", field="output")
        if path.exists() and not path.is_file():
            raise OutputError(f"{path}: is not an ordinary file; use a file name", field="output")
        if existing == "fail" and os.path.lexists(path):
            raise OutputError(f"{path}: already exists; use another name, or set existing='replace'", field="existing")


def cannot_write(path: Path, error: Exception) -> OutputError:
    """Return the error for a failed write as one line."""
    match = re.search(r"os error (\d+)", str(error))
    number = getattr(error, "errno", None) or (int(match[1]) if match else None)
    if number in _FULL:
        why = "the disk is full; no partial file remains; free some space"
    else:
        reason = os.strerror(number).lower() if number else type(error).__name__
        why = f"{reason}; no partial file remains; use another path"
    return OutputError(f"{str(path)!r}: cannot be written, {why}", field="output")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise OutputError if the system refuses to write a file: Polars has its own errors for that."""
    try:
        yield
    except OutputError:
        raise
    except Exception as error:
        if isinstance(error, OSError) or type(error).__module__.startswith("polars"):
            raise cannot_write(path, error) from None
        raise


# ------------------------------------------------------------------------------------------------- locks and names


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock on a target, or refuse at once."""
    lock = FileLock(_beside(target, "lock"), blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise OutputError(
            f"{target}: another run is writing this file; wait for it, or choose another name", field="output"
        ) from None
    except (OSError, ValueError) as error:
        raise cannot_write(target, error) from None
    try:
        yield
    finally:
        with suppress(OSError):
            Path(lock.lock_file).unlink()  # while it is locked: who has opened it in the meantime opens it again
        lock.release()


def is_reserved(target: Path) -> bool:
    """Return whether a run that is still alive has reserved a file. The lock of a dead run is held for a moment."""
    if not os.path.lexists(_beside(target, "lock")):
        return False
    try:
        with locked(target):
            return False
    except OutputError:
        return True


def _beside(target: Path, what: str) -> Path:
    return target.with_name(f".{target.name}.{what}")


def _partial(target: Path) -> Path:
    return _beside(target, "partial")


def _ready(target: Path) -> Path:
    return _beside(target, "ready")


def _remove_unpublished(target: Path) -> None:
    for path in (_partial(target), _ready(target)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _rename(source: Path, target: Path) -> None:
    """Rename a file, and wait until its name is on the disk, if the system supports it."""
    source.replace(target)
    with suppress(OSError):
        _to_disk(target.parent)


def _to_disk(path: Path) -> None:
    """Wait until a file or the names in a folder are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
