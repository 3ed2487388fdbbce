"""What the command line refuses: one line, exit code 2, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Run

SIGNED = ("--epsilon", "1", "--delta", "1e-3")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--epsilon", "abc", "--delta", "1e-3"], "epsilon is 'abc', not a number"),
        (["--epsilon", "0", "--delta", "1e-3"], "epsilon is 0"),
        (["--epsilon", "-1", "--delta", "1e-3"], "epsilon is -1"),
        (["--epsilon", "inf", "--delta", "1e-3"], "epsilon is 'inf'"),
        (["--epsilon", "nan", "--delta", "1e-3"], "epsilon is 'nan'"),
        (["--epsilon", "21", "--delta", "1e-3"], "epsilon is 21"),
        (["--epsilon", "1e-999999999", "--delta", "1e-3"], "epsilon is '1e-999999999'"),
        (["--epsilon", "1", "--delta", "1"], "delta is 1"),
        (["--epsilon", "1", "--delta", "0"], "delta is 0"),
        (["--epsilon", "1", "--delta", "-0.1"], "delta is -0.1"),
        (["--epsilon", "1", "--delta", "1e-21"], "delta is 1e-21"),
        (["--epsilon", "1e-7", "--delta", "1e-9"], "entries, over 5,000,000"),
        (["--epsilon", "1"], "(option --delta)"),
        ([*SIGNED, "--mechanism", "laplace"], "mechanism is 'laplace'"),
        ([*SIGNED, "--minimum-cases", "0"], "minimum_cases is 0"),
        ([*SIGNED, "--minimum-cases", "x"], "minimum_cases is 'x'"),
        ([*SIGNED, "--minimum-cases=--5"], "minimum_cases is '--5'"),
        ([*SIGNED, "--minimum-cases", "9" * 5000], "minimum_cases is"),
        ([*SIGNED, "--case", ""], "case is empty"),
        ([*SIGNED, "--encoding", "base64"], "encoding is 'base64'"),
        ([*SIGNED, "--order", "size"], "order is 'size'"),
        ([*SIGNED, "--on-missing", "ignore"], "on_missing is 'ignore'"),
        ([*SIGNED, "--activity", "activity", "--activity", "activity"], "duplicate column"),
        ([*SIGNED, "--case", "patient"], "no column 'patient'"),
        ([*SIGNED, "--delimiter", ",,"], "delimiter is ',,'"),
        ([*SIGNED, "--nonsense"], "nonsense"),
    ],
)
def test_bad_parameters_are_one_line_code_2_and_write_nothing(
    travas: Run, small_csv: Path, tmp_path: Path, words: list[str], why: str
) -> None:
    out = tmp_path / "release"
    out.mkdir()
    ran = travas("anonymize", small_csv, *words, "-o", out / "out.json")
    assert ran.code == 2
    assert why in ran.err and len(ran.err.splitlines()) == 1 and ran.err.startswith("travas: ")
    assert "Traceback" not in ran.err and ran.out == ""
    assert not list(out.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("gone.xes", None, "no such file"),
        ("log.pdf", b"x", "unsupported file extension"),
        ("log.xes", b"", "the file is empty"),
        ("log.xes", b"<log><trace>", "malformed XML at line 1"),
        ("log.xes.gz", b"<log/>", "not compressed with gzip"),
        ("log.csv", b"a,b\n", "no case column"),
        ("log.csv", b"case_id,activity,timestamp\n1,a,later\n", "row 1"),
        ("log.parquet", b"PAR1xxxxPAR1", "cannot be read as Parquet"),
        ("dir.csv", "directory", "contains no log"),
        ("postgresql:", None, "unsupported file extension"),
    ],
)
def test_bad_logs_are_one_line_code_2_and_write_nothing(
    travas: Run, tmp_path: Path, name: str, content: bytes | str | None, why: str
) -> None:
    log = tmp_path / name
    if content == "directory":
        log.mkdir()
    elif isinstance(content, bytes):
        log.write_bytes(content)
    out = tmp_path / "release"
    out.mkdir()
    ran = travas("anonymize", log, *SIGNED, "-o", out / "out.json")
    assert (ran.code, ran.out) == (2, ""), ran
    assert why in ran.err and log.name in ran.err and len(ran.err.splitlines()) == 1
    assert not list(out.iterdir())


def test_outputs_are_checked_before_the_log_is_read(travas: Run, tmp_path: Path) -> None:
    ran = travas("anonymize", tmp_path / "gone.xes", *SIGNED, "-o", tmp_path / "out.doc")
    assert ran.code == 2 and "out.doc" in ran.err
    (tmp_path / "there.json").write_text("old")
    ran = travas("anonymize", tmp_path / "gone.xes", *SIGNED, "-o", tmp_path / "there.json")
    assert ran.code == 2 and "--force" in ran.err
    assert (tmp_path / "there.json").read_text() == "old"


def test_the_log_itself_is_never_the_output(travas: Run, small_csv: Path) -> None:
    before = small_csv.read_bytes()
    ran = travas("anonymize", small_csv, *SIGNED, "-o", small_csv, "--force")
    assert ran.code == 2 and "is the log itself" in ran.err
    link = small_csv.with_name("link.csv")
    link.symlink_to(small_csv)
    assert travas("anonymize", small_csv, *SIGNED, "-o", link, "--force").code == 2
    assert small_csv.read_bytes() == before


@pytest.mark.parametrize("name", ["x" * 240 + ".json", "nul\0.json", "gone/out.json", "file.csv/out.json"])
def test_impossible_outputs(travas: Run, small_csv: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "file.csv").write_text("")
    ran = travas("anonymize", small_csv, *SIGNED, "-o", f"{tmp_path}/{name}")
    assert ran.code == 2 and len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mechanism", "optimal", "--prune", "3"), "optimal has no option prune"),
        (("--mechanism", "prefix-tree"), "needs max_length"),
        (("--mechanism", "utravas", "--splits", "many"), "splits is 'many'"),
        (("--mechanism", "prefix-tree", "--max-length", "9", "--prune", "x"), "prune is 'x'"),
    ],
)
def test_wrong_options_of_a_mechanism_are_one_line(
    options: tuple[str, ...], words: str, small_csv: Path, tmp_path: Path, travas: Run
) -> None:
    ran = travas("anonymize", small_csv, "--epsilon", "1", "--delta", "0.1", "-o", tmp_path / "out.xes", *options)
    assert ran.code == 2 and words in ran.err and ran.err.count("\n") == 1


def test_the_help_to_see_is_that_of_the_command(travas: Run, small_csv: Path) -> None:
    assert "(see travas anonymize --help)" in travas("anonymize", small_csv, "--nonsense").err
    assert "(see travas budget create --help)" in travas("budget", "create", "a", "--nonsense").err
    assert "(see travas --help)" in travas("nonsense").err


def test_the_folder_of_an_output_must_be_there(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    out, gone = tmp_path / "out.json", tmp_path / "gone"
    assert travas("anonymize", small_csv, *SIGNED, "-o", out).code == 0
    for words in (
        ("report", f"{out}.guarantee.json", out, "-o", gone / "a.html"),
        ("anonymize", small_csv, *SIGNED, "-o", gone / "a.json"),
    ):
        ran = travas(*words)
        assert ran.code == 2 and f"the directory {str(gone)!r} does not exist; create it first" in ran.err, ran


def test_refusals_name_a_suitable_remedy(travas: Run, small_csv: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "out.json")
    assert "none" not in travas("doctor", small_csv, "--delimiter", ";;").err
    assert "'none'" in travas("doctor", small_csv, "--quote", "''").err
    zero = travas("anonymize", small_csv, "--epsilon", 1, "--delta", 0, *out)
    assert zero.code == 2 and "prefix-tree supports 0" in zero.err
    folder = travas("anonymize", small_csv, *SIGNED, *out, "--ledger", tmp_path)
    assert folder.code == 2 and f"{tmp_path}: is a directory" in folder.err


@pytest.mark.parametrize(
    "words",
    [
        ("anonymize", "log.csv", *SIGNED, "-o", "out.json", "--minimum-cases"),
        ("anonymize", "log.csv", *SIGNED, "-o", "out.json", "--unit", "patient", "--max-cases"),
        ("anonymize", "log.csv", *SIGNED, "-o", "out.json", "--stated-cases"),
        ("synthesize", "log.csv", *SIGNED, "-o", "out.json", "--stated-cases"),
        ("map", "log.csv", *SIGNED, "-o", "out.json", "--stated-cases"),
        ("verify", *SIGNED, "--stated-cases"),
        ("report", "guarantee.json", "out.json", "-o", "report.html", "--stated-cases"),
        ("forecast", "--kinds", *SIGNED, "--stated-cases"),
        ("forecast", "--kinds", *SIGNED, "--stated-activities"),
        ("experiment", "grid.toml", "--workers"),
        ("serve", "--port"),
        ("serve", "--max-sessions"),
        ("budget", "plan", *SIGNED, "--releases"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
@pytest.mark.parametrize("text", ["x", "1.5"])
def test_every_whole_number_is_parsed_in_one_way(travas: Run, words: tuple[str, ...], text: str) -> None:
    field = words[-1][2:].replace("-", "_")
    ran = travas(*words, text)
    why = f"{field} is {text!r}: it must be a whole number of at most 19 digits (option {words[-1]})"
    assert ran.code == 2 and ran.err == f"travas: {why}\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("verify", "out.guarantee.json", "--epsilon", 1), "remove epsilon"),
        (("verify", "out.guarantee.json", "--minimum-cases", 5), "remove minimum_cases"),
        (
            ("forecast", "--kinds", *SIGNED, "--mechanism", "ladder", "--rungs", "default"),
            "--kinds",
        ),
        (("forecast", *SIGNED, "--stated-activities", 5), "remove --stated-activities"),
        (("forecast", *SIGNED, "--case", "id"), "remove case"),
        (("forecast", "--kinds", *SIGNED, "--case", "id"), "remove case"),
        (("verify", *SIGNED, "--minimum-cases", ""), "(option --minimum-cases)"),
        (("forecast", "log.csv", "--where", "a=b", "--where", ""), "(option --where)"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_an_option_without_a_meaning_is_refused(travas: Run, words: tuple[object, ...], why: str) -> None:
    ran = travas(*words)
    assert ran.code == 2 and why in ran.err, ran


def test_a_number_of_cases_is_refused_before_anything_is_read(travas: Run) -> None:
    ran = travas("anonymize", "no-log.csv", *SIGNED, "-o", "out.json", "--stated-cases", "0")
    assert (ran.code, ran.err) == (
        2,
        "travas: stated_cases is 0: it must be a whole number of at least 1 (option --stated-cases)\n",
    )


def test_an_address_that_cannot_be_used_names_its_options(travas: Run) -> None:
    ran = travas("serve", "--host", "192.0.2.1", "--port", 8099)
    assert ran.code == 2 and "192.0.2.1:8099 cannot be used" in ran.err and "(options --host, --port)" in ran.err
