"""Noise for persons with several variants: thresholds and standard deviations before and after, `make bench-persons`.

Before: each of M counts is given (ε/M, δ/M). After: the table that `optimal` samples. The threshold is the number of
persons with which a variant is kept with probability 1/2. Prints the table of docs/mechanisms/persons.md.
"""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product

from travas import Optimal, PrivacyUnit
from travas.search.person_tables import threshold_of, variance_of
from travas.search.table_builders import optimal_table
from travas.trusted.tables import NoiseTable

COUNTS = (2, 3, 5, 10, 20, 50)
EPSILONS = ("0.5", "1", "2")
DELTAS = ("1e-4", "1e-6", "1e-8")


def described(table: NoiseTable) -> str:
    return f"{threshold_of(table)} ({float(variance_of(table)) ** 0.5:.1f})"


def main() -> None:
    print("| ε | δ | " + " | ".join(f"M = {counts}" for counts in COUNTS) + " |")
    print("|--:|--:|" + "--:|" * len(COUNTS))
    slowest = 0.0
    for epsilon, delta in product(EPSILONS, DELTAS):
        cells = []
        for counts in COUNTS:
            before = optimal_table(Fraction(epsilon) / counts, Fraction(delta) / counts)
            started = time.perf_counter()
            rule = Optimal(epsilon, delta, unit=PrivacyUnit("patient", counts))
            after = rule.noise.table
            slowest = max(slowest, time.perf_counter() - started)
            change = f" → {described(after)}" if rule.joint else ", unchanged"
            cells.append(described(before) + change)
        print(f"| {epsilon} | {delta} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nThe slowest table took {slowest:.2f} s to search, build and verify.")
    for counts in (20, 100, 1000):
        started = time.perf_counter()
        rule = Optimal(1, "1e-5", unit=PrivacyUnit("patient", counts))
        threshold = threshold_of(rule.noise.table)
        print(f"M = {counts} at ε = 1, δ = 1e-5: threshold {threshold}, {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
