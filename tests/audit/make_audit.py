"""`make audit`: tries to falsify every claim through Python, the command line and the web app, and writes docs/trust.md.

    python tests/audit/make_audit.py MINUTES [OUTPUT]

The time is divided between the parts; every line of the table states how many trials it had. Exit code 1 if a claim is
contradicted or a planted fault is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import front_ends_audited
from front_ends_audited import Sampler
from planted_faults import FAULTS
from sampled_losses import ERROR_RATE, Losses, View, at_least
from worst_pairs import DELTA, EPSILON, MECHANISMS, PAIRS, Log, Pair, Rows, mechanism_for, release_in_python, source_of

import travas
from travas.verification.privacy_curve import points

ROOT = Path(__file__).resolve().parents[2]
LEAST_RUNS = 4
FULL = 60
"""Minutes of the full audit."""
MOST_RUNS = {"Python": 100_000, "command line": 1_000, "web app": 200}
SHARES = {"Python": 0.6, "command line": 0.15, "web app": 0.1, "faults": 0.15}
"""The parts of the time."""


@dataclass(frozen=True)
class Line:
    """One line of the table: a claim, the test that tries to break it, what it reached, and whether the claim stands."""

    claim: str
    test: str
    trials: str
    bound: str
    holds: bool


def sampled(one: Callable[[], View], other: Callable[[], View], most: int, seconds: float) -> Losses:
    """Run on both logs in turn, until there are enough runs or the time is over."""
    end = time.monotonic() + seconds
    here: list[View] = []
    there: list[View] = []
    while len(here) < most and (time.monotonic() < end or len(here) < LEAST_RUNS):
        here.append(one())
        there.append(other())
    return at_least(here, there, float(EPSILON), float(DELTA))


def exact_curves() -> Iterator[Line]:
    """The stated (ε, δ) against the curve of what is sampled."""
    for name, made in MECHANISMS.items():
        rule = made()
        (point,) = points(rule, [rule.epsilon])
        holds = point.at_most <= rule.delta + Fraction(1, 1 << 98)
        bound = f"δ({EPSILON}) is between {float(point.reached):.3g} and {float(point.at_most):.3g}"
        yield Line(
            f"`{name}` is ({EPSILON}, {DELTA})-DP",
            "exact curve, all counts, both directions",
            "all outcomes",
            bound,
            holds,
        )


def black_box(entry: str, samplers: list[Sampler], seconds: float) -> Iterator[Line]:
    """Lower bounds of the loss on worst-case pairs, one line for each mechanism: its worst pair."""
    by_mechanism: dict[str, list[tuple[Pair, Losses]]] = {}
    for name, pair, one, other in samplers:
        found = sampled(one, other, MOST_RUNS[entry], seconds / len(samplers))
        by_mechanism.setdefault(name, []).append((pair, found))
    for name, results in by_mechanism.items():
        pair, worst = max(results, key=lambda result: result[1].delta)
        runs = sum(losses.runs for _, losses in results)
        fewest = min(losses.runs for _, losses in results)
        yield Line(
            f"`{name}` is ({EPSILON}, {DELTA})-DP",
            f"black box, {entry}, {len(results)} pairs of logs",
            f"{runs:,} runs on each log ({fewest:,} or more for each pair)",
            f"δ ≥ {max(worst.delta, 0):.3g} (worst pair: {pair.name})",
            all(losses.delta <= float(DELTA) for _, losses in results),
        )


def python_samplers() -> list[Sampler]:
    """Every mechanism on every pair that it can be asked for."""
    found = []
    for name in MECHANISMS:
        for pair in PAIRS:
            rule = mechanism_for(name, pair)
            found.append((name, pair, _run(rule, pair, pair.one), _run(rule, pair, pair.other)))
    return found


def _run(rule: travas.Mechanism, pair: Pair, log: Log | Rows) -> Callable[[], View]:
    source = source_of(log)
    return lambda: release_in_python(rule, source, pair)


def planted(seconds: float) -> Iterator[Line]:
    """Every fault must be noticed."""
    for name, fault in FAULTS.items():
        rule = mechanism_for(fault.mechanism, fault.pair)
        with fault.planted():
            one, other = _run(rule, fault.pair, fault.pair.one), _run(rule, fault.pair, fault.pair.other)
            found = sampled(one, other, fault.runs, seconds)
        noticed = found.delta > float(DELTA)
        bound = f"δ ≥ {found.delta:.3g}: noticed" if noticed else f"δ ≥ {max(found.delta, 0):.3g}: MISSED"
        test = f"planted fault in `{fault.mechanism}`: {fault.size}"
        yield Line(f"the audit notices: {name}", test, f"{found.runs:,} runs on each log", bound, noticed)


def audit(minutes: float) -> Iterator[Line]:
    """All lines of the table, within about this time."""
    seconds = 60 * minutes
    pairs = len(PAIRS) if minutes >= FULL else 2
    yield from exact_curves()
    yield from black_box("Python", python_samplers(), seconds * SHARES["Python"])
    with front_ends_audited.samplers("cli", pairs) as of_the_command_line:
        yield from black_box("command line", of_the_command_line, seconds * SHARES["command line"])
    with front_ends_audited.samplers("web", pairs) as of_the_web_app:
        yield from black_box("web app", of_the_web_app, seconds * SHARES["web app"])
    yield from planted(max(60.0, seconds * SHARES["faults"] / len(FAULTS)))


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
    """The version of travas, and the commit where there is one: an editable installation may state an older version."""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return f"travas {travas.__version__}" + (f" (commit {commit})" if commit else "")


def verdict(line: Line) -> str:
    """The last column: samples can contradict a claim, but never show it."""
    if not line.holds:
        return "**CONTRADICTED**"
    return "not contradicted" if line.test.startswith("black box") else "holds"


def page(lines: list[Line], minutes: float, took: float) -> str:
    """The content of docs/trust.md."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    reduced = (
        " This was a reduced run: the full one has 60 minutes, with up to 100,000 runs for each pair. With as few runs as are "
        "stated below, black-box tests would notice only gross violations."
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
    start, lines = time.monotonic(), []
    for line in audit(minutes):
        print(
            "ok  " if line.holds else "FAIL", line.claim, "|", line.test, "|", line.trials, "|", line.bound, flush=True
        )
        lines.append(line)
    output.write_text(page(lines, minutes, time.monotonic() - start), encoding="utf-8")
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
