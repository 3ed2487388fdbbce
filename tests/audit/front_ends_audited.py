"""The command line and the web app as sources of outputs: files are written, released and read again, as a user would."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
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

Entry = Literal["cli", "web"]
Sampler = tuple[str, Pair, Callable[[], View], Callable[[], View]]


@contextmanager
def samplers(entry: Entry, most_pairs: int) -> Iterator[list[Sampler]]:
    """Samplers of each mechanism on each pair whose logs are files without persons, the first ones if there is little time."""
    with TemporaryDirectory() as folder:
        run = on_the_command_line if entry == "cli" else in_the_web_app
        found: list[Sampler] = []
        for name in NAMES:
            for number, pair in enumerate([pair for pair in PAIRS if not pair.max_cases][:most_pairs]):
                one, other = (
                    write_log(log, Path(folder) / f"{number}-{side}.csv")
                    for side, log in enumerate((pair.one, pair.other))
                )
                found.append((name, pair, _sampler(run, name, one), _sampler(run, name, other)))
        yield found


def _sampler(run: Callable[[str, Path, Path], None], name: str, log: Path) -> Callable[[], View]:
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
    tasks.draw(log, "log.csv", reading, recipe, 1 << 30, ledger, "", "original", output, lambda *_: None)
