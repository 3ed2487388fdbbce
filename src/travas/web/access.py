"""The secrets of one running server: a token for the cookie, a one-time code for the link, and a key for each browser.

A cookie reaches every port of a host, so the token alone opens nothing. The key is in the browser's `localStorage`, which
belongs to one port. All of them are created when the server starts and are invalid when it stops.
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
    """Return a secret of 256 bits, in characters that need no escaping in a URL, a cookie or a header."""
    return secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """Return the digest of a key that the server stores, so that look-ups take the same time for any guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(eq=False)
class Access:
    """Access control. A code is exchanged for a key once and then replaced by a new code."""

    token: str = field(default_factory=fresh_secret, repr=False)
    code: str = field(default_factory=fresh_secret, repr=False)
    renewed: Callable[[], None] = field(default=lambda: None, repr=False)
    _keys: set[str] = field(default_factory=set, repr=False)

    def is_token(self, value: str) -> bool:
        """Return whether a cookie contains the token."""
        return _equal(value, self.token)

    def is_key(self, value: str) -> bool:
        """Return whether a key was issued by this server."""
        return secret_digest(value) in self._keys

    def exchange(self, code: str) -> str | None:
        """Issue a key for the code of the link, once."""
        if not _equal(code, self.code):
            return None
        key, self.code = fresh_secret(), fresh_secret()
        self._keys.add(secret_digest(key))
        self.renewed()
        return key


def _equal(value: str, secret: str) -> bool:
    return hmac.compare_digest(value.encode(), secret.encode())
