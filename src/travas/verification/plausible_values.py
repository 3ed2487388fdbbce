"""What every measurement of a release satisfies: sums that fit into 64 bits."""

from __future__ import annotations

LARGEST_SUM = 1 << 62
"""Noisy sums from here on are refused: no log has that many cases, and further sums would overflow 64 bits."""
