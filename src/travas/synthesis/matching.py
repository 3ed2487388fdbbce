"""Moment matching: factors that make simulated traces agree with the measurements.

The chain's rows are measured on normalised transitions, and walkers may only choose symbols that fit their history. Both
distort what is generated. So traces are simulated, normalised exactly as the measured ones were, and compared.
"""

from __future__ import annotations

import numpy as np

from ..trusted.contributions import BUCKETS, bucket_of
from .chain import Chain
from .lengths import Lengths, hazards
from .randomness import Random
from .simulation import Tilt, simulate

ROUNDS = 15
TRACES = 1500
STEP = 0.5
LEAST_TRANSITION = 2e-5  # per trace: rarer ones are not matched exactly
LEAST_HAZARD = 0.002
TRANSITION_RANGE = (0.02, 50.0)
ENDING_RANGE = (1e-3, 1e3)


def matched(chain: Chain, lengths: Lengths, released: frozenset[bytes], random: Random) -> Tilt:
    """Factors for which simulated transitions and lengths agree with the measured ones.

    Args:
        chain: The chain.
        lengths: The measured lengths.
        released: The keys of released variants: no measured case has one of them, so simulated ones do not count.
        random: The generator of the simulations.

    Returns:
        The factors after a fixed number of rounds.
    """
    cases = max(lengths.cases, 1.0)
    target = chain.targets.ravel() / cases
    smoothing = 0.5 * chain.deviation / cases + LEAST_TRANSITION
    ending = lengths.hazards()
    tilt = Tilt(np.ones(target.size), np.ones(BUCKETS))
    for _ in range(ROUNDS):
        simulated = simulate(chain, tilt, lengths.longest, TRACES, random).without(released)
        if not len(simulated.lengths):
            break  # nothing but released variants: there is nothing to match
        mean = simulated.mean_transitions(chain.activities)
        ratio = np.where(target > 0, ((target + smoothing) / (mean + smoothing)) ** STEP, 1.0)
        ends = np.bincount(bucket_of(simulated.lengths), minlength=BUCKETS).astype(np.float64)
        ends[0] = 0.0
        simulated_ending = hazards(ends, ending, prior=0.5)
        hazard_ratio = ((ending + LEAST_HAZARD) / (simulated_ending + LEAST_HAZARD)) ** STEP
        tilt = Tilt(
            np.clip(tilt.transitions * ratio, *TRANSITION_RANGE), np.clip(tilt.endings * hazard_ratio, *ENDING_RANGE)
        )
    return tilt
