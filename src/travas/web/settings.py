"""How the page is served, checked before anything starts."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from ..errors import ParameterError

GIGABYTE = 1 << 30


def fresh_token() -> str:
    """A secret that nobody can guess."""
    return os.urandom(16).hex()


@dataclass(frozen=True)
class Settings:
    """Where the page is, which folders it may open, how much may be uploaded, and how long a left session is kept.

    On another address than loopback a `token` is required of every request; by default it is drawn afresh.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    folders: tuple[Path, ...] = ()
    upload_limit: int = 8 * GIGABYTE
    minutes_kept: float = 15
    token: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise ParameterError(f"port is {self.port}: it must be from 1 to 65535")
        if not self.minutes_kept > 0:
            raise ParameterError(f"minutes_kept is {self.minutes_kept}: it must be above 0")
        if self.upload_limit < 1:
            raise ParameterError(f"upload_limit is {self.upload_limit}: it must be at least 1 byte")
        for folder in self.folders:
            if not folder.is_dir():
                raise ParameterError(f"folder is {str(folder)!r}: there is no such directory")
        object.__setattr__(self, "folders", tuple(folder.resolve() for folder in self.folders))
        if not self.loopback and not self.token:
            object.__setattr__(self, "token", fresh_token())

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the page."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def decompressed_limit(self) -> int:
        """How large a compressed log may become."""
        return 4 * self.upload_limit

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        shown = {"0.0.0.0": socket.gethostname(), "[::]": socket.gethostname()}.get(host, host)
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")
