from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import travas
from travas import Reading, read, verify
from travas.errors import OutputError, VerificationError
from travas.mechanisms import mechanism
from travas.releases.release import VariantRelease
from travas.verification.opened import read_release

LOGS = (".xes", ".xes.gz", ".csv", ".csv.gz", ".parquet")
ALL = (*LOGS, ".json")
RULE = mechanism("optimal", "1", "1e-6")

HARD = [
    "a,b", 'say "x"', "it's", "line\nbreak", "cr\r\nlf", "cr\ronly", "tab\tbed", "<a & b>", "]]>", "  blanks  ", "𝄞 😀", "ü",
    "NA", "null", "'", ";", "a→b", "\u2028", "\x85", "x" * 10_000, "#", "=1+1", "\ufeffbom", "\u200b",
]  # fmt: skip


def release(counts: dict[object, int], columns: tuple[str, ...] = ("concept:name",)) -> VariantRelease:
    return replace(VariantRelease.of(RULE, counts, counts.values(), columns), frequencies="noisy")  # type: ignore[arg-type]


def released(path: Path) -> dict[object, int]:
    if path.suffix == ".json":
        content = json.loads(path.read_text())
        return {tuple(trace): count for trace, count in zip(content["variants"], content["counts"], strict=True)}
    return dict(read(path).items())


@pytest.mark.parametrize("suffix", ALL)
def test_hard_names_round_trip(suffix: str, tmp_path: Path) -> None:
    log: dict[object, int] = {(name,): 14 for name in HARD} | {tuple(HARD): 15, ("a,b", "a,b"): 16}
    path = release(log).write(tmp_path / f"out{suffix}")
    assert released(path) == log


