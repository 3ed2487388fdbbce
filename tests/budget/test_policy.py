"""The policy of an organisation: refused before anything is read, with the rule's own explanation."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from travas import BudgetError, Ledger, ParameterError, Policy, PrivacyUnit, anonymize, process_map, synthesize
from travas.budget.account import Approval, Entry
from travas.budget.policy import RULES, PolicyRule, problem_of
from travas.errors import PolicyError
from travas.log.plain import plain
from travas.mechanisms import mechanism
from travas.outputs.write import write_hospital_log
from travas.pipeline import Phase, Request, run
from travas.sources.example_log import ExampleLog, hospital_traces

RULE = {
    "epsilon_per_release": 'at_most = "1/2"',
    "delta_per_release": "at_most = 1e-7",
    "epsilon_per_year": "at_most = 1.5",
    "delta_per_year": "at_most = 1.5e-6",
    "units": 'allowed = ["patient"]',
    "mechanisms": 'allowed = ["travas", "ladder"]',
    "reason": "required = true",
    "sign_off": "required = true",
}
PROBLEMS = {
    "epsilon_per_release": "ε is 1; ε per release: at most 0.5, because of the works council",
    "delta_per_release": "δ is 1e-6; δ per release: at most 1e-7",
    "epsilon_per_year": "ε is 2 together with the earlier releases of this year; ε per year: at most 1.5",
    "delta_per_year": "δ is 2e-6 together with the earlier releases of this year",
    "units": "unit is 'case'; units: only patient",
    "mechanisms": "mechanism is 'optimal'; mechanisms: only travas, ladder",
    "reason": "reason is empty; a reason is required",
    "sign_off": "signed_off_by is empty; a sign-off is required",
}
APPROVED = Approval("decided on 3 May", "A. Officer")


def written(path: Path, *names: str) -> Path:
    tables = (
        f'[rules.{name}]\n{RULE[name]}\nbecause = "of the works council"\nsource = "minutes of 3 May"' for name in names
    )
    path.write_text("\n".join(['name = "clinic"', *tables, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", RULES)
def test_every_rule_refuses_with_its_own_explanation_before_anything_is_read(
    name: str, tmp_path: Path, ledger_path: Path
) -> None:
    ledger = Ledger(ledger_path)
    ledger.create_account("clinic")
    ledger.charge(Entry.of("clinic", None, mechanism("optimal", 1, "1e-6"), "case_id"))
    request = Request(
        tmp_path / "there is no log.csv",
        mechanism("optimal", 1, "1e-6"),
        ledger=ledger,
        dataset="clinic",
        policy=Policy.load(written(tmp_path / "policy.toml", name)),
    )
    with pytest.raises(BudgetError if name.endswith("_per_year") else PolicyError) as error:
        run(request)
    assert PROBLEMS[name] in str(error.value)
    assert "because of the works council (minutes of 3 May)" in str(error.value)
    assert len(ledger.account("clinic").entries) == 1


def test_a_release_within_the_policy_is_made_and_its_approval_is_recorded(small_csv: Path, ledger_path: Path) -> None:
    policy = Policy.load(Path("default"))
    request = Request(
        small_csv, mechanism("optimal", 1, "1e-6"), ledger=Ledger(ledger_path), policy=policy, approval=APPROVED
    )
    outcome = run(request)
    assert outcome.account is not None
    assert outcome.account.entries[0].approval == APPROVED
    (entry,) = Ledger(ledger_path).history()
    assert entry.policy == plain(policy)  # the rules that were checked, whatever the file says later


@pytest.mark.parametrize("release", [anonymize, synthesize, process_map])
def test_python_functions_record_reason_and_sign_off(release: Any, small_csv: Path, ledger_path: Path) -> None:
    ledger = Ledger(ledger_path)
    release(small_csv, epsilon=1, delta="1e-6", ledger=ledger, reason="decided on 3 May", signed_off_by="A. Officer")
    assert ledger.history()[0].approval == APPROVED


def test_a_yearly_limit_holds_when_another_process_charges_meanwhile(
    small_csv: Path, tmp_path: Path, ledger_path: Path
) -> None:
    ledger = Ledger(ledger_path)
    ledger.create_account("clinic")
    rule = mechanism("optimal", 1, "1e-6")
    policy = Policy.load(written(tmp_path / "policy.toml", "epsilon_per_year"))

    def charge_while_the_log_is_read(phase: Phase, share: float) -> None:
        if phase is Phase.READING and not ledger.history():
            ledger.charge(Entry.of("clinic", None, rule, "case_id"))

    request = Request(small_csv, rule, ledger=ledger, dataset="clinic", policy=policy)
    with pytest.raises(BudgetError, match="ε is 2 together with the earlier releases"):
        run(request, charge_while_the_log_is_read)
    assert len(ledger.history()) == 1


def test_the_unit_name_of_the_data_set_is_an_allowed_unit(tmp_path: Path, ledger_path: Path) -> None:
    ledger = Ledger(ledger_path)
    policy = Policy.load(written(tmp_path / "policy.toml", "units"))
    persons = mechanism("optimal", 1, "1e-6", unit=PrivacyUnit("Patientennummer", 2))
    ledger.create_account("clinic")
    for dataset, unit_name in (("other", None), ("clinic", "patient")):
        account = ledger.create_account(dataset) if unit_name is None else ledger.name_unit(dataset, unit_name)
        problem = problem_of(policy.rules[0], Entry.of(dataset, None, persons), account)
        assert ("unit is 'Patientennummer'" in problem) is (unit_name is None)


def test_all_broken_rules_are_named_at_once_with_their_parameters(small_csv: Path, tmp_path: Path) -> None:
    policy = Policy.load(written(tmp_path / "policy.toml", *RULES))
    with pytest.raises(PolicyError) as error:
        run(Request(small_csv, mechanism("optimal", 1, "1e-6"), policy=policy))
    assert all(PROBLEMS[name] in str(error.value) for name in RULES if not name.endswith("_per_year"))
    named = {error.value.field, *error.value.other_fields}
    assert named == {"epsilon", "delta", "ledger", "unit", "mechanism", "reason", "signed_off_by"}


def test_it_is_found_like_the_ledger(
    small_csv: Path, ledger_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(small_csv, mechanism("optimal", 1, "1e-6"), ledger=Ledger(ledger_path))
    assert Policy.of_organisation() is None
    run(request)
    written(ledger_path.parent / "policy.toml", "sign_off")
    with pytest.raises(PolicyError, match="policy 'clinic': signed_off_by is empty"):
        run(request)
    monkeypatch.setenv("TRAVAS_POLICY", str(written(tmp_path / "mine.toml", "mechanisms")))
    with pytest.raises(PolicyError, match="mechanism is 'optimal'"):
        run(request)
    monkeypatch.setenv("TRAVAS_POLICY", "default")
    with pytest.raises(PolicyError, match="reason is empty; a reason is required, because no ε is right for everyone"):
        run(request)


def test_a_folder_that_cannot_be_looked_into_may_have_a_policy(
    small_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAVAS_POLICY", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / ("x" * 300)))  # also an error for root, who needs no permissions
    with pytest.raises(ParameterError, match=r"policy\.toml: cannot determine whether there is a policy"):
        run(Request(source=small_csv, mechanism=mechanism("optimal", 1, "1e-6")))


@pytest.mark.parametrize(
    "stated", [None, Policy("own"), Policy("clinic", (PolicyRule("reason", True, "it is agreed"),))]
)
def test_no_entry_point_can_switch_the_found_policy_off(
    stated: Policy | None, small_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVAS_POLICY", str(written(tmp_path / "theirs.toml", "epsilon_per_release", "reason")))
    allowed = Request(small_csv, mechanism("optimal", "0.5", "1e-6"), policy=stated, approval=APPROVED)
    policy = run(allowed).policy
    assert policy is not None and {rule.name for rule in policy.rules} == {"epsilon_per_release", "reason"}
    for refused in (replace(allowed, approval=Approval()), replace(allowed, mechanism=mechanism("optimal", 1, "1e-6"))):
        with pytest.raises(PolicyError, match="because of the works council"):
            run(refused)


def test_only_a_stated_policy_applies_to_the_example_log_which_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAVAS_POLICY", str(written(tmp_path / "theirs.toml", "epsilon_per_release")))
    copy = write_hospital_log(tmp_path / "hospital.csv")
    with pytest.raises(PolicyError):
        run(Request(copy, mechanism("optimal", 1, "1e-6")))
    outcome = run(Request(ExampleLog(), mechanism("optimal", 1, "1e-6")))
    assert outcome.policy is None
    with pytest.raises(PolicyError, match="works council"):
        run(Request(ExampleLog(), mechanism("optimal", 1, "1e-6"), policy=Policy.load(str(tmp_path / "theirs.toml"))))
    read = outcome.variants
    assert Counter(dict(zip(read.traces(range(len(read))), read.counts.tolist(), strict=True))) == Counter(
        hospital_traces()
    )

    class Mine(ExampleLog):
        """A log that only calls itself the example."""

    with pytest.raises(PolicyError):
        run(Request(Mine(), mechanism("optimal", 1, "1e-6")))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nam = 'x'", "'nam' is unknown; did you mean 'name'"),
        ("[rules.reason]\nrequired = true", "rules.reason: required and because"),
        ("[rules.units]\nallowed = [1]\nbecause = 'x'", "rules.units: allowed is a list"),
        ("[rules.epsilon_per_year]\nat_most = 'much'\nbecause = 'x'", "rules.epsilon_per_year: at_most is 'much'"),
        ("= 3", "not a TOML file"),
    ],
)
def test_a_wrong_policy_is_refused(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=named):
        Policy.load(path)
    with pytest.raises(ParameterError, match="cannot be opened"):
        Policy.load(tmp_path / "nowhere.toml")
