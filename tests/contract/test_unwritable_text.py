"""Text that is not valid UTF-8, which no file can hold, is refused where it is stated: by its name, before any charge."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import travas
from travas import LogError, ParameterError
from travas.budget.account import Approval

HALF = "x\ud800"

STATED: dict[str, tuple[str, Callable[[], Any]]] = {
    "alphabet": ("alphabet", lambda: travas.Synthesis(1, "1e-6", alphabet=["a", HALF])),
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


def test_so_is_one_of_a_folder(small_csv: Path, tmp_path: Path) -> None:
    if sys.platform == "darwin":
        return
    (tmp_path / "logs").mkdir()
    for name in (b"a.csv", b"b\xff.csv"):
        (tmp_path / "logs" / os.fsdecode(name)).write_bytes(small_csv.read_bytes())
    with pytest.raises(LogError, match="not valid UTF-8; rename the file or its folder"):
        travas.read(tmp_path / "logs")