@pytest.mark.parametrize("suffix", ALL)
@given(
    traces=st.dictionaries(
        st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=1, max_size=4).map(tuple),
        st.integers(1, 4), min_size=1, max_size=4,
    )
)  # fmt: skip
@settings(deadline=None, max_examples=25)
def test_any_text_round_trips(suffix: str, traces: dict[object, int], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = release(traces).write(tmp_path_factory.mktemp("any") / f"out{suffix}")
    content = read_release(path)
    assert dict(zip(content.variants, content.counts, strict=True)) == traces


def test_a_csv_release_can_be_read_whatever_its_names(tmp_path: Path) -> None:
    """The reader of CSV refuses a NUL, so a NUL is never written."""
    path = release({("a\0", "\\u{0}"): 14}).write(tmp_path / "out.csv")
    assert b"\0" not in path.read_bytes()
    assert dict(read(path).items()) == {("a\0", "\\u{0}"): 14}
    assert read_release(path).variants == (("a\0", "\\u{0}"),)


@pytest.mark.parametrize("suffix", LOGS)
def test_several_columns_are_written_as_several(suffix: str, tmp_path: Path) -> None:
    log: dict[object, int] = {(("a", "start"), ("a", "end")): 14, (("b|c", "start"),): 15}
    path = release(log, ("concept:name", "lifecycle:transition")).write(tmp_path / f"out{suffix}")
    reading = Reading(activity=("concept:name", "lifecycle:transition"))
    assert dict(read(path, reading).items()) == log


@pytest.mark.parametrize("suffix", ALL)
def test_an_empty_release_is_valid(suffix: str, tmp_path: Path) -> None:
    path = release({}).write(tmp_path / f"out{suffix}")
    assert verify(f"{path}.guarantee.json", path).digest_checked
    assert not dict(read(path).items())


@pytest.mark.parametrize("suffix", LOGS)
def test_pm4py_opens_exactly_the_released_variants(suffix: str, tmp_path: Path) -> None:
    import pandas as pd
    import pm4py

    log: dict[object, int] = {("register", "visit <x>", "release"): 23, ("register", "b,c", 'd"e'): 14}
    made = release(log)
    path = made.write(tmp_path / f"out{suffix}")
    if suffix.startswith(".csv"):
        frame = pm4py.format_dataframe(
            pd.read_csv(path), case_id="case:concept:name", activity_key="concept:name", timestamp_key="time:timestamp"
        )
    elif suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        frame = pm4py.read_xes(str(path), variant="iterparse")
    assert pm4py.get_variants(frame) == log
    assert pm4py.get_variants(made.to_pandas()) == log


def test_xes_carries_the_privacy_extension(tmp_path: Path) -> None:
    import pm4py

    path = release({("a",): 14}).write(tmp_path / "out.xes")
    log = pm4py.read_xes(str(path), variant="iterparse", return_legacy_log_object=True)
    assert log.extensions["Privacy"]["prefix"] == "privacy"
    ((_, anonymizer),) = log.attributes["privacy:anonymizations"]["children"]
    assert dict(anonymizer["children"])["privacy:epsilon"] == "1"
    assert "artificial" in log.attributes["travas:timestamps"]


def test_frames() -> None:
    made = release({("a", "b"): 14, ("c",): 15})
    frame = made.to_polars()
    assert frame.columns == ["case:concept:name", "concept:name", "time:timestamp", "travas:timestamps"]
    assert frame.height == 14 * 2 + 15
    assert dict(read(frame).items()) == {("a", "b"): 14, ("c",): 15}
    assert list(made.to_pandas().columns) == frame.columns
    assert release({}).to_polars().height == 0


def test_the_guarantee_file_says_it_all(tmp_path: Path) -> None:
    path = mechanism("travas", "0.5", "1e-3", minimum_cases=5).release(read({("a",): 500})).write(tmp_path / "out.csv")
    stated = json.loads((tmp_path / "out.csv.guarantee.json").read_text())
    assert stated["epsilon"] == "0.5" and stated["delta"] == "0.001"
    assert float(stated["delta_spent"]) < 0.001
    assert stated["parameters"]["threshold"] == stated["parameters"]["centre"] - 5
    assert stated["unit"] == {"name": "case", "max_cases": 1}
    assert stated["neighbours"] == "add or remove one case"
    assert stated["replace_one"] == {"epsilon": "1", "delta": "0.002"}
    assert stated["mechanism"] == "travas" and stated["parameters"]["minimum_cases"] == 5
    assert stated["standing"] == "verified" and stated["software"] == f"travas {travas.__version__}"
    assert stated["assumed_public"] and stated["timestamps"].startswith("artificial")
    assert stated["release"]["format"] == "csv" and len(stated["release"]["sha256"]) == 64
    assert set(stated) == {
        "format", "version", "software", "standing", "epsilon", "delta", "delta_spent", "unit", "neighbours",
        "replace_one", "mechanism", "kind", "description", "reading", "parameters", "assumed_public", "timestamps", "release",
    }  # fmt: skip
    assert verify(f"{path}.guarantee.json", path).mechanism.name == "travas"


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("epsilon", "0.9", "is not what optimal at this"),
        ("delta", "1e-7", "is not what"),
        ("delta_spent", "1e-9", "delta_spent is not what"),
        ("delta_spent", "1e-99999999", "delta_spent is not what"),
        ("mechanism", "travas", "mechanism is not what optimal"),
        ("kind", "synthetic log", "kind is not what optimal"),
        ("unit", {"name": "hospital", "max_cases": 1000}, "is not what optimal"),
        ("unit", {"name": "case", "max_cases": 5}, "is inconsistent"),
        ("description", {"mechanism": "foo", "epsilon": "1", "delta": "1e-6"}, "inconsistent: mechanism is 'foo'"),
        ("description", {"mechanism": "os:system", "epsilon": "1", "delta": "1e-6"}, "not imported"),
        ("description", {"mechanism": "travas", "epsilon": "1", "delta": "1e-6"}, "is not what travas"),
        ("epsilon", "abc", "is inconsistent"),
        ("neighbours", "replace everybody", "neighbours is not what"),
        ("replace_one", {"epsilon": "0", "delta": "0"}, "replace_one is not what"),
        ("assumed_public", [], "assumed_public is not what"),
        ("standing", "not established", "nothing to verify"),
        ("parameters", {"minimum_cases": 1, "table_length": 28, "table_bits": 128, "centre": 99}, "parameters is not"),
    ],
)
def test_a_forged_guarantee_is_found(key: str, value: object, why: str, tmp_path: Path) -> None:
    path = release({("a",): 14}).write(tmp_path / "out.json")
    promise = tmp_path / "out.json.guarantee.json"
    promise.write_text(json.dumps(json.loads(promise.read_text()) | {key: value}))
    with pytest.raises(VerificationError, match=why):
        verify(promise, path)


@pytest.mark.parametrize("suffix", [".json", ".xes", ".xes.gz"])
def test_the_guarantee_of_another_release_is_found(suffix: str, tmp_path: Path) -> None:
    """Even with the right digest: most formats say of themselves by what they were made."""
    path = release({("a",): 14}).write(tmp_path / f"out{suffix}")
    other = replace(release({("a",): 999}), mechanism=mechanism("optimal", "0.1", "1e-9")).write(
        tmp_path / f"o{suffix}"
    )
    stated = json.loads(Path(f"{other}.guarantee.json").read_text())
    stated["release"]["sha256"] = json.loads(Path(f"{path}.guarantee.json").read_text())["release"]["sha256"]
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(stated))
    with pytest.raises(VerificationError, match="what travas writes"):
        verify(forged, path)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("frequencies", "estimated", "its field 'frequencies'"),
        ("frequencies", "both", "is inconsistent: frequencies is 'both'"),
        ("abstractions", [[["fold"]]], "its abstractions|is inconsistent"),
        ("abstractions", [["nonsense"]], "is inconsistent"),
        ("format", "xes.gz", "its format"),
    ],
)
def test_what_a_guarantee_says_of_its_release_is_checked(key: str, value: object, why: str, tmp_path: Path) -> None:
    path = release({("a",): 14}).write(tmp_path / "out.json")
    promise = tmp_path / "out.json.guarantee.json"
    stated = json.loads(promise.read_text())
    stated["release"][key] = value
    promise.write_text(json.dumps(stated))
    with pytest.raises(VerificationError, match=why):
        verify(promise, path)


