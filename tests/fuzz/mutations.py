"""Mutated inputs for every reader and parser: they may refuse with an error of travas, and nothing else may happen.

`make fuzz SECONDS=…` has new ones every time: `python tests/fuzz/mutations.py SECONDS [SEED]`.
A target is a folder of small files in `corpus` and a function that reads one; a new reader joins by an entry in TARGETS.
"""

import csv
import io
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from unittest import mock

import travas
from travas import Abstraction, LogError, Reading, TravasError
from travas.budget.policy import Policy
from travas.evaluation.experiment import read_grid
from travas.log.abstraction import parse_ladder
from travas.mechanisms import from_description
from travas.settings.project import Project
from travas.sources import xes
from travas.sources.files import location_of, without_secrets
from travas.sources.release_json import load_release_json
from travas.trusted.numbers import exact_delta, exact_epsilon
from travas.verification.opened import read_release, release_of

CORPUS = Path(__file__).with_name("corpus")
SLOWEST = 20.0
"""Seconds of processor time that a small input may take."""

TOKENS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"''", b",", b";", b"\t", b"\r", b"\n", b"\r\n", b"<", b"</trace>", b"&amp;",
    b"]]>", b"<!DOCTYPE x [<!ENTITY y 'z'>]>", b"<!--", b"NaN", b"Infinity", b"-1", b"1e999999", b"9" * 40, b"null", b"true",
    b"[]", b"{}", b"\\u0000", b"\\ud800", "\u202e".encode(), "ε".encode(), b"../", b"%00", b"://", b"@", b"2024-02-30",
    b"24:00:00", b"+99:99", b"[" * 3000, b'{"a":' * 3000, b"7" * 5000, b"x" * 140_000,
)  # fmt: skip


