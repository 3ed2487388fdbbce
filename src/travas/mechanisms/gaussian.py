"""What all mechanisms of Gaussian measurements have in common: calibration, guarantee, description and noise.

The theorem and its corollaries: docs/mechanisms/synthesis.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import attrs
import numpy as np

from ..errors import ParameterError
from ..log.log import Log
from ..log.questions import CellQuestion, Totals
from ..log.traces import CODE, Activity
from ..releases.map_numbers import ACTIVITIES
from ..search.calibration import StagePlan
from ..search.ramps import calibrate
from ..trusted.contributions import CodedTraces, activity_sums
from ..trusted.guarantee import Guarantee, Replacing, Standing
from ..trusted.losses import Losses
from ..trusted.numbers import as_text
from ..trusted.samplers import Integers
from ..trusted.stage_check import Draws, GaussianNoise, replace_one
from ..trusted.stages import STANDARD_DEVIATION, Stage
from .mechanism import Mechanism
from .prefix_tree import public_alphabet

MOST_KEYS = 64
"""K: at most this many activities of a case are counted when activities are selected."""

MOST_ACTIVITIES = 1000
"""At most this many activities are measured."""


def _small_alphabet(value: Sequence[Activity] | None) -> tuple[Activity, ...] | None:
    names = public_alphabet(value)
    if names is not None and len(names) > MOST_ACTIVITIES:
        raise ParameterError(
            f"alphabet has {len(names):,} activities: use at most {MOST_ACTIVITIES:,}", field="alphabet"
        )
    return names


@attrs.frozen(slots=False)
class GaussianMechanism(Mechanism):
    """A sequence of measurements with Gaussian noise. A subclass states its stages by `plans`.

    Neighbours adding or removing one case adds a vector of bounded norm to every measurement; a person at most `max_cases`
    Guarantee  (ε, δ) by the theorem, with every inequality verified on the constants that are used
    """

    _counted = "cases"

    alphabet: tuple[Activity, ...] | None = attrs.field(default=None, converter=_small_alphabet)

    @abstractmethod
    def plans(self) -> tuple[StagePlan, ...]:
        """The stages with their shares of μ², which add up to 1, in the order in which they are measured."""

    @cached_property
    def noise(self) -> GaussianNoise:
        """The calibrated and verified noise of all measurements; refused, before anything is read, if a case adds nothing."""
        return calibrated_noise(self.epsilon, self.delta, self.plans(), self.unit.max_cases)

    def _promise(self) -> Guarantee:
        replacing: Replacing = replace_one(self.noise.calibration) or "any mechanism"  # Corollary 1, where it says more
        return self._guarantee(self.noise.delta_spent, Standing.PROVEN, replacing)

    def losses(self) -> Losses:
        """All measurements together, by the theorem."""
        return (self.noise,)

    def _constants(self) -> dict[str, Any]:
        """The constants of the noise and of all stages, as plain values."""
        calibration = self.noise.calibration
        return {
            "noise": "discrete Gaussian",
            "standard_deviation": STANDARD_DEVIATION,
            "gaussian_delta": as_text(calibration.gaussian_delta),
            "stages": [_stage_as_json(stage) for stage in calibration.stages],
        }

    @property
    def contributions(self) -> dict[str, int]:
        """Δ of every stage, by name."""
        return {stage.name: stage.contribution for stage in self.noise.calibration.stages}

    def _draws(self) -> Draws:
        """The noise of one release: of every stage once."""
        return Draws(self.noise, self._random_bytes)

    def _select_activities(self, variants: Log, log: CodedTraces, draws: Draws, known: Integers) -> dict[Activity, int]:
        """A: activities of these cases, beyond those that are known, whose noisy sum exceeds the threshold; with that sum."""
        if self.alphabet is not None:
            return {}
        stage = draws.stage(ACTIVITIES)
        sums = activity_sums(log, known, stage)
        drawn = draws.noisy(ACTIVITIES, sums, sums > 0)
        kept = np.flatnonzero((sums > 0) & (drawn > stage.threshold))
        return {variants.alphabet[code]: int(drawn[code]) for code in kept.tolist()}


def by_size(sums: Mapping[Activity, int]) -> list[Activity]:
    """The activities, those with the largest noisy sums first."""
    return sorted(sums, key=lambda activity: (-sums[activity], activity))


def answered(totals: Totals, draws: Draws, name: str, kind: Callable[..., CellQuestion], **options: Any) -> Integers:
    """What all cases add to the cells of a question of this kind, with the noise of the stage of this name."""
    return draws.noisy(name, totals.sums(kind(contribution=draws.stage(name).contribution, **options)))


def coded(variants: Log) -> CodedTraces:
    """The traces of a log, coded by its alphabet: 4 bytes per event."""
    codes = np.frombuffer(b"".join(variants.keys), dtype=CODE)
    return CodedTraces(codes, variants.lengths(), variants.counts, len(variants.alphabet))


def coded_for(
    activities: tuple[Activity, ...], alphabet: Sequence[Activity], log: CodedTraces
) -> tuple[Integers, CodedTraces]:
    """The codes of activities, and the traces with these codes: a public activity that the log lacks gets a code of its own."""
    code_of = {activity: code for code, activity in enumerate(alphabet)}
    codes = [code_of.setdefault(activity, len(code_of)) for activity in activities]
    return np.array(codes, dtype=np.int64), CodedTraces(log.codes, log.lengths, log.counts, len(code_of))


@lru_cache(maxsize=32)
def calibrated_noise(epsilon: Fraction, delta: Fraction, plans: tuple[StagePlan, ...], max_cases: int) -> GaussianNoise:
    """Noise for these stages, calibrated and verified once for the same parameters."""
    return GaussianNoise(calibrate(epsilon, delta, plans, max_cases))


def _stage_as_json(stage: Stage) -> dict[str, Any]:
    described: dict[str, Any] = {"stage": stage.name, "contribution": stage.contribution}
    if stage.selection is not None:
        described |= {"most_keys": stage.selection.most, "delta": as_text(stage.delta)}
        ramp = stage.ramp
        described |= {"threshold": stage.threshold} if ramp is None else {"first": ramp.first, "ramp": list(ramp.table)}
    return described
