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

1. A reservation holds a lock (`.NAME.lock`, `flock`) on every target until it ends. A second one for the same target
   is refused at once. The system frees the lock when its process dies.
2. A partial file (`.NAME.RANDOM.partial`) is created exclusively and never through a link. Partial files of killed
   runs are removed by the next reservation of the same target, which the lock makes safe.
3. Publishing never overwrites: a target is linked to its partial file, which fails if the name exists. To replace
   files that belong together, the old ones are first moved aside, the last one first. So the files under their
   names are always all old, all new, or the last one is absent: a release is never next to the guarantee of another one.
4. Without `publish`, or if it fails, no new files remain and the old ones are restored.

On a file system without `flock`, rule 1 does not hold but rule 3 does: of two runs that write one new name, one succeeds.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..errors import OutputError, is_encodable
from .target_locks import locked

Existing = Literal["fail", "replace"]
"""What to do if an output file exists."""

_NO_LINKS = {errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK}
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_DEVICES, _MEMORY = Path("/dev"), Path("/dev/shm")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Reservation:
    """Names that only this run may write, and an exclusive partial file for each.

    Attributes:
        targets: The files to publish, in the order in which they appear.
        existing: Whether existing files are replaced.
    """

    targets: tuple[Path, ...]
    existing: Existing
    _partials: dict[Path, Path] = field(repr=False)

    def partial(self, target: Path) -> Path:
        """Return the file to write the content of `target` to; it exists and is empty."""
        return self._partials[target]

    def publish(self) -> None:
        """Rename the partial files to their targets, all or none.

        Raises:
            OutputError: The file system refused, or another run has written one of the targets in the meantime.
        """
        try:
            self._publish()
        except FileExistsError as error:
            raise OutputError(
                f"{error.filename}: exists; another run has written it in the meantime; choose another name",
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
    """Reserve names for files that are published together. Errors are raised now, before anything is charged.

    Args:
        targets: The files, in the order in which they are to appear: a guarantee before its release.
        existing: `"fail"` refuses names that exist; `"replace"` replaces the files when they are published.

    Yields:
        The reservation. When the block ends, unpublished files are removed.

    Raises:
        OutputError: A name exists, cannot be written, or is reserved by another run.
    """
    with ExitStack() as stack:
        partials: dict[Path, Path] = {}
        for target in sorted(targets):  # the same order in all runs avoids deadlocks
            try:
                check_target(target, existing)
                if stack.enter_context(locked(target)):
                    _remove_stale(target)
                check_target(target, existing)  # another run may have finished in between
                partials[target] = stack.enter_context(scratch_file(target))
            except OutputError:
                raise
            except (OSError, ValueError) as error:
                raise cannot_write(target, error) from None
        yield Reservation(tuple(targets), existing, partials)


@contextmanager
def atomic_output(path: Path, existing: Existing) -> Iterator[Path]:
    """Write one file: it is never visible before it is complete, and a failure leaves nothing behind.

    Args:
        path: The file to write.
        existing: `"fail"` refuses an existing file; `"replace"` replaces it in one step.

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
    """Raise OutputError if a file cannot be written, without changing anything.

    Args:
        path: The file to be written.
        existing: Whether an existing file may be replaced.

    Raises:
        OutputError: The directory is missing or not writable, or the file exists or is not an ordinary one.
    """
    if not is_encodable(str(path)):
        raise OutputError(f"{str(path)!r}: the name is not valid UTF-8; use another name", field="output")
    try:
        if not path.parent.is_dir():
            raise OutputError(
                f"{path}: the directory {str(path.parent)!r} does not exist; create it first", field="output"
            )
        if path.is_dir():
            raise OutputError(f"{path}: is a directory; use a file name", field="output")
        with suppress(FileNotFoundError):
            _partial(path).lstat()  # detects a name that is too long
        if (path.exists() and not path.is_file()) or _is_among_devices(path):
            raise OutputError(f"{path}: is not an ordinary file; use a file name", field="output")
        if existing == "fail" and os.path.lexists(path):
            raise OutputError(
                f"{path}: already exists; choose another name, or set existing='replace'", field="existing"
            )
    except OutputError:
        raise
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"{path}: no permission to write to {str(path.parent)!r}; use another directory", field="output"
        )


def _is_among_devices(path: Path) -> bool:
    """Return whether a name belongs to the system: `/dev/stdout` may be a link to an ordinary file, and is not one."""
    folder = path.parent.resolve()
    return folder.is_relative_to(_DEVICES) and not folder.is_relative_to(_MEMORY)


def cannot_write(path: Path, error: Exception) -> OutputError:
    """Return the error for a failed write as one line.

    Args:
        path: The output.
        error: The exception; Polars includes the number of the operating system error only as text.

    Returns:
        The error to raise instead.
    """
    match = re.search(r"os error (\d+)", str(error))
    number = getattr(error, "errno", None) or (int(match[1]) if match else None)
    if number in _FULL:
        why = "the disk is full; no partial file remains; free some space"
    else:
        reason = os.strerror(number).lower() if number else type(error).__name__
        why = f"{reason}; no partial file remains; use another path"
    return OutputError(f"{str(path)!r}: cannot be written, {why}", field="output")


def is_system_error(error: Exception) -> bool:
    """Whether the system refused something: Polars has its own errors for that."""
    return isinstance(error, OSError) or type(error).__module__.startswith("polars")


def link_new(source: Path, target: Path) -> None:
    """Link a file to a new name.

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
        if os.path.lexists(target):  # a file system without links; the lock excludes other runs
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
    """Wait until the names in a directory are on the disk, if the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ------------------------------------------------------------------------------------------------------ partial files


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.urandom(6).hex()}.partial")


@contextmanager
def scratch_file(target: Path) -> Iterator[Path]:
    """Create an empty file in the same directory, removed at the end unless it was renamed."""
    partial = _partial(target)
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o666))
        yield partial
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _remove_stale(target: Path) -> None:
    """Remove the partial files of killed runs; only the holder of the lock can have partial files in use."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.partial")
    for entry in os.scandir(target.parent):
        if pattern.fullmatch(entry.name):
            with suppress(OSError):
                Path(entry.path).unlink()


# ------------------------------------------------------------------------------------------------- replace and restore


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _move_aside(targets: tuple[Path, ...], old: list[tuple[Path, Path]]) -> None:
    """Rename existing files to names of partial files, the last one first."""
    for target in reversed(targets):
        aside = _partial(target)
        old.append((aside, target))
        with suppress(FileNotFoundError):
            target.rename(aside)
        _entries_to_disk(target.parent)


def _undo(old: list[tuple[Path, Path]], new: list[tuple[Path, tuple[int, int]]]) -> None:
    """Remove what was published and restore the previous files, in an order that never mixes the two."""
    for target, identity in reversed(new):
        with suppress(OSError):
            if _identity(target) == identity:
                target.unlink()
    for aside, target in reversed(old):
        with suppress(OSError):
            link_new(aside, target)  # if this fails as well, the old content remains in the partial file
            aside.unlink(missing_ok=True)
