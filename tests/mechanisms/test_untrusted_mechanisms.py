"""Mechanisms of other packages that state or do something wrong: refused by name, before the charge where it is known."""

from __future__ import annotations

import errno
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest

from travas import ChargedError, Ledger, Optimal, ParameterError, PrivacyUnit, Standing
from travas.pipeline import Phase, run
from travas.privacy.guarantee import Guarantee
from travas.request import Request

LOG = {("a", "b"): 400}
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
SECRET = "patient 4711 died"


def made(**methods: Any) -> Any:
    """A mechanism of another package, with some of its methods replaced."""
    return attrs.frozen(slots=False)(type("Theirs", (Optimal,), {"__module__": "elsewhere"} | methods))(1, "1e-6")


def promising(
    epsilon: Fraction = EPSILON, delta: Fraction = DELTA, **more: Any
) -> dict[str, Callable[[Any], Guarantee]]:
    stated = {"mechanism": "x", "standing": Standing.PROVEN} | more
    return {"_promise": lambda self: Guarantee(epsilon, delta, Fraction(0), **stated)}


def failing(self: Any, variants: Any) -> None:
    raise OSError(errno.EIO, SECRET)


@pytest.mark.parametrize(
    ("methods", "why"),
    [
        (promising(epsilon=Fraction(1, 1000)), "has another epsilon, delta or unit than the mechanism"),
        (promising(delta=Fraction(0)), "has another epsilon, delta or unit than the mechanism"),
        (promising(unit=PrivacyUnit("patient", 3)), "has another epsilon, delta or unit than the mechanism"),
        (promising(unit="case"), r"unit is 'case'; use travas.PrivacyUnit"),
        (promising(standing="proven"), "standing is 'proven'; use travas.Standing"),
        (promising(assumptions=("\udc80",)), "failed with UnicodeEncodeError"),
        ({"parameters": lambda self: {"constant": float("nan")}}, "failed with ValueError"),
        ({"parameters": lambda self: []}, "failed with TypeError"),
        ({"details": property(lambda self: 5)}, r"details is 5; use travas.Details"),
        ({"check": failing}, "failed with OSError"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_mechanism_is_found_before_the_charge(
    methods: dict[str, Any], why: str, book: Ledger, tmp_path: Path
) -> None:
    book.create_account("ward")
    asked: dict[str, Any] = {"ledger": book, "dataset": "ward", "output": tmp_path / "out.json"}
    with pytest.raises(ParameterError, match=why) as refused:
        run(Request(LOG, made(**methods), guarantee="not required", **asked))
    assert SECRET not in str(refused.value) and not book.account("ward").entries


def test_the_text_of_an_error_of_the_system_is_not_quoted(book: Ledger) -> None:
    book.create_account("ward")
    with pytest.raises(ChargedError, match="elsewhere:Theirs failed with OSError") as failed:
        run(Request(LOG, made(_release=failing), guarantee="not required", ledger=book, dataset="ward"))
    assert SECRET not in str(failed.value)
    assert str(ChargedError.from_cause(OSError(errno.EIO, SECRET), "ward")).startswith(
        "operating system error: Input/output error; the charge"
    )


def test_what_fails_in_a_progress_bar_is_not_a_failure_of_the_mechanism(book: Ledger) -> None:
    def watch(stage: Phase, share: float) -> None:
        if stage is Phase.DONE:
            raise ValueError(SECRET)

    book.create_account("ward")
    with pytest.raises(ChargedError, match="^unexpected ValueError"):
        run(Request(LOG, made(), guarantee="not required", ledger=book, dataset="ward"), watch)
