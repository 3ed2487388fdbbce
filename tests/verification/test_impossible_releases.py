"""`verify` refuses what a release file itself proves wrong, even if somebody computed a new digest for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from travas import Ladder, LogError, Mechanism, Optimal, PrefixTree, VerificationError, anonymize, verify
from travas.verification.release_file import read_release

LOG: dict[tuple[str, ...], int] = {("register", "visit", "release"): 500, ("register", "release"): 300, ("call",): 90}
Change = Callable[[dict[str, Any]], object]


def forged(folder: Path, mechanism: Mechanism, change: Change) -> tuple[Path, Path]:
    """A release and its guarantee after a change, with the digest of the changed file."""
    release = anonymize(LOG, mechanism, frequencies="noisy").write(folder / "release.json")
    content = json.loads(release.read_text())
    change(content)
    release.write_text(json.dumps(content))
    guarantee = folder / "release.json.guarantee.json"
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = sha256(release.read_bytes()).hexdigest()
    guarantee.write_text(json.dumps(stated))
    return guarantee, release


def put(field: str, value: Any) -> Change:
    return lambda content: content.update({field: value})


def put_first(field: str, value: Any) -> Change:
    return lambda content: content[field].__setitem__(0, value)


def both(value: Any) -> Change:
    return lambda content: (content["noisy"].__setitem__(0, value), content["counts"].__setitem__(0, value))


def twice(content: dict[str, Any]) -> None:
    content["variants"][1] = content["variants"][0]


OPTIMAL = Optimal(epsilon=1, delta="1e-6")
CHANGES: dict[str, tuple[Mechanism, Change]] = {
    "a count below c": (OPTIMAL, both(3)),
    "a negative count": (OPTIMAL, both(-5)),
    "a huge count": (OPTIMAL, both(10**40)),
    "counts that do not follow": (OPTIMAL, put_first("counts", 7)),
    "a variant twice": (OPTIMAL, twice),
    "an empty name": (OPTIMAL, put_first("variants", [""])),
    "an empty variant": (OPTIMAL, put_first("variants", [])),
    "a name that is a number": (OPTIMAL, put_first("variants", [5])),
    "a count that is a text": (OPTIMAL, both("90")),
    "a count that is a float": (OPTIMAL, both(90.0)),
    "an infinite count": (OPTIMAL, both(float("inf"))),
    "infinitely many cases": (OPTIMAL, put("cases", float("inf"))),
    "a number of cases nobody paid for": (OPTIMAL, put("cases", 890)),
    "a rung that is not there": (OPTIMAL, put_first("rungs", 9)),
    "a ladder without its number of cases": (Ladder(epsilon=1, delta="1e-6"), put("cases", None)),
    "a ladder with less than no cases": (Ladder(epsilon=1, delta="1e-6"), put("cases", -1)),
    "an adaptive ladder on two rungs": (Ladder(epsilon=1, delta="1e-6"), put_first("rungs", 5)),
    "a tree beyond its alphabet": (
        PrefixTree(epsilon=9, delta=0, max_length=3, prune=20, alphabet=["register", "visit", "release", "call"]),
        put_first("variants", ["HIV positive"]),
    ),
    "a tree beyond its length": (
        PrefixTree(epsilon=9, delta=0, max_length=3, prune=20, alphabet=["register", "visit", "release", "call"]),
        put_first("variants", ["call"] * 4),
    ),
    "a tree below its threshold": (
        PrefixTree(epsilon=9, delta=0, max_length=3, prune=20, alphabet=["register", "visit", "release", "call"]),
        both(20),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_impossible_release_does_not_verify(name: str, tmp_path: Path) -> None:
    mechanism, change = CHANGES[name]
    with pytest.raises((VerificationError, LogError)) as refused:
        verify(*forged(tmp_path, mechanism, change))
    assert "release.json" in str(refused.value) and "HIV" not in str(refused.value)


@pytest.mark.parametrize("mechanism", {str(made.name): made for made, _ in CHANGES.values()}.values())
def test_a_possible_release_does(mechanism: Mechanism, tmp_path: Path) -> None:
    assert verify(*forged(tmp_path, mechanism, lambda content: None)).digest_checked


def test_a_release_with_infinite_numbers_is_one_clear_line(tmp_path: Path) -> None:
    _, release = forged(tmp_path, OPTIMAL, put("cases", float("inf")))
    with pytest.raises(LogError, match="not a release of travas"):
        read_release(release)
