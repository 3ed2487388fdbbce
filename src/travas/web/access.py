"""The secrets of one running server: a token for the cookie, a one-time code for the link, and a key for each browser.

A cookie reaches every port of a host, so the token alone opens nothing. The key is in the browser's `localStorage`, which
belongs to one port. All of them are drawn when the server starts and are worthless when it has ended.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

KEY_HEADER = "X-Travas-Key"
CODE_HEADER = "X-Travas-Code"
STORED_KEY = "travas-key"
"""The name of the key in the browser's `localStorage`."""


def fresh_secret() -> str:
    """A secret of 256 bits, in letters that need no escaping in a URL, a cookie or a header."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is kept of a key on the server: looking it up takes the same time whichever letters of a guess are right."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(eq=False)
class Access:
    """Who may come in. A code is exchanged for a key once; a new code takes its place."""

    token: str = field(default_factory=fresh_secret, repr=False)
    code: str = field(default_factory=fresh_secret, repr=False)
    renewed: Callable[[], None] = field(default=lambda: None, repr=False)
    _keys: set[str] = field(default_factory=set, repr=False)

    def is_token(self, value: str) -> bool:
        """Whether a cookie holds the token."""
        return _equal(value, self.token)

    def is_key(self, value: str) -> bool:
        """Whether a key was issued by this server."""
        return digest(value) in self._keys

    def exchange(self, code: str) -> str | None:
        """Issue a key for the code of the link, once.

        Args:
            code: What the link had behind `#`.

        Returns:
            A new key, or None if the code is not the current one.
        """
        if not _equal(code, self.code):
            return None
        key, self.code = fresh_secret(), fresh_secret()
        self._keys.add(digest(key))
        self.renewed()
        return key


def _equal(value: str, secret: str) -> bool:
    return hmac.compare_digest(value.encode(), secret.encode())
