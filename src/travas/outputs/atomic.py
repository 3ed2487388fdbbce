"""The one atomic write: reserve a name, write beside it, publish.

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

1. A reservation holds a lock (`.NAME.lock`, `flock`) on every target until it ends. A second one for the same target
   is refused at once. The system frees the lock when its process dies.
2. A partial file (`.NAME.RANDOM.partial`) is created exclusively and never through a link. Partial files that a killed
   run left behind are removed by the next reservation of the same target, which the lock makes safe.
3. Publishing never overwrites: a target is linked to its partial file, which fails if the name exists. To replace
   files that belong together, the old ones are first moved aside, the last one first. So the files under their
   names are always all old, all new, or the last one is absent: a release is never beside another's guarantee.
4. Without `publish`, or if it fails, nothing is left and the old files are back.

Where a file system has no `flock`, rule 1 is lost, but not rule 3: of two runs that write one new name, one succeeds.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..errors import OutputError

if sys.platform != "win32":
    import fcntl

Existing = Literal["fail", "replace"]
"""What to do with files that exist under the name of an output."""

_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}
_NO_LINKS = {errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK}
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Reservation:
    """Names that only this run may write, and an exclusive partial file for each.

    Attributes:
        targets: The files to publish, in the order in which they appear.
        existing: Whether files that exist under these names are replaced.
    """

    targets: tuple[Path, ...]
    existing: Existing
    _partials: dict[Path, Path] = field(repr=False)

    def partial(self, target: Path) -> Path:
        """The file to write the content of `target` to; it is empty and exists."""
        return self._partials[target]

    def publish(self) -> None:
        """Give the partial files their names, all or none.

        Raises:
            OutputError: The system refused, or another run has written one of the names since it was reserved.
        """
        try:
            self._publish()
        except FileExistsError as error:
            raise OutputError(
                f"{error.filename}: exists already, another run has written it in the meantime; choose another name",
                field="output",
            ) from None
        except OSError as error:
            raise cannot_write(self.targets[-1], error) from None

    def _publish(self) -> None:
        for partial in self._partials.values():
            to_disk(partial)
        if self.existing == "replace" and len(self.targets) == 1:
            (target,) = self.targets
            self._partials[target].replace(target)
            _entries_to_disk(target.parent)
            return
        old: list[tuple[Path, Path]] = []
        new: list[tuple[Path, tuple[int, int]]] = []
        try:
            if self.existing == "replace":
                _move_aside(self.targets, old)
            for target in self.targets:
                new.append((target, _identity(self._partials[target])))
                link_new(self._partials[target], target)
                _entries_to_disk(target.parent)
        except BaseException:
            _undo(old, new)
            raise
        for aside, _ in old:
            aside.unlink(missing_ok=True)


@contextmanager
def reserved(targets: Sequence[Path], existing: Existing) -> Iterator[Reservation]:
    """Reserve names for files that are published together. Refusals come now, before anything is paid for.

    Args:
        targets: The files, in the order in which they are to appear: a guarantee before its release.
        existing: `"fail"` refuses names that exist; `"replace"` replaces the files when they are published.

    Yields:
        The reservation. When the block ends, what was not published is removed.

    Raises:
        OutputError: A name exists, cannot be written, or is reserved by another run.
    """
    with ExitStack() as stack:
        partials: dict[Path, Path] = {}
        for target in sorted(targets):  # one order for all runs
            try:
                check_target(target, existing)
                if stack.enter_context(_locked(target)):
                    _remove_stale(target)
                check_target(target, existing)  # another run may have finished in between
                partials[target] = stack.enter_context(_fresh(target))
            except OutputError:
                raise
            except (OSError, ValueError) as error:
                raise cannot_write(target, error) from None
        yield Reservation(tuple(targets), existing, partials)


@contextmanager
def atomic_output(path: Path, existing: Existing) -> Iterator[Path]:
    """Write one file: nobody ever sees half of it, and after a failure nothing is left.

    Args:
        path: The file to write.
        existing: `"fail"` refuses a name that exists; `"replace"` replaces it in one step.

    Yields:
        The partial file to write to. It is published when the block ends without an exception.

    Raises:
        OutputError: The file cannot be written.
    """
    with reserved([path], existing) as output:
        try:
            yield output.partial(path)
        except OutputError:
            raise
        except Exception as error:
            if is_system_error(error):
                raise cannot_write(path, error) from None
            raise
        output.publish()


def check_target(path: Path, existing: Existing) -> None:
    """Refuse a name that cannot be written, without changing anything.

    Args:
        path: The file to be written.
        existing: Whether a file that exists may be replaced.

    Raises:
        OutputError: The folder is missing or may not be written to, or the name is taken.
    """
    try:
        if not path.parent.is_dir():
            raise OutputError(f"{path}: there is no directory {str(path.parent)!r}; make it first", field="output")
        with suppress(FileNotFoundError):
            _partial(path).lstat()  # a name too long for the disk is noticed now
        if path.is_dir():
            raise OutputError(f"{path}: is a directory; use a file name", field="output")
        if existing == "fail" and os.path.lexists(path):
            raise OutputError(
                f"{path}: exists already; choose another name, or set existing='replace'", field="existing"
            )
    except OutputError:
        raise
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: you may not write in {str(path.parent)!r}; choose another place", field="output")


def cannot_write(path: Path, error: Exception) -> OutputError:
    """The error that says in one line why the system refused to write a file.

    Args:
        path: The output.
        error: What was raised; Polars passes the number of the system's error on as text only.

    Returns:
        The error to raise instead.
    """
    match = re.search(r"os error (\d+)", str(error))
    number = getattr(error, "errno", None) or (int(match[1]) if match else None)
    if number in _FULL:
        why = "the disk is full; nothing is left behind, make room"
    else:
        reason = os.strerror(number).lower() if number else type(error).__name__
        why = f"{reason}; nothing is left behind, choose another place"
    return OutputError(f"{str(path)!r}: cannot be written, {why}", field="output")


def is_system_error(error: Exception) -> bool:
    """Whether the system refused something: Polars has errors of its own for that."""
    return isinstance(error, OSError) or type(error).__module__.startswith("polars")


def link_new(source: Path, target: Path) -> None:
    """Give a file a second name, which must be new.

    Raises:
        FileExistsError: The name exists.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):  # a file system without links: the lock keeps other runs away
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)


