"""What measurements of times and attributes prove wrong by themselves: cells that follow from earlier outputs, thresholds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..mechanisms.synthesis_mechanism import Synthesis
from ..synthesis.attribute_measurements import OTHER, AttributeMeasurements, first_stage, second_stage
from ..synthesis.case_attributes import measures_by_last
from ..synthesis.durations import choose_timed_pairs
from ..synthesis.measurements import Measurements
from ..synthesis.time_measurements import START_BLOCKS, TimeMeasurements, choose_blocks
from ..trusted.stages import Stage
from .plausible_values import LARGEST_SUM


def impossible_details(made: Measurements, mechanism: Synthesis) -> str | None:
    """Why no release of this mechanism has these measurements of times and attributes; None if one can.

    Args:
        made: The measurements, whose control flow was checked before.
        mechanism: What the guarantee says that they were made by.

    Returns:
        The reason.
    """
    if (made.times is None) != (mechanism.times is None):
        return "it has times but its mechanism measures none, or the reverse"
    if tuple(part.attribute for part in made.attributes) != mechanism.attributes:
        return "its attributes are not those that its mechanism measures"
    if made.times is not None and (why := _impossible_times(made.times, made, mechanism)):
        return why
    return next(filter(None, (_impossible_attribute(part, made, mechanism) for part in made.attributes)), None)


def _impossible_times(times: TimeMeasurements, made: Measurements, mechanism: Synthesis) -> str | None:
    if times.settings != mechanism.times:
        return "the time zone, weekend days or resolution are not those of its mechanism"
    if not np.array_equal(times.pairs, choose_timed_pairs(made)):
        return "the pairs whose durations were measured do not follow from its other measurements"
    stage = mechanism.noise.stage(START_BLOCKS)
    if not np.array_equal(times.blocks, choose_blocks(times.start_blocks, stage.contribution, stage.deviation)):
        return "the weeks that were measured do not follow from its other measurements"
    return None


def _impossible_attribute(part: AttributeMeasurements, made: Measurements, mechanism: Synthesis) -> str | None:
    name = part.attribute.name
    first, second = (mechanism.noise.stage(stage(name)) for stage in (first_stage, second_stage))
    if any(one >= other for one, other in pairwise(part.values)) or OTHER in part.values:
        return f"a value of the attribute {name!r} occurs twice, or values are not sorted"
    if not part.attribute.is_number and not _above(part, first):
        return f"the noisy sum of a value of the attribute {name!r} is not above the threshold"
    if part.is_by_last != measures_by_last(part.attribute, part.first, made, first, second):
        return f"what was measured of the attribute {name!r} does not follow from its other measurements"
    return None


def _above(part: AttributeMeasurements, stage: Stage) -> bool:
    sums = part.first[: len(part.values)]
    return bool((sums > stage.threshold).all() and (sums < LARGEST_SUM).all())
