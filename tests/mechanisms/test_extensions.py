"""Mechanisms and metrics of other packages: named by a dotted path, never trusted, never imported for a file."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from travas import (
    BudgetError,
    Ledger,
    LogError,
    Optimal,
    ParameterError,
    Standing,
    VerificationError,
    anonymize,
    compare,
    verify,
)
from travas.budget.accounting import Spending
from travas.budget.policy import Policy, PolicyRule
from travas.errors import PolicyError
from travas.evaluation.experiment import measure
from travas.evaluation.grid import read_grid
from travas.mechanisms import extensions, find_mechanism, from_description, mechanism
from travas.model.abstraction.abstraction_steps import Fold
from travas.model.abstraction.trace_abstraction import Abstraction
from travas.model.statements import description_of, guarantee_of, name_of
from travas.pipeline import run
from travas.privacy.guarantee import Guarantee
from travas.request import Request

MODULE = '''
"""A package that travas does not know."""
import attrs
import travas

@attrs.frozen(slots=False)
class Mine(travas.Optimal):
    """The optimal mechanism, extended."""

def strict(epsilon, delta, *, unit, minimum_cases=10):
    """Built from a verified part alone."""
    return travas.Optimal(epsilon, delta, minimum_cases, unit=unit)

def half(original, released):
    """Always one half."""
    return 0.5

@attrs.frozen(slots=False)
class Broken(travas.Optimal):
    """It fails while it draws."""

    def _release(self, variants):
        raise ValueError("SECRET")

def third(original, released):
    """It fails."""
    raise ValueError("SECRET")

def words(original, released):
    """It returns no number."""
    return "SECRET"

@attrs.frozen(slots=False)
class Silent(travas.Optimal):
    """It cannot say what it costs."""

    def _promise(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Unchecked(travas.Optimal):
    """It fails before anything is charged."""

    def check(self, variants):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Leaving(travas.Optimal):
    """It ends the program while it draws."""

    def _release(self, variants):
        raise SystemExit(0)

@attrs.frozen(slots=False)
class LeavingLater(travas.Optimal):
    """It ends the program when its release is summarised."""

    def keep_curve(self):
        raise SystemExit(0)

@attrs.frozen(slots=False)
class CostlierWhenSettled(travas.Optimal):
    """It charges more than it says, once it has seen the log."""

    def settled(self, variants):
        return type(self)(5, "1e-3")

@attrs.frozen(slots=False)
class Undescribed(travas.Optimal):
    """It cannot describe itself."""

    @classmethod
    def options(cls):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class WithoutParameters(travas.Optimal):
    """It cannot state its constants."""

    def parameters(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Unwritable(travas.Optimal):
    """Its constants cannot be written to a guarantee file."""

    def parameters(self):
        return {"constants": {"SECRET"}}

@attrs.frozen(slots=False)
class Costlier(travas.Optimal):
    """It returns a release that costs more than it says."""

    def _release(self, variants):
        return travas.Optimal(5, "1e-3").release(variants)

@attrs.frozen(slots=False)
class Returning(travas.Optimal):
    """It returns no release."""

    def _release(self, variants):
        return None

@attrs.frozen(slots=False)
class Fitting(travas.Optimal):
    """It is replaced by a mechanism of travas that fits the log."""

    def settled(self, variants):
        return travas.Optimal(self.epsilon, self.delta, len(variants) + 1)

@attrs.frozen(slots=False, eq=False)
class Equal(travas.Optimal):
    """It returns a release of travas, and says that this is its own."""

    def _release(self, variants):
        return travas.Optimal(self.epsilon, self.delta).release(variants)

    def __eq__(self, other):
        return True

class Sure(travas.Release):
    """A release with a guarantee that nobody computed."""
    __module__ = "travas.model.release"

    @property
    def guarantee(self):
        return travas.Optimal(1, "1e-6").guarantee()

@attrs.frozen(slots=False)
class Renamed(travas.Optimal):
    """Its release becomes one of another class."""

    def _release(self, variants):
        drawn = super()._release(variants)
        object.__setattr__(drawn, "__class__", Sure)
        return drawn

@attrs.frozen(slots=False)
class Wordless(travas.Optimal):
    """It cannot say what its timestamps are."""

    @property
    def timestamps(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Curveless(travas.Optimal):
    """It fails when its release is summarised."""

    def keep_curve(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Odd(travas.Optimal):
    """Its releases are of no kind that travas knows."""
    kind = "nonsense"

def unmade(epsilon, delta, *, unit):
    raise KeyError("SECRET")

def nothing(epsilon, delta, *, unit):
    return "no mechanism"

LIMIT = 3
'''
LOG = {("a", "b"): 400, ("a",): 300}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"elsewhere_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_class_of_another_package_has_no_guarantee(package: str) -> None:
    mine = mechanism(f"{package}:Mine", 1, "1e-6")
    guarantee = mine.guarantee()
    assert guarantee.standing is Standing.NOT_ESTABLISHED and any(package in text for text in guarantee.assumptions)
    with pytest.raises(ParameterError, match="not established"):
        anonymize(LOG, mine)
    assert anonymize(LOG, mine, guarantee="not required").variants


def test_what_is_built_from_our_parts_has_theirs(package: str) -> None:
    strict = mechanism(f"{package}:strict", 1, "1e-6")
    assert strict == Optimal(1, "1e-6", 10) and strict.guarantee().standing is Standing.VERIFIED
    assert strict.describe()["mechanism"] == "optimal"


def test_a_description_imports_nothing(package: str, tmp_path: Path) -> None:
    described = {"mechanism": f"{package}:Mine", "epsilon": "1", "delta": "1e-6"}
    with pytest.raises(ParameterError, match="not imported from here") as refused:
        from_description(described)
    assert refused.value.field == "mechanism" and package not in sys.modules
    assert from_description(described, references="follow").name == f"{package}:Mine"


def test_a_guarantee_file_imports_nothing(package: str, tmp_path: Path) -> None:
    path = anonymize(LOG, Optimal(1, "1e-6")).write(tmp_path / "release.json")
    guarantee = Path(f"{path}.guarantee.json")
    guarantee.write_text(guarantee.read_text().replace('"mechanism": "optimal"', f'"mechanism": "{package}:Mine"'))
    with pytest.raises(VerificationError, match="not imported from here"):
        verify(guarantee)
    assert package not in sys.modules


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("{}:Absent", "cannot be imported"),
        ("absent.module:Mine", "cannot be imported"),
        ("{}:Mine.__init__", "write package.module:Class"),
        ("{}:unmade", "cannot be made: KeyError$"),
        ("{}:nothing", "does not make a travas.Mechanism"),
        ("{}:LIMIT", "neither a class nor a function"),
        ("utravas-publishd", "did you mean 'utravas-published'"),
    ],
)
def test_a_name_that_leads_nowhere_is_one_clear_line(package: str, name: str, why: str) -> None:
    with pytest.raises(ParameterError, match=why) as refused:
        mechanism(name.format(package), 1, "1e-6")
    assert refused.value.field == "mechanism"


@pytest.mark.parametrize(("content", "why"), [("def", "SyntaxError"), ("raise ValueError('SECRET')", "ValueError")])
def test_a_package_that_fails_is_one_clear_line(
    content: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"failing_{why.lower()}"
    (tmp_path / f"{name}.py").write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ParameterError, match=f"cannot be imported: {why}$"):
        mechanism(f"{name}:Mine", 1, "1e-6")
    entry = EntryPoint("mine", f"{name}:Mine", "travas.mechanisms")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [entry])
    with pytest.raises(ParameterError, match=f"registered as {name}:Mine: {why}$"):
        mechanism("mine", 1, "1e-6")


def test_a_metric_of_another_package(package: str) -> None:
    name = f"{package}:half"
    assert compare(LOG, LOG, [name]).values == {name: 0.5}
    with pytest.raises(ParameterError, match="which does not exist"):
        compare(LOG, LOG, ["fittness"])


def test_a_grid_can_name_both(package: str, tmp_path: Path, small_csv: Path) -> None:
    text = f"""
