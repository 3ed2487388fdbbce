"""End to end, through the command line, as an attacker: neighbouring logs in, files out, the loss estimated from them.

Variants are treated independently, so one run on a log of 8,000 variants of n cases each is 8,000 runs on one
variant of n cases. Every pair (n, n+1) is tried both ways. False alarm: 1e-6 a bound.
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sampled_losses import at_least

from travas import Log
from travas.mechanisms import MECHANISMS, mechanism

VARIANTS = 8_000
EPSILON, DELTA = "1", "0.05"


def write_log(path: Path, cases: int) -> Path:
    with path.open("w") as out:
        out.write("case_id,activity\n")
        for variant in range(VARIANTS):
            for case in range(cases):
                out.write(f"{variant}-{case},activity {variant}\n")
        out.write("other,something else\n")
    return path


def outputs(run: object, log: Path, name: str, epsilon: str) -> NDArray[np.int64]:
    """For every variant its released count, or 0 where it is absent.

    A tree of one level has one cell for each activity, and a second one, for going on, that is not looked at here.
    """
    target = log.with_suffix(".json")
    options: list[object] = ["--mechanism", name, "-o", target, "--force", "--order", "file"]
    if name == "prefix-tree":
        alphabet = log.with_suffix(".txt")
        alphabet.write_text("\n".join(f"activity {variant}" for variant in range(VARIANTS)))
        options += ["--max-length", 1, "--prune", 2, "--alphabet", alphabet]
    ran = run("anonymize", log, "--epsilon", epsilon, "--delta", DELTA, *options)  # type: ignore[operator]
    assert ran.code == 0, ran.err
    content = json.loads(target.read_text())
    found = np.zeros(VARIANTS, dtype=np.int64)
    for (activity,), count in zip(content["variants"], content["noisy"], strict=True):
        if activity.startswith("activity "):
            found[int(activity.split()[1])] = count
    return found


def shown(here: NDArray[np.int64], there: NDArray[np.int64]) -> float:
    """A lower bound of δ, in the worse direction."""
    one, other = ([(int(count),) for count in counts] for counts in (here, there))
    return at_least(one, other, float(EPSILON), float(DELTA)).delta


OWN_TEST = ("sacofa", "synthesis", "map")  # below, in test_rare_variants.py and in test_process_map.py


@pytest.mark.parametrize(
    "name", [name for name in MECHANISMS if not name.endswith("-published") and name not in OWN_TEST]
)
def test_neighbouring_logs_cannot_be_told_apart_beyond_the_guarantee(name: str, tmp_path: Path, travas: object) -> None:
    drawn = [outputs(travas, write_log(tmp_path / f"{cases}.csv", cases), name, EPSILON) for cases in range(8)]
    assert name == "prefix-tree" or not drawn[0].any()
    assert max(shown(here, there) for here, there in pairwise(drawn)) <= float(DELTA)


def test_the_attack_finds_noise_that_is_too_small(tmp_path: Path, travas: object) -> None:
    """Noise made for ε = 2.5 but claimed to be for ε = 1 is detected: the attack works."""
    drawn = [outputs(travas, write_log(tmp_path / f"{cases}.csv", cases), "optimal", "2.5") for cases in range(1, 5)]
    assert max(shown(here, there) for here, there in pairwise(drawn)) > float(DELTA)


@pytest.mark.slow
def test_sacofa_of_two_levels_cannot_be_told_apart_either() -> None:
    """Many releases of two neighbouring logs: which variants came out, SaCoFa has |A|² rules."""
    runs = 6000
    tree = mechanism("sacofa", EPSILON, DELTA, max_length=2, prune=3)
    samples = []
    for more in (5, 6):
        variants = Log.from_mapping({("a",): 6, ("a", "b"): more, ("b", "a"): 1})
        drawn = [tree.release(variants).variants for _ in range(runs)]
        samples.append([(found,) for found in drawn])
    assert at_least(samples[0], samples[1], float(EPSILON), float(DELTA)).delta <= float(DELTA)
