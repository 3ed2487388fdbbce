"""What a release contains, and what the timestamps of a released log are: the words that all packages use."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["variants", "synthetic log", "process map"]
"""What a release contains: variants of the log with their counts, traces generated from noisy measurements, or pairs of
activities with the numbers of cases that have them."""

KINDS: tuple[Kind, ...] = get_args(Kind)

EVENT_LOGS: frozenset[Kind] = frozenset({"variants", "synthetic log"})
"""The kinds of release that are event logs: only they have cases and events."""

TimestampKind = Literal["artificial", "generated", "none"]
"""What the timestamps of a released log are."""

ARTIFICIAL_TIMES = "artificial: only their order within a case means anything"
"""What a released log says about its timestamps, unless times are released."""

NO_TIMES = "none: events are in order but have no times"
"""What a released log says if it was written without timestamps."""
