"""Mechanisms whose noise is always zero: what a threshold decides is then exact."""

from typing import Any, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from travas.mechanisms.process_map import ProcessMap
from travas.mechanisms.synthesis import Synthesis
from travas.trusted.stage_check import GaussianNoise

Rule = TypeVar("Rule", ProcessMap, Synthesis)


class Silent(GaussianNoise):
    """Calibrated like the real noise, but never drawn."""

    def draw(self, size: int, random_bytes: object) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)


def without_noise(rule: Rule) -> Rule:
    """The same mechanism with silent noise."""
    silent: Any = object.__new__(Silent)
    for name in ("calibration", "delta_spent"):
        object.__setattr__(silent, name, getattr(rule.noise, name))
    changed = attrs.evolve(rule)
    changed.__dict__["noise"] = silent
    return changed
