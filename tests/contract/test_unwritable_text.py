"""Text that is not valid UTF-8, which no file can hold, is refused where it is stated: by its name, before any charge."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import travas
from conftest import Run
from travas import LogError, ParameterError
from travas.budget.account import Approval

HALF = "x\ud800"

STATED: dict[str, tuple[str, Callable[[], Any]]] = {
    "alphabet of a tree": (
        "alphabet",
        lambda: travas.PrefixTree(1, "1e-6", alphabet=["a", HALF], max_length=3, prune=20),
    ),
    "alphabet of a synthetic log": ("alphabet", lambda: travas.Synthesis(1, "1e-6", alphabet=["a", HALF])),
    "alphabet of a map": ("alphabet", lambda: travas.ProcessMap(1, "1e-6", alphabet=["a", HALF])),
    "alphabet of two columns": (
        "alphabet",
        lambda: travas.PrefixTree(1, "1e-6", alphabet=[("a", HALF)], max_length=3, prune=20),
    ),
    "attribute": ("attributes", lambda: travas.Attribute(HALF)),
    "activity": ("activity", lambda: travas.Reading(activity=(HALF,))),
    "columns": ("columns", lambda: travas.Log.from_mapping({(("a", "b"),): 9}, ("concept:name", HALF))),
    "case": ("case", lambda: travas.Reading(case=HALF)),
    "query": ("query", lambda: travas.Reading(query=f"select '{HALF}'")),
    "where": ("where", lambda: travas.Reading(where=(("ward", HALF),))),
    "end activity": ("end_activity", lambda: travas.Period("2025-01", end_activity=(HALF,))),
    "group": ("abstraction", lambda: travas.Abstraction.from_json([{"group": [[HALF, "a"]]}])),
    "only": ("abstraction", lambda: travas.Abstraction.from_json([{"only": ["a", HALF]}])),
    "reason": ("reason", lambda: Approval(reason=HALF)),
}


@pytest.mark.parametrize("what", STATED)
def test_it_is_refused_where_it_is_stated(what: str) -> None:
    field, make = STATED[what]
    with pytest.raises(ParameterError, match=f"^{field} is not valid UTF-8: .*; correct it$") as refused:
        make()
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("option", "more"),
    [
        (("--end-activity", "x\udcff"), ("--period", "2020-01")),
        (("--where", "ward=x\udcff"), ()),
        (("--activity", "x\udcff"), ()),
    ],
)
def test_the_command_line_names_the_option(
    option: tuple[str, str], more: tuple[str, ...], travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    asked = ("anonymize", small_csv, "--epsilon", 1, "--delta", "1e-2", "-o", tmp_path / "out.csv")
    ran = travas(*asked, *more, *option)
    assert ran.code == 2 and "not valid UTF-8" in ran.err and option[0] in ran.err and len(ran.err.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system of macOS has no such names")
@pytest.mark.parametrize("command", ["anonymize", "doctor", "compare"])
def test_a_log_whose_name_is_not_text_is_to_be_renamed(
    command: str, travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    folder = tmp_path / os.fsdecode(b"logs\xff")
    folder.mkdir()
    (folder / "log.csv").write_bytes(small_csv.read_bytes())
    options: dict[str, tuple[Any, ...]] = {
        "anonymize": (folder / "log.csv", "--epsilon", 1, "--delta", "1e-2", "-o", tmp_path / "out.csv"),
        "compare": (small_csv, folder / "log.csv"),
    }
    ran = travas(command, *options.get(command, (folder / "log.csv",)))
    said = ran.out + ran.err
    assert ran.code in (1, 2) and "not valid UTF-8; rename the file or its folder" in " ".join(said.split())


def test_so_is_one_of_a_folder(small_csv: Path, tmp_path: Path) -> None:
    if sys.platform == "darwin":
        return
    (tmp_path / "logs").mkdir()
    for name in (b"a.csv", b"b\xff.csv"):
        (tmp_path / "logs" / os.fsdecode(name)).write_bytes(small_csv.read_bytes())
    with pytest.raises(LogError, match="not valid UTF-8; rename the file or its folder"):
        travas.read(tmp_path / "logs")
