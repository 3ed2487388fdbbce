"""What the ledger costs in time, and what twelve releases cost together: `make bench-ledger`.

The exact total is checked by enumeration, by code that shares nothing with `travas.accounting` and dp-accounting: all
outcomes of twelve tables, grouped by their privacy loss, probabilities as whole multiples of 2^-1536. Losses are
rounded once down and once up to 2^-70, so that the truth lies between two numbers that agree to fifteen digits.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

from harness import DATA, SCRATCH, finish, row

import travas
from travas.budget.accounting import Spending, basic, compose

LOG = DATA / "bpic2013-incidents.xes.gz"
RELEASES, EPSILON, DELTA = 12, Fraction(1, 5), Fraction(1, 10**7)
FINE = 1 << 70

RELEASE = """
import json, sys, time
import numpy, polars, travas, travas.sources.xes
path, out, file = sys.argv[1:]
spent = 0.0
class Timed(travas.Ledger):
    pass
def timed(name):
    def method(self, *words):
        global spent
        started = time.perf_counter()
        try:
            return getattr(travas.Ledger, name)(self, *words)
        finally:
            spent += time.perf_counter() - started
    return method
for name in ("__post_init__", "check", "charge"):
    setattr(Timed, name, timed(name))
started = time.perf_counter()
release = travas.anonymize(path, epsilon="0.2", delta="1e-7", ledger=Timed(file))
release.write(out, existing="replace")
print(json.dumps([spent, time.perf_counter() - started]))
"""


def overhead() -> None:
    """Time within the ledger, importing SQLite and all, by the rest of the run, each run a process of its own; medians."""
    ledger = SCRATCH / "ledger.db"
    ledger.unlink(missing_ok=True)
    found = []
    for _ in range(15):
        command = [sys.executable, "-c", RELEASE, str(LOG), str(SCRATCH / "out.xes.gz"), str(ledger)]
        spent, total = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        found.append((spent, total - spent))
    spent, rest = (statistics.median(times) for times in zip(*found, strict=True))
    note = f"[{spent * 1000:.1f} ms of {(spent + rest) * 1000:.0f} ms]"
    row("Ledger: overhead on a release of BPIC13", 100 * spent / rest, 5, "≤", "%", note)


def enumerated(weights: list[int], times: int, epsilons: list[Fraction], way: int) -> list[Decimal]:
    """δ at every ε of a number of equal tables, f against f shifted, by all outcomes; losses rounded down (0) or up (1)."""
    context = Context(prec=60)
    atoms: defaultdict[int, int] = defaultdict(int)
    infinite, total = 0, sum(weights)
    for p, q in zip([*weights, 0], [0, *weights], strict=True):
        if p and q:
            logarithm = context.subtract(context.ln(Decimal(p)), context.ln(Decimal(q)))
            atoms[math.floor(context.multiply(logarithm, Decimal(FINE))) + way] += p
        elif p:
            infinite += p
    joint: dict[int, int] = {0: 1}
    for _ in range(times):
        sums: defaultdict[int, int] = defaultdict(int)
        for loss, mass in joint.items():
            for other, more in atoms.items():
                sums[loss + other] += mass * more
        joint = sums
    found = []
    for epsilon in epsilons:
        delta = Decimal(1) - context.power(Decimal(1) - context.divide(Decimal(infinite), Decimal(total)), times)
        for loss, mass in joint.items():
            beyond = Fraction(loss, FINE) - epsilon
            if beyond > 0:
                power = context.divide(Decimal(-beyond.numerator), Decimal(beyond.denominator))
                share = context.divide(Decimal(mass), Decimal(total**times))
                delta = context.add(delta, context.multiply(share, context.subtract(Decimal(1), context.exp(power))))
        found.append(delta)
    return found


def _least(composed: Callable[[Fraction], Fraction], total: Fraction, delta: Fraction) -> float:
    """The smallest ε at which the releases together keep δ, by bisection; infinite if there is none."""
    low, high = Fraction(0), total
    if composed(high) > delta:
        return math.inf
    while high - low > Fraction(1, 10**6):
        middle = (low + high) / 2
        low, high = (low, middle) if composed(middle) <= delta else (middle, high)
    return float(high)


def twelve() -> None:
    spendings = [Spending.of(travas.Optimal(EPSILON, DELTA))] * RELEASES
    composed = compose(spendings)
    epsilon, delta = basic(spendings)
    print(f"    twelve releases at ε = 0.2, δ = 1e-7: basic total ε = {float(epsilon)}, δ = {float(delta):.3g}")
    for wanted in ("1.2e-6", "2e-6", "1e-5", "1e-4", "1e-3"):
        print(f"    exact total at δ = {wanted}: ε = {_least(composed, epsilon, Fraction(wanted)):.4f}")
    table = travas.Optimal(EPSILON, DELTA).noise.table
    bounds = [0, *table.boundaries()]
    weights = [above - below for below, above in pairwise(bounds)]
    points = [Fraction(point) for point in ("2.4", "2.39", "2.2", "2", "1.5", "1", "0")]
    bracket = {}
    for way in (0, 1):
        directions = [enumerated(list(side), RELEASES, points, way) for side in (weights, weights[::-1])]
        bracket[way] = [max(pair) for pair in zip(*directions, strict=True)]
    worst = Fraction(0)
    for point, low, high in zip(points, bracket[0], bracket[1], strict=True):
        reported = composed(point)
        print(f"    δ at ε = {float(point):<4}: enumerated {low:.10e} to {high:.10e}, reported {float(reported):.10e}")
        if reported < Fraction(low):
            raise SystemExit("the reported total is below the truth")
        worst = max(worst, reported / Fraction(high) - 1)
    row(
        "Twelve releases: exact δ beyond the enumerated one, at most",
        float(100 * worst),
        0.1,
        "≤",
        "%",
        f"[{float(100 * worst):.5f} %]",
    )


if __name__ == "__main__":
    twelve()
    if LOG.exists():
        overhead()
    else:
        print(f"--  {LOG.name} is not here; set TRAVAS_DATA")
    finish()
