"""Standard input as a log: copied to a private temporary file, because readers read a file several times."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import LogError, ParameterError
from .formats import Format

STANDARD_INPUT = "-"


@contextmanager
def spooled(form: Format | None) -> Iterator[Path]:
    """Copy standard input to a file that only this user can read and that is removed at the end.

    Args:
        form: The format of the log, which must be set, because there is no file extension.

    Yields:
        The path of the file.

    Raises:
        ParameterError: The format is not set.
        LogError: Standard input is closed, a terminal, or empty.
    """
    if form is None:
        raise ParameterError("the log is standard input but format is not set; set it, such as 'csv'", field="format")
    if sys.stdin is None or sys.stdin.isatty():
        raise LogError("standard input: no data; pipe a log into it, or use a file")
    with tempfile.TemporaryDirectory(prefix="travas-") as folder:
        path = Path(folder) / f"standard-input.{form}"
        try:
            with path.open("xb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
        except OSError as error:
            raise LogError(
                f"standard input: cannot be copied to {folder} ({error.strerror}); free some space"
            ) from None
        if not path.stat().st_size:
            raise LogError("standard input: is empty; check the command that writes it")
        yield path
