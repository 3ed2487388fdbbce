"""`travas budget` on the command line."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from conftest import Run
from travas import Ledger


def test_budgets_on_the_command_line(travas: Run, small_csv: Path, tmp_path: Path, ledger_path: Path) -> None:
    assert "no such ledger" in travas("budget", "show").err and not ledger_path.exists()
    assert travas("budget", "create", "hospital", "--epsilon", 1, "--delta", "2e-6").code == 0
    release = ("anonymize", small_csv, "--epsilon", "0.5", "--delta", "1e-6", "--dataset", "hospital", "-o")
    first = travas(*release, tmp_path / "1.json")
    assert first.code == 0 and "ε = 0.5, δ = 1e-6 left of ε = 1, δ = 2e-6" in first.out
    second = json.loads(travas(*release, tmp_path / "2.json", "--json").out)
    assert second["ledger"] == {"dataset": "hospital", "releases": 2, "state": "ε = 0, δ = 0 left of ε = 1, δ = 2e-6"}
    third = travas(*release, tmp_path / "3.json")
    assert third.code == 3 and third.out == "" and len(third.err.splitlines()) == 1
    assert "ε = 0, δ = 0 left" in third.err and "needs ε = 0.5, δ = 1e-6" in third.err
    assert not (tmp_path / "3.json").exists()
    assert travas("budget", "create", "hospital", "--epsilon", 1, "--delta", "2e-6").code == 2
    shown = json.loads(travas("budget", "show", "hospital", "--json").out)["datasets"][0]
    assert shown["releases"] == 2 and shown["left"] == {"epsilon": "0", "delta": "0"}
    history = json.loads(travas("budget", "show", "--history", "--json").out)["charges"]
    assert [charge["number"] for charge in history] == [1, 2] and history[0]["spending"]["description"][
        "minimum_cases"
    ] == 1
    assert "hospital" in travas("budget", "show", "--history").out and "hospital" in travas("budget", "show").out
    assert "similar names: 'hospital'" in travas("budget", "show", "hopsital").err


def test_planning_on_the_command_line(travas: Run) -> None:
    facts = json.loads(travas("budget", "plan", "--releases", 40, "--epsilon", 2, "--delta", "1e-6", "--json").out)
    assert (facts["basic"]["epsilon"], facts["basic"]["delta"]) == ("0.05", "2.5e-8")
    assert Fraction(facts["exact"]["epsilon"]) > Fraction(facts["basic"]["epsilon"])
    none = json.loads(travas("budget", "plan", "--releases", 2, "--epsilon", 100, "--delta", 0, "--json").out)
    assert none["basic"]["cases_for_50_percent"] is None and none["basic"]["epsilon"] == "50"


@pytest.mark.parametrize(
    "words",
    [
        (" x", "--epsilon", 1, "--delta", 0), ("x", "--epsilon", 0, "--delta", 0), ("x", "--epsilon", 1),
        ("x", "--epsilon", 1, "--delta", 0, "--composition", "wishful"), ("x", "--no-limit", "--epsilon", 1),
        ("x", "--epsilon", 1, "--delta", 0, "--unit-columns", "p"), ("x", "--unit-name", "patient"),
        ("x", "--epsilon", 1, "--delta", 0, "--unit-name", "case"), ("x", "--epsilon", 1, "--delta", 0, "--unit-name", ""),
    ],
)  # fmt: skip
def test_inconsistent_budgets_are_refused(words: tuple[object, ...], travas: Run, ledger_path: Path) -> None:
    ran = travas("budget", "create", *words)
    assert ran.code == 2 and len(ran.err.splitlines()) == 1
    assert not ledger_path.exists() or Ledger(ledger_path).accounts() == []


def test_a_policy_may_allow_nothing_in_a_year(travas: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = ("epsilon_per_year", "delta_per_year")
    (tmp_path / "policy.toml").write_text(
        "".join(f"[rules.{name}]\nat_most = 0\nbecause = 'a freeze'\n" for name in rules)
    )
    monkeypatch.setenv("TRAVAS_POLICY", str(tmp_path / "policy.toml"))
    assert travas("budget", "create", "study", "--no-limit").code == 0
    [account] = json.loads(travas("budget", "show", "--json").out)["datasets"]
    assert account["left_this_year"] == {"epsilon": "0", "delta": "0"}


def test_what_a_release_without_an_established_guarantee_cost_is_not_known(
    travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    assert travas("budget", "create", "study", "--no-limit").code == 0
    words = ("--epsilon", 1, "--delta", "1e-6", "--dataset", "study", "--max-length", 3, "--prune", 2)
    files = tmp_path / "first.json", tmp_path / "second.json"
    for mechanism, path in zip(("optimal", "sacofa"), files, strict=True):
        chosen = (
            "--mechanism",
            mechanism,
            "--guarantee",
            "not required",
            *(words if mechanism == "sacofa" else words[:6]),
        )
        ran = travas("anonymize", small_csv, "-o", path, *chosen)
        assert ran.code == 0 and ("unknown" in ran.out) == (mechanism == "sacofa")
    readmes = [Path(f"{path}.README.txt").read_text() for path in files]
    assert ["differentially private" in text for text in readmes] == [True, False]
    assert "unknown" in travas("budget", "show", "study").out
    report = tmp_path / "report.html"
    assert travas("report", files[0], "-o", report, "--dataset", "study").code == 0
    assert "<td>not known</td>" in report.read_text()
