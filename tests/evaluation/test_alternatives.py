"""Which kind of release to use, from public numbers."""

import pytest

from conftest import Run
from travas import ParameterError, PrivacyUnit
from travas.evaluation.forecast import ADVICE, ALTERNATIVES, advice, mechanisms, outlook


def test_every_kind_has_an_outlook_without_a_log() -> None:
    made = mechanisms(1, "1e-6")
    found = [outlook(rule) for rule in made.values()]
    assert [*made] == [*ALTERNATIVES] and all(found)
    assert (
        found[0][0]
        == "a variant needs 14 cases to be released with a probability above 50 %, and 28 to be always released"
    )
    assert "weak below about 520 cases" in found[2]


def test_persons_with_several_cases_need_more_of_them() -> None:
    alone, several = (mechanisms(1, "1e-6", unit) for unit in (PrivacyUnit(), PrivacyUnit("patient", 4)))
    assert advice(alone, 1000) == ADVICE != advice(several, 1000)
    with pytest.raises(ParameterError, match="stated_cases"):
        outlook(alone["variants"], 0)


def test_on_the_command_line(travas: Run) -> None:
    ran = travas("forecast", "--epsilon", "0.5", "--delta", "1e-6", "--stated-cases", 800)
    assert ran.code == 0 and "With 800 cases at ε = 0.5 a synthetic log is weak" in ran.out
    assert "CONFIDENTIAL" not in ran.out
    ran = travas("forecast", "--epsilon", 1)
    assert ran.code == 2 and "require one --epsilon and one --delta" in ran.err
