"""Exact integer square roots of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def integer_root(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """⌊√v⌋ for 0 ≤ v < 2^52: a float's root is off by at most one, and corrected."""
    root = np.sqrt(values).astype(np.int64)
    root -= root * root > values
    root += (root + 1) ** 2 <= values
    return root
