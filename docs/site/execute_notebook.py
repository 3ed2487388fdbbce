"""Execute a notebook in an empty folder and write it with its outputs: `python docs/site/execute_notebook.py IN.ipynb OUT.ipynb`.

`make tutorials` renews the outputs of docs/tutorials in this way, and a test checks that every tutorial still runs.
"""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from nbclient import NotebookClient

nbformat: Any = import_module("nbformat")  # it has only some of its types


def execute(source: Path, target: Path) -> None:
    """Run all cells with a fresh kernel; a cell that fails ends the program."""
    notebook = nbformat.read(source, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("TRAVAS_LEDGER", None)
        commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ |= {"PATH": commands, "TERM": "dumb", "COLUMNS": "110"}
        NotebookClient(
            notebook, timeout=1200, kernel_name="python3", resources={"metadata": {"path": folder}}, record_timing=False
        ).execute()
    text = nbformat.writes(notebook).replace(f"{folder}/", "")
    notebook = nbformat.reads(text, as_version=4)
    notebook.metadata = {"kernelspec": notebook.metadata.get("kernelspec", {}), "language_info": {"name": "python"}}
    nbformat.write(notebook, target)


if __name__ == "__main__":
    execute(Path(sys.argv[1]), Path(sys.argv[2]))
