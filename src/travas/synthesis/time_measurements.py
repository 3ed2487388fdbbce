"""The noisy measurements of times: public, and all that generated times ever depend on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.calendar import BLOCKS, WEEK_DAYS, WEEKS_PER_BLOCK
from ..model.detail_options import Times
from ..model.plain import as_shape
from ..model.questions import DURATION_BUCKETS, KINDS_OF_DAY

DURATIONS, THROUGHPUT, START_BLOCKS, START_WEEKS = "durations", "throughput", "start blocks", "start weeks"
START_WEEKDAYS, START_HOURS = "start weekdays", "start hours"
EVENT_WEEKDAYS, EVENT_HOURS = "event weekdays", "event hours"
"""The names of the stages D, P, W (two), H (two) and E (two)."""

HOURS = 24

CERTAIN_BLOCK = 4.0  # the weeks of a block are measured if it exceeds this many standard deviations
NEIGHBOUR = (
    3.0  # … or this many, next to such a block: of 128 empty blocks, noise lifts one above 3 in 16 % of releases
)


@dataclass(frozen=True, eq=False)
class TimeMeasurements:
    """Sums over cases with noise, as integers. Calendars are in the wall-clock time of the mechanism's zone.

    Attributes:
        settings: The public zone, weekend days and resolution.
        pairs: The directly-follows pairs whose durations were measured, as indices of activities, sorted.
        durations: D: noisy sums by pair and duration bucket.
        throughput: P: noisy sums by duration bucket, of the time from the first to the last event.
        start_blocks: W: noisy sums by block of weeks, of the first event.
        blocks: The blocks whose weeks were measured, sorted.
        start_weeks: W: noisy sums by measured block and week.
        start_weekdays: H: noisy sums by weekday of the first event.
        start_hours: H: noisy sums by working day or weekend, and hour, of the first event.
        event_weekdays: E: noisy sums by weekday of all events.
        event_hours: E: noisy sums by working day or weekend, and hour, of all events.
    """

    settings: Times
    pairs: NDArray[np.int64]
    durations: NDArray[np.int64]
    throughput: NDArray[np.int64]
    start_blocks: NDArray[np.int64]
    blocks: NDArray[np.int64]
    start_weeks: NDArray[np.int64]
    start_weekdays: NDArray[np.int64]
    start_hours: NDArray[np.int64]
    event_weekdays: NDArray[np.int64]
    event_hours: NDArray[np.int64]

    def __post_init__(self) -> None:
        as_shape(self, _shapes(len(self.pairs), len(self.blocks)))


def _shapes(pairs: int, blocks: int) -> dict[str, tuple[int, ...]]:
    return {
        "pairs": (pairs, 2),
        "durations": (pairs, DURATION_BUCKETS),
        "throughput": (DURATION_BUCKETS,),
        "start_blocks": (BLOCKS,),
        "blocks": (blocks,),
        "start_weeks": (blocks, WEEKS_PER_BLOCK),
        "start_weekdays": (WEEK_DAYS,),
        "start_hours": (KINDS_OF_DAY, HOURS),
        "event_weekdays": (WEEK_DAYS,),
        "event_hours": (KINDS_OF_DAY, HOURS),
    }


def choose_blocks(start_blocks: NDArray[np.int64], contribution: int, deviation: float) -> NDArray[np.int64]:
    """Decide, from the noisy blocks alone, of which of them the weeks are measured.

    Args:
        start_blocks: The noisy sums of all blocks.
        contribution: What a case adds to its block.
        deviation: The standard deviation of the noise, in cases.

    Returns:
        The blocks that stand out from the noise; the largest one if none does. Sorted.
    """
    size = start_blocks / contribution / deviation
    certain = size > CERTAIN_BLOCK
    beside = np.zeros_like(certain)
    beside[1:] |= certain[:-1]
    beside[:-1] |= certain[1:]
    blocks = np.flatnonzero(certain | (beside & (size > NEIGHBOUR)))
    return blocks.astype(np.int64) if len(blocks) else np.array([int(np.argmax(start_blocks))], dtype=np.int64)