def test_a_changed_release_is_found(tmp_path: Path) -> None:
    path = release({("a",): 14}).write(tmp_path / "out.json")
    path.write_text(path.read_text().replace("14", "15"))
    assert verify(f"{path}.guarantee.json").digest_checked is False
    with pytest.raises(VerificationError, match="not the release of this guarantee"):
        verify(f"{path}.guarantee.json", path)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": "travas guarantee"}',
        '{"format": "travas guarantee", "version": 1}',
        '{"format": "travas guarantee", "version": 99}',
        "\x00",
        "[" * 200_000,
    ],
)
def test_a_file_that_is_not_a_guarantee_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(travas.LogError, match="guarantee file"):
        verify(path)


def test_nothing_is_replaced_unasked_and_nothing_half_written(tmp_path: Path) -> None:
    made = release({("a",): 14})
    made.write(tmp_path / "out.json")
    with pytest.raises(OutputError, match="already exists"):
        made.write(tmp_path / "out.json")
    release({("b",): 14}).write(tmp_path / "out.json", existing="replace")
    assert released(tmp_path / "out.json") == {("b",): 14}
    (tmp_path / "out.json").unlink()
    with pytest.raises(OutputError, match=r"README\.txt: already exists"):
        made.write(tmp_path / "out.json")
    (tmp_path / "out.json.README.txt").unlink()
    with pytest.raises(OutputError, match=r"guarantee\.json: already exists"):
        made.write(tmp_path / "out.json")
    with pytest.raises(OutputError, match="does not exist; create it first"):
        made.write(tmp_path / "no" / "out.json")
    with pytest.raises(OutputError, match="unsupported file extension"):
        made.write(tmp_path / "out.txt")
    with pytest.raises(OutputError, match="unsupported file extension"):
        made.write(tmp_path / ".json")
    (tmp_path / "dir.json").mkdir()
    with pytest.raises(OutputError, match="is a directory"):
        made.write(tmp_path / "dir.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dir.json", "out.json.guarantee.json"]


@pytest.mark.parametrize("suffix", ALL)
def test_a_full_disk_is_one_line_and_leaves_nothing(suffix: str, tmp_path: Path) -> None:
    """A limit of 20 KB on every file of the process stands for the full disk."""
    script = f"""
import resource, sys, travas
from travas.errors import OutputError
from travas.mechanisms import mechanism
from travas.releases.release import VariantRelease
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import hashlib
name = lambda n: "".join(hashlib.sha256(f"{{n}} {{part}}".encode()).hexdigest() for part in range(20))
made = VariantRelease.of(mechanism("optimal", "1", "1e-6"), tuple((name(n),) for n in range(100)), (14,) * 100)
try:
    made.write({str(tmp_path / ("out" + suffix))!r})
except OutputError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "the disk is full" in ran.stdout, (ran.stdout, ran.stderr[-800:])
    assert not list(tmp_path.iterdir())


def test_a_gzip_header_contains_neither_name_nor_time(tmp_path: Path) -> None:
    path = release({("a",): 14}).write(tmp_path / "out.xes.gz")
    head = path.read_bytes()[:10]
    assert head[3] == 0 and head[4:8] == bytes(4)
    assert gzip.decompress(path.read_bytes()).startswith(b"<?xml")


@pytest.mark.parametrize("suffix", ALL)
def test_the_same_release_gives_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    log: dict[object, int] = {(str(n), "x"): 14 + n for n in range(50)}
    one = release(log).write(tmp_path / f"one{suffix}").read_bytes()
    two = release(dict(reversed(log.items()))).write(tmp_path / f"two{suffix}").read_bytes()
    assert one == two


def test_files_are_the_owners_to_share(tmp_path: Path) -> None:
    path = release({("a",): 14}).write(tmp_path / "out.json")
    assert not any(entry.name.endswith(".partial") for entry in os.scandir(tmp_path))
    assert path.stat().st_mode & 0o777 == (tmp_path / "out.json.guarantee.json").stat().st_mode & 0o777
