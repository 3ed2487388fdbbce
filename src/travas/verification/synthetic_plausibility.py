"""What the content of a synthetic log proves wrong: measurements and traces that its mechanism cannot have made."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanisms.gaussian_mechanism import MOST_ACTIVITIES
from ..mechanisms.synthesis_mechanism import Synthesis
from ..model.traces import Trace
from ..sources.release_json import is_activity_of
from ..synthesis.measurements import ACTIVITIES, VARIANTS, Measurements
from ..synthesis.synthetic_release import SyntheticRelease
from ..trusted.contributions import cells
from .detail_plausibility import impossible_details
from .plausible_values import LARGEST_SUM


def impossible_synthetic(release: SyntheticRelease, mechanism: Synthesis) -> str | None:
    """Why no release of this mechanism has these measurements and traces; None if one can."""
    if not 0 <= release.seed < 1 << 63:
        return "its seed is not a whole number from 0 below 2^63"
    measured = _impossible_measurements(release.measurements, mechanism, len(release.columns))
    return measured or _impossible_traces(release)


def _impossible_measurements(made: Measurements, mechanism: Synthesis, width: int) -> str | None:
    """Why no release of this mechanism has these measurements; None if one can."""
    stages = {stage.name: stage for stage in mechanism.noise.calibration.stages}
    if dict(made.contributions) != {name: stage.contribution for name, stage in stages.items()}:
        return "the contributions are not those that its epsilon and delta give"
    traces = [trace for trace, _ in made.variants]
    if not _ascends(traces) or not _ascends(made.activities):
        return "a variant or an activity was measured twice, or they are not sorted"
    if not all(traces) or not all(
        is_activity_of(name, width) for trace in (*traces, made.activities) for name in trace
    ):
        return "a measured activity is empty, not text, or has a different number of columns"
    if any(not stages[VARIANTS].threshold < value < LARGEST_SUM for _, value in made.variants):
        return "the noisy sum of a variant is not above the threshold"
    return (
        _impossible_activities(made, mechanism, traces)
        or _impossible_cells(made)
        or impossible_details(made, mechanism)
    )


def _impossible_activities(made: Measurements, mechanism: Synthesis, traces: list[Trace]) -> str | None:
    of_variants = {activity for trace in traces for activity in trace}
    selected = set(made.activity_sums)
    if selected & of_variants:
        return "an activity of a released variant was selected again"
    if mechanism.alphabet is not None and selected:
        return "activities were selected although they are public"
    if mechanism.alphabet is None:
        least = mechanism.noise.stage(ACTIVITIES).threshold
        if any(not least < value < LARGEST_SUM for value in made.activity_sums.values()):
            return "the noisy sum of an activity is not above the threshold"
    known = of_variants | selected | set(mechanism.alphabet or ())
    if not set(made.activities) <= known or len(made.activities) != min(len(known), MOST_ACTIVITIES):
        return "its activities are not those that were measured"
    return None


def _impossible_cells(made: Measurements) -> str | None:
    """Numbers where there is no cell, or pairs of states that do not exist."""
    allowed = cells(len(made.activities))
    if made.transitions[~allowed].any():
        return "a transition was measured that cannot occur"
    if made.pairs is None:
        return "a transition was measured that cannot occur" if made.refinement[~allowed].any() else None
    if not _are_pairs(made.pairs, len(allowed)) or not _ascends([tuple(pair) for pair in made.pairs.tolist()]):
        return "the pairs of states are not sorted, or not pairs of states"
    if made.refinement[~allowed[made.pairs[:, 1]]].any():
        return "a transition was measured that cannot occur"
    return None


def _are_pairs(pairs: NDArray[np.int64], states: int) -> bool:
    """Whether these are pairs of states, of which START may only be the first."""
    return bool((pairs >= 0).all() and (pairs < states).all() and (pairs[:, 1] > 0).all())


def _impossible_traces(release: SyntheticRelease) -> str | None:
    """Why these traces were not generated from these measurements; None if they can be."""
    made, names = release.measurements, set(release.measurements.activities)
    if not _ascends(release.variants):
        return "a variant occurs twice"
    if any(not 1 <= count <= LARGEST_SUM for count in release.counts):
        return "a number of cases is below 1 or too large"
    sums = dict(made.variants)
    for trace, count, origin in zip(release.variants, release.counts, release.origins, strict=True):
        if (origin == "released") != (trace in sums):
            return "the origin of a trace is not what the measured variants say"
        if origin == "generated" and not (trace and names.issuperset(trace)):
            return "a generated trace is empty, or has an activity that was not measured"
        if release.generation == "first" and trace in sums and count != _cases(made, sums[trace]):
            return "the number of cases of a released variant is not what was measured"
    if release.generation == "first" and release.origins.count("released") != len(sums):
        return "a variant that was measured is missing"
    return None


def _cases(made: Measurements, value: int) -> int:
    return max(1, round(value / made.contributions[VARIANTS]))


def _ascends(values: Any) -> bool:
    return all(first < second for first, second in pairwise(values))
