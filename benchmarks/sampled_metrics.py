"""The similarity of logs that have too many variants for an exact comparison: that of fixed samples of their cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from travas.evaluation.metrics import both, relative_log_similarity
from travas.log.traces import Trace

SAMPLE = 3_000
Counts = Mapping[Trace, int]


def sampled(log: Counts, seed: int = 0) -> Counts:
    """One fixed sample of the cases of a log with many variants; any other log as it is."""
    if len(log) <= SAMPLE:
        return log
    traces, counts = list(log), np.array(list(log.values()))
    chosen = np.random.default_rng(seed).choice(int(counts.sum()), SAMPLE, replace=False)
    return Counter(traces[index] for index in np.searchsorted(np.cumsum(counts), chosen, side="right").tolist())


def similarity_of_samples(original: Any, released: Any) -> float:
    """The relative log similarity of samples of 3,000 cases; a log with at most 3,000 variants is compared as a whole.

    The samples are independent, so that two samples of the same log are not equal: what the original reaches is the most
    that a release with as many variants can reach.
    """
    before, after = both(original, released)
    return relative_log_similarity(sampled(before, 0), sampled(after, 1)) if after else 0.0
