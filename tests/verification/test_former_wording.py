"""Guarantee files of earlier versions can still be verified."""

from __future__ import annotations

from travas.mechanisms import mechanism
from travas.trusted.guarantee import PrivacyUnit
from travas.verification.verify import _current


def test_the_former_wording_of_the_unit_is_the_same_assumption() -> None:
    former = [
        "the form of the file",
        "the column 'patient' tells whose a case is: one patient has one value there",
        "of the cases of one patient at most 3 count: fixed without looking at the log",
    ]
    assumptions = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("patient", 3)).guarantee().assumptions
    assert _current(former) == ["the form of the file", *assumptions[:2]]
