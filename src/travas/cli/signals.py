"""Ctrl-C on the command line: one line, exit code 130, at any moment. SIGTERM is the same with 143. Imports nothing heavy.

The first Ctrl-C raises `KeyboardInterrupt`, but never inside an import, where it could be lost or half handled: it then
waits until the import has ended. Further ones within `_PATIENCE` seconds change nothing, so that what the first one
started can end: partial files are removed, and a charge is reported. After `finish`, Ctrl-C is ignored, except in
`possible`. If a shell has started the program in the background, with SIGINT ignored, only SIGTERM interrupts it.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
_PATIENCE = 3.0
_IMPORT_TIME = 0.001

_raised_at = float("-inf")
_is_finished = False
_is_terminated = False
_is_in_background = False


@contextmanager
def handled() -> Iterator[None]:
    """Handle Ctrl-C in this way, for a program that does nothing else. A KeyboardInterrupt that arrives here ends it."""
    global _raised_at, _is_finished, _is_terminated, _is_in_background
    _raised_at, _is_finished, _is_terminated = float("-inf"), False, False
    try:
        _is_in_background = signal.signal(signal.SIGINT, _interrupt) is signal.SIG_IGN
        signal.signal(signal.SIGTERM, _terminate)
        yield
    except KeyboardInterrupt:
        finish()
        os.write(2, b"travas: interrupted\n")
        sys.exit(exit_code())
    finally:
        # at its end Python resets handlers to the default, which would replace the exit code
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def exit_code() -> int:
    """Return the exit code of an interrupted program: by which signal."""
    return TERMINATED if _is_terminated else INTERRUPTED


def finish() -> None:
    """From now on it is too late for an interrupt: the program only says what it has done, and ends."""
    global _is_finished
    _is_finished = True


@contextmanager
def possible() -> Iterator[None]:
    """Let interrupts end what follows a release. Used inside `after_release`, which says that the charge stands."""
    global _is_finished
    _is_finished = False
    try:
        yield
    finally:
        _is_finished = True


def _terminate(number: int, frame: FrameType | None) -> None:
    """Interrupt as Ctrl-C does, through whatever handles that now: a charge defers it."""
    global _is_terminated
    _is_terminated = True
    signal.raise_signal(signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _raised_at
    if _is_finished or (_is_in_background and not _is_terminated) or time.monotonic() - _raised_at < _PATIENCE:
        return
    if _is_import(frame):
        later = threading.Timer(_IMPORT_TIME, _thread.interrupt_main)
        later.daemon = True
        later.start()
        return
    _raised_at = time.monotonic()
    raise KeyboardInterrupt


def _is_import(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
