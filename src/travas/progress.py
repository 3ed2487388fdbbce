"""A progress bar in notebooks, as the command line has one in terminals. Elsewhere nothing is shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

PATIENCE = 0.5
"""Seconds before a bar appears: short runs show none."""

_INTERVAL = 0.2  # seconds between two updates


@contextmanager
def notebook_progress() -> Iterator[Callable[[str, float], None]]:
    """Show the progress of work in phases below the running cell of a notebook, and remove it at the end."""
    if not in_notebook():
        yield lambda phase, share: None
        return
    bar = _Bar()
    try:
        yield bar.show
    finally:
        bar.remove()


def in_notebook() -> bool:
    """Return whether the program runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # a notebook has imported it
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Bar:
    """A bar in the output of a cell. A bar that cannot be shown must not end a release that is charged."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PATIENCE
        self._handle: Any = None

    def show(self, phase: str, share: float) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _INTERVAL
        with suppress(Exception):
            from .plots.html import part

            value = f"{share:.3f}" if share else ""  # without a value, the bar is indeterminate
            self._display(str(part("travas.plots", "progress.html", "progress", phase, value)))

    def remove(self) -> None:
        if self._handle is not None:
            with suppress(Exception, KeyboardInterrupt):  # too late: the work is done, or its own error is raised
                self._display("")

    def _display(self, html: str) -> None:
        tools: Any = import_module("IPython.display")
        if self._handle is None:
            self._handle = tools.display(tools.HTML(html), display_id=True)
        else:
            self._handle.update(tools.HTML(html))
