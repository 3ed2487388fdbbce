"""`verify` refuses a synthetic log that its own file proves wrong, even with new digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from travas import LogError, Synthesis, SyntheticRelease, anonymize, verify
from travas.errors import VerificationError
from travas.verification.measured_file import read_synthetic

LOG: dict[tuple[str, ...], int] = {
    ("register", "visit", "release"): 900,
    ("register", "release"): 400,
    **{("register", *["test"] * (n % 7), "visit", *["x-ray"] * (n // 7), "release"): 3 for n in range(1, 210)},
}
PUBLIC = ("register", "visit", "release", "test", "x-ray", "never")
Content = dict[str, Any]
FORM = "'(notices|measurements)' is not what its measurements and its guarantee give"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release with selected activities and one with a public alphabet, at an ε where both have everything."""
    folder = tmp_path_factory.mktemp("synthetic")
    made = {"selected": Synthesis(5, "1e-6"), "public": Synthesis(5, "1e-6", PUBLIC)}
    return {name: anonymize(LOG, rule).write(folder / f"{name}.json") for name, rule in made.items()}


def forged(source: Path, folder: Path, change: Callable[[Content], object], suffix: str = ".json") -> tuple[Path, Path]:
    """A copy with a change, and a guarantee with digests that agree with the changed file."""
    content = json.loads(source.read_text())
    change(content)
    if isinstance(content.get("notices"), dict) and "travas:measurements" in content["notices"]:
        text = json.dumps(content.get("measurements"), sort_keys=True, separators=(",", ":"))
        content["notices"]["travas:measurements"] = f"SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"
    release = folder / f"release{suffix}"
    release.write_text(json.dumps(content))
    stated = json.loads(Path(f"{source}.guarantee.json").read_text())
    stated["release"] |= {"sha256": hashlib.sha256(release.read_bytes()).hexdigest(), "notices": content.get("notices")}
    guarantee = folder / f"release{suffix}.guarantee.json"
    guarantee.write_text(json.dumps(stated))
    return guarantee, release


def first_released(content: Content) -> int:
    index: int = content["origins"].index("released")
    return index


def recount(content: Content, count: Any) -> None:
    index = first_released(content)
    content["counts"][index] = content["noisy"][index] = count


def reseat(content: Content, table: str, row: int, column: int, value: Any) -> None:
    content["measurements"][table][row][column] = value


def invented(content: Content) -> None:
    index = content["origins"].index("generated")
    content["variants"][index] = [*content["variants"][index], "HIV positive"]


