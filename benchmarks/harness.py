"""What the benchmarks share: a measurement is a process of its own, a bar is a ratio, the result is a table."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from travas.releases.release import kind_of

HERE = Path(__file__).resolve().parent
SCRATCH = HERE / "data"
DATA = Path(os.environ.get("TRAVAS_DATA", HERE.parent.parent / "shared" / "data"))
PUBLISHED = HERE.parent / "docs" / "data"
SCRATCH.mkdir(exist_ok=True)

HARNESS = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
def load(path):
    content = json.load(open(path))
    return tuple(map(tuple, content["variants"])), tuple(content["counts"])
def begin():
    global started; started = time.perf_counter()
def end():
    seconds = time.perf_counter() - started
    print("\\nMEASURED", json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def spread(release: Any) -> Any:
    """Released variants with the counts for similarity studies: each has a share of the cases that were not released."""
    return replace(release, frequencies="spread") if kind_of(release.mechanism) == "variants" else release


def measure(script: str, **names: object) -> tuple[float, float]:
    """Seconds between begin() and end(), and peak memory in MB, in a fresh process."""
    assigned = "".join(f"{name} = {str(value)!r}\n" for name, value in names.items())
    ran = subprocess.run(
        [sys.executable, "-c", HARNESS + assigned + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line for line in ran.stdout.splitlines() if line.startswith("MEASURED")]
    if not found:
        raise SystemExit(f"a measurement failed:\n{ran.stderr[-2000:]}")
    seconds, memory = json.loads(found[-1].removeprefix("MEASURED"))
    return seconds, memory


def best(runs: int, **contestants: tuple[str, Mapping[str, object]]) -> dict[str, tuple[float, float]]:
    """Contestants in turn, `runs` times; the least time and the greatest memory of each."""
    found: dict[str, tuple[float, float]] = {}
    for _ in range(runs):
        for name, (script, names) in contestants.items():
            seconds, memory = measure(script, **names)
            before = found.get(name, (float("inf"), 0.0))
            found[name] = min(seconds, before[0]), max(memory, before[1])
    return found


ROWS: list[tuple[str, str, str, str]] = []


def row(what: str, measured: float, bar: float, sense: str, unit: str = "×", note: str = "") -> None:
    held = measured <= bar if sense == "≤" else measured >= bar
    shown = f"{measured:.2f} {unit}" if abs(measured) >= 0.1 else f"{measured:.2g} {unit}"
    ROWS.append((what, shown.strip(), f"{sense} {bar:g} {unit}".strip(), "yes" if held else "NO"))
    print(f"{'ok ' if held else 'NO '} {what}: {shown} (bar {sense} {bar:g} {unit}) {note}", flush=True)


def publish(name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table of the documentation: docs/data/NAME.csv."""
    with (PUBLISHED / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def finish(name: str = "") -> None:
    """Print the table, and write it for the documentation; the exit code says whether every bar held."""
    if name:
        publish(name, ("what", "measured", "bar", "held"), ROWS)
    print("\n| what | measured | bar | held |\n|---|--:|--:|---|")
    for cells in ROWS:
        print("| " + " | ".join(cells) + " |")
    sys.exit(any(held == "NO" for *_, held in ROWS))
