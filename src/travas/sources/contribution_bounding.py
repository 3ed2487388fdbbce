"""Contribution bounding: which cases of a unit are counted. The rule reads only the unit's own cases.

    digest  of a case: MD5 of the UTF-8 bytes of its identifier as text; digests are compared byte by byte, which is
            the order of their lower-case hexadecimal text
    cases   the `max_cases` cases of each unit with the smallest digests are counted
    units   every different variant of a unit has the smallest digest of its cases; the `max_cases` variants with the
            smallest digests are counted, each once

Privacy requires only that no unit changes what is counted of another. MD5 only spreads the identifiers and keeps nothing
secret: anyone who can choose identifiers can choose which of their own cases are counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import chain

from ..errors import CONFIDENTIAL, LogError
from .reading import Reading


def case_digest(case: str) -> bytes:
    """Return the digest that decides whether a case is counted."""
    return hashlib.md5(case.encode(), usedforsecurity=False).digest()


def several_units(where: str, unit: str, case: str) -> LogError:
    """Return the error for a case with several values of the unit."""
    return LogError(
        f"{where}: the case {case[:60]!r} has several values of the unit {unit!r}; a case must have exactly one; "
        f"fix the log {CONFIDENTIAL}"
    )


class Kept:
    """Collects the cases that are counted from a stream of cases, holding at most `max_cases` per unit."""

    def __init__(self, reading: Reading) -> None:
        self._most = reading.privacy_unit.max_cases
        self._distinct = reading.counts_of == "units"
        self._units: dict[str, dict[bytes, bytes]] = {}  # digests by variant, or variants by digest
        self._variants: dict[bytes, bytes] = {}  # interned, so that every variant is in memory once

    def add(self, unit: str, case: str, variant: bytes) -> None:
        """Add a case. What is discarded cannot be needed later: `max_cases` smaller digests are held already."""
        held, own = self._units.setdefault(unit, {}), case_digest(case)
        variant = self._variants.setdefault(variant, variant)
        if self._distinct:
            held[variant] = min(held.get(variant, own), own)
            if len(held) > self._most:
                del held[max(held, key=held.__getitem__)]
        else:
            held[own] = variant
            if len(held) > self._most:
                del held[max(held)]

    def owners(self) -> set[tuple[str, bytes]]:
        """Return the units and digests of the cases that are counted."""
        digests = ((unit, held.values() if self._distinct else held) for unit, held in self._units.items())
        return {(unit, digest) for unit, own in digests for digest in own}

    def counts(self) -> Counter[bytes]:
        """Return how often each variant is counted."""
        held = self._units.values()
        return Counter(chain.from_iterable(held if self._distinct else (kept.values() for kept in held)))
