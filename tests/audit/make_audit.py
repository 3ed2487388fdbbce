"""`make audit`: tries to falsify every claim, and writes docs/trust.md.

    python tests/audit/make_audit.py MINUTES [OUTPUT]

The time is divided between the parts, and all processors are used; every line of the table states how many trials it had.
Exit code 1 if a claim is contradicted or a planted fault is missed.
"""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from pathlib import Path

from planted_faults import FAULTS
from sampled_losses import ERROR_RATE, Losses, View, at_least
from worst_pairs import DELTA, EPSILON, MECHANISMS, PAIRS, Pair, mechanism_for, release_in_python, source_of

import travas
from travas.verification.privacy_curve import points

ROOT = Path(__file__).resolve().parents[2]
LEAST_RUNS = 4
WORKERS = os.cpu_count() or 1
FULL = 60
"""Minutes of the full audit."""
MOST_RUNS = 100_000
SHARES = {"black box": 0.8, "faults": 0.2}
"""The parts of the time."""


@dataclass(frozen=True)
class Line:
    """One line of the table: a claim, the test that tries to break it, what it reached, and whether the claim stands."""

    claim: str
    test: str
    trials: str
    bound: str
    holds: bool


def audited_losses(mechanism: str, pair: Pair, seconds: float) -> Losses:
    """Run a mechanism on both logs of a pair until there are enough runs or its time is over."""
    return sampled(mechanism_for(mechanism, pair), pair, MOST_RUNS, seconds, time.monotonic)


def noticed_losses(name: str, seconds: float) -> Losses:
    """Run a mechanism with a planted fault, within this processor time: a busy machine must not cause one to be missed."""
    fault = FAULTS[name]
    rule = mechanism_for(fault.mechanism, fault.pair)
    with fault.planted():
        return sampled(rule, fault.pair, fault.runs, seconds, time.process_time)


def sampled(rule: travas.Mechanism, pair: Pair, most: int, seconds: float, clock: Callable[[], float]) -> Losses:
    """Run on both logs in turn, until there are enough runs or the time is over."""
    one, other = map(source_of, (pair.one, pair.other))
    end = clock() + seconds
    here: list[View] = []
    there: list[View] = []
    while len(here) < most and (clock() < end or len(here) < LEAST_RUNS):
        here.append(release_in_python(rule, one, pair))
        there.append(release_in_python(rule, other, pair))
    return at_least(here, there, float(EPSILON), float(DELTA))


def exact_curves() -> Iterator[Line]:
    """The stated (ε, δ) against the curve of what is sampled."""
    for name, made in MECHANISMS.items():
        rule = made()
        (point,) = points(rule, [rule.epsilon])
        holds = point.at_most <= rule.delta + Fraction(1, 1 << 98)
        bound = f"δ({EPSILON}) ≤ {float(point.at_most):.3g}"
        claim, test = f"`{name}` is ({EPSILON}, {DELTA})-DP", "privacy curve, all counts, both directions"
        yield Line(claim, test, "all outcomes", bound, holds)


def black_box(seconds: float) -> Iterator[Line]:
    """Lower bounds of the loss on worst-case pairs, one line for each mechanism: its worst pair."""
    by_mechanism: dict[str, list[tuple[Pair, Losses]]] = {}
    names, pairs = zip(*product(MECHANISMS, PAIRS), strict=True)
    with _pool() as pool:
        found = pool.map(audited_losses, names, pairs, [seconds * WORKERS / len(names)] * len(names))
        for name, pair, losses in zip(names, pairs, found, strict=True):
            by_mechanism.setdefault(name, []).append((pair, losses))
    for name, results in by_mechanism.items():
        pair, worst = max(results, key=lambda result: result[1].delta)
        runs = sum(losses.runs for _, losses in results)
        fewest = min(losses.runs for _, losses in results)
        yield Line(
            f"`{name}` is ({EPSILON}, {DELTA})-DP",
            f"black box, {len(results)} pairs of logs",
            f"{runs:,} runs on each log ({fewest:,} or more for each pair)",
            f"δ ≥ {max(worst.delta, 0):.3g} (worst pair: {pair.name})",
            all(losses.delta <= float(DELTA) for _, losses in results),
        )


