"""A package that travas does not know, with a mechanism that works and one that fails."""

from pathlib import Path

import pytest

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

def half(original, released):
    """Always one half."""
    return 0.5

@attrs.frozen(slots=False)
class Broken(travas.Optimal):
    """It fails while it draws."""

    def _release(self, variants):
        raise ValueError("SECRET")

def third(original, released):
    """It fails."""
    raise ValueError("SECRET")

def words(original, released):
    """It returns no number."""
    return "SECRET"

def unmade(epsilon, delta, *, unit):
    raise KeyError("SECRET")

def nothing(epsilon, delta, *, unit):
    return "no mechanism"

LIMIT = 3
'''


def write_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the package to a folder from which it can be imported, and return its name."""
    name = f"elsewhere_{folder.name}".replace("-", "_")
    (folder / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    return name
