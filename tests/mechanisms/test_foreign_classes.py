"""Classes of other packages: they fail in one line that names them, and state no guarantee of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from foreign_package import LOG, write_package

from conftest import Run
from travas import (
    BudgetError,
    Ledger,
    Optimal,
    ParameterError,
    Standing,
    VerificationError,
    anonymize,
    verify,
)
from travas.budget.accounting import Spending
from travas.mechanisms import extensions, find_mechanism, mechanism
from travas.model.abstraction.abstraction_steps import Fold
from travas.model.abstraction.trace_abstraction import Abstraction
from travas.model.statements import description_of, guarantee_of, recorded_name
from travas.privacy.guarantee import Guarantee


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return write_package(tmp_path, monkeypatch)


def test_a_class_of_another_package_has_no_guarantee(package: str) -> None:
    mine = mechanism(f"{package}:Mine", 1, "1e-6")
    guarantee = mine.guarantee()
    assert guarantee.standing is Standing.NOT_ESTABLISHED and any(package in text for text in guarantee.assumptions)
    with pytest.raises(ParameterError, match="not established"):
        anonymize(LOG, mine)
    assert anonymize(LOG, mine, guarantee="not required").variants


@pytest.mark.parametrize(
    ("name", "why", "charged"),
    [
        ("Silent", "failed with ValueError", False),
        ("Unchecked", "failed with ValueError", False),
        ("Undescribed", "failed with ValueError", False),
        ("Piped", "failed with BrokenPipeError", False),
        ("WithoutParameters", "failed with ValueError", False),
        ("Unwritable", "failed with TypeError", False),
        ("Broken", "failed with ValueError", True),
        ("Leaving", "failed with SystemExit", True),
        ("Costlier", "did not return its own release", True),
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


def test_a_reader_that_leaves_is_not_a_failure_of_the_mechanism(package: str, small_csv: Path, tmp_path: Path) -> None:
    words = (
        f"anonymize {small_csv} --mechanism {package}:Mine --accept-no-guarantee --epsilon 1 --delta 1e-2 -o out.csv"
    )
    command = f"{sys.executable} -m travas {words} | true; exit ${{PIPESTATUS[0]}}"
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert ran.returncode == 141 and "the release is complete, and the charge to" in ran.stderr, ran.stderr


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
        assert recorded_name(made(1, "1e-6")).startswith("test_foreign_classes:")


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


def test_a_mechanism_of_an_unknown_kind_is_refused(package: str) -> None:
    with pytest.raises(
        ParameterError, match=f"the kind of {package}:Odd is 'nonsense'; use one of variants"
    ) as refused:
        anonymize(LOG, mechanism(f"{package}:Odd", 1, "1e-2"), guarantee="not required")
    assert refused.value.field == "mechanism"