epsilon = [1]
delta = ["1e-2"]
[logs]
small = "{small_csv}"
[mechanisms.mine]
mechanism = "{package}:Mine"
minimum_cases = 2
[metrics]
"{package}:half" = 1
"""
    (tmp_path / "grid.toml").write_text(text)
    cells = read_grid(tmp_path / "grid.toml").cells()
    assert [cell.build().name for cell in cells[1:]] == [f"{package}:Mine"]
    (tmp_path / "grid.toml").write_text(text.replace("minimum_cases", "maximum_cases"))
    with pytest.raises(LogError, match="maximum_cases"):
        read_grid(tmp_path / "grid.toml")


def test_their_failures_are_results(package: str, tmp_path: Path, small_csv: Path) -> None:
    (tmp_path / "grid.toml").write_text(f"""
epsilon = [1]
delta = ["1e-2"]
[logs]
small = "{small_csv}"
[mechanisms.broken]
mechanism = "{package}:Broken"
[mechanisms.mine]
mechanism = "{package}:Mine"
[metrics]
"{package}:half" = 1
"{package}:third" = 1
""")
    rows = {row["label"]: row for row in map(measure, read_grid(tmp_path / "grid.toml").cells())}
    assert rows["mine"]["error"] == f"{package}:third: ValueError" and rows["mine"][f"{package}:half"] == 0.5
    assert rows["broken"]["variants"] == 0 and "SECRET" not in str(rows)
    (tmp_path / "grid.toml").write_text((tmp_path / "grid.toml").read_text().replace(f'"{package}:third" = 1', ""))
    errors = {cell.label: measure(cell)["error"] for cell in read_grid(tmp_path / "grid.toml").cells()}
    assert errors["broken"] == "ValueError" and errors["mine"] is None


GRID = """
epsilon = [1]
delta = ["1e-2"]
[logs]
small = "{log}"
[mechanisms.theirs]
mechanism = "{mechanism}"
[metrics]
"{metric}" = 2
"""


@pytest.mark.parametrize("name", ["third", "words"])
def test_a_metric_that_fails_is_one_line_that_names_it(
    name: str, package: str, travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    metric = f"{package}:{name}"
    with pytest.raises(ParameterError, match=f"metric is '{metric}', which failed with ValueError") as refused:
        compare(LOG, LOG, [metric])
    assert refused.value.field == "metric" and "SECRET" not in str(refused.value)
    ran = travas("compare", small_csv, small_csv, "--metric", metric)
    assert ran.code == 2 and metric in ran.err and "(option --metric)" in ran.err
    assert len(ran.err.splitlines()) == 1 and "SECRET" not in ran.out + ran.err


def test_a_grid_whose_metric_or_mechanism_fails_says_which(
    package: str, travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    grid, results = tmp_path / "grid.toml", tmp_path / "results.parquet"
    run = ("experiment", grid, "-o", results, "--workers", 1, "--plot", tmp_path / "pictures")
    grid.write_text(GRID.format(log=small_csv, mechanism=f"{package}:Broken", metric=f"{package}:third"))
    ran = travas(*run)
    assert ran.code == 0 and f"2 × theirs: {package}:third: ValueError" in " ".join(ran.out.split())
    grid.write_text(GRID.format(log=small_csv, mechanism=f"{package}:Broken", metric="case_coverage"))
    ran = travas(*run)
    assert ran.code == 0 and "2 × theirs: ValueError" in ran.out
    grid.write_text(GRID.format(log=small_csv, mechanism=f"{package}:Silent", metric="case_coverage"))
    ran = travas(*run)
    assert ran.code == 2 and f"theirs on small: the mechanism {package}:Silent failed with ValueError" in ran.err
    assert len(ran.err.splitlines()) == 1 and "SECRET" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("name", "why", "charged"),
    [
        ("Silent", "failed with ValueError", False),
        ("Unchecked", "failed with ValueError", False),
        ("Undescribed", "failed with ValueError", False),
        ("WithoutParameters", "failed with ValueError", False),
        ("Unwritable", "failed with TypeError", False),
        ("Broken", "failed with ValueError", True),
        ("Leaving", "failed with SystemExit", True),
        ("Costlier", "did not return its own release", True),
        ("Fitting", "did not return its own mechanism", False),
        ("Returning", "did not return its own release", True),
        ("Renamed", "did not return its own release", True),
        ("Wordless", "failed with ValueError", False),
    ],
)
def test_a_mechanism_that_fails_is_one_line_that_names_it(
    name: str, why: str, charged: bool, package: str, travas: Run, book: Ledger, small_csv: Path, tmp_path: Path
) -> None:
    options = ("--mechanism", f"{package}:{name}", "--accept-no-guarantee", "--epsilon", 1, "--delta", "1e-2")
    assert travas("budget", "create", "ward", "--no-limit").code == 0
    ran = travas("anonymize", small_csv, *options, "--dataset", "ward", "-o", tmp_path / "out.csv")
    assert ran.code == (4 if charged else 2) and f"the mechanism {package}:{name} {why}" in ran.err
    assert len(ran.err.splitlines()) == 1 and "SECRET" not in ran.err and not (tmp_path / "out.csv").exists()
    assert bool(book.account("ward").entries) is charged
    theirs = find_mechanism(f"{package}:{name}", "follow")(1, "1e-2")
    if name == "Wordless":  # only a file says it
        return
    with pytest.raises(ParameterError, match=f"the mechanism {package}:{name} {why}") as failed:
        anonymize(LOG, theirs, guarantee="not required")
    assert failed.value.field == "mechanism"


@pytest.mark.parametrize(("name", "failure"), [("LeavingLater", "SystemExit"), ("Curveless", "ValueError")])
def test_a_mechanism_that_fails_after_the_release_is_named(
    name: str, failure: str, package: str, travas: Run, book: Ledger, small_csv: Path, tmp_path: Path
) -> None:
    options = ("--mechanism", f"{package}:{name}", "--accept-no-guarantee", "--epsilon", 1, "--delta", "1e-2")
    assert travas("budget", "create", "ward", "--no-limit").code == 0
    ran = travas("anonymize", small_csv, *options, "--dataset", "ward", "-o", tmp_path / "out.csv")
    assert ran.code == 4 and f"the mechanism {package}:{name} failed with {failure}" in ran.err
    assert "the charge to 'ward' stands" in ran.err and "report" not in ran.err and "SECRET" not in ran.err
    assert len(book.account("ward").entries) == 1


def _promise(self: Optimal) -> Guarantee:
    return Optimal(1, "1e-6").guarantee()


@pytest.mark.parametrize("method", ["guarantee", "describe", "release"])
def test_no_class_overrides_what_states_the_guarantee(method: str) -> None:
    with pytest.raises(TypeError, match=f"Sure overrides {method}, which is final"):
        type("Sure", (Optimal,), {method: _promise})
    with pytest.raises(TypeError, match=f"Sure overrides {method}, which is final"):
        type("Sure", (type("Mixed", (), {method: _promise}), Optimal), {})


def test_no_class_states_a_standing_of_its_own(tmp_path: Path, book: Ledger) -> None:
    class Late(Optimal):
        """Its methods are replaced when it has been made."""

    class Asked(Optimal):
        def __getattribute__(self, name: str) -> Any:
            return Optimal(1, "1e-6").guarantee if name == "guarantee" else super().__getattribute__(name)

    class Disguised(Optimal):
        """It says that it is a class of travas."""

    type.__setattr__(Late, "guarantee", _promise)
    Late.name = Asked.name = "optimal"
    Disguised.__module__, Disguised.__qualname__ = "travas.mechanisms.optimal", "Disguised"
    book.create_budget("ward", epsilon=10, delta="1e-3")
    for number, made in enumerate((Late, Asked, Disguised)):
        theirs, name = made(1, "1e-6"), f"{made.__module__}:{made.__qualname__}"
        assert guarantee_of(theirs).standing is Standing.NOT_ESTABLISHED
        assert guarantee_of(theirs).mechanism == description_of(theirs)["mechanism"] == name
        with pytest.raises(ParameterError, match="is not established"):
            anonymize(LOG, theirs)
        with pytest.raises(BudgetError, match="not established"):
            anonymize(LOG, theirs, guarantee="not required", ledger=book, dataset="ward")
        path = anonymize(LOG, theirs, guarantee="not required").write(tmp_path / f"{number}.json")
        stated = json.loads(Path(f"{path}.guarantee.json").read_text())
        assert stated["standing"] == "not established" and stated["mechanism"] == name
        assert stated["description"]["mechanism"] == name
        with pytest.raises(VerificationError, match="not established"):
            verify(f"{path}.guarantee.json", path)
    for made in (Late, Asked):
        assert name_of(made(1, "1e-6")).startswith("test_extensions:")


def test_a_release_is_that_of_the_mechanism_which_drew_it(package: str) -> None:
    theirs = find_mechanism(f"{package}:Equal", "follow")(1, "1e-6")
    made = anonymize(LOG, theirs, guarantee="not required")
    assert made.mechanism is theirs and made.guarantee.standing is Standing.NOT_ESTABLISHED


def test_a_class_of_another_package_is_called_by_its_path() -> None:
    class Heir(Optimal):
        """It would have the name of its base."""

    class Named(Optimal):
        name, summary = "travas", "does something else"

    assert Heir.name.endswith(":test_a_class_of_another_package_is_called_by_its_path.<locals>.Heir")
    assert Named.name.endswith(".<locals>.Named")
    assert Heir.summary == Heir.proof == Named.proof == "" and Named.summary == "does something else"


def test_an_entry_point_is_found_by_its_path_too(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{package}:Mine"
    with pytest.raises(ParameterError, match="not imported from here"):
        from_description({"mechanism": path, "epsilon": "1", "delta": "1e-6"})
    entry = EntryPoint("mine", path, "travas.mechanisms")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [entry])
    theirs = mechanism("mine", 1, "1e-6")
    assert theirs.describe()["mechanism"] == path and from_description(theirs.describe()) == theirs


def test_a_budget_believes_no_other_package(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", f"{package}:Mine", "travas.mechanisms")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [entry])
    spending = Spending.of(mechanism("mine", 1, "1e-6"))
    assert spending.pairs(Fraction(1, 1000)) == spending.worst()


def test_a_step_of_another_package_is_refused() -> None:
    class Rare(Fold):
        """It looks at other cases, under the name of a step that does not."""

    with pytest.raises(ParameterError, match="has the step a Rare, which is not part of travas; use fold"):
        Abstraction((Rare(),))


def test_the_policy_sees_what_is_charged(package: str, book: Ledger) -> None:
    costlier = find_mechanism(f"{package}:CostlierWhenSettled", "follow")(1, "1e-2")
    policy = Policy("clinic", (PolicyRule("epsilon_per_release", Fraction(2), "a test"),))
    book.create_account("ward")
    request = Request(LOG, costlier, ledger=book, dataset="ward", guarantee="not required", policy=policy)
    for charged in (request, replace(request, ledger=None, dataset=None)):
        with pytest.raises(PolicyError, match="ε"):
            run(charged)
    assert not book.account("ward").entries


def test_a_mechanism_of_an_unknown_kind_is_refused(package: str) -> None:
    with pytest.raises(
        ParameterError, match=f"the kind of {package}:Odd is 'nonsense'; use one of variants"
    ) as refused:
        anonymize(LOG, mechanism(f"{package}:Odd", 1, "1e-2"), guarantee="not required")
    assert refused.value.field == "mechanism"


def test_a_bug_of_travas_ends_the_experiment(tmp_path: Path, small_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("a bug")

    (tmp_path / "grid.toml").write_text(
        f'epsilon = [1]\ndelta = ["1e-2"]\n[logs]\nsmall = "{small_csv}"\n[mechanisms.ours]\nmechanism = "optimal"\n'
        "[metrics]\ncase_coverage = 1\n"
    )
    monkeypatch.setattr(Optimal, "release", fails)
    with pytest.raises(ValueError, match="a bug"):
        list(map(measure, read_grid(tmp_path / "grid.toml").cells()))


def test_the_command_line_can_name_one(package: str, travas: Run, small_csv: Path, tmp_path: Path) -> None:
    asked = ("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-2", "-o", tmp_path / "out.csv")
    refused = travas(*asked, "--mechanism", f"{package}:Mine")
    assert refused.code == 2 and "not established" in refused.err


def test_validation_is_not_an_assertion() -> None:
    """`python -O` refuses the same."""
    code = (
        "import travas\n"
        "for make in (lambda: travas.Ladder(1, '1e-20', rungs='full,first', shares='1/2,1/2'), "
        "lambda: travas.UTravas(1, '1e-20', 3), lambda: travas.Reading(unit='x', max_cases=0)):\n"
        "    try:\n        make()\n    except travas.ParameterError:\n        print('refused')\n"
    )
    ran = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["refused"] * 3
