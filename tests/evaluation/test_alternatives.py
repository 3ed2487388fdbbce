"""Which kind of release to use: from public numbers, and, confidentially, by trying."""

import json

import pytest

from conftest import Run
from travas import Ledger, ParameterError, PrivacyUnit
from travas.errors import EmptyLogError
from travas.evaluation.forecast import ADVICE, ALTERNATIVES, advice, mechanisms, outlook, trials

FEW = {("a", "b"): 700, ("a", "c"): 300}
DIVERSE = {tuple(f"a{(n * k) % 7}" for k in range(1, 9)) + ("x",) * (n // 49): 1 for n in range(1200)}


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


def test_trials_show_what_suits_a_log() -> None:
    made = mechanisms(2, "1e-6")
    few = trials(FEW, made)
    of_map = few["process map"]
    assert of_map["kept_mass"] == 1 and 0 < (of_map["count_error"] or 0) < 0.1
    assert few["variants"]["case_coverage"] == 1 and (few["variants"]["similarity"] or 0) > 0.97
    diverse = {kind: facts.get("similarity") or 0 for kind, facts in trials(DIVERSE, made).items()}
    assert diverse["synthetic log"] > diverse["variants"] + 0.1
    with pytest.raises(EmptyLogError):
        trials({}, made)


def test_on_the_command_line(small_csv: object, travas: Run, ledger_path: object) -> None:
    ran = travas("forecast", "--epsilon", "0.5", "--delta", "1e-6", "--stated-cases", 800)
    assert ran.code == 0 and "With 800 cases at ε = 0.5 a synthetic log is weak" in ran.out
    assert "CONFIDENTIAL" not in ran.out
    ran = travas("forecast", small_csv, "--kinds", "--epsilon", 1, "--delta", "1e-6")
    assert "CONFIDENTIAL" in ran.out and "nothing was released or charged" in " ".join(ran.out.split())
    facts = json.loads(travas("forecast", small_csv, "--kinds", "--epsilon", 1, "--delta", "1e-6", "--json").out)
    assert facts["confidential"] and set(facts["trials"]) == set(ALTERNATIVES)
    assert not Ledger.default().history()
    ran = travas("forecast", "--epsilon", 1)
    assert ran.code == 2 and "require one --epsilon and one --delta" in ran.err
