"""The settings of the web app, checked before anything starts."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path

from ..errors import ParameterError
from ..trusted.numbers import whole_number

GIGABYTE = 1 << 30
_BACKLOG, _LAST_PORT = 2048, 65535


def listening(host: str, port: int) -> socket.socket:
    """Take a port, before anything else is done: from here on nobody else can answer there."""
    whole_number(port, "port", 0, _LAST_PORT)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        reason = error.strerror or "not an address"
        raise ParameterError(
            f"{host}:{port} cannot be used ({reason}); use another port or host", field="host", other_fields=("port",)
        ) from None
    return listener


@dataclass(frozen=True)
class Settings:
    """Address, allowed folders, upload limit, and how long an abandoned session is kept.

    At most `max_sessions` browsers are served at a time.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    folders: tuple[Path, ...] = ()
    upload_limit: int = 8 * GIGABYTE
    minutes_kept: float = 15
    max_sessions: int = 20

    def __post_init__(self) -> None:
        whole_number(self.port, "port", 1, _LAST_PORT)
        if not self.minutes_kept > 0:
            raise ParameterError(f"minutes_kept is {self.minutes_kept}: it must be above 0", field="minutes_kept")
        if self.upload_limit < 1:
            raise ParameterError(
                f"upload_limit is {self.upload_limit}: it must be at least 1 byte", field="upload_limit"
            )
        whole_number(self.max_sessions, "max_sessions", 1)
        for folder in self.folders:
            if not folder.is_dir():
                raise ParameterError(f"folder is {str(folder)!r}: there is no such directory", field="folder")
        object.__setattr__(self, "folders", tuple(folder.resolve() for folder in self.folders))

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
    def cookie(self) -> str:
        """The name of the token's cookie: cookies of one host are shared by its ports."""
        return f"travas-token-{self.port}"

    @property
    def address(self) -> str:
        """Where the page is; it opens only for a browser that has a key."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        shown = {"0.0.0.0": socket.gethostname(), "[::]": socket.gethostname()}.get(host, host)
        return f"http://{shown}:{self.port}/"
