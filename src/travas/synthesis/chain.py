"""From noisy transitions to a Markov chain on labelled activities, of order one and, for frequent pairs, two."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ..log.rules import NO_RULES, Pairs, coded_pairs
from ..trusted.contributions import Transitions, cells
from ..trusted.samplers import Booleans, Floats, Integers
from .measurements import REFINEMENT, TRANSITIONS, Measurements

LEAST_DEVIATIONS = 1.5  # a transition below this many standard deviations is never kept
LEAST_RELEASED = 0.5  # … unless it occurs in a released variant
FALSE_PER_ROW = 0.5  # expected number of transitions that are kept though nothing but noise is there, per row
STRONG = 16.0  # pairs above this many standard deviations favour order two
STRONG_SHARE = 0.65  # … if they hold this share of the mass
PRESENT = 2.0  # … that lies above this many standard deviations
REFINED = 4.0  # order two is measured for pairs above this many standard deviations
DEVIATES = 2.0  # a cell of order two replaces order one if it differs by more standard deviations than this
MAX_CELLS = 1 << 23  # of order two: the strongest pairs come first


def choose_pairs(transitions: Floats, first: float, second: float) -> Integers | None:
    """Decide, from T1's output alone, what T2 measures."""
    mass = transitions[:, :-1]  # the state after symbol s is s + 1
    deviation = max(first, second)
    present = mass[mass > PRESENT * first].sum()
    strong = mass[mass > STRONG * deviation].sum()
    if strong <= 0 or strong < STRONG_SHARE * present:
        return None
    before, symbol = np.nonzero(mass > REFINED * deviation)
    most = MAX_CELLS // transitions.shape[1]
    order = np.argsort(-mass[before, symbol], kind="stable")[:most]
    order.sort()
    return np.stack([before[order], symbol[order] + 1], axis=1)


@dataclass(frozen=True, eq=False)
class Chain:
    """Contexts with the symbols that can follow, as the rows of a sparse matrix. Context 0 is START.

    A context is a state, or a pair of states where order two was measured.

    Attributes:
        activities: The number of activities.
        targets: Kept transitions of order one in cases, by state and symbol; 0 where nothing is kept.
        deviation: The standard deviation of their noise.
        bar: By state and symbol, how many standard deviations a transition must exceed to be kept.
        starts: Where each context's entries begin; one more at the end.
        symbols: The symbol of every entry.
        weights: Its probability.
        cells: The index of its cell in the flattened table of states and symbols.
        contexts: The context that follows it.
        before: Pairs of activities of which the first must have occurred before the second.
        can_end: Whether a trace can end with an activity.
    """

    activities: int
    targets: Floats
    deviation: float
    bar: Floats
    starts: Integers
    symbols: Integers
    weights: Floats
    cells: Integers
    contexts: Integers
    before: Pairs
    can_end: Booleans

    @classmethod
    def of(cls, measurements: Measurements) -> Chain:
        """Estimate the chain from the measurements."""
        activities = len(measurements.activities)
        allowed, rules = measurements.cells, measurements.rules or NO_RULES
        transitions, deviation = order_one(measurements)
        symbols_of = len(allowed) - (cells(activities) & ~allowed).sum(axis=1)  # those that a rule does not exclude
        bar = np.repeat([[_cut(number)] for number in symbols_of.tolist()], len(allowed), axis=1)
        released = Transitions.of(*released_traces(measurements), activities)
        bar[released.state, released.symbol] = LEAST_RELEASED
        targets = np.where(transitions > bar * deviation, transitions, 0.0)
        rows = _rows(targets, transitions, allowed)
        pairs = measurements.pairs if measurements.pairs is not None else np.empty((0, 2), dtype=np.int64)
        if len(pairs):
            rows = np.vstack([rows, _order_two(measurements, pairs, transitions, rows, deviation)])
        last = np.concatenate([np.arange(len(allowed)), pairs[:, 1]])  # the state in which a context ends
        context_of = np.tile(np.arange(len(allowed)), (len(allowed), 1))
        context_of[pairs[:, 0], pairs[:, 1]] = len(allowed) + np.arange(len(pairs))
        context, symbols = np.nonzero(rows)
        following = np.minimum(symbols + 1, len(allowed) - 1)  # nothing follows END: any state will do
        return cls(
            activities=activities,
            targets=targets,
            deviation=deviation,
            bar=bar,
            starts=np.searchsorted(context, np.arange(len(rows) + 1)),
            symbols=symbols,
            weights=rows[context, symbols],
            cells=last[context] * len(allowed) + symbols,
            contexts=context_of[last[context], following],
            before=coded_pairs(rules.pairs("before"), measurements.activities),
            can_end=allowed[1::2, -1],
        )


def released_traces(measurements: Measurements) -> tuple[Integers, Integers]:
    """The released variants that can be generated: their codes, one after another, and their lengths."""
    coded, other = measurements.codes_of(trace for trace, _ in measurements.variants), len(measurements.activities)
    traces = [np.empty(0, dtype=np.int64), *(codes for codes in coded if other not in codes)]
    return np.concatenate(traces), np.array([len(codes) for codes in traces[1:]], dtype=np.int64)


def _cut(symbols: int) -> float:
    """How many standard deviations a transition must exceed to be kept."""
    return max(LEAST_DEVIATIONS, NormalDist().inv_cdf(1 - min(0.4, FALSE_PER_ROW / symbols)))


def order_one(measurements: Measurements) -> tuple[Floats, float]:
    """T1 in cases and its deviation; averaged with T2 by precision where that measured the same cells."""
    first, deviation = measurements.noisy(TRANSITIONS, measurements.transitions)
    if measurements.pairs is not None:
        return first, deviation
    second, other = measurements.noisy(REFINEMENT, measurements.refinement)
    total = 1 / deviation**2 + 1 / other**2
    return (first / deviation**2 + second / other**2) / total, total**-0.5


def _rows(targets: Floats, transitions: Floats, allowed: Booleans) -> Floats:
    """Probabilities by state: what was kept; else the positive part of the noisy row; else END; none if it is impossible."""
    rows = targets.copy()
    empty = ~rows.any(axis=1)
    rows[empty] = np.maximum(transitions[empty], 0.0)
    rows[~rows.any(axis=1) & allowed[:, -1], -1] = 1.0
    return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300))


def _order_two(
    measurements: Measurements, pairs: Integers, transitions: Floats, rows: Floats, deviation: float
) -> Floats:
    """Probabilities by pair: those of order one, and beyond them only deviations that noise hardly explains."""
    noisy, second = measurements.noisy(REFINEMENT, measurements.refinement)
    before, state = pairs[:, 0], pairs[:, 1]
    own_variance = second**2 * measurements.cells[state].sum(axis=1)
    pair_precision, own_precision = 1 / deviation**2, 1 / own_variance
    mass = transitions[before, state - 1] * pair_precision + noisy.sum(axis=1) * own_precision
    mass = np.maximum(mass / (pair_precision + own_precision), 1e-9)
    expected = mass[:, None] * rows[state]
    residual = noisy - expected
    refined = np.maximum(expected + np.where(np.abs(residual) > DEVIATES * second, residual, 0.0), 0.0)
    total = refined.sum(axis=1, keepdims=True)
    return np.where(total > 0, refined / np.maximum(total, 1e-300), rows[state])
