import gzip
import hashlib
import json
import resource
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import travas as package
from conftest import Run
from travas import Reading, read, verify
from travas.errors import OutputError
from travas.log.escaped_names import escape_name
from travas.mechanisms import mechanism
from travas.outputs.readme_file import readme_path
from travas.releases.release import VariantRelease, name_of
from travas.verification.opened import read_release

LOGS = (".xes", ".xes.gz", ".csv", ".csv.gz", ".parquet")
ALL = (*LOGS, ".json")
RULE = mechanism("optimal", "1", "1e-6")

HARD = [
    "a,b", 'say "x"', "it's", "line\nbreak", "cr\r\nlf", "cr\ronly", "tab\tbed", "<a & b>", "]]>", "  blanks  ", "𝄞 😀", "ü",
    "NA", "null", "'", ";", "a→b", "\u2028", "\x85", "x" * 10_000, "#", "=1+1", "\ufeffbom", "\u200b",
    "a\x01", "\x00", r"\u{1}", r"\u{FFFFFFFF}", r"\u{5C}", r"\u{3D}1+1",
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


@pytest.mark.parametrize("suffix", LOGS)
@given(
    traces=st.dictionaries(
        st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=1, max_size=4).map(tuple),
        st.integers(1, 4), min_size=1, max_size=4,
    )
)  # fmt: skip
@settings(max_examples=25)
def test_any_text_round_trips(suffix: str, traces: dict[object, int], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = release(traces).write(tmp_path_factory.mktemp("any") / f"out{suffix}")
    content = read_release(path)
    assert dict(zip(content.variants, content.counts, strict=True)) == traces


@pytest.mark.parametrize("suffix", LOGS)
def test_several_columns_are_written_as_several(suffix: str, tmp_path: Path) -> None:
    log: dict[object, int] = {(("a", "start"), ("a", "end")): 14, (("b|c", "start"),): 15}
    path = release(log, ("concept:name", "lifecycle:transition")).write(tmp_path / f"out{suffix}")
    reading = Reading(activity=("concept:name", "lifecycle:transition"))
    assert dict(read(path, reading).items()) == log


def test_xes_opens_in_pm4py_with_the_privacy_extension(tmp_path: Path) -> None:
    import pm4py

    counts: dict[object, int] = {("register", "visit <x>", "release"): 23, ("register", "b,c", 'd"e'): 14}
    path = release(counts).write(tmp_path / "out.xes")
    log = pm4py.read_xes(str(path), variant="iterparse", return_legacy_log_object=True)
    found = {trace: len(cases) for trace, cases in pm4py.get_variants(log).items()}
    assert found == counts and log.extensions["Privacy"]["prefix"] == "privacy"
    ((_, anonymizer),) = log.attributes["privacy:anonymizations"]["children"]
    assert dict(anonymizer["children"])["privacy:epsilon"] == "1"
    assert "artificial" in log.attributes["travas:timestamps"]


def test_the_guarantee_file_says_it_all(tmp_path: Path) -> None:
    path = mechanism("travas", "0.5", "1e-3", minimum_cases=5).release(read({("a",): 500})).write(tmp_path / "out.csv")
    stated = json.loads((tmp_path / "out.csv.guarantee.json").read_text())
    assert stated["epsilon"] == "0.5" and stated["delta"] == "0.001"
    assert float(stated["delta_spent"]) < 0.001
    assert stated["parameters"]["centre"] > 5
    assert stated["unit"] == {"name": "case", "max_cases": 1}
    assert stated["neighbours"] == "add or remove one case"
    assert stated["replace_one"] == {"epsilon": "1", "delta": "0.002"}
    assert stated["mechanism"] == "travas" and stated["parameters"]["minimum_cases"] == 5
    assert stated["standing"] == "verified" and stated["software"] == f"travas {package.__version__}"
    assert stated["assumed_public"] and stated["timestamps"].startswith("artificial")
    assert stated["release"]["format"] == "csv" and len(stated["release"]["sha256"]) == 64
    assert set(stated) == {
        "format", "version", "software", "standing", "epsilon", "delta", "delta_spent", "unit", "neighbours",
        "replace_one", "mechanism", "kind", "description", "reading", "parameters", "assumed_public", "timestamps", "release",
    }  # fmt: skip
    assert name_of(verify(f"{path}.guarantee.json", path).mechanism) == "travas"


STARTS = '{"format": "travas guarantee"'


@pytest.mark.parametrize("content", ["", "[]", "{}", STARTS + "}", STARTS + ', "version": 99}', "\x00", "[" * 200_000])
def test_a_file_that_is_not_a_guarantee_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(package.LogError, match="guarantee file"):
        verify(path)


def test_nothing_is_replaced_unasked_and_nothing_half_written(tmp_path: Path) -> None:
    made = release({("a",): 14})
    made.write(tmp_path / "out.json")
    for name in ("out.json.README.txt", "out.json.guarantee.json", "out.json"):
        kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
        with pytest.raises(OutputError, match="already exists"):
            made.write(tmp_path / "out.json")
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == kept
        (tmp_path / name).unlink()
    (tmp_path / "dir.json").mkdir()
    for name in ("no/out.json", "out.txt", ".json", "dir.json"):
        with pytest.raises(OutputError):
            made.write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["dir.json"]
    release({("b",): 14}).write(made.write(tmp_path / "out.json"), existing="replace")
    assert released(tmp_path / "out.json") == {("b",): 14}


@pytest.mark.parametrize("name", ["optimal", "ladder", "synthesis", "map"])
def test_the_readme_has_a_command_that_verifies(name: str, tmp_path: Path, travas: Run) -> None:
    counts = {("a", "b", "c"): 4000, ("a", "c"): 2000}
    path = package.anonymize(counts, mechanism(name, 1, "1e-6")).write(tmp_path / "mine.json")
    text = readme_path(path).read_text(encoding="utf-8")
    assert "adding or removing one case: ε = 1, δ = 1e-6" in text
    command = shlex.split(text.splitlines()[-1].partition("travas ")[2])
    assert travas(command[0], *(tmp_path / name for name in command[1:])).code == 0
    tree = mechanism("prefix-tree", "1", "1e-6", max_length=3, prune=2)
    path = package.anonymize(counts, tree, guarantee="not required").write(tmp_path / "tree.json")
    text = readme_path(path).read_text(encoding="utf-8")
    assert "NO established guarantee" in text and "The guarantee holds" not in text


@pytest.mark.parametrize("suffix", ALL)
def test_a_full_disk_is_one_line_and_leaves_nothing(suffix: str, tmp_path: Path) -> None:
    """A limit of 20 KB on every file of the process stands for the full disk; Python ignores its signal."""
    names = ["".join(hashlib.sha256(f"{n} {part}".encode()).hexdigest() for part in range(20)) for n in range(100)]
    made, limits = release({(name,): 14 for name in names}), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OutputError, match="the disk is full"):
            made.write(tmp_path / f"out{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
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


def test_other_logs_are_read_as_they_are(tmp_path: Path) -> None:
    """Names are only unescaped in a file that says so before its first trace."""
    name = escape_name("a\x01")
    table = tmp_path / "log.csv"
    table.write_text(f"case:concept:name,concept:name,time:timestamp\n1,{name},2024-01-01\n")
    assert dict(read(table).items()) == {(name,): 1}
    event = f'<event><string key="concept:name" value="{name}"/></event>'
    traces = [f'<trace><string key="concept:name" value="{case}"/>{event}</trace>' for case in range(2)]
    mark, xes = '<string key="travas:names" value="escaped"/>', tmp_path / "log.xes"
    for parts, expected in (([traces[0], mark, traces[1]], name), ([mark, *traces], "a\x01")):
        xes.write_text(f"<log>{''.join(parts)}</log>")
        assert dict(read(xes).items()) == {(expected,): 2}