def mutated(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """A file with one to four changes: bits, bytes, tokens, pieces moved, doubled or cut, or spliced with another file."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        where = chance.randrange(len(data) + 1)
        end = min(len(data), where + chance.choice((1, 2, 8, 64)))
        match chance.randrange(8):
            case 0 if data:
                data[where % len(data)] ^= 1 << chance.randrange(8)
            case 1:
                del data[where:end]
            case 2:
                data[where:where] = data[where:end]
            case 3 | 4:
                data[where:where] = chance.choice(TOKENS)
            case 5:
                data[where:end] = chance.choice(TOKENS)
            case 6:
                del data[where:]
            case _:
                other = chance.choice(others)
                data[where:] = other[chance.randrange(len(other) + 1) :]
    return bytes(data)


def _read_csv(path: Path) -> None:
    """travas and the standard library agree on every file that travas accepts."""
    variants = travas.read(
        path, Reading(case="case_id", activity=("activity",), order="file", delimiter=",", quote='"')
    )
    text = path.read_bytes().decode("utf-8-sig", errors="replace")  # columns that are not read may be of other bytes
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if any(row)]
    case, activity = rows[0].index("case_id"), rows[0].index("activity")
    traces: dict[str, list[str]] = {}
    for row in rows[1:]:
        traces.setdefault(row[case], []).append(row[activity])
    expected = Counter(tuple(trace) for trace in traces.values())
    assert dict(variants.items()) == dict(expected), "travas and csv read different variants"


def _read_xes(path: Path) -> None:
    """Plain traces are read as the parser reads them, and refused in the same cases.

    Where XML is malformed, an earlier trace may be refused first: the parser alone has not seen it by then.
    """
    outcomes: list[object] = []
    for is_scannable in (xes.is_scannable, lambda root, head: False):
        with mock.patch.object(xes, "is_scannable", is_scannable):
            try:
                found = travas.read(path)
                outcomes.append((dict(found.items()), found.notes))
            except TravasError as error:
                outcomes.append(re.sub(r"line [0-9]+, column [0-9]+", "a place", str(error)))
    is_malformed = all(isinstance(each, str) for each in outcomes) and "malformed XML" in str(outcomes[1])
    assert is_malformed or outcomes[0] == outcomes[1], "the scanner and the parser read different logs"
    if isinstance(outcomes[0], str):
        raise LogError(outcomes[0])


def _read_release(path: Path) -> None:
    if path.suffix != ".json":
        read_release(path)
    travas.read(path)


def _open_release(kind: str) -> Callable[[Path], object]:
    return lambda path: release_of(load_release_json(path, "not a release"), path, {"kind": kind})


def _read_description(path: Path) -> None:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return
    from_description(content)


def _read_text(parse: Callable[[str], object]) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        for line in path.read_bytes().decode(errors="replace").splitlines():
            parse(line)

    return read


def _check_url(url: str) -> None:
    """The password of a URL appears neither in the name of an account nor in a message; other texts are paths."""
    secret = ":s3cr3t-pass@"
    assert secret not in without_secrets(f"cannot connect to {url}") or "://" not in url.partition(secret)[0]
    if re.match(r"(postgresql|postgres)://", url):
        assert location_of(url) is None


def _numbers(text: str) -> None:
    for parse in (exact_epsilon, exact_delta):
        try:
            parse(text)
        except TravasError:
            continue


TARGETS: dict[str, Callable[[Path], object]] = {
    "xes": _read_xes,
    "csv": _read_csv,
    "formats": lambda path: travas.read(path),
    "doctor": lambda path: travas.doctor(path),
    "release": _read_release,
    "synthetic": _open_release("synthetic log"),
    "map": _open_release("process map"),
    "guarantee": lambda path: travas.verify(path),
    "grid": lambda path: read_grid(path, path.parent),
    "project": Project.load,
    "policy": Policy.load,
    "description": _read_description,
    "group": lambda path: Abstraction.parse(f"group:{path}", "read"),
    "only": lambda path: Abstraction.parse(f"only:{path}", "read"),
    "abstractions": _read_text(Abstraction.parse),
    "ladders": _read_text(parse_ladder),
    "numbers": _read_text(_numbers),
    "urls": _read_text(_check_url),
}


BINARY = (".parquet", ".arrow", ".feather", ".ipc", ".xlsx")
"""Not mutated: a damaged length makes their libraries ask for more memory than there is, which ends the process."""


def files_of(target: str) -> list[Path]:
    """The corpus of a target."""
    return sorted(path for path in (CORPUS / target).iterdir() if path.suffix not in BINARY)


def inputs(target: str, seed: int) -> Iterator[tuple[str, bytes]]:
    """Names and contents of mutated files, without end; the same for the same seed."""
    chance = random.Random(f"{target} {seed}")
    files = [(path.name, path.read_bytes()) for path in files_of(target)]
    while True:
        name, content = chance.choice(files)
        yield name, mutated(content, [other for _, other in files], chance)


def fuzz(target: str, folder: Path, seed: int, most: int, seconds: float = float("inf")) -> Counter[str]:
    """Read mutated files.

    Args:
        target: One of TARGETS.
        folder: Where the files are written; the one that fails stays there.
        seed: Which files.
        most: The largest number of files.
        seconds: The time after which to stop.

    Returns:
        How many files were read and refused.

    Raises:
        AssertionError: A file caused anything but an error of travas, or took too long; the message names the file.
    """
    found: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for number, (name, content) in enumerate(inputs(target, seed)):
        if number >= most or time.monotonic() > end:
            break
        path, start = folder / name, time.process_time()
        path.write_bytes(content)
        where = f"{path} (seed {seed}, number {number})"
        try:
            TARGETS[target](path)
            found["read"] += 1
        except TravasError as error:
            assert len(str(error).splitlines()) == 1, f"{where}: not a message of one line"
            found["refused"] += 1
        except BaseException as error:
            raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
        assert time.process_time() - start < SLOWEST, f"{where}: too slow"
    return found


def main() -> int:
    """Run every target for its part of the time; the file that fails stays where the message says."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    code = 0
    for target in TARGETS:
        folder = Path(mkdtemp(prefix=f"travas-fuzz-{target}-"))
        try:
            found = fuzz(target, folder, seed, most=10**9, seconds=seconds / len(TARGETS))
            print(f"ok    {target}: {found.total():,} files, {found['refused']:,} refused", flush=True)
        except AssertionError as error:
            print(f"FAIL  {target}: {error}", flush=True)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
