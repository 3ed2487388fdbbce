"""A release that goes to standard output instead of a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import OutputError


@dataclass(frozen=True)
class StandardOutput:
    """Standard output as the place of a release. Its guarantee is a file, which is complete before the first byte leaves.

    Attributes:
        format: The format of the release: a file extension without the first dot, such as `csv.gz`.
        guarantee: The guarantee file.
    """

    format: str
    guarantee: Path

    def __post_init__(self) -> None:
        if str(self.guarantee) == "-":
            raise OutputError(
                "guarantee_file is '-', but standard output has the release; use a file name, such as "
                "release.guarantee.json",
                field="guarantee_file",
            )

    def __str__(self) -> str:
        return "-"

    @property
    def suffix(self) -> str:
        """The format as a file extension."""
        return f".{self.format.removeprefix('.')}"


@contextmanager
def naming_the_guarantee(output: Path | StandardOutput) -> Iterator[None]:
    """Let errors about the files of a release name `guarantee_file`, if the guarantee is the only file of this output."""
    try:
        yield
    except OutputError as error:
        if isinstance(output, StandardOutput) and error.field == "output":
            error.field = "guarantee_file"
        raise


def check_standard_output() -> None:
    """Raise OutputError if standard output is closed, before anything is charged."""
    try:
        _binary().flush()
    except (OSError, ValueError, AttributeError):
        raise OutputError("standard output is closed; use a file name", field="output") from None


def send(path: Path) -> None:
    """Copy a file to standard output.

    Args:
        path: The file.

    Raises:
        OSError: The reader has left, or the disk is full; a part may have been written.
    """
    sys.stdout.flush()
    out = _binary()
    raw = getattr(out, "raw", out)  # without a buffer, which would try again at exit what has failed
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            view = memoryview(block)
            while view:
                view = view[raw.write(view) :]
    out.flush()


def _binary() -> Any:
    out = sys.stdout.buffer
    if hasattr(out, "raw"):
        os.fstat(out.fileno())
    return out
