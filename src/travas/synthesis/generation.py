"""From measurements to traces: released variants with their counts, and generated traces for all other cases.

The chain's rows are measured on normalised transitions, and walkers may only choose symbols that fit their history. Both
distort what is generated. So traces are simulated, normalised exactly as the measured ones were, and compared: moment
matching finds factors that make simulated traces agree with the measurements, and the traces of a pool are weighted so that
they agree together.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..log.traces import Origin, Trace
from ..trusted.contributions import BUCKETS, Transitions, bucket_of, longest_in, states
from ..trusted.samplers import Booleans, Floats, Integers
from .chain import Chain, released_traces
from .measurements import LENGTHS, VARIANTS, Measurements
from .randomness import Random, generator

LEAST = 1.0  # a bucket below this many standard deviations is taken as empty
CERTAIN = 5.0  # buckets above the last one that exceeds this many standard deviations are taken as empty: noise alone would make
# one release in 1,000 thousands of events long if it was 4
PLAUSIBLE = 2.0  # where no bucket is certain: if all together are below this many standard deviations, there is no case


@dataclass(frozen=True, eq=False)
class Lengths:
    """How many cases are to be generated, and how long.

    Attributes:
        cases: The estimated number of cases whose variant was not released.
        shares: The share of each length bucket, among traces with at least one event; adds up to 1, or 0 if there are none.
        longest: The largest length that is generated.
    """

    cases: float
    shares: Floats
    longest: int

    @classmethod
    def of(cls, measurements: Measurements) -> Lengths:
        """Estimate the lengths from the measurements."""
        noisy, deviation = measurements.noisy(LENGTHS, measurements.lengths)
        certain = np.flatnonzero(noisy > CERTAIN * deviation)
        if not len(certain) and noisy.sum() < PLAUSIBLE * deviation * len(noisy) ** 0.5:
            return cls(0.0, np.zeros(len(noisy)), 0)
        last = int(certain[-1]) if len(certain) else int(np.argmax(noisy))
        kept = np.where((noisy > LEAST * deviation) & (np.arange(len(noisy)) <= last), noisy, 0.0)
        if not kept.any():
            kept = np.maximum(noisy, 0.0)
        with_events = kept.copy()
        with_events[0] = 0.0
        if not with_events.any():
            return cls(0.0, with_events, 0)
        shares = with_events / with_events.sum()
        return cls(float(kept.sum()), shares, longest_in(int(np.flatnonzero(shares)[-1])))


def hazards(ends: Floats, otherwise: Floats, prior: float = 0.0) -> Floats:
    """For each bucket, the share of traces that end there among those that reach it; `otherwise` where none does."""
    reached = np.cumsum(ends[::-1])[::-1]
    return np.where(reached > 0, (ends + prior) / np.maximum(reached + 2 * prior, 1e-12), otherwise)


@dataclass(frozen=True, eq=False)
class Tilt:
    """Factors that correct a chain: by cell on the transitions, and by length bucket on ending.

    Attributes:
        transitions: A factor for every cell, flattened.
        endings: A factor on END for every length bucket.
    """

    transitions: Floats
    endings: Floats


class Simulated(NamedTuple):
    """Generated traces, coded, one after another.

    Attributes:
        codes: The activities of all events.
        lengths: The number of events of every trace.
        stuck: Whether a trace came to a state from which nothing was allowed.
    """

    codes: Integers
    lengths: Integers
    stuck: Booleans

    def keys(self) -> list[bytes]:
        """Every trace as bytes: equal traces have equal keys."""
        size = self.codes.itemsize
        whole, ends = self.codes.tobytes(), np.cumsum(self.lengths) * size
        begins = ends - self.lengths * size
        return [whole[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]

    def without(self, keys: frozenset[bytes]) -> Simulated:
        """The traces with other keys than these."""
        return self.only(np.array([key not in keys for key in self.keys()], dtype=bool))

    def only(self, kept: Booleans) -> Simulated:
        """Some of the traces."""
        return Simulated(self.codes[np.repeat(kept, self.lengths)], self.lengths[kept], self.stuck[kept])

    def mean_transitions(self, activities: int) -> Floats:
        """Transitions by cell, flattened, per trace: normalised exactly as the measured ones are."""
        transitions = Transitions.of(self.codes, self.lengths, activities)
        return np.bincount(transitions.cell, _shares_of(transitions), states(activities) ** 2) / len(self.lengths)


def _shares_of(transitions: Transitions) -> Floats:
    """What every transition adds, so that those of a trace have a norm of 1: in floats, as nothing is true."""
    return np.asarray(1 / np.sqrt(np.maximum(transitions.squared_norms(), 1)))[transitions.owner]


def simulate(chain: Chain, tilt: Tilt, longest: int, number: int, random: Random) -> Simulated:
    """Let `number` walkers walk the chain from START until END."""
    end = 2 * chain.activities
    weights = chain.weights * tilt.transitions[chain.cells]
    goes_on = np.where(chain.symbols == end, 0.0, weights)
    ends = weights - goes_on
    seen = np.zeros((number, chain.activities + 1), dtype=bool)  # the last column is END's: it never occurs before
    context = np.zeros(number, dtype=np.int64)
    stuck = np.zeros(number, dtype=bool)
    walking = np.arange(number)
    walkers, symbols = [], []
    bucket = bucket_of(np.arange(longest + 1))
    for position in range(longest):
        if not len(walking):
            break
        weight = goes_on + tilt.endings[bucket[position]] * ends
        entry, possible = _choose(chain, weight, context[walking], seen, walking, random)
        stuck[walking[~possible]] = True
        walking = walking[possible]
        symbol = chain.symbols[entry]
        going = symbol < end
        walking, symbol, entry = walking[going], symbol[going], entry[going]
        seen[walking, symbol >> 1] = True
        context[walking] = chain.contexts[entry]
        walkers.append(walking)
        symbols.append(symbol)
    owner = np.concatenate([np.empty(0, dtype=np.int64), *walkers])
    codes = np.concatenate([np.empty(0, dtype=np.int64), *symbols]) >> 1
    order = np.argsort(owner, kind="stable")
    return Simulated(codes[order], np.bincount(owner, minlength=number).astype(np.int64), stuck)


def _choose(
    chain: Chain, weights: Floats, context: Integers, seen: Booleans, walking: Integers, random: Random
) -> tuple[Integers, Booleans]:
    """An entry of its context for every walker that can go on, by weight; and which walkers can.

    All candidates of all walkers lie in one array. Their running total is searched once for all walkers.
    """
    begin = chain.starts[context]
    sizes = chain.starts[context + 1] - begin
    stop = np.cumsum(sizes)
    entries = np.arange(stop[-1]) + np.repeat(begin - (stop - sizes), sizes)
    symbols = chain.symbols[entries]
    walker = np.repeat(walking, sizes)
    fits = seen[walker, symbols >> 1] == (symbols & 1)
    for first, second in chain.before:
        fits &= (symbols != 2 * second) | seen[walker, first]
    total = np.concatenate([[0.0], np.cumsum(np.where(fits, weights[entries], 0.0))])
    low, high = total[stop - sizes], total[stop]
    possible = high > low
    low, high = low[possible], high[possible]
    wanted = np.minimum(low + random.random(len(low)) * (high - low), np.nextafter(high, 0.0))
    return entries[np.searchsorted(total[1:], wanted, side="right")], possible


ROUNDS = 15
TRACES = 1500
STEP = 0.5
LEAST_TRANSITION = 2e-5  # per trace: rarer ones are not matched exactly
LEAST_HAZARD = 0.002
TRANSITION_RANGE = (0.02, 50.0)
ENDING_RANGE = (1e-3, 1e3)


def matched(chain: Chain, lengths: Lengths, released: frozenset[bytes], random: Random) -> Tilt:
    """Factors for which simulated transitions and lengths agree with the measured ones."""
    cases = max(lengths.cases, 1.0)
    target = chain.targets.ravel() / cases
    smoothing = 0.5 * chain.deviation / cases + LEAST_TRANSITION
    ending = hazards(lengths.shares, np.ones(BUCKETS))
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


POOL = 12_000
LARGEST_POOL = 200_000
BLOCK = 20_000  # walkers at a time: bounds the memory
USABLE = 0.1  # the least part of the pool that must not end in a dead end; else those traces are used too
LARGEST_FACTOR = 10.0  # on the weight of a trace, to agree with the measured lengths


Generated = tuple[Trace, Origin, int]
"""A trace of a synthetic log, where it comes from, and how many of its cases have it."""


def generate(measurements: Measurements, seed: int, cases: int | None = None) -> list[Generated]:
    """Make a synthetic log: post-processing, from measurements and a seed alone."""
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
    made: list[Generated] = [
        (trace, "released", count) for (trace, _), count in zip(measurements.variants, numbers, strict=True) if count
    ]
    made += [(trace, "generated", count) for trace, count in generated.items()]
    return sorted(made)


def _apportioned(weights: Floats, total: int) -> list[int]:
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
    codes, sizes = released_traces(measurements)  # all their cases are in the counts: none is generated again
    released = frozenset(Simulated(codes, sizes, np.zeros(len(sizes), dtype=bool)).keys())
    tilt = matched(chain, lengths, released, random)
    size = min(max(POOL, 2 * number), LARGEST_POOL)
    blocks = [min(BLOCK, size - start) for start in range(0, size, BLOCK)]
    made = [simulate(chain, tilt, lengths.longest, block, random) for block in blocks]
    pool = Simulated(*map(np.concatenate, zip(*made, strict=True))).without(released)
    pool = pool.only(pool.lengths > 0)
    pool = pool.only(chain.can_end[pool.codes[np.cumsum(pool.lengths) - 1]])
    if pool.stuck.sum() <= (1 - USABLE) * len(pool.stuck):
        pool = pool.only(~pool.stuck)
    traces: Counter[Trace] = Counter()
    if not len(pool.lengths):
        return traces
    order, repeats = _resampled(pool, reweighted(pool, chain, lengths, measurements.deviation(LENGTHS)), number, random)
    begin, names = np.cumsum(pool.lengths) - pool.lengths, measurements.activities
    for index, times in zip(order.tolist(), repeats.tolist(), strict=True):
        codes = pool.codes[begin[index] : begin[index] + pool.lengths[index]]
        traces[tuple(names[code] for code in codes.tolist())] += times
    return traces


def _resampled(pool: Simulated, weights: Floats, number: int, random: Random) -> tuple[Integers, Integers]:
    """Traces of the pool and how often each is used, by their weights: systematic resampling."""
    begin = np.cumsum(pool.lengths) - pool.lengths
    first, second = pool.codes[begin], pool.codes[np.minimum(begin + 1, len(pool.codes) - 1)]
    order = np.lexsort((second, first, pool.lengths))  # neighbours are similar: sampling is spread over kinds
    total = np.concatenate([[0.0], np.cumsum(weights[order])]) * number
    total[-1] = number  # whatever was rounded
    reached = np.floor(total + random.random()).astype(np.int64)
    repeats = reached[1:] - reached[:-1]
    return order[repeats > 0], repeats[repeats > 0]


# ------------------------------------------------------------------------------------------------- weights of a pool

CLOSENESS = 0.5  # γ: how much a change of the weights costs, relative to the deviations from what was measured
DESCENTS = 200
MEMORY = 10
PRECISE = 1e-3  # standard deviations

Slope = Callable[[Floats], tuple[float, Floats]]
"""A convex function with its gradient."""


def reweighted(pool: Simulated, chain: Chain, lengths: Lengths, length_deviation: float) -> Floats:
    """Weights of the traces of a pool, which add up to 1 and agree with lengths and kept transitions as far as noise allows.

    First they agree with the lengths: w. Then q minimises γ·N·KL(q‖w) + ½·Σ((N·E_q φ − m)/s)², where φ are the length bucket
    and the kept transitions of a trace, m and s what was measured of them and its deviation, and N the number of cases.
    """
    bucket = bucket_of(pool.lengths)
    present = np.bincount(bucket, minlength=BUCKETS) / len(bucket)
    factors = np.minimum(lengths.shares / np.maximum(present, 1e-12), LARGEST_FACTOR)
    raked = factors[bucket] if factors[bucket].any() else np.ones(len(bucket))
    raked = raked / raked.sum()
    transitions = Transitions.of(pool.codes, pool.lengths, chain.activities)
    kept = chain.targets.ravel()[transitions.cell] > 0
    cells, column = np.unique(transitions.cell[kept], return_inverse=True)
    owner = np.concatenate([transitions.owner[kept], np.arange(len(bucket))])
    column = np.concatenate([column, len(cells) + bucket])
    cases = max(lengths.cases, 1.0)
    by_length = np.bincount(bucket, raked, BUCKETS)
    spread = np.concatenate([np.full(len(cells), chain.deviation), np.full(BUCKETS, length_deviation)])
    target = np.concatenate([chain.targets.ravel()[cells], cases * by_length]) / spread
    value = np.concatenate([_shares_of(transitions)[kept], np.ones(len(bucket))]) / spread[column]

    def tilted(point: Floats) -> Floats:
        return np.bincount(owner, value * point[column], len(bucket)) / CLOSENESS

    def slope(point: Floats) -> tuple[float, Floats]:
        power = tilted(point)
        largest = power.max()
        weights = raked * np.exp(power - largest)
        total = weights.sum()
        mean = np.bincount(column, value * weights[owner], len(point)) / total
        dual = CLOSENESS * cases * (largest + np.log(total)) - point @ target + point @ point / 2
        return float(dual), cases * mean - target + point

    power = tilted(_minimum(slope, np.zeros(len(target))))
    weights = raked * np.exp(power - power.max())
    return np.asarray(weights / weights.sum())


def _minimum(function: Slope, point: Floats) -> Floats:
    """Where a strictly convex function is least: L-BFGS with backtracking."""
    changes = deque[tuple[Floats, Floats]](maxlen=MEMORY)
    value, slope = function(point)
    for _ in range(DESCENTS):
        if np.abs(slope).max(initial=0.0) < PRECISE:
            break
        direction = _newton_step(slope, changes)
        step = 1.0 if changes else 1 / float(np.linalg.norm(slope))
        tried = point + step * direction
        new_value, new_slope = function(tried)
        while new_value > value + 1e-4 * step * (slope @ direction):
            step /= 2
            if step < 1e-12:
                return point  # rounding: nothing better can be found
            tried = point + step * direction
            new_value, new_slope = function(tried)
        changes.append((tried - point, new_slope - slope))
        point, value, slope = tried, new_value, new_slope
    return point


def _newton_step(slope: Floats, changes: Sequence[tuple[Floats, Floats]]) -> Floats:
    """−H⁻¹·slope, where the inverse Hessian is estimated from the last changes of point and slope."""
    step = -slope
    used = [(moved, turned, moved @ turned) for moved, turned in changes if moved @ turned > 0]
    shares = []
    for moved, turned, product in reversed(used):
        shares.append(moved @ step / product)
        step = step - shares[-1] * turned
    if used:
        _, turned, product = used[-1]
        step = step * (product / (turned @ turned))
    for (moved, turned, product), share in zip(used, reversed(shares), strict=True):
        step = step + (share - turned @ step / product) * moved
    return step
