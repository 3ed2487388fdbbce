"""Which cases of a unit count: a rule that reads that unit's own cases, and that every engine can follow.

    digest  of a case: MD5 of the UTF-8 bytes of its identifier's text; digests are compared byte by byte, which is
            the order of their lower-case hexadecimal text
    cases   of each unit the `max_cases` cases of the smallest digests count
    units   of each unit every different variant counts once, with the smallest digest of its cases; of these variants the
            `max_cases` of the smallest digests count

Nobody's presence changes what counts of another, and that is all privacy rests on. MD5 only spreads: whoever can
choose identifiers can choose which of their own cases count.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import chain

from ..errors import CONFIDENTIAL, LogError
from .columns import Reading


def digest(case: str) -> bytes:
    """What decides whether a case is among those of its unit that count."""
    return hashlib.md5(case.encode(), usedforsecurity=False).digest()


def several_units(where: str, unit: str, case: str) -> LogError:
    """The refusal of a case that belongs to two."""
    return LogError(
        f"{where}: the case {case[:60]!r} has several values of the unit {unit!r}; a case belongs to one; "
        f"fix the log {CONFIDENTIAL}"
    )


class Kept:
    """The cases that count, unit by unit, while they come in one after the other: at most `max_cases` are held of each."""

    def __init__(self, reading: Reading) -> None:
        self._most = reading.privacy_unit.max_cases
        self._distinct = reading.counts_of == "units"
        self._units: dict[str, dict[bytes, bytes]] = {}  # digests by variant, or variants by digest
        self._variants: dict[bytes, bytes] = {}  # every variant in memory once

    def add(self, unit: str, case: str, variant: bytes) -> None:
        """A case, once. What is let go is never missed: so many of smaller digests are there and stay there."""
        held, own = self._units.setdefault(unit, {}), digest(case)
        variant = self._variants.setdefault(variant, variant)
        if self._distinct:
            held[variant] = min(held.get(variant, own), own)
            if len(held) > self._most:
                del held[max(held, key=held.__getitem__)]
        else:
            held[own] = variant
            if len(held) > self._most:
                del held[max(held)]

    def counts(self) -> Counter[bytes]:
        """How often each variant counts."""
        held = self._units.values()
        return Counter(chain.from_iterable(held if self._distinct else (kept.values() for kept in held)))
