"""Mechanisms and metrics of other packages: named by a dotted path, never trusted, never imported for a file."""

import sys
from pathlib import Path
from typing import Any

import pytest

from travas import Ledger, Log, Optimal, ParameterError, Standing, anonymize, verify
from travas.errors import VerificationError
from travas.mechanisms import from_description, mechanism
from travas.releases.release import name_of

LOG = {("a", "b"): 400, ("a",): 300}
MODULE = '''
"""A package that travas does not know."""
import attrs
import travas

@attrs.frozen(slots=False)
class Mine(travas.Optimal):
    """The optimal mechanism, extended."""

def strict(epsilon, delta, *, unit, minimum_cases=10):
    """Built from a verified part alone."""
    return travas.Optimal(epsilon, delta, minimum_cases, unit=unit)

def unmade(epsilon, delta, *, unit):
    raise KeyError("SECRET")

def nothing(epsilon, delta, *, unit):
    return "no mechanism"

LIMIT = 3
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the package, which can be imported from its folder."""
    name = f"elsewhere_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_what_is_built_from_our_parts_has_theirs(package: str) -> None:
    strict = mechanism(f"{package}:strict", 1, "1e-6")
    assert strict == Optimal(1, "1e-6", 10) and strict.guarantee().standing is Standing.VERIFIED
    assert strict.describe()["mechanism"] == "optimal"


def test_a_class_of_another_package_has_no_guarantee(package: str, book: Ledger, small_csv: Path) -> None:
    mine = mechanism(f"{package}:Mine", 1, "1e-6")
    guarantee = mine.guarantee()
    assert guarantee.standing is Standing.NOT_ESTABLISHED and guarantee.mechanism == f"{package}:Mine"
    with pytest.raises(ParameterError) as refused:
        anonymize(LOG, mine)
    assert refused.value.field == "guarantee"
    book.create_account("ward")
    made = anonymize(small_csv, mine, guarantee="not required", ledger=book, dataset="ward")
    assert made.mechanism is not None and made.guarantee.standing is Standing.NOT_ESTABLISHED
    assert book.account("ward").entries[0].spending.standing is Standing.NOT_ESTABLISHED


def test_a_release_made_by_another_mechanism_has_the_guarantee_of_the_one_that_was_named(package: str) -> None:
    """The mistake of delegating: what was charged is what the release states."""

    class Delegating(Optimal):
        def _release(self, variants: Log) -> Any:
            return Optimal(self.epsilon, self.delta).release(variants)

    made = anonymize(LOG, Delegating(1, "1e-6"), guarantee="not required")
    assert made.guarantee.standing is Standing.NOT_ESTABLISHED


def test_a_description_imports_nothing(package: str, tmp_path: Path) -> None:
    described = {"mechanism": f"{package}:Mine", "epsilon": "1", "delta": "1e-6"}
    with pytest.raises(ParameterError, match="not imported from here") as refused:
        from_description(described)
    assert refused.value.field == "mechanism" and package not in sys.modules
    assert name_of(from_description(described, references="follow")) == f"{package}:Mine"


def test_a_guarantee_file_imports_nothing(package: str, tmp_path: Path) -> None:
    path = anonymize(LOG, Optimal(1, "1e-6")).write(tmp_path / "release.json")
    guarantee = Path(f"{path}.guarantee.json")
    guarantee.write_text(guarantee.read_text().replace('"mechanism": "optimal"', f'"mechanism": "{package}:Mine"'))
    with pytest.raises(VerificationError, match="not imported from here"):
        verify(guarantee)
    assert package not in sys.modules


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("{}:Absent", "cannot be imported"),
        ("absent.module:Mine", "cannot be imported"),
        ("{}:Mine.__init__", "cannot be imported"),
        ("{}:unmade", "cannot be made: KeyError$"),
        ("{}:nothing", "does not make a travas.Mechanism"),
        ("{}:LIMIT", "neither a class nor a function"),
        ("utravas-publishd", "did you mean 'utravas-published'"),
    ],
)
def test_a_name_that_leads_nowhere_is_one_clear_line(package: str, name: str, why: str) -> None:
    with pytest.raises(ParameterError, match=why) as refused:
        mechanism(name.format(package), 1, "1e-6")
    assert refused.value.field == "mechanism"