CHANGES: dict[str, tuple[str, Callable[[Content], object], str]] = {
    "another contribution": (
        "selected",
        lambda c: c["measurements"]["contributions"].update(lengths=1),
        "the contributions are not",
    ),
    "a variant below the threshold": (
        "selected",
        lambda c: reseat(c, "variants", 0, 1, 5),
        "sum of a variant is not above",
    ),
    "variants not sorted": ("selected", lambda c: c["measurements"]["variants"].reverse(), "not sorted"),
    "an activity below the threshold": (
        "selected",
        lambda c: reseat(c, "activity_sums", 0, 1, 5),
        "sum of an activity is not above",
    ),
    "an activity that nobody measured": (
        "selected",
        lambda c: c["measurements"]["activities"].__setitem__(-1, "zzz"),
        "not those that were measured",
    ),
    "an activity selected although all are public": (
        "public",
        lambda c: c["measurements"].update(activity_sums=[["HIV positive", 10**9]]),
        "although they are public",
    ),
    "an activity selected twice": (
        "selected",
        lambda c: c["measurements"]["activity_sums"].append(["register", 10**9]),
        f"{FORM}|selected again",
    ),
    "a table of another size": ("selected", lambda c: c["measurements"]["lengths"].pop(), "not a synthetic log"),
    "a transition that cannot occur": (
        "selected",
        lambda c: reseat(c, "transitions", 0, -1, 7),
        "cannot occur",
    ),
    "a fraction": ("selected", lambda c: c["measurements"]["lengths"].__setitem__(0, 0.5), FORM),
    "a number as text": ("selected", lambda c: c["measurements"]["lengths"].__setitem__(0, "12"), FORM),
    "an origin changed": (
        "selected",
        lambda c: c["origins"].__setitem__(first_released(c), "generated"),
        "origin of a trace",
    ),
    "an unknown origin": ("selected", lambda c: c["origins"].__setitem__(0, "real"), "not a synthetic log"),
    "another number of cases": ("selected", lambda c: recount(c, 3), "is not what was measured"),
    "no cases": ("selected", lambda c: recount(c, 0), "below 1"),
    "a trace beyond what was measured": ("selected", invented, "was not measured"),
    "a trace twice": (
        "selected",
        lambda c: c["variants"].__setitem__(1, c["variants"][0]),
        "twice|origin",
    ),
    "no label": ("selected", lambda c: c.update(notices={}), "'notices' is not what"),
    "another label": (
        "selected",
        lambda c: c["notices"].update({"travas:synthetic": "real"}),
        "'notices' is not what",
    ),
    "another mechanism": (
        "selected",
        lambda c: c["description"].update(alphabet=list(PUBLIC)),
        "'description' is not what",
    ),
    "a negative seed": ("selected", lambda c: c.update(seed=-1), "seed"),
    "no measurements": ("selected", lambda c: c.pop("measurements"), "not a synthetic log"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_impossible_synthetic_log_does_not_verify(name: str, written: dict[str, Path], tmp_path: Path) -> None:
    source, change, why = CHANGES[name]
    with pytest.raises((VerificationError, LogError), match=why) as refused:
        verify(*forged(written[source], tmp_path, change))
    assert "HIV" not in str(refused.value)


@pytest.mark.parametrize("name", ["selected", "public"])
def test_a_possible_synthetic_log_does(name: str, written: dict[str, Path], tmp_path: Path) -> None:
    assert verify(*forged(written[name], tmp_path, lambda content: None)).digest_checked
    assert written[name].exists() and verify(f"{written[name]}.guarantee.json", written[name]).digest_checked


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz", ".csv", ".parquet", ".json"])
@pytest.mark.parametrize("cases", [0, 10, 20_000])
def test_a_log_generated_again_verifies_in_every_format(
    suffix: str, cases: int, written: dict[str, Path], tmp_path: Path
) -> None:
    again = read_synthetic(written["selected"]).regenerate(cases=cases, seed=1)
    path = again.write(tmp_path / f"again{suffix}")
    assert verify(f"{path}.guarantee.json", path).mechanism.name == "synthesis"
    notices = json.loads(Path(f"{path}.guarantee.json").read_text())["release"]["notices"]
    first = json.loads(Path(f"{written['selected']}.guarantee.json").read_text())["release"]["notices"]
    assert "no further privacy cost" in notices["travas:regenerated"] and "travas:regenerated" not in first
    assert notices["travas:measurements"] == first["travas:measurements"]


@pytest.mark.parametrize("place", ["<event>", "<trace>", "</global>"])
def test_a_synthetic_log_in_xes_has_nothing_else(place: str, written: dict[str, Path], tmp_path: Path) -> None:
    path = read_synthetic(written["selected"]).write(tmp_path / "release.xes")
    path.write_text(path.read_text().replace(place, f'{place}<string key="patient" value="Smith"/>', 1))
    guarantee = Path(f"{path}.guarantee.json")
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(VerificationError, match="not those that travas writes") as refused:
        verify(guarantee, path)
    assert "Smith" not in str(refused.value)


def stripped(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if "travas:synthetic" not in line)


def test_a_file_without_its_label_does_not_verify(written: dict[str, Path], tmp_path: Path) -> None:
    release: SyntheticRelease = read_synthetic(written["selected"])
    for suffix, change in ((".xes", stripped), (".csv", lambda text: text.replace("case:travas:origin", "comment"))):
        path = release.write(tmp_path / f"plain{suffix}")
        path.write_text(change(path.read_text()))
        guarantee = Path(f"{path}.guarantee.json")
        stated = json.loads(guarantee.read_text())
        stated["release"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        guarantee.write_text(json.dumps(stated))
        with pytest.raises(VerificationError, match="notices|without the origin"):
            verify(guarantee, path)
