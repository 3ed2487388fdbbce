"""One-time tickets for downloads: a link that works once, for a short time, for one file."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from .access import fresh_secret

SECONDS_VALID = 60


@dataclass(eq=False)
class Tickets:
    """Tickets that were issued and not yet used."""

    _issued: dict[str, tuple[Path, float]] = field(default_factory=dict, repr=False)

    def issue(self, path: Path) -> str:
        """Issue a ticket for a file that is ready."""
        self._drop_expired()
        ticket = fresh_secret()
        self._issued[ticket] = path, time.monotonic() + SECONDS_VALID
        return ticket

    def redeem(self, ticket: str) -> Path | None:
        """The file of a ticket, which is then used up; None if it was never valid or no longer is."""
        self._drop_expired()
        path, _ = self._issued.pop(ticket, (None, 0.0))
        return path

    def _drop_expired(self) -> None:
        now = time.monotonic()
        for ticket in [ticket for ticket, (_, end) in self._issued.items() if end < now]:
            del self._issued[ticket]
