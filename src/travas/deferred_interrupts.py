"""Ctrl-C at moments at which a run must not end: while it is not known whether a charge is on the disk, for example."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class InterruptsDeferred:
    """Collect Ctrl-C instead of raising it. Only the main thread receives it; elsewhere there is nothing to do."""

    def __init__(self) -> None:
        self._pending = False
        self._previous: Any = None

    def __enter__(self) -> InterruptsDeferred:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def deliver(self) -> None:
        """End the deferral now, and pass on what has arrived."""
        previous, self._previous = self._previous, None
        if previous is not None:
            signal.signal(signal.SIGINT, previous)
            if self._pending:
                signal.raise_signal(signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
