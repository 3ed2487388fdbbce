"""What the command line refuses: one line, exit code 2, and nothing is written. The line names the option."""

import json
from pathlib import Path

import pytest

from conftest import Run

SIGNED = ("--epsilon", "1", "--delta", "1e-3")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--epsilon", "abc", "--delta", "1e-3"], "epsilon is 'abc'"),
        (["--epsilon", "1e400", "--delta", "1e-3"], "(option --epsilon)"),
        (["--epsilon", "1", "--delta", "0"], "prefix-tree also supports 0"),
        (["--epsilon", "1"], "(option --delta)"),
        ([*SIGNED, "--mechanism", "optimal", "--prune", "3"], "optimal has no option prune"),
        ([*SIGNED, "--mechanism", "synthesis"], "use travas synthesize"),
        ([*SIGNED, "--mechanism", "map"], "use travas map"),
        ([*SIGNED, "--minimum-cases=--5"], "minimum_cases is '--5'"),
        ([*SIGNED, "--delimiter", ",,"], "delimiter is ',,'"),
        ([*SIGNED, "--ledger", "."], ": is a directory"),
        ([*SIGNED, "--nonsense"], "(see travas anonymize --help)"),
        ([*SIGNED, "--set", "minimum_case=5"], "did you mean 'minimum_cases'"),
        ([*SIGNED, "--set", "folder=x"], "folder is not used by this command"),
    ],
)
def test_bad_parameters_are_one_line_code_2_and_write_nothing(
    travas: Run, small_csv: Path, tmp_path: Path, words: list[str], why: str
) -> None:
    out = tmp_path / "release"
    out.mkdir()
    ran = travas("anonymize", small_csv, *words, "-o", out / "out.json")
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err and len(ran.err.splitlines()) == 1 and ran.err.startswith("travas: ")
    assert not list(out.iterdir())


def test_outputs_are_checked_before_the_log_is_read(travas: Run, tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("old")
    for name, why in (("out.doc", "out.doc"), ("there.json", "(option --force)"), ("gone/a.json", "create it first")):
        ran = travas("anonymize", tmp_path / "gone.xes", *SIGNED, "-o", tmp_path / name)
        assert ran.code == 2 and why in ran.err
    for name in ("x" * 240 + ".json", "there.json/out.json"):
        ran = travas("anonymize", tmp_path / "gone.xes", *SIGNED, "-o", f"{tmp_path}/{name}")
        assert ran.code == 2 and len(ran.err.splitlines()) == 1
    assert (tmp_path / "there.json").read_text() == "old"


def test_the_log_itself_is_never_the_output(travas: Run, small_csv: Path) -> None:
    before = small_csv.read_bytes()
    ran = travas("anonymize", small_csv, *SIGNED, "-o", small_csv, "--force")
    assert ran.code == 2 and "is the log itself" in ran.err
    link = small_csv.with_name("link.csv")
    link.symlink_to(small_csv)
    assert travas("anonymize", small_csv, *SIGNED, "-o", link, "--force").code == 2
    assert small_csv.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("verify", "out.guarantee.json", "--epsilon", 1), "remove epsilon"),
        (("verify",), "nothing to verify"),
        (("forecast", *SIGNED, "--mechanism", "ladder"), "remove the mechanism"),
        (("forecast", *SIGNED, "--case", "id"), "case requires a log"),
        (("synthesize", "no-log.csv", *SIGNED, "-o", "out.json", "--set", "shares=times=1"), "has no option shares"),
        (("anonymize", "no-log.csv", *SIGNED, "-o", "out.json", "--stated-cases", "0"), "(option --stated-cases)"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_an_option_without_a_meaning_is_refused(travas: Run, words: tuple[object, ...], why: str) -> None:
    ran = travas(*words)
    assert ran.code == 2 and why in ran.err and len(ran.err.splitlines()) == 1


def test_set_flags_and_a_project_mean_the_same(
    small_csv: Path, tmp_path: Path, travas: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "travas.toml").write_text("[mechanism]\nminimum_cases = 5\n[privacy]\nepsilon = 1\ndelta = 1e-6\n")
    monkeypatch.chdir(tmp_path)
    made = []
    for number, words in enumerate(
        [
            ("--epsilon", 1, "--delta", "1e-6", "--minimum-cases", 5),
            ("--set", "epsilon=1", "--set", "delta=1e-6", "--set", "minimum-cases = 5"),
            ("--project", tmp_path / "travas.toml"),
        ]
    ):
        ran = travas("anonymize", small_csv, *words, "-o", f"{number}.json")
        assert (ran.code, ran.err) == (0, "")
        made.append(json.loads(Path(f"{number}.json.guarantee.json").read_text())["description"])
    assert made[0] == made[1] == made[2] and made[0]["minimum_cases"] == 5


def test_help_all_shows_what_help_leaves_out(travas: Run) -> None:
    assert "--minimum-cases" not in travas("anonymize", "--help").out
    ran = travas("anonymize", "--help-all")
    assert ran.code == 0 and "--minimum-cases" in ran.out
    for words in ((), ("anonymize",), ("budget",), ("budget", "create")):
        assert "<bool>" not in travas(*words, "--help").out
