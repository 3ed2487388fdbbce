"""The web app, the command line and Python build the same request for every kind of release."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import attrs
import pytest
from front_ends import settings_as_words

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


CASES: dict[str, tuple[Request, dict[str, Any]]] = {
    "variants": (_request(package.Optimal(epsilon=1, delta="1e-6")), {"mechanism": "optimal"}),
    "variants by travas": (
        _request(by_name("travas", 1, "1e-6", minimum_cases=5), attrs.evolve(PATIENT)),
        {"mechanism": "travas", "unit": "patient", "max_cases": "2", "minimum_cases": "5"},
    ),
    "a ladder of cases closed in a month": (
        _request(
            by_name("ladder", 1, "1e-6", rungs="full,first"),
            package.Reading(abstraction=Abstraction.parse("fold | prefix:8"), period=PERIOD),
        ),
        {"mechanism": "ladder", "abstraction": "fold | prefix:8", "rungs": "full,first", "period": PERIOD.name,
         "end_activity": ["release"], "grace": "7d"},
    ),
    "a synthetic log": (
        _request(package.Synthesis(epsilon=1, delta="1e-6", times=package.Times()), times="if recorded"),
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
        {"mechanism": "synthesis", "unit": "patient", "max_cases": "2", "alphabet": ["a", "b"],
         "attributes": ["sex", "age=20,40"], "resolution": "minute", "zone": "Europe/Berlin"},
    ),
    "a synthetic log without times": (
        _request(package.Synthesis(epsilon=1, delta="1e-6")), {"mechanism": "synthesis", "times": "none"}
    ),
    "a process map": (_request(package.ProcessMap(epsilon=1, delta="1e-6")), {"mechanism": "map"}),
    "a process map with parts": (
        _request(package.ProcessMap(epsilon=1, delta="1e-6", parts=("durations", "rework")), PATIENT),
        {"mechanism": "map", "unit": "patient", "max_cases": "2", "parts": ["durations", "rework"]},
    ),
}  # fmt: skip


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The requests that arrive at the pipeline, which does not run them."""
    requests: list[Request] = []

    def run(request: Request, *_: Any) -> None:
        requests.append(request)
        raise TravasError("not run")

    monkeypatch.setattr("travas.pipeline.run", run)
    return requests


@pytest.mark.parametrize("name", CASES)
def test_all_build_the_same_request(
    name: str, seen: list[Request], travas: Run, small_csv: Path, tmp_path: Path
) -> None:
    expected, own = CASES[name]
    output, ledger = tmp_path / "release.json", tmp_path / "ledger.db"
    values = {"epsilon": "1", "delta": "1e-6", "dataset": "hospital", "ledger": str(ledger), "reason": "agreed"}
    values |= {"signed_off_by": "the officer"} | own
    mechanism = values.pop("mechanism")
    travas(*settings_as_words(mechanism, values, tmp_path), small_csv, "-o", output)
    project = Project(references="refuse").with_values(values | {"mechanism": mechanism})
    with pytest.raises(TravasError, match="not run"):
        release.draw(project, str(small_csv), "log.csv", "original", "", output, lambda *_: None)
    assert len(seen) == 2, "the command line was refused"
    stated = replace(
        expected, source=small_csv, output=output, ledger=Ledger(ledger), dataset="hospital",
        approval=Approval("agreed", "the officer"),
    )  # fmt: skip
    for request in seen:
        for field in fields(Request):
            if field.name not in ("policy", "source"):  # the source is a path or its text
                assert getattr(request, field.name) == getattr(stated, field.name), field.name
        assert str(request.source) == str(small_csv)
