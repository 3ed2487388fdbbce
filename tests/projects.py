"""A folder to make release projects in, and a project file with what most of them need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from travas import Ledger

if TYPE_CHECKING:
    from conftest import Ran, Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger_path: Path) -> Path:
    """A folder with a log of two months, and a budget for one release."""
    rows = ["case_id,activity,timestamp"]
    for case in range(120):
        month = 1 + case % 2
        rows += [f"c{case},{name},2026-0{month}-0{day} 08:00:00" for day, name in enumerate(("in", "visit", "out"), 1)]
        rows += [f"c{case},visit,2026-03-05 08:00:00"]  # all of them return
    (tmp_path / "clinic.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    Ledger(ledger_path).create_budget("clinic", epsilon=1, delta="1e-6")
    return tmp_path


Start = Callable[..., "Ran"]


@pytest.fixture
def start(travas: Run, folder: Path) -> Start:
    def start(*words: object, **settings: Any) -> Ran:
        """Run `travas doctor -o travas.toml` with some settings; those that are lists are tuples."""
        stated = {
            "dataset": "clinic",
            "end_activity": "out",
            "grace": "7d",
            "reason": "Decided on 3 May.",
            "output": "release.json",
        } | settings
        items = [
            (name, item) for name, value in stated.items() for item in (value if isinstance(value, tuple) else (value,))
        ]
        return travas(
            *("doctor", "clinic.csv", "-o", "travas.toml", *words),
            *(word for name, item in items for word in ("--set", f"{name}={item}")),
        )

    return start
