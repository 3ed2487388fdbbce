"""Audits of releases: each test has the stated error rate, notices what it is for, and nothing says "is private"."""

import csv
import json
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

import travas as package
from conftest import Run
from travas import Reading
from travas.evaluation.audit import ERROR_RATE, Audit, binomial_tail, guesses, largest_atom, same_error
from travas.mechanisms import mechanism

Trace = tuple[str, ...]
RARE: dict[Trace, int] = {("a", f"step {number}"): 1 for number in range(200)}
FREQUENT: dict[Trace, int] = {("a", f"part {number}"): 300 + 7 * number for number in range(60)}


def finding(result: Audit, name: str) -> Any:
    return next(found for found in result.findings if found.name == name)


def contradicting(result: Audit) -> set[str]:
    return {found.name for found in result.contradictions}


def claim(original: Any, released: Any, **options: Any) -> Audit:
    claimed: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"} | options
    return package.audit(original, released, **claimed)


# ------------------------------------------------------------------------------------------------------- variants


def test_a_release_of_rare_variants_contradicts() -> None:
    result = claim(RARE | FREQUENT, dict(list(RARE.items())[:85]) | {("a", "part 1"): 310})
    assert contradicting(result) == {"variants of one case"}
    assert finding(result, "variants of one case").p_value == pytest.approx(200e-6 / 85)
    assert "contradicts the claim (ε = 1, δ = 1e-6) for one case" in result.verdict


def test_a_method_that_makes_up_traces_is_not_accused_of_rare_ones() -> None:
    result = claim(RARE, {**RARE, ("made", "up"): 2})
    assert finding(result, "variants of one case").reason and not result.contradictions


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("frequencies", ["estimated", "noisy"])
@pytest.mark.parametrize("name", ["optimal", "travas", "ladder"])
def test_releases_of_travas_are_not_contradicted(name: str, frequencies: Any, seed: int) -> None:
    log = {(f"v{number}", *"abc"[: number % 3]): 1 + number % 50 * (number % 7) for number in range(300)} | FREQUENT
    release = package.anonymize(log, mechanism(name, 1, "1e-3"), frequencies=frequencies)
    result = claim(log, release, delta="1e-3")
    assert not result.contradictions, [(found.name, found.p_value, found.observed) for found in result.contradictions]
    assert "private" not in result.verdict


def test_a_synthetic_log_is_not_contradicted() -> None:
    log = {("register", "visit", "release"): 2000, ("register", "release"): 500, ("register", "visit"): 1}
    assert not claim(log, package.synthesize(log, epsilon=1, delta="1e-6")).contradictions


def test_true_counts_contradict() -> None:
    result = claim(FREQUENT, FREQUENT)
    assert {"exact counts", "counts with the same error"} <= contradicting(result)


def test_one_noise_for_all_counts_contradicts() -> None:
    result = claim(FREQUENT, {trace: count + 3 for trace, count in FREQUENT.items()})
    assert contradicting(result) == {"counts with the same error"}


# ---------------------------------------------------------------------------------------------------------- values


