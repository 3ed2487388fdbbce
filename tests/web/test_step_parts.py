"""The steps of the page, as far as they need no browser: fixes, grid, forecast, account and policy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import attrs
import pytest

import travas
from travas.errors import EmptyLogError
from travas.evaluation.kinds import EPSILONS, coverage
from travas.mechanisms import MECHANISMS
from travas.outputs.write import write_hospital_log
from travas.plots.charts import guess_chart, keep_curve
from travas.releases.release import KINDS
from travas.settings.project import OFFERED
from travas.sources.doctor.diagnosis import PROPOSED, Observation
from travas.web import tasks
from travas.web.activity import ActivityLog
from travas.web.browsers import Browser
from travas.web.curve import view
from travas.web.outlook import outlook
from travas.web.preview import Preview
from travas.web.recipe import Recipe
from travas.web.sessions import Session
from travas.web.steps.abstraction_chips import EXAMPLE, RULES
from travas.web.steps.column_grid import HIDDEN, grid_options
from travas.web.steps.confirm_account import look_up_account, suggested_name
from travas.web.steps.confirm_policy import PolicyLookup, look_up_policy
from travas.web.steps.findings import Fix, findings_of, fixes
from travas.web.steps.protect_more import RUNGS
from travas.web.steps.protect_strength import PRESETS, words_of
from travas.web.steps.sequence import STEPS, step_of
from travas.web.steps.state import StepName
from travas.web.typed_period import TypedPeriod

GERMAN = "Fallnummer;Tätigkeit;Zeit;Patient\n" + "".join(
    f"{case};{name};{13 + step}.02.2024 08:00;p{case // 3}\n"
    for case in range(30)
    for step, name in enumerate(("Aufnahme", "Prüfung"))
)


def quiet(_: str, __: float) -> None:
    pass


@pytest.fixture
def session(tmp_path: Path) -> Session:
    log = write_hospital_log(tmp_path / "log.csv")
    owner = Browser("id", tmp_path, ActivityLog(tmp_path / "activity.jsonl"))
    return Session("id", tmp_path, owner, log=log, name="log.csv", dataset="hospital")


# ------------------------------------------------------------------------------------------------------------ fixes


def test_the_doctors_fixes_read_the_log_and_set_nothing_else(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_bytes(GERMAN.encode("cp1252"))
    found = tasks.examine(log, "mine.csv", quiet)
    proposed = fixes(found, travas.Reading())
    assert {fix.name for fix in proposed} <= set(PROPOSED)
    assert Fix("encoding", "cp1252") in proposed and Fix("timestamp_format", "%d.%m.%Y %H:%M") in proposed
    fixed = attrs.evolve(travas.Reading(), **{fix.name: fix.value for fix in proposed})
    assert fixes(found, fixed) == () and len(travas.read(log, fixed)) == 1
    assert str(log) not in repr(found)


def test_what_the_values_leave_open_is_a_fix_for_each_option(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity,timestamp\n" + "".join(f"{n},a,03/02/2024 08:00\n" for n in range(5)))
    found = tasks.examine(log, "log.csv", quiet)
    open_fixes = [fix for fix in fixes(found, travas.Reading()) if fix.name == "timestamp_format"]
    assert {fix.value for fix in open_fixes} == {"%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"}
    assert open_fixes[0].words == "Set the time format to %d/%m/%Y %H:%M"
    decided = travas.Reading(timestamp_format="%m/%d/%Y %H:%M")
    assert not [fix for fix in fixes(found, decided) if fix.name == "timestamp_format"]


def test_findings_on_the_page_have_no_numbers_to_choose_by_and_no_flags(tmp_path: Path) -> None:
    log = write_hospital_log(tmp_path / "log.csv")
    found = tasks.examine(log, "log.csv", quiet)
    assert {"size", "persons"} <= {each.topic for each in found.findings}
    shown = list(findings_of(found))
    assert shown and not {"size", "persons"} & {each.topic for each in shown}
    assert "--" not in repr(shown)
    repeated = Observation("duplicates", "set duplicate_events to 'drop'", "choice", "duplicate_events")
    [words] = [each.text for each in findings_of(replace(found, findings=(repeated,)))]
    assert words == "set duplicate_events to 'drop' (“Duplicate events”, step Columns, More)"


# ------------------------------------------------------------------------------------------------------------- grid

FOUND = Preview(
    "table", ("x", "who", "what", "when"), ("x", "who", "what", "when"), (("1", "p", "<b>", "t"),), None, None, None
)


def test_the_grid_has_the_roles_first_and_no_value_until_it_is_asked_for() -> None:
    reading = travas.Reading(case="who", activity=("what",), timestamp="when")
    hidden, shown = grid_options(FOUND, reading, False), grid_options(FOUND, reading, True)
    assert [column["headerName"] for column in hidden["columnDefs"]] == [
        "case: who",
        "activity: what",
        "time: when",
        "x",
    ]
    assert [column.get("pinned") for column in hidden["columnDefs"]] == ["left", "left", "left", None]
    assert hidden["rowData"] == [dict.fromkeys(("c0", "c1", "c2", "c3"), HIDDEN)]
    assert shown["rowData"] == [{"c0": "1", "c1": "p", "c2": "<b>", "c3": "t"}]


# --------------------------------------------------------------------------------------------------------- forecast


def test_the_recommendation_depends_on_the_recipe_alone() -> None:
    weak = outlook(Recipe(epsilon="0.5", stated_cases="300"))
    strong = outlook(Recipe(epsilon="0.5", stated_cases="100000"))
    assert [kind for kind, _ in weak.facts] == ["variants", "ladder", "synthetic log", "process map"]
    assert "a synthetic log is weak" in weak.advice[0] and "weak" not in strong.advice[0]
    assert outlook(Recipe(stated_cases="many")).why.startswith("stated_cases is 'many'")
    assert outlook(Recipe(epsilon="0")).why and "Weak protection" in outlook(Recipe(epsilon="5")).weak[0]


def test_coverage_is_the_share_of_cases() -> None:
    one = coverage({("a", "b"): 3000}, "1e-6")
    assert one.shares == dict.fromkeys(product(KINDS, EPSILONS), 1)
    rare = coverage({(f"a{n}", f"b{n}"): 1 for n in range(50)}, "1e-6")
    assert rare.share("variants", "1") == 0
    with pytest.raises(EmptyLogError, match="nothing to forecast"):
        coverage({}, "1e-6")


# ---------------------------------------------------------------------------------------------------------- protect


def test_a_person_needs_a_column_and_another_kind_its_own_options() -> None:
    person = Recipe(whom="person", max_cases="2")
    with pytest.raises(travas.ParameterError, match="no column is chosen that identifies the person"):
        person.check(travas.Reading())
    assert replace(person, unit="patient").reading(travas.Reading()).privacy_unit == travas.PrivacyUnit("patient", 2)
    ladder = Recipe("ladder").with_option("rungs", "full,first").with_option("shares", "equal")
    assert ladder.with_kind("variants") == ladder
    assert ladder.with_kind("process map").build() == travas.ProcessMap(epsilon=1, delta="1e-6")
    assert dict(Recipe("map").with_option("parts", ("rework",)).with_kind("synthetic log").options) == {}


def test_every_mechanism_is_offered_once_under_what_it_releases() -> None:
    assert sorted(name for names in OFFERED.values() for name in names) == sorted(MECHANISMS)
    assert {kind: names[0] for kind, names in OFFERED.items()} == {
        "variants": "optimal",
        "synthetic log": "synthesis",
        "process map": "map",
    }
    for kind, names in OFFERED.items():
        assert all(Recipe(name).kind == kind and Recipe().with_mechanism(name).kind == kind for name in names)


def test_wrong_rungs_are_refused_before_epsilon_is_typed() -> None:
    ladder = replace(Recipe("ladder"), epsilon="", delta="")
    ladder.check(travas.Reading())
    with pytest.raises(travas.ParameterError, match="frist"):
        ladder.with_option("rungs", "full,frist").check(travas.Reading())


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (TypedPeriod("2026-01-01"), "only one day"),
        (TypedPeriod(gap_days="3"), "has no days"),
        (TypedPeriod("2026-01-01", "2026-02-01"), "set either end_activity or gap"),
        (TypedPeriod("2026-01-01", "2026-02-01", "done", "3"), "set either end_activity or gap"),
        (TypedPeriod("2026-01-01", "2026-02-01", gap_days="many"), "gap is 'manyd'"),
        (TypedPeriod("soon", "2026-02-01", gap_days="3"), "period is 'soon/2026-02-01'"),
    ],
)
def test_a_wrong_period_is_refused_in_one_line(typed: TypedPeriod, why: str) -> None:
    with pytest.raises(travas.ParameterError, match=why) as caught:
        Recipe(period=typed).check(travas.Reading())
    assert "\n" not in str(caught.value)


def test_every_rule_and_preset_that_is_offered_exists() -> None:
    for rule in RULES:
        text = f"{rule}:4" if rule in ("prefix", "suffix") else rule
        assert travas.Abstraction.parse(text, files="refuse")(EXAMPLE) != EXAMPLE
    assert Recipe("ladder").with_option("rungs", ",".join(RUNGS)).build().name == "ladder"
    assert [travas.Optimal(epsilon=epsilon, delta=delta).guarantee().epsilon for epsilon, delta in PRESETS.values()]


def test_the_curve_has_a_label_for_every_point_and_the_guess_its_share() -> None:
    points = [(cases, cases / 28) for cases in range(1, 29)]
    labels = [
        found.text
        for found in ElementTree.fromstring(keep_curve(points, 15)).iterfind(".//{*}g[@class='label']/{*}text")
    ]
    assert labels[0] == "1 cases: 3.6%" and labels[-1] == "28 cases: 100.0%" and len(labels) == 28
    bars = ElementTree.fromstring(guess_chart(0.75, "words")).findall(".//{*}rect")
    assert float(bars[2].get("width", "")) == 0.25 * float(bars[0].get("width", ""))


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-6"), ("0.01", "1e-12")])
def test_the_words_have_the_number_of_the_curve_not_of_its_drawing(epsilon: str, delta: str) -> None:
    shown, curve = view(Recipe("optimal", epsilon, delta)), travas.Optimal(epsilon=epsilon, delta=delta).keep_curve()
    half = curve.first_above(Fraction(1, 2))
    assert half not in dict(shown.points)
    assert words_of(shown)[2].startswith(
        f"At this ε and δ a variant needs {half:,} cases to be released with a probability above 50 %, and "
    )
    assert f"over one half from {half:,}," in shown.picture


# ---------------------------------------------------------------------------------------------------------- confirm


@pytest.mark.parametrize(("name", "suggestion"), [("sepsis.xes.gz", "sepsis"), (" .csv", "")])
def test_an_upload_is_named_by_its_file(name: str, suggestion: str) -> None:
    assert suggested_name(Path(name), name) == suggestion


def test_a_new_name_has_no_account_yet(session: Session, tmp_path: Path) -> None:
    ledger = travas.Ledger(tmp_path / "ledger.db")
    found = look_up_account(ledger, session)
    assert found.is_new and found.why and found.account is None
    ledger.create_budget("hospital", epsilon=1, delta="1e-5")
    found = look_up_account(ledger, session)
    assert not found.is_new and not found.why and found.account is not None and found.names == ("hospital",)
    assert found.after == (Fraction(1), Fraction(1, 10**6))
    session.recipe = replace(session.recipe, epsilon="2")
    assert "this release needs" in look_up_account(ledger, session).why


def test_every_rule_of_the_policy_is_checked(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'name = "ours"\n[rules.epsilon_per_release]\nat_most = "1"\nbecause = "agreed"\n'
        '[rules.sign_off]\nrequired = true\nbecause = "four eyes"\n'
    )
    monkeypatch.setenv("TRAVAS_POLICY", str(policy))
    ledger = travas.Ledger(tmp_path / "ledger.db")
    recipe, session.recipe = session.recipe, replace(session.recipe, epsilon="2")
    checked = look_up_policy(ledger, session, None)
    assert checked.policy is not None and [bool(rule.problem) for rule in checked.policy.rules] == [True, True]
    assert "ε is 2" in checked.problem
    session.recipe, session.steps.signed_off_by = recipe, "the officer"
    checked = look_up_policy(ledger, session, None)
    assert checked.policy is not None and checked.policy.name == "ours" and not checked.problem
    policy.write_text("nonsense = 1")
    assert "nonsense" in look_up_policy(ledger, session, None).problem
    monkeypatch.delenv("TRAVAS_POLICY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    assert look_up_policy(ledger, session, None) == PolicyLookup()


def test_every_step_has_its_line_and_its_address() -> None:
    assert tuple(STEPS) == get_args(StepName)
    assert [step_of(name) for name in STEPS] == list(STEPS)
    assert step_of("") is None and step_of("Result") is None and step_of("5") is None
