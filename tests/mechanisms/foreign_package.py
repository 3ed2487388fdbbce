"""A package that travas does not know, with mechanisms that fail, or claim what is not theirs, in every way."""

from __future__ import annotations

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

@attrs.frozen(slots=False)
class Silent(travas.Optimal):
    """It cannot say what it costs."""

    def _promise(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Unchecked(travas.Optimal):
    """It fails before anything is charged."""

    def check(self, variants):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Leaving(travas.Optimal):
    """It ends the program while it draws."""

    def _release(self, variants):
        raise SystemExit(0)

@attrs.frozen(slots=False)
class LeavingLater(travas.Optimal):
    """It ends the program when its release is summarised."""

    def keep_curve(self):
        raise SystemExit(0)

@attrs.frozen(slots=False)
class Undescribed(travas.Optimal):
    """It cannot describe itself."""

    @classmethod
    def options(cls):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class WithoutParameters(travas.Optimal):
    """It cannot state its constants."""

    def parameters(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Unwritable(travas.Optimal):
    """Its constants cannot be written to a guarantee file."""

    def parameters(self):
        return {"constants": {"SECRET"}}

@attrs.frozen(slots=False)
class Costlier(travas.Optimal):
    """It returns a release that costs more than it says."""

    def _release(self, variants):
        return travas.Optimal(5, "1e-3").release(variants)

@attrs.frozen(slots=False)
class Returning(travas.Optimal):
    """It returns no release."""

    def _release(self, variants):
        return None

@attrs.frozen(slots=False, eq=False)
class Equal(travas.Optimal):
    """It returns a release of travas, and says that this is its own."""

    def _release(self, variants):
        return travas.Optimal(self.epsilon, self.delta).release(variants)

    def __eq__(self, other):
        return True

class Sure(travas.Release):
    """A release with a guarantee that nobody computed."""
    __module__ = "travas.model.release"

    @property
    def guarantee(self):
        return travas.Optimal(1, "1e-6").guarantee()

@attrs.frozen(slots=False)
class Renamed(travas.Optimal):
    """Its release becomes one of another class."""

    def _release(self, variants):
        drawn = super()._release(variants)
        object.__setattr__(drawn, "__class__", Sure)
        return drawn

@attrs.frozen(slots=False)
class Wordless(travas.Optimal):
    """It cannot say what its timestamps are."""

    @property
    def timestamps(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Curveless(travas.Optimal):
    """It fails when its release is summarised."""

    def keep_curve(self):
        raise ValueError("SECRET")

@attrs.frozen(slots=False)
class Odd(travas.Optimal):
    """Its releases are of no kind that travas knows."""
    kind = "nonsense"

@attrs.frozen(slots=False)
class Piped(travas.Optimal):
    """It fails before the charge as a closed pipe does."""
    def check(self, variants):
        raise BrokenPipeError(32, "SECRET")

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