def _pool() -> ProcessPoolExecutor:
    """New processes, since Polars must not be forked."""
    return ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn"))


def planted(seconds: float) -> Iterator[Line]:
    """Every fault must be noticed."""
    with _pool() as pool:
        found = list(pool.map(noticed_losses, FAULTS, [seconds] * len(FAULTS)))
    for (name, fault), losses in zip(FAULTS.items(), found, strict=True):
        noticed = losses.delta > float(DELTA)
        bound = f"δ ≥ {losses.delta:.3g}: noticed" if noticed else f"δ ≥ {max(losses.delta, 0):.3g}: MISSED"
        test = f"planted fault in `{fault.mechanism}`: {fault.size}"
        yield Line(f"the audit notices: {name}", test, f"{losses.runs:,} runs on each log", bound, noticed)


def audited(minutes: float) -> Iterator[Line]:
    """All parts, within about this time."""
    seconds = {part: 60 * minutes * share for part, share in SHARES.items()}
    yield from exact_curves()
    yield from black_box(seconds["black box"])
    yield from planted(max(60.0, seconds["faults"] / len(FAULTS)))


def _printed(lines: Iterator[Line]) -> Iterator[Line]:
    for line in lines:
        print(
            "ok  " if line.holds else "FAIL", line.claim, "|", line.test, "|", line.trials, "|", line.bound, flush=True
        )
        yield line


OTHER_CLAIMS = (
    ("what follows the measurements depends on them alone", "`tests/contract/test_replay.py`"),
    ("adding one case changes what is counted of no other", "`tests/contract/test_adjacency.py`"),
    ("readers refuse damaged files and never crash", "`tests/fuzz`, `make fuzz`"),
    (
        "whatever fails, nothing is released uncharged or half-written",
        "`tests/contract/test_front_ends.py`, `tests/e2e`",
    ),
    ("a damaged ledger is refused", "`tests/budget/test_ledger_damage.py`: every single-bit flip"),
    ("nothing is sent over the network", "`tests/supply/test_no_network.py`"),
    ("the wheel is reproducible, dependencies and licences are listed", "`tests/supply/test_supply_chain.py`"),
)


def version() -> str:
    """The commit where there is one, else the version: an editable installation may state an older version."""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return f"travas, commit {commit}" if commit else f"travas {travas.__version__}"


def verdict(line: Line) -> str:
    """The last column: samples can contradict a claim, but never show it."""
    if not line.holds:
        return "**CONTRADICTED**"
    return "not contradicted" if line.test.startswith("black box") else "holds"


def page(lines: list[Line], minutes: float, took: float) -> str:
    """The content of docs/trust.md."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    reduced = (
        f" It is reduced, because the full run has {FULL} minutes: with as few runs as are stated below, "
        "black-box tests would notice only gross violations."
    )
    head = [
        "# Trust",
        "",
        "This page is written by `make audit`, not by hand.",
        "How the tests work and why they are valid: [audits](audit.md).",
        "",
        f"Last run: {now}, {version()}, {took / 60:.0f} minutes.{reduced if minutes < FULL else ''}",
        f"Claims are audited at ε = {EPSILON}, δ = {DELTA}, where a violation is measurable.",
        f"A lower bound of δ is wrong with a probability of at most {ERROR_RATE:g}; above {DELTA} it contradicts a claim.",
        "",
        "| claim | test that tries to break it | trials | bound reached | |",
        "|---|---|---|---|---|",
    ]
    rows = [f"| {x.claim} | {x.test} | {x.trials} | {x.bound} | {verdict(x)} |" for x in lines]
    tail = [
        "",
        "Claims that `make test` and `make test-slow` try to break on every run:",
        "",
        "| claim | tests |",
        "|---|---|",
    ]
    return "\n".join([*head, *rows, *tail, *(f"| {claim} | {tests} |" for claim, tests in OTHER_CLAIMS), ""])


def main() -> int:
    """Run the audit, print its lines as they come, and write the page."""
    for name in ("TRAVAS_LEDGER", "TRAVAS_POLICY"):  # neither may refuse what is audited
        os.environ.pop(name, None)
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    output = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "trust.md"
    start = time.monotonic()
    lines = list(_printed(audited(minutes)))
    output.write_text(page(lines, minutes, time.monotonic() - start), encoding="utf-8")
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
