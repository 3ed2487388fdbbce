"""What public rules gain on public logs: `make bench-rules`.

At ε = 1 and δ = 1e-6, 40 runs with and without the rules: similarity to the original, and the total variation of
directly-follows frequencies. The rules are what a clerk knows of the process; some cases of the logs break them.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from statistics import mean, stdev

from harness import finish, row
from sampled_metrics import sampled

from synthesis import DELTA, grams, log_of, total_variation
from travas import Synthesis
from travas.evaluation.metrics import relative_log_similarity
from travas.log.rules import Rules
from travas.log.traces import Trace
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded

RUNS = int(os.environ.get("RUNS", "40"))
PAID = ("Request Payment", "Payment Handled")
SUBMITTED, APPROVED = "Declaration SUBMITTED by EMPLOYEE", "Declaration FINAL_APPROVED by SUPERVISOR"
REQUESTED, PERMIT = "Request For Payment SUBMITTED by EMPLOYEE", "Permit SUBMITTED by EMPLOYEE"
FINE = ("Create Fine", "Send Fine", "Insert Fine Notification", "Add penalty")
DOCUMENT = [f"T{step} document X request unlicensed" for step in ("11 Create", "12 Check", "14 Determine", "15 Print")]


def in_order(*activities: str) -> tuple[str, ...]:
    return tuple(f"{first} < {then}" for first, then in pairwise(activities))


RULES = {
    "sepsis": Rules(
        starts_with=("ER Registration",),
        at_most_once=("ER Registration", "ER Triage", "ER Sepsis Triage", *(f"Release {kind}" for kind in "ABCDE")),
    ),
    "receipt": Rules(
        starts_with=("Confirmation of receipt",), at_most_once=("Confirmation of receipt",), before=in_order(*DOCUMENT)
    ),
    "bpic2020-domestic-declarations": Rules(
        starts_with=(SUBMITTED, "Declaration SAVED by EMPLOYEE"), at_most_once=PAID, before=in_order(SUBMITTED, APPROVED, *PAID)
    ),
    "bpic2020-prepaid-travel-cost": Rules(
        starts_with=(PERMIT, REQUESTED, "Request For Payment SAVED by EMPLOYEE"), at_most_once=PAID,
        before=(*in_order(REQUESTED, *PAID), f"{PERMIT} < Permit FINAL_APPROVED by SUPERVISOR"),
    ),
    "road-traffic-fines": Rules(starts_with=FINE[:1], at_most_once=FINE, before=in_order(*FINE)),
}  # fmt: skip


def scores(name: str, rules: Rules | None, run: int) -> tuple[float, float]:
    """Similarity and directly-follows error of one release."""
    log, released = log_of(name), Counter[Trace]()
    made = with_random_bytes(Synthesis(1, DELTA, rules=rules), Seeded(run)).release(log)
    released.update(dict(zip(made.variants, made.counts, strict=True)))
    original = dict(log.items())
    similarity = relative_log_similarity(sampled(original), sampled(released))
    return similarity, total_variation(grams(original, 2), grams(released, 2))


if __name__ == "__main__":
    for name in os.environ.get("LOGS", " ".join(RULES)).split():
        pairs = [(scores(name, None, run), scores(name, RULES[name], run)) for run in range(RUNS)]
        for what, index, sign in (("similarity", 0, 1), ("directly-follows error", 1, -1)):
            gains = [sign * (ruled[index] - free[index]) for free, ruled in pairs]
            free, ruled = (mean(pair[which][index] for pair in pairs) for which in (0, 1))
            error = stdev(gains) / RUNS**0.5
            row(f"{name}: gain in {what}", mean(gains), -2 * error, "≥", "", f"{free:.3f} -> {ruled:.3f} ± {error:.4f}")
    finish()
