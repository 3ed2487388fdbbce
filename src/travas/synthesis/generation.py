"""From measurements to traces: released variants with their counts, and generated traces for all other cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.release import Origin
from ..model.traces import Trace
from ..trusted.contributions import BUCKETS, bucket_of
from .chain import Chain
from .lengths import Lengths
from .matching import matched
from .measurements import VARIANTS, Measurements
from .randomness import Random, generator
from .simulation import Simulated, simulate

POOL = 4_000
LARGEST_POOL = 200_000
BLOCK = 20_000  # walkers at a time: bounds the memory
LARGEST_FACTOR = 10.0  # on the weight of a trace, to agree with the measured lengths


@dataclass(frozen=True)
class SyntheticTrace:
    """A trace of a synthetic log, how many of its cases have it, and where it comes from."""

    trace: Trace
    origin: Origin
    cases: int


def generate(measurements: Measurements, seed: int, cases: int | None = None) -> list[SyntheticTrace]:
    """Make a synthetic log: post-processing, from measurements and a seed alone.

    Args:
        measurements: The noisy measurements.
        seed: Of the generator of traces; the same seed makes the same log.
        cases: The number of cases; by default the noisy number of cases.

    Returns:
        Traces with the numbers of their cases, sorted.
    """
    lengths = Lengths.of(measurements)
    noisy = [value / measurements.contributions[VARIANTS] for _, value in measurements.variants]
    rest = lengths.cases if measurements.activities else 0.0
    numbers = [max(1, round(value)) for value in noisy]
    number = round(rest)
    if cases is not None:
        *numbers, number = _apportioned(np.array([*noisy, rest]), cases)
    generated = _generated(measurements, lengths, number, generator(seed)) if number else Counter[Trace]()
    if cases is not None and not generated:  # no trace but the released ones can be generated
        numbers = _apportioned(np.array(noisy), cases)
    made = [
        SyntheticTrace(trace, "released", count)
        for (trace, _), count in zip(measurements.variants, numbers, strict=True)
        if count
    ]
    made += [SyntheticTrace(trace, "generated", count) for trace, count in generated.items()]
    return sorted(made, key=lambda row: (row.trace, row.origin))


def _apportioned(weights: NDArray[np.float64], total: int) -> list[int]:
    """Whole numbers in proportion to the weights that add up to the total: largest remainders first."""
    weights = np.maximum(weights, 0.0)
    if not weights.any():
        return [0] * len(weights)
    exact = weights / weights.sum() * total
    numbers = np.floor(exact).astype(np.int64)
    missing = total - int(numbers.sum())
    numbers[np.argsort(numbers - exact, kind="stable")[:missing]] += 1
    return [int(number) for number in numbers]


def _generated(measurements: Measurements, lengths: Lengths, number: int, random: Random) -> Counter[Trace]:
    """`number` generated cases, by trace."""
    chain = Chain.of(measurements)
    released = _released_keys(measurements)
    tilt = matched(chain, lengths, released, random)
    size = min(max(POOL, 2 * number), LARGEST_POOL)
    blocks = [min(BLOCK, size - start) for start in range(0, size, BLOCK)]
    made = [simulate(chain, tilt, lengths.longest, block, random) for block in blocks]
    pool = Simulated.joined(made).without(released)
    sampled, repeats = _resampled(pool, lengths, number, random)
    begin = np.cumsum(pool.lengths) - pool.lengths
    names = measurements.activities
    traces: Counter[Trace] = Counter()
    for index, times in zip(sampled.tolist(), repeats.tolist(), strict=True):
        codes = pool.codes[begin[index] : begin[index] + pool.lengths[index]]
        traces[tuple(names[code] for code in codes.tolist())] += times
    return traces


def _released_keys(measurements: Measurements) -> frozenset[bytes]:
    """Released variants as keys of simulated traces. All their cases are in the counts: none is generated again."""
    code_of = {activity: code for code, activity in enumerate(measurements.activities)}
    traces = [trace for trace, _ in measurements.variants if code_of.keys() >= set(trace)]
    return frozenset(np.array([code_of[name] for name in trace], dtype=np.int64).tobytes() for trace in traces)


def _resampled(
    pool: Simulated, lengths: Lengths, number: int, random: Random
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Traces of the pool and how often each is used: weighted so that lengths agree, by systematic resampling."""
    usable = np.flatnonzero((pool.lengths > 0) & ~pool.stuck)
    if len(usable) < number / 4:
        usable = np.flatnonzero(pool.lengths > 0)
    if not len(usable):
        return usable, usable
    bucket = bucket_of(pool.lengths[usable])
    present = np.bincount(bucket, minlength=BUCKETS) / len(usable)
    factors = np.minimum(lengths.shares / np.maximum(present, 1e-12), LARGEST_FACTOR)
    weights = factors[bucket] if factors[bucket].any() else np.ones(len(usable))
    begin = (np.cumsum(pool.lengths) - pool.lengths)[usable]
    first, second = pool.codes[begin], pool.codes[np.minimum(begin + 1, len(pool.codes) - 1)]
    order = np.lexsort((second, first, pool.lengths[usable]))  # neighbours are similar: sampling is spread over kinds
    usable, weights = usable[order], weights[order]
    total = np.concatenate([[0.0], np.cumsum(weights)]) / weights.sum() * number
    total[-1] = number  # whatever was rounded
    repeats = np.diff(np.floor(total + random.random()).astype(np.int64))
    return usable[repeats > 0], repeats[repeats > 0]
