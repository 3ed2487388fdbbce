"""What the page and the terminal say about errors: one line, without messages of others, which may quote the log."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..errors import TravasError, extended, is_out_of_memory, system_reason
from .field_labels import where_to_change


def in_words(error: BaseException) -> str:
    """Return what the page says about an error: the message of one of travas and where to change its field, or a kind."""
    if isinstance(error, TravasError):
        return extended(" ".join(str(error).splitlines()), where_to_change((error.field, *error.other_fields)))
    if is_out_of_memory(error):
        return "not enough memory for this log"
    if isinstance(error, OSError) and error.errno:
        return f"a file or folder cannot be used ({system_reason(error)}); check the disk and the permissions of travas serve"
    return f"something is wrong in travas ({type(error).__name__}); please report it, without the log"


@contextmanager
def known_as(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors of travas name files as shown to the user; the rest of an error is unchanged."""
    try:
        yield
    except TravasError as error:
        message = str(error.args[0])
        for stored, known in names.items():
            message = message.replace(stored, known)
        error.args = (message,)
        raise


class OneLine(logging.Filter):
    """Replaces the traceback of a log record with the kind of the error and the line of travas that it came through."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            secret = isinstance(error, TravasError) and error.confidential
            words = f"{type(error).__name__}, whose message is confidential" if secret else in_words(error)
            record.msg, record.args = f"travas: {_place(error)}{words}", ()
            record.exc_info = record.exc_text = None
        return True


def _place(error: BaseException) -> str:
    """The last line of travas that an error came through."""
    package = Path(__file__).parents[1]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if package in Path(frame.filename).parents]
    return f"{Path(frames[-1].filename).relative_to(package)}, line {frames[-1].lineno}: " if frames else ""