def events(cases: int, *, secret: bool) -> list[dict[str, str]]:
    rows, chance = [], random.Random(7)
    for case in range(cases):
        name = f"{chance.getrandbits(64):016x}" if secret else str(case)
        for step in range(3):
            common = f"Dr {chance.choice(['Ada', 'Bob'])}"
            minute = chance.randrange(60 * 24 * 300)
            day, clock = divmod(minute, 60 * 24)
            rows.append(
                {
                    "case_id": name,
                    "activity": "abc"[step],
                    "timestamp": f"2024-{1 + day // 28:02d}-{1 + day % 28:02d} {clock // 60:02d}:{clock % 60:02d}:00",
                    "doctor": common if chance.random() < 0.9 else f"{chance.getrandbits(48):012x}",
                }
            )
    return rows


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as out:
        table = csv.DictWriter(out, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def test_a_copied_table_contradicts_in_every_column(tmp_path: Path) -> None:
    log = written(tmp_path / "log.csv", events(120, secret=True))
    result = claim(log, log, reading=Reading(order="time", ties="file"))
    assert {"values of 'the case'", "values of 'doctor'", "times of a case"} <= contradicting(result)
    assert not {"values of 'the activity'"} & contradicting(result)
    assert "values of 'doctor'" not in {found.name for found in claim(log, log, public=("doctor",)).findings}


def test_numbers_of_cases_that_anybody_could_have_written_do_not_contradict(tmp_path: Path) -> None:
    log, other = events(120, secret=False), events(120, secret=False)
    for row in other:
        row["timestamp"], row["doctor"] = "2000-01-01 00:00:00", "nobody"
    result = claim(written(tmp_path / "log.csv", log), written(tmp_path / "other.csv", other))
    assert finding(result, "values of 'the case'").hits == 120
    assert "values of 'the case'" not in contradicting(result)


# -------------------------------------------------------------------------------------------------------- canaries


@pytest.mark.parametrize(("leaks", "expected"), [(True, True), (False, False)])
def test_canaries(leaks: bool, expected: bool) -> None:
    chance = random.Random(11)
    canaries = {("canary", f"{number}"): 1 for number in range(100)}
    inside = {trace: 1 for trace in canaries if chance.random() < 0.5}
    log = FREQUENT | inside
    guessed = inside if leaks else {trace: 1 for trace in canaries if chance.random() < 0.5}
    result = claim(log, {**FREQUENT, **guessed, ("made", "up"): 1}, canaries=canaries)
    assert ("canaries" in contradicting(result)) is expected


# ------------------------------------------------------------------------------------------------------ statistics


def test_tails_agree_with_scipy() -> None:
    for trials, chance in ((10, 0.5), (1000, 0.001), (5000, 0.3), (200, 1e-6)):
        for least in (0, 1, 2, trials // 3, trials // 2, trials):
            expected = float(binom.sf(least - 1, trials, chance))
            assert binomial_tail(least, trials, chance) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_no_integer_noise_has_a_larger_atom() -> None:
    """Lemma 8 on many distributions that are (ε, δ)-DP under a shift by one, with δ as they have it."""
    for epsilon in (0.2, 1.0, 2.0):
        for width in (1, 2, 5, 40):
            weights = [math.exp(-epsilon * abs(x)) for x in range(-width, width + 1)]
            law = [0.0, *(weight / sum(weights) for weight in weights), 0.0]
            delta = sum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairwise(law))
            assert max(law) <= largest_atom(epsilon, delta) + 1e-12


def test_the_error_rate_of_equal_errors_is_kept() -> None:
    """The worst noise at ε = 1: a bound of 1 % is exceeded in at most 1 % of 2,000 logs (false alarm below 1e-9)."""
    chance, atom, exceeded = random.Random(1), largest_atom(1, 0), 0

    def geometric() -> int:
        return int(-math.log(chance.random()))

    for _ in range(2000):
        drawn = [geometric() - geometric() for _ in range(30)]
        most, at = same_error(drawn, atom)
        exceeded += at(most) <= 0.01
    assert exceeded <= binom.isf(1e-9, 2000, 0.01)


def test_the_error_rate_of_guesses_is_kept() -> None:
    """Randomised response at ε is the best that (ε, 0) allows; its guesses are rarely called a contradiction."""
    chance, epsilon, exceeded = random.Random(2), 1.0, 0
    for _ in range(400):
        right = sum(chance.random() < 1 / (1 + math.exp(-epsilon)) for _ in range(50))
        exceeded += guesses(50, 50, epsilon, 0.0)(right) <= 0.01
    assert exceeded <= binom.isf(1e-9, 400, 0.01)
    assert guesses(50, 50, epsilon, 0.0)(50) < 1e-6 < guesses(50, 50, epsilon, 1e-3)(50)


def test_power_is_that_of_the_binomial_distribution() -> None:
    found = finding(claim(RARE, RARE), "variants of one case")
    needed = found.needed(ERROR_RATE)
    assert needed is not None and found.at(needed) <= ERROR_RATE < found.at(needed - 1)
    assert found.power(ERROR_RATE) == pytest.approx(float(binom.sf(needed - 1, 200, 0.1)))
    assert finding(claim(RARE, RARE, delta="0.5"), "variants of one case").needed(ERROR_RATE) is None


# ------------------------------------------------------------------------------------------------------ command line


def test_the_command_line_says_so_and_exits_with_one(tmp_path: Path, travas: Run) -> None:
    log = written(tmp_path / "log.csv", events(120, secret=True))
    ran = travas("audit", log, log, "--epsilon", 1, "--delta", "1e-6", "--order", "file")
    assert ran.code == 1 and "contradicts the claim" in ran.out and "CONFIDENTIAL" in ran.out and not ran.err
    assert "is private" not in ran.out
    release = tmp_path / "release.csv"
    assert travas("anonymize", log, "--epsilon", 1, "--delta", "1e-6", "-o", release, "--order", "file").code == 0
    ran = travas("audit", log, release, "--epsilon", 1, "--delta", "1e-6", "--order", "file", "--json")
    said = json.loads(ran.out)
    assert ran.code == 0 and said["confidential"] and not said["contradicts"]
    assert {"test", "null_hypothesis", "p_value", "power", "needed"} <= set(said["tests"][0])
    assert travas("audit", log, release, "--epsilon", 0, "--delta", "1e-6").code == 2
    assert travas("audit", tmp_path / "none.csv", release, "--epsilon", 1, "--delta", "1e-6").code == 2


def test_persons_are_audited_as_persons(tmp_path: Path) -> None:
    rows = [
        {
            "case_id": str(case),
            "activity": f"v{case % 40}",
            "patient": f"p{case % 40}" if case % 40 < 30 else f"q{case}",
        }
        for case in range(400)
    ]
    log = written(tmp_path / "log.csv", rows)
    reading = Reading(order="file", unit="patient", max_cases=3)
    result = claim(log, {(f"v{number}",): 10 for number in range(40)}, reading=reading)
    found = finding(result, "variants of one person")
    assert found.candidates == 30 and found.hits == 30 and "all cases of one person" in result.verdict
