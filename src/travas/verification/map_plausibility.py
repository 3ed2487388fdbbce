"""What the measurements of a process map prove wrong by themselves: those that its mechanism cannot have made."""

from __future__ import annotations

import numpy as np

from ..maps.map_counts import choose_cap, timed_pairs
from ..maps.map_measurements import ACTIVITIES, PAIRS, SIZES, MapMeasurements, pair_cells
from ..mechanisms.gaussian_mechanism import MOST_ACTIVITIES
from ..mechanisms.process_map import ProcessMap
from ..sources.release_json import is_activity_of
from .plausible_values import LARGEST_SUM


def impossible_map(made: MapMeasurements, mechanism: ProcessMap, width: int) -> str | None:
    """Why no release of this mechanism has these measurements; None if one can."""
    if dict(made.contributions) != mechanism.contributions:
        return "the contributions are not those that its epsilon and delta give"
    if list(made.activities) != sorted(set(made.activities)):
        return "an activity was measured twice, or they are not sorted"
    if not all(is_activity_of(name, width) for name in made.activities):
        return "an activity is empty, not text, or has a different number of columns"
    return _impossible_activities(made, mechanism) or _impossible_cells(made, mechanism)


def _impossible_activities(made: MapMeasurements, mechanism: ProcessMap) -> str | None:
    if mechanism.alphabet is not None:
        public = made.activities == mechanism.alphabet and not made.activity_sums
        return None if public else "its activities are not the public ones"
    if set(made.activity_sums) != set(made.activities) or len(made.activities) > MOST_ACTIVITIES:
        return "its activities are not those that were selected"
    least = mechanism.noise.stage(ACTIVITIES).threshold
    if any(not least < value < LARGEST_SUM for value in made.activity_sums.values()):
        return "the noisy sum of an activity is not above the threshold"
    return None


def _impossible_cells(made: MapMeasurements, mechanism: ProcessMap) -> str | None:
    """Numbers where there is no cell, or a choice that is not that of the rule."""
    sizes, pairs = mechanism.noise.stage(SIZES), mechanism.noise.stage(PAIRS)
    in_cases = (made.sizes / sizes.contribution).tolist()
    if made.cap != choose_cap(in_cases, sizes.deviation, pairs.deviation, len(made.activities)):
        return "its cap is not the one that its measurements give"
    if made.pairs[~pair_cells(len(made.activities))].any():
        return "a pair was measured that cannot occur"
    if made.duration_pairs is not None and not np.array_equal(made.duration_pairs, timed_pairs(made.pairs)):
        return "durations were not measured for the pairs that stand out"
    return None
