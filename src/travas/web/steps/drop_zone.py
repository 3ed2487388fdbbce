"""The drop zone of a log: a native file input with progress, speed and cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from ..access import KEY_HEADER, STORED_KEY
from ..preview import SUFFIXES

_WHY = {
    "over the limit": "the file is over the limit of what may be uploaded",
    "the connection was lost": "the upload was interrupted: the connection was lost; send the file again",
}


class DropZone(ui.element, component="drop_zone.js"):
    """A file input that sends the file to an address of this server."""

    def __init__(self, label: str, address: str, limit: int, refused: Callable[[str], Any]) -> None:
        super().__init__()
        self._props["label"] = label
        self._props["hint"] = ", ".join(SUFFIXES)
        self._props["accept"] = ",".join(sorted({f".{suffix.rpartition('.')[2]}" for suffix in SUFFIXES}))
        self._props["address"] = address
        self._props["key-header"], self._props["stored-key"] = KEY_HEADER, STORED_KEY
        self._props["limit"] = limit
        self.on("refused", lambda event: refused(_WHY.get(str(event.args), "the file was not sent")))
