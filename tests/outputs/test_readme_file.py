"""The README next to every release: ten lines for people, of public facts only."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

import travas
from conftest import Run
from travas import Mechanism, Reading
from travas.errors import OutputError
from travas.mechanisms import mechanism as by_name
from travas.outputs.readme_file import readme_path

LOG: Mapping[tuple[str, ...], int] = {("a", "b", "c"): 4000, ("a", "c"): 2000}
KINDS: dict[str, tuple[Mechanism, str]] = {
    "variants": (travas.Optimal(epsilon=1, delta="1e-6"), "It contains sequences of activities"),
    "ladder": (by_name("ladder", "1", "1e-6"), "can be incomplete"),
    "synthetic": (travas.Synthesis(epsilon=1, delta="1e-6"), "It contains a synthetic log"),
    "map": (travas.ProcessMap(epsilon=1, delta="1e-6"), "It contains a process map"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_what_the_file_is_and_how_to_check_it(kind: str, tmp_path: Path, travas: Run) -> None:
    mechanism, words = KINDS[kind]
    path = anonymized(mechanism, tmp_path / "mine.json")
    text = readme_path(path).read_text(encoding="utf-8")
    assert words in text and "not a copy of the original log" in text
    assert "adding or removing one case: ε = 1, δ = 1e-6" in text and "several cases is protected less" in text
    assert ("Timestamps are artificial: only" in text) == (kind != "map")
    command = shlex.split(text.splitlines()[-1].partition("travas ")[2])
    assert travas(command[0], *(tmp_path / name for name in command[1:])).code == 0


def anonymized(mechanism: Mechanism, path: Path) -> Path:
    written: Path = travas.anonymize(LOG, mechanism).write(path)
    return written


def test_it_does_not_depend_on_the_log(tmp_path: Path) -> None:
    texts = set()
    for number, log in enumerate([{("a",): 5000}, {("b", "c"): 3, ("d",): 700}, {}]):
        (tmp_path / str(number)).mkdir()
        path = travas.anonymize(log, epsilon=1, delta="1e-6").write(tmp_path / str(number) / "out.csv")
        texts.add(readme_path(path).read_bytes())
    assert len(texts) == 1


def test_it_names_the_person_that_is_protected(tmp_path: Path, travas: Run) -> None:
    log = tmp_path / "log.csv"
    log.write_text("case_id,activity,timestamp,patient\n" + "".join(f"{n},a,2024-01-01,p{n}\n" for n in range(300)))
    out = tmp_path / "out.json"
    ran = travas("anonymize", log, "--epsilon", 1, "--delta", "1e-6", "--unit", "patient", "--max-cases", 2, "-o", out)
    assert ran.code == 0, ran.err
    text = readme_path(out).read_text(encoding="utf-8")
    assert (
        "adding or removing all cases of one person (column patient)" in text
        and "counts at most 2 different variants per person." in text
    )


def test_without_a_guarantee_it_says_so(tmp_path: Path) -> None:
    made = travas.anonymize(
        LOG,
        by_name("prefix-tree", "1", "1e-6", max_length=3, prune=2),
        guarantee="not required",
        reading=Reading(),
    )
    text = readme_path(made.write(tmp_path / "out.json")).read_text(encoding="utf-8")
    assert "NO established guarantee" in text and "The guarantee holds" not in text


def test_two_releases_in_one_folder_do_not_collide(tmp_path: Path) -> None:
    made = travas.anonymize(LOG, epsilon=1, delta="1e-6")
    paths = [made.write(tmp_path / name) for name in ("out.csv", "out.csv.gz", "out.xes")]
    assert len({readme_path(path) for path in paths if readme_path(path).is_file()}) == 3


def test_a_readme_that_is_in_the_way_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "out.csv.README.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"out\.csv\.README\.txt: already exists") as caught:
        travas.anonymize(LOG, epsilon=1, delta="1e-6").write(tmp_path / "out.csv")
    assert caught.value.field == "existing"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv.README.txt"]
