"""The randomness of post-processing: generation has its own generator, which never sees the noise."""

from __future__ import annotations

import secrets

import numpy as np

from ..trusted.samplers import Floats, Integers

Random = np.random.Generator
"""A generator of traces. Its seed reveals nothing about the log."""


def new_seed() -> int:
    """A seed from the operating system."""
    return secrets.randbits(63)


def generator(seed: int, stream: int = 0) -> Random:
    """The generator for a seed: the same seed makes the same log. Traces, times and attributes have a stream each."""
    return np.random.default_rng(seed if stream == 0 else (seed, stream))


def drawn_cells(shares: Floats, row: Integers, random: Random) -> Integers:
    """A cell for every row by its shares, one from each of equal parts of the row's distribution."""
    order = random.permutation(len(row))
    order = order[np.argsort(row[order], kind="stable")]
    sizes = np.bincount(row, minlength=len(shares))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    even = (rank + random.random(len(row))) / np.repeat(sizes, sizes)
    total = np.cumsum(shares, axis=1)
    flat = (total / total[:, -1:] + np.arange(len(shares))[:, None]).ravel()
    sorted_row = row[order]
    index = np.searchsorted(flat, sorted_row + even, side="right") - sorted_row * shares.shape[1]
    cells = np.empty(len(row), dtype=np.int64)
    cells[order] = np.minimum(index, shares.shape[1] - 1)
    return cells
