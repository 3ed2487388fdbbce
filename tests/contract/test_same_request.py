"""The web app, the command line and Python build the same request for every kind of release."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import attrs
import pytest

import travas as package
from conftest import Run
from travas import Ledger, TravasError
from travas.budget.account import Approval
from travas.log.abstraction import Abstraction
from travas.mechanisms import mechanism as by_name
from travas.pipeline import Request
from travas.settings.project import Project
from travas.web import release

PATIENT = package.Reading(unit="patient", max_cases=2)
PERIOD = package.Period("2025-01-01/2025-02-01", end_activity=("release",), grace="7d")
AGE = package.Attribute("age", bins=(20, 40))


def _request(mechanism: package.Mechanism, reading: package.Reading = package.Reading(), **more: Any) -> Request:  # noqa: B008
    return Request(source="log", mechanism=mechanism, reading=reading, **more)


CASES: dict[str, tuple[Request, list[Any], dict[str, Any]]] = {
    "variants": (
        _request(package.Optimal(epsilon=1, delta="1e-6")),
        ["anonymize"],
        {"mechanism": "optimal"},
    ),
    "variants by travas": (
        _request(by_name("travas", 1, "1e-6", minimum_cases=5), attrs.evolve(PATIENT)),
        ["anonymize", "--mechanism", "travas", "--minimum-cases", 5, "--unit", "patient", "--max-cases", 2],
        {"mechanism": "travas", "unit": "patient", "max_cases": "2", "minimum_cases": "5"},
    ),
    "a ladder of cases closed in a month": (
        _request(
            by_name("ladder", 1, "1e-6", rungs="full,first"),
            package.Reading(abstraction=Abstraction.parse("fold | prefix:8"), period=PERIOD),
        ),
        ["anonymize", "--mechanism", "ladder", "--rungs", "full,first", "--abstraction", "fold | prefix:8",
         "--period", PERIOD.name, "--end-activity", "release", "--grace", "7d"],
        {"mechanism": "ladder", "abstraction": "fold | prefix:8", "rungs": "full,first", "period": PERIOD.name,
         "end_activity": ["release"], "grace": "7d"},
    ),
    "a synthetic log": (
        _request(package.Synthesis(epsilon=1, delta="1e-6", times=package.Times()), times="if recorded"),
        ["synthesize"],
        {"mechanism": "synthesis"},
    ),
    "a synthetic log with attributes": (
        _request(
            package.Synthesis(
                epsilon=1, delta="1e-6", alphabet=("a", "b"), times=package.Times("Europe/Berlin", "minute"),
                attributes=("sex", AGE),
            ),
            PATIENT,
        ),
        ["synthesize", "--alphabet", "ALPHABET", "--zone", "Europe/Berlin", "--resolution", "minute", "--attributes", "sex",
         "--attributes", "age=20,40", "--unit", "patient", "--max-cases", 2],
        {"mechanism": "synthesis", "unit": "patient", "max_cases": "2", "alphabet": ["a", "b"],
         "attributes": ["sex", "age=20,40"], "resolution": "minute", "zone": "Europe/Berlin"},
    ),
    "a synthetic log without times": (
        _request(package.Synthesis(epsilon=1, delta="1e-6")),
        ["synthesize", "--times", "none"],
        {"mechanism": "synthesis", "times": "none"},
    ),
    "a process map": (
        _request(package.ProcessMap(epsilon=1, delta="1e-6")), ["map"], {"mechanism": "map"}
    ),
    "a process map with parts": (
        _request(package.ProcessMap(epsilon=1, delta="1e-6", parts=("durations", "rework")), PATIENT),
        ["map", "--parts", "durations", "--parts", "rework", "--unit", "patient", "--max-cases", 2],
        {"mechanism": "map", "unit": "patient", "max_cases": "2", "parts": ["durations", "rework"]},
    ),
}  # fmt: skip

ENTRANCES = ("travas.pipeline.run",)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The requests that arrive at the pipeline, which does not run them."""
    requests: list[Request] = []

    def run(request: Request, *_: Any) -> None:
        requests.append(request)
        raise TravasError("not run")

    for name in ENTRANCES:
        monkeypatch.setattr(name, run)
    return requests


@pytest.mark.parametrize("name", CASES)
def test_all_build_the_same_request(
    name: str, seen: list[Request], travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    expected, words, values = CASES[name]
    suffix = ".json"
    output, ledger = tmp_path / f"release{suffix}", tmp_path / "ledger.db"
    alphabet = tmp_path / "alphabet.txt"
    alphabet.write_text("a\nb\n")
    command, *options = [alphabet if word == "ALPHABET" else word for word in words]
    travas(
        command, small_csv, "--epsilon", 1, "--delta", "1e-6", *options, "--ledger", ledger, "--dataset", "hospital",
        "--reason", "agreed", "--signed-off-by", "the officer", "-o", output,
    )  # fmt: skip
    approval = Approval("agreed", "the officer")
    account = {"dataset": "hospital", "ledger": str(ledger), "reason": "agreed", "signed_off_by": "the officer"}
    project = Project(references="refuse").with_values({"epsilon": "1", "delta": "1e-6"} | values | account)
    with pytest.raises(TravasError, match="not run"):
        release.draw(project, str(small_csv), "log.csv", "original", "", output, lambda *_: None)
    assert len(seen) == 2, "the command line was refused"
    stated = replace(
        expected, source=small_csv, output=output, ledger=Ledger(ledger), dataset="hospital", approval=approval
    )
    for request in seen:
        for field in fields(Request):
            if field.name not in ("policy", "source"):  # the source is a path or its text
                assert getattr(request, field.name) == getattr(stated, field.name), field.name
        assert str(request.source) == str(small_csv)
