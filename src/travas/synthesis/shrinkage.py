"""Noisy tables pulled towards what is expected of them: smooth curves, and rows where noise explains the difference."""

from __future__ import annotations

import numpy as np

from ..trusted.samplers import Booleans, Floats

DEVIATES = 2.0  # a cell keeps its own value if it differs from what is expected by more standard deviations than this
DEVIATES_ALONE = 2.5  # … by more than this where almost nothing is expected
NEXT_TO_NOTHING = 0.5  # standard deviations
TAIL = 1.0  # the upper tail of a distribution is taken as empty where its sum is below this many standard deviations


def uniform(size: int) -> Floats:
    """The same share for every cell."""
    return np.full(size, 1 / size)


def normalised(weights: Floats, otherwise: Floats) -> Floats:
    """Weights as shares; `otherwise` where there is no weight."""
    total = weights.sum()
    return weights / total if total > 0 else otherwise


def used_buckets(noisy: Floats, deviation: float) -> int:
    """Return the number of buckets up to the last from which on the rest stands out from the noise; all if none does."""
    tail = np.cumsum(noisy[::-1])[::-1]
    cells = len(noisy) - np.arange(len(noisy))
    present = np.flatnonzero(tail > TAIL * deviation * np.sqrt(cells))
    return int(present[-1]) + 1 if len(present) else len(noisy)


def deviating(noisy: Floats, deviation: float | Floats, prior: Floats) -> tuple[Floats, Booleans]:
    """Shares of the rows of a table: those of the prior, and beyond them only deviations that noise hardly explains."""
    spread = np.broadcast_to(np.asarray(deviation, dtype=float), noisy.shape[:1])[:, None]
    total = noisy.sum(axis=1, keepdims=True)
    expected = np.maximum(total, 1e-9) * prior
    residual = noisy - expected
    limit = np.where(expected > NEXT_TO_NOTHING * spread, DEVIATES, DEVIATES_ALONE) * spread
    deviates = (np.abs(residual) > limit) & (total > 0)
    weights = np.maximum(expected + np.where(deviates, residual, 0.0), 0.0)
    sums = weights.sum(axis=1, keepdims=True)
    usable = (total > 0) & (sums > 0)
    shares = np.where(usable, weights / np.where(sums > 0, sums, 1.0), prior)
    return shares, deviates.any(axis=1) & usable[:, 0]


def random_walk(precision: Floats, weighted: Floats, rate: float, variance: float) -> tuple[float, Floats]:
    """Numbers in a row that change by independent normal steps, given a normal likelihood of them.

    Args:
        precision: The matrix of precision of the likelihood.
        weighted: That matrix times the numbers that fit best.
        rate: About how large the numbers are.
        variance: The variance of the steps, in squares of `rate`.

    Returns:
        The logarithm of the likelihood of `variance`, up to a constant, and the mean of the numbers.
    """
    size, step = len(weighted), variance * rate**2
    walk = 2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
    walk[0, 0] -= 1
    walk[-1, -1] -= 1
    matrix = precision + walk / step
    matrix[0, 0] += 1 / (2 * rate) ** 2  # of the first number a normal distribution around `rate`
    point = weighted.copy()
    point[0] += rate / (2 * rate) ** 2
    mean = np.asarray(np.linalg.solve(matrix, point), dtype=np.float64)
    spread = np.log(np.diag(np.linalg.cholesky(matrix))).sum() + (size - 1) / 2 * np.log(step)
    return float(point @ mean / 2 - spread), mean


STRONG = 3.0  # standard deviations
CHANGES = (1e-2, 0.1, 0.5, 2.0)
FALLS = (0.4, 0.55, 0.7, 0.8, 0.9, 1.0)
HEIGHTS = 30


def walked(noisy: Floats, deviation: float) -> Floats:
    """Numbers of ordered cells: a random walk, averaged over variances of its steps by their likelihood."""
    precision = np.eye(len(noisy)) / deviation**2
    rate = max(float(np.mean(noisy**2)) - deviation**2, deviation**2 / 16) ** 0.5
    walks = [random_walk(precision, noisy / deviation**2, rate, change) for change in CHANGES]
    weights = _likely(np.array([found for found, _ in walks]))
    return np.asarray(weights @ np.maximum(np.array([mean for _, mean in walks]), 0.0))


def smoothed(noisy: Floats, deviation: float) -> Floats:
    """Numbers of ordered cells: a random walk up to the last one that stands out, and a tail that falls after it."""
    strong = np.flatnonzero(noisy > STRONG * deviation)
    if not len(strong):
        return _falling(noisy, deviation, STRONG * deviation)
    end = int(strong[-1]) + 1
    tail = _falling(noisy[end:], deviation, float(noisy[end - 1]))
    return np.concatenate([walked(noisy[:end], deviation), tail])


def _falling(noisy: Floats, deviation: float, highest: float) -> Floats:
    """The mean of all tails that begin at most about this high, fall by a constant factor and end, by their likelihood."""
    cells = np.arange(len(noisy))
    shapes = np.array([np.where(cells < end, fall**cells, 0.0) for fall in FALLS for end in cells + 1])
    if not len(shapes):
        return noisy
    height = np.linspace(0, 1.1 * highest, HEIGHTS)[1:]
    fits = height * (shapes @ noisy)[:, None] - height**2 * (shapes**2).sum(axis=1)[:, None] / 2
    weights = _likely(fits / deviation**2 - np.log(height))
    return np.asarray((weights @ height) @ shapes)


def _likely(logarithms: Floats) -> Floats:
    """Weights in proportion to likelihoods."""
    weights: Floats = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum())
