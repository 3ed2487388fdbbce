"""A release of any kind opens again as it was, and nothing gets a better standing by being opened."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import travas
from travas import Standing
from travas.errors import VerificationError
from travas.log.traces import Trace
from travas.sources.example_log import hospital_log
from travas.trusted.samplers import Seeded

LOG: dict[Trace, int] = {("a", "b", "c"): 300, ("a", "c"): 200, ("a", "b", "b", "c"): 40, ("c",): 3}
UNIT = travas.PrivacyUnit("patient", 2)


def variants(rule: travas.Mechanism, **more: Any) -> Any:
    return travas.anonymize(LOG, rule, **more)


RELEASES: dict[str, Callable[[Path], Any]] = {
    "variants": lambda _: variants(travas.Optimal(1, "1e-6")),
    "noisy counts": lambda _: variants(travas.Travas(1, "1e-6", 5), frequencies="noisy"),
    "a ladder": lambda _: variants(travas.Ladder(1, "1e-6")),
    "an empty release": lambda _: travas.anonymize({("a",): 1}, travas.Optimal(1, "1e-9")),
    "a tree": lambda _: variants(travas.PrefixTree(3, 0, max_length=4, prune=9, alphabet=["a", "b", "c"])),
    "a tree without alphabet": lambda _: variants(
        travas.PrefixTree(3, 0, max_length=4, prune=9), guarantee="not required"
    ),
    "a seed": lambda _: variants(travas.Optimal(1, "1e-6", random_bytes=Seeded(1)), guarantee="not required"),
    "persons": lambda folder: travas.anonymize(
        patients(folder), epsilon=2, delta="1e-3", reading=travas.Reading(unit="patient", max_cases=2, order="file")
    ),
    "a synthetic log": lambda _: travas.synthesize(LOG, epsilon=2, delta="1e-3"),
    "a process map": lambda _: travas.process_map(LOG, epsilon=2, delta="1e-3"),
}


def patients(folder: Path) -> Path:
    rows = [f"{case},{case // 2},{name}" for case in range(200) for name in "ab"]
    path = folder / "log.csv"
    path.write_text("\n".join(["case_id,patient,activity", *rows]))
    return path


def signed(path: Path) -> None:
    """State the digest that a release has now in its guarantee."""
    guarantee = Path(f"{path}.guarantee.json")
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = sha256(path.read_bytes()).hexdigest()
    guarantee.write_text(json.dumps(stated))


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_opens_as_it_was(name: str, tmp_path: Path) -> None:
    made = RELEASES[name](tmp_path)
    made.write(tmp_path / "release.json")
    again = travas.open_release(tmp_path / "release.json")
    assert type(again) is type(made) and again.guarantee == made.guarantee and again.headline == made.headline
    (tmp_path / "again").mkdir()
    again.write(tmp_path / "again" / "release.json")
    for end in ("", ".guarantee.json"):
        first, second = (tmp_path / place / f"release.json{end}" for place in ("", "again"))
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", [travas.Synthesis, travas.ProcessMap])
def test_measurements_from_a_seed_get_no_guarantee_by_being_opened(
    kind: type[travas.Mechanism], tmp_path: Path
) -> None:
    made = variants(kind(2, "1e-3", random_bytes=Seeded(1)), guarantee="not required")
    again = travas.open_release(made.write(tmp_path / "release.json"))
    assert again.guarantee.standing == Standing.NOT_ESTABLISHED and type(again) is type(made)


@pytest.mark.parametrize("name", ["variants", "a synthetic log", "a process map"])
def test_a_guarantee_file_of_another_standing_is_refused(name: str, tmp_path: Path) -> None:
    path = RELEASES[name](tmp_path).write(tmp_path / "release.json")
    guarantee = Path(f"{path}.guarantee.json")
    guarantee.write_text(json.dumps(json.loads(guarantee.read_text()) | {"standing": "not established"}))
    with pytest.raises(travas.LogError):
        travas.open_release(path)


def test_a_synthetic_log_that_is_opened_can_be_generated_again(tmp_path: Path) -> None:
    made = travas.synthesize(LOG, epsilon=2, delta="1e-3")
    again = travas.open_release(made.write(tmp_path / "release.json"))
    assert isinstance(again, travas.SyntheticRelease)
    one, other = again.regenerate(cases=70, seed=3), made.regenerate(cases=70, seed=3)
    assert (one.variants, one.counts, one.notices) == (other.variants, other.counts, other.notices)


def test_it_can_be_written_in_another_format(tmp_path: Path) -> None:
    made = RELEASES["variants"](tmp_path)
    made.write(tmp_path / "release.json")
    travas.open_release(str(tmp_path / "release.json")).write(tmp_path / "release.xes.gz")
    assert dict(travas.read(tmp_path / "release.xes.gz").items()) == dict(zip(made.variants, made.counts, strict=True))


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda stated: stated.pop(name)


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no description": (without("description"), "is damaged; write both again"),
    "no reading": (without("reading"), "is damaged; write both again"),
    "no release": (without("release"), "not the release of this guarantee"),
    "no facts": (lambda stated: stated.update(release=[]), "not the release of this guarantee"),
    "an unknown mechanism": (lambda stated: stated["description"].update(mechanism="x"), "mechanism is 'x', which"),
    "a module": (lambda stated: stated["description"].update(mechanism="os:system"), "which is not imported from here"),
    "wrong counts": (lambda stated: stated["release"].update(frequencies="x"), "frequencies is 'x'"),
    "another kind": (lambda stated: stated.update(kind="process map"), "not a process map"),
    "a reading of text": (lambda stated: stated.update(reading="x"), "the description of the reading is incomplete"),
    "a lone surrogate": (lambda stated: stated["release"].update(assumptions=["\ud800"]), "it is not JSON"),
    "a third kind": (lambda stated: stated.update(kind="synthetic log"), "not a synthetic log with its measurements"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_guarantee_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    RELEASES["variants"](tmp_path).write(tmp_path / "release.json")
    path = tmp_path / "release.json.guarantee.json"
    stated = json.loads(path.read_text())
    damage, why = DAMAGES[name]
    damage(stated)
    path.write_text(json.dumps(stated))
    with pytest.raises((travas.LogError, VerificationError), match=why) as refused:
        travas.open_release(tmp_path / "release.json")
    assert str(refused.value).startswith(str(tmp_path / "release.json")) and "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "log.csv"
    path.write_text(hospital_log())
    return path


Damage = Callable[[dict[str, Any]], object]
DAMAGED: dict[str, tuple[str, Damage]] = {
    "another format": ("variants", lambda content: content.update(format="travas guarantee")),
    "another version": ("a process map", lambda content: content.update(version=2)),
    "a list of one text as an activity": ("variants", lambda content: content["variants"].__setitem__(0, [["a"]])),
    "a joined trace": ("variants", lambda content: content["variants"].__setitem__(0, "ab")),
    "columns that are text": ("variants", lambda content: content.update(columns="x")),
    "counts by name": ("variants", lambda content: content.update(counts=dict.fromkeys(content["counts"], 1))),
    "an estimate of nothing": ("variants", lambda content: content.update(estimated=[])),
    "assumptions that are text": ("times", lambda content: content.update(assumptions="x")),
    "a measured trace that is joined": (
        "times",
        lambda content: content["measurements"]["variants"][0].__setitem__(0, "ab"),
    ),
    "activities of a map that are lists of one text": (
        "a process map",
        lambda content: content["measurements"].update(activities=[["a"], ["b"], ["c"]], activity_sums=[]),
    ),
    "a trace without activities": ("variants", lambda content: content["variants"].__setitem__(0, [])),
    "an activity without a name": ("variants", lambda content: content["variants"].__setitem__(0, [""])),
    "an activity of two columns": ("variants", lambda content: content["variants"].__setitem__(0, [["a", "b"]])),
    "a name that cannot be written": ("variants", lambda content: content["variants"].__setitem__(0, ["\ud800"])),
    "no columns": ("variants", lambda content: content.update(columns=[])),
    "two columns": ("variants", lambda content: content.update(columns=["x", "y"])),
    "a count beyond 64 bits": ("variants", lambda content: content["noisy"].__setitem__(0, 1 << 63)),
    "a count below the threshold": ("variants", lambda content: content["noisy"].__setitem__(0, -1)),
    "no rule": (
        "variants",
        lambda content: content.update(abstractions=[], variants=[], noisy=[], counts=[], rungs=[]),
    ),
    "no number of cases": ("a ladder", lambda content: content.pop("cases")),
    "a generated trace without activities": ("times", lambda content: content["variants"].__setitem__(0, [])),
    "no times": ("times", lambda content: content["measurements"].pop("times")),
    "a missing contribution": ("times", lambda content: content["measurements"]["contributions"].popitem()),
    "a map without a rule": ("a process map", lambda content: content.update(abstractions=[])),
    "a map of a reading of text": ("a process map", lambda content: content.update(reading="x")),
    "a map of one number less": (
        "a process map",
        lambda content: content["measurements"]["contributions"].popitem(),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_release_is_refused_in_one_line(name: str, tmp_path: Path, example: Path) -> None:
    kind, damage = DAMAGED[name]
    made = travas.synthesize(example, epsilon=5, delta="1e-3") if kind == "times" else RELEASES[kind](tmp_path)
    path = made.write(tmp_path / "release.json")
    content = json.loads(path.read_text())
    damage(content)
    path.write_text(json.dumps(content))
    with pytest.raises(VerificationError, match="not the release of this guarantee") as refused:
        travas.open_release(path)
    assert "\n" not in str(refused.value)
    signed(path)
    with pytest.raises((VerificationError, travas.LogError), match=r"release\.json") as refused_there:
        travas.verify(f"{path}.guarantee.json", path)
    assert "\n" not in str(refused_there.value)


def test_files_that_are_missing_or_of_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(travas.LogError, match=r"release\.json\.guarantee\.json: cannot be opened"):
        travas.open_release(tmp_path / "release.json")
    RELEASES["variants"](tmp_path).write(tmp_path / "release.csv")
    with pytest.raises(travas.LogError, match="contain all of a release"):
        travas.open_release(tmp_path / "release.csv")
    RELEASES["variants"](tmp_path).write(tmp_path / "release.json")
    (tmp_path / "release.json").write_text("{}")
    signed(tmp_path / "release.json")
    with pytest.raises(travas.LogError, match="not a release of travas"):
        travas.open_release(tmp_path / "release.json")
