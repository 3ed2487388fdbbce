"""A release of any kind opens again as it was, and nothing gets a better standing by being opened."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import travas
from travas import Standing
from travas.log.traces import Trace
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