def to_disk(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    handle = os.open(path, os.O_RDONLY | _NOFOLLOW)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _entries_to_disk(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ------------------------------------------------------------------------------------------------- partials and locks


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.urandom(6).hex()}.partial")


@contextmanager
def _fresh(target: Path) -> Iterator[Path]:
    """An empty file of our own in the same folder, gone at the end unless it was renamed."""
    partial = _partial(target)
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o666))
        yield partial
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _remove_stale(target: Path) -> None:
    """Remove what killed runs left: whoever holds the lock on a target has its only living partial files."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.partial")
    for entry in os.scandir(target.parent):
        if pattern.fullmatch(entry.name):
            with suppress(OSError):
                Path(entry.path).unlink()


@contextmanager
def _locked(target: Path) -> Iterator[bool]:
    """Hold the lock on a target. False where the file system has no locks."""
    path = target.with_name(f".{target.name}.lock")
    handle = _lock(path, target)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            with suppress(OSError):
                path.unlink()  # while it is locked: who has opened it meanwhile notices and opens again
            os.close(handle)


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
                f"{target}: another run is writing there; wait for it, or choose another name", field="output"
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
    """Whether the name still belongs to the open file: its last holder may have removed it."""
    opened = os.fstat(handle)
    if not stat.S_ISREG(opened.st_mode):
        raise OSError(errno.EACCES, "not a regular file", str(path))
    try:
        return os.path.samestat(opened, path.lstat())
    except FileNotFoundError:
        return False


# ------------------------------------------------------------------------------------------------- replace and restore


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


def _move_aside(targets: tuple[Path, ...], old: list[tuple[Path, Path]]) -> None:
    """Move the files that exist to names of partial files, the last one first."""
    for target in reversed(targets):
        aside = _partial(target)
        old.append((aside, target))
        with suppress(FileNotFoundError):
            target.rename(aside)
        _entries_to_disk(target.parent)


def _undo(old: list[tuple[Path, Path]], new: list[tuple[Path, tuple[int, int]]]) -> None:
    """Remove what was published and bring back what was there, each in the order that never mixes the two."""
    for target, identity in reversed(new):
        with suppress(OSError):
            if _identity(target) == identity:
                target.unlink()
    for aside, target in reversed(old):
        with suppress(OSError):
            link_new(aside, target)  # if even that is refused, the partial file is all that is left of the old one
            aside.unlink(missing_ok=True)
