"""The wheel where nothing else is installed: the base alone, then with each extra alone.

    python tests/supply/extras.py dist/travas-….whl           all extras
    python tests/supply/extras.py dist/travas-….whl web sql   these

Every extra has a command that needs it. Without extras the command must name its extra in one line; with it, it must work.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from travas.outputs.write import write_hospital_log

PARAMETERS = ("--epsilon", "1", "--delta", "1e-6")
PANDAS = """
import travas
frame = travas.anonymize("hospital.csv", epsilon=1, delta="1e-6").to_pandas()
again = travas.anonymize(frame, epsilon=1, delta="1e-6", ledger=None)
assert len(frame) and again.variants
"""
BASE = (
    ("demo", "-o", "demo"),
    ("verify", "demo/demo-variants.xes.gz.guarantee.json", "demo/demo-variants.xes.gz"),
    ("anonymize", "hospital.csv", *PARAMETERS, "-o", "release.json"),
    ("synthesize", "hospital.csv", *PARAMETERS, "-o", "synthetic.xes"),
    ("map", "hospital.csv", *PARAMETERS, "-o", "map.html"),
    ("report", "release.json.guarantee.json", "release.json", "-o", "report.html"),
    ("forecast", *PARAMETERS),
    ("docs", "--path"),
    ("budget", "plan", "--releases", "12", *PARAMETERS),
)


@dataclass(frozen=True)
class Environment:
    """An environment with the wheel, and a folder with the example log to work in."""

    programs: Path
    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `travas` as a user would: no variable of this process reaches it."""
        settings = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [self.programs / words[0], *words[1:]], cwd=self.folder, env=settings, capture_output=True, text=True
        )


Smoke = Callable[[Environment], subprocess.CompletedProcess[str]]


def command(*words: str) -> Smoke:
    """A smoke test that runs `travas` with these words."""
    return lambda environment: environment.run("travas", *words)


def script(text: str) -> Smoke:
    """A smoke test that runs a piece of Python."""
    return lambda environment: environment.run("python", "-I", "-W", "error", "-c", text)


def serve(environment: Environment) -> subprocess.CompletedProcess[str]:
    """Start the web app on a free port, ask it whether it is well, and stop it with Ctrl-C."""
    words = [str(environment.programs / "travas"), "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(
        words, cwd=environment.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(environment.folder), "PYTHONUNBUFFERED": "1", "COLUMNS": "500"},
    )  # fmt: skip
    assert server.stdout is not None
    line = server.stdout.readline()
    if address := re.search(r"http://[0-9.]+:[0-9]+/", line):
        with urllib.request.urlopen(address[0] + "health", timeout=30) as answer:
            line += f"/health answered {answer.status}\n"
        server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=60)
    return subprocess.CompletedProcess(words, server.returncode, line + out, err)


SMOKES: dict[str, Smoke] = {
    "pandas": script(PANDAS),
    "metrics": command("compare", "hospital.csv", "release.json"),
    "models": command("compare", "hospital.csv", "release.json", "--metrics", "fitness"),
    "plot": command("map", "hospital.csv", "--epsilon", "1", "--delta", "1e-6", "-o", "map.svg"),
    "web": serve,
    "compression": command("doctor", "hospital.csv.zst"),
    "sql": command("doctor", "duckdb:///hospital.db", "--table", "events"),
    "spark": command("anonymize", "spark:hospital.parquet", "--epsilon", "1", "--delta", "1e-6", "-o", "spark.csv"),
}


def write_logs(folder: Path) -> None:
    """The example log as the extras read it."""
    import duckdb
    import polars
    import zstandard

    log = write_hospital_log(folder / "hospital.csv")
    (folder / "hospital.csv.zst").write_bytes(zstandard.compress(log.read_bytes()))
    frame = polars.read_csv(log, try_parse_dates=True)
    frame.write_parquet(folder / "hospital.parquet")
    with duckdb.connect(str(folder / "hospital.db")) as database:
        database.execute(f"CREATE TABLE events AS FROM read_csv('{log}')")


def environment(wheel: Path, extra: str, folder: Path, logs: Path) -> Environment:
    """A new environment with the wheel and one extra, or none, and nothing else."""
    place, work = folder / "environment", folder / "work"
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, place], check=True)
    wanted = f"travas[{extra}] @ {wheel.as_uri()}" if extra else f"travas @ {wheel.as_uri()}"
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", place, wanted], check=True)
    shutil.copytree(logs, work)
    return Environment(place / "bin", work)


def text_of(ran: subprocess.CompletedProcess[str]) -> str:
    """What a program printed, with line breaks as blanks: a terminal may have wrapped a name."""
    return " ".join((ran.stdout + ran.stderr).split())


def problems_of_base(base: Environment) -> list[str]:
    """What does not work without extras; each extra's own command must say what is missing."""
    problems = []
    for words in BASE:
        ran = base.run("travas", *words)
        if ran.returncode:
            problems.append(f"travas {' '.join(words)}: exit code {ran.returncode}: {text_of(ran)[-300:]}")
    for extra, smoke in SMOKES.items():
        ran = smoke(base)
        if f"travas[{extra}]" not in text_of(ran):
            problems.append(f"without {extra}: it is not named: {text_of(ran)[-300:]}")
    return problems


def problems_of(extra: str, with_extra: Environment) -> list[str]:
    """What does not work with one extra alone."""
    prepared = with_extra.run("travas", "anonymize", "hospital.csv", *PARAMETERS, "-o", "release.json")
    ran = SMOKES[extra](with_extra)
    if prepared.returncode or ran.returncode or f"travas[{extra}]" in text_of(ran):
        return [f"{extra}: exit code {ran.returncode}: {text_of(prepared)[-300:]} {text_of(ran)[-600:]}"]
    return []


def main() -> int:
    """Try the base and the extras that are named, or all; exit code 1 if one does not work."""
    wheel, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:] or ["", *SMOKES]
    found = 0
    with tempfile.TemporaryDirectory() as scratch:
        logs = Path(scratch) / "logs"
        logs.mkdir()
        write_logs(logs)
        for extra in wanted:
            folder, began = Path(scratch) / (extra or "base"), time.monotonic()
            made = environment(wheel, extra, folder, logs)
            problems = problems_of(extra, made) if extra else problems_of_base(made)
            print(
                f"{extra or 'base':12} {'failed' if problems else 'works'}  {time.monotonic() - began:5.1f} s",
                flush=True,
            )
            print(*problems, sep="\n", end="\n" if problems else "", flush=True)
            found += bool(problems)
            shutil.rmtree(folder)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
