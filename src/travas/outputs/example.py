"""Writing the example log, for the demo and the web app."""

from __future__ import annotations

from pathlib import Path

from ..errors import OutputError
from ..sources.example_log import hospital_log
from .atomic import atomic_output, cannot_write


def write_hospital_log(path: Path) -> Path:
    """Write the example log; its folder is made if needed."""
    text = hospital_log()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if path.read_text(encoding="utf-8", errors="replace") != text:
                raise OutputError(f"{path}: exists and is not the demo's log; choose another directory", field="output")
            return path
    except OutputError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from None
    with atomic_output(path, "fail") as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    return path
