"""The command line and the web app as sources of outputs: files are written, released and read again, as a user would."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from sampled_losses import View
from worst_pairs import DELTA, EPSILON, PAIRS, Pair, views_of, write_log

from travas import Reading
from travas.cli import main as cli
from travas.outputs.readme_file import release_files
from travas.web import tasks
from travas.web.recipe import Recipe

NAMES = ("optimal", "travas", "ladder")
"""Mechanisms that need no option beyond ε and δ, apart from synthesis, which takes seconds for a run."""

FILE_PAIRS = tuple(pair for pair in PAIRS if not pair.max_cases)
"""Pairs whose logs are files without persons."""

Entry = Literal["command line", "web app"]
Sampler = Callable[[], View]


def samplers(entry: Entry, name: str, pair: Pair, folder: Path) -> tuple[Sampler, Sampler]:
    """Samplers of a mechanism on both logs of a pair, which keep their files in a folder."""
    run = on_the_command_line if entry == "command line" else in_the_web_app
    one, other = (
        write_log(log, folder / f"{side}.csv")
        for side, log in zip(("one", "other"), (pair.one, pair.other), strict=True)
    )
    return _sampler(run, name, one), _sampler(run, name, other)


def _sampler(run: Callable[[str, Path, Path], None], name: str, log: Path) -> Sampler:
    output = log.with_suffix(".json")

    def once() -> View:
        for path in release_files(output):
            path.unlink(missing_ok=True)
        run(name, log, output)
        content = json.loads(output.read_text())
        variants = tuple(tuple(trace) for trace in content["variants"])
        return views_of(variants, tuple(content["noisy"]), tuple(content.get("rungs", ())), content.get("cases"))

    return once


def on_the_command_line(name: str, log: Path, output: Path) -> None:
    """One run of `travas anonymize`, in this process."""
    words = ["travas", "anonymize", str(log), "--mechanism", name, "--epsilon", EPSILON, "--delta", DELTA]
    words += ["--order", "file", "-o", str(output), "--ledger", str(log.parent / "ledger.db")]
    before, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            cli.main()
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"exit code {stop.code}: {said.getvalue()}") from None
    finally:
        sys.argv = before


def in_the_web_app(name: str, log: Path, output: Path) -> None:
    """One run of the work that the web app does for a release."""
    recipe = Recipe(name, EPSILON, DELTA, ())
    ledger = log.parent / "ledger.db"
    reading = recipe.reading(Reading(order="file"))
    tasks.draw(log, "log.csv", reading, recipe, ledger, "", "original", output, lambda *_: None)
