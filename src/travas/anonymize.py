"""The door: the one way by which private data leave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .engines import read
from .logs.columns import DEFAULT_READING, Reading
from .mechanisms import mechanism as mechanism_by_name
from .privacy import Number
from .release import Frequencies, Release


def anonymize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    mechanism: str = "optimal",
    minimum_cases: int = 1,
    frequencies: Frequencies = "estimated",
    reading: Reading = DEFAULT_READING,
) -> Release:
    """Release the trace variants of a log under (ε, δ)-differential privacy for one case more or less.

    `source` is a path, a URL of a database, a DataFrame, a mapping of tuples of activities to counts, or `Variants`.
    `frequencies` says which counts go into an event log; the release has both.
    The noise table is built and verified in exact arithmetic before the log is opened.

    >>> log = {("register", "visit", "release"): 20, ("register", "release"): 2}
    >>> release = anonymize(log, epsilon=1, delta="1e-6")
    >>> release.guarantee.standing
    <Standing.VERIFIED: 'verified'>
    """
    chosen = mechanism_by_name(mechanism, epsilon, delta, minimum_cases)
    chosen.guarantee()
    return replace(chosen.release(read(source, reading)), frequencies=frequencies)
