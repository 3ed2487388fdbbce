"""The tutorials run from the first cell to the last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


def texts_of(notebook: dict[str, Any]) -> str:
    """All text that the cells have printed or shown."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    parts = [part for output in outputs for part in (output.get("text"), *output.get("data", {}).values())]
    return "\n".join("".join(part) for part in parts if part)


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    script = ROOT / "tests" / "execute_notebook.py"
    command = [sys.executable, str(script), str(path), str(tmp_path / "executed.ipynb")]
    ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONWARNINGS": "ignore"})
    assert ran.returncode == 0, ran.stderr
    executed = json.loads((tmp_path / "executed.ipynb").read_text())
    words = texts_of(executed)
    guarantee = "for adding or removing one case"
    expected = {
        "pm4py": ("Synthetic log:", "process tree", "CONFIDENTIAL", "fitness", f"ε = 1, δ = 1e-6 {guarantee}, proven"),
        "database": ("Released log:", "release.xes.gz.guarantee.json", "was released before", f"{guarantee}: verified"),
    }[path.stem]
    assert [text for text in expected if text not in words] == []
