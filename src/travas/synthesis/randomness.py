"""The randomness of post-processing: generation has its own generator, which never sees the noise."""

from __future__ import annotations

import secrets

import numpy as np

Random = np.random.Generator
"""A generator of traces. Its seed reveals nothing about the log."""


def new_seed() -> int:
    """A seed from the operating system."""
    return secrets.randbits(63)


def generator(seed: int, stream: int = 0) -> Random:
    """The generator for a seed: the same seed makes the same log. Traces, times and attributes have a stream each."""
    return np.random.default_rng(seed if stream == 0 else (seed, stream))
