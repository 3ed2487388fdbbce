"""The ladder: variants on successively more general keys under one budget. Proof: docs/mechanisms/ladder.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import attrs
import numpy as np

from ..errors import ParameterError, naming, one_of
from ..log.abstraction import FULL, Abstraction, RuleFiles, parse_ladder
from ..log.log import Log
from ..releases.estimate import CONFIDENCE, Estimate, KeepCurve, estimate, estimate_of, keep_curve_of
from ..releases.release import VariantRelease
from ..trusted.guarantee import Guarantee, Standing
from ..trusted.losses import Losses, Step
from ..trusted.numbers import as_text
from .mechanism import Mechanism, References, parameters_of
from .prefix_tree import TwoSidedNoise
from .selection import Optimal, minimum_number

DEFAULT_RUNGS = ("full", *(f"prefix:{length}" for length in (32, 24, 20, 16, 12, 10, 8, 6, 4)))
"""Determined by experiments on eleven public data sets: docs/mechanisms/ladder.md."""

ADAPTIVE: Literal["adaptive"] = "adaptive"

CASES_SHARE = Fraction(1, 20)  # of ε, for the number of cases
CHOICE_SHARE = Fraction(1, 10)  # of ε, for the choice of the rung
ENOUGH = 5  # a rung is good enough if one case in five is beyond half the threshold
MAX_RUNGS = 50


Shares = Literal["equal", "adaptive"]


def _rungs(value: Any, files: RuleFiles = "read") -> tuple[Abstraction, ...]:
    with naming("rungs"):
        if isinstance(value, str):
            value = DEFAULT_RUNGS if value.strip() == "default" else parse_ladder(value, files)
        rungs = tuple(_rung(each, files) for each in (value if isinstance(value, Sequence) else [value]))
    if not 1 <= len(rungs) <= MAX_RUNGS or len(set(rungs)) < len(rungs):
        raise ParameterError(
            f"the ladder needs 1 to {MAX_RUNGS} different rungs, such as full,fold,first,prefix:6, or default",
            field="rungs",
        )
    return rungs


def _rung(value: Any, files: RuleFiles) -> Abstraction:
    if isinstance(value, Abstraction):
        return value
    return Abstraction.parse(value, files) if isinstance(value, str) else Abstraction.from_json(value)


@attrs.frozen(slots=False)
class Ladder(Mechanism):
    """Release variants on the first rung where possible; cases that are not covered continue on the next rung.

    `shares` divides (ε, δ), after the number of cases: "equal" among all rungs, or "adaptive", all for one rung, the first
    that passes a noisy test, or the last. Default: adaptive for the default rungs, otherwise equal.
    Input      a log's variants and their true counts; the rungs, from fine to coarse, which are public rules
    Output     the number of cases, with noise; only keys that occur, with their rung and noisy counts
    Neighbours adding or removing one case: one count of each rung changes by at most one
    Guarantee  every step is (ε, δ)-DP for its part, whatever earlier steps released: (ε, δ) by adaptive composition
    """

    _name = "ladder"
    # variants of a person may become one key on the next rung, so counting once per key is not enough
    _counted = "cases"

    rungs: tuple[Abstraction, ...] = attrs.field(default=DEFAULT_RUNGS, converter=_rungs)
    shares: Shares = attrs.field(validator=one_of(Shares))
    minimum_cases: int = attrs.field(default=1, converter=minimum_number)

    @shares.default
    def _default_shares(self) -> Shares:
        return ADAPTIVE if self.rungs == _rungs(DEFAULT_RUNGS) else "equal"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        _ = self._counting, self._testing, self._selection  # each is refused if it cannot be drawn

    @classmethod
    def _from_plain(cls, option: str, value: Any, references: References) -> Any:
        """Convert rungs from lists of steps or text."""
        return _rungs(value, "read" if references == "follow" else "refuse") if option == "rungs" else value

    # --------------------------------------------------------------------------------------------- how it is divided

    @property
    def chooses(self) -> bool:
        """Whether one rung is selected by a noisy test."""
        return self.shares == ADAPTIVE and len(self.rungs) > 1

    @cached_property
    def _counting(self) -> TwoSidedNoise:
        return TwoSidedNoise(self._step.epsilon * CASES_SHARE, Fraction(0))

    @cached_property
    def _testing(self) -> TwoSidedNoise:
        """The noise of the threshold of the test, and of the values compared with it: half of the ε of the test each."""
        return TwoSidedNoise(self._step.epsilon * CHOICE_SHARE / 2, Fraction(0))

    @property
    def _paid(self) -> int:
        """The number of rungs that are paid for, in equal parts: all of them, or the one that is selected."""
        return 1 if self.chooses else len(self.rungs)

    @cached_property
    def _of_rung(self) -> tuple[Fraction, Fraction]:
        """The part of (ε, δ) of a rung on which something is released."""
        shared = 1 - CASES_SHARE - (CHOICE_SHARE if self.chooses else 0)
        return self.epsilon * shared / self._paid, self.delta / self._paid

    @cached_property
    def _selection(self) -> Optimal:
        """The selection of each rung: all cases of a unit spend the rung's part of (ε, δ)."""
        part = self._part(*self._of_rung)
        return Optimal(part.epsilon, part.delta, self.minimum_cases)

    @property
    def _steps(self) -> tuple[Step, ...]:
        choice = [Step(self.epsilon * CHOICE_SHARE)] if self.chooses else []
        rung = Step(*self._of_rung, self._selection.noise, self.unit.max_cases)
        return (Step(self.epsilon * CASES_SHARE), *choice, *[rung] * self._paid)

    def losses(self) -> Losses:
        """The number of cases, the choice of a rung, and the rungs."""
        return self._steps

    def _promise(self) -> Guarantee:
        spent = self._selection.noise.delta_spent * self._part(*self._of_rung).factor * self._paid
        return self._guarantee(spent, Standing.PROVEN)

    # --------------------------------------------------------------------------------------------------- the release

    def _release(self, variants: Log) -> VariantRelease:
        cases = max(0, int(variants.counts.sum()) + int(self._counting.draw(1, self._random_bytes)[0]))
        walked = [self._choice(variants, cases)] if self.chooses else range(len(self.rungs))
        left = variants.counts.copy()  # cases not covered so far
        traces, counts, rungs = [], [], []
        for rung in walked:
            keys = self.rungs[rung].grouped(variants)
            kept, noisy = self._selection.select(keys.counts(left), self._random_bytes)
            left[keys.among(kept)] = 0  # computed from the released keys alone
            traces += keys.variants.traces(kept.tolist())
            counts += noisy.tolist()
            rungs += np.full(len(kept), rung).tolist()
        rules = tuple(variants.abstraction | rung for rung in self.rungs)
        return VariantRelease.of(self, traces, counts, variants.columns, rules, rungs, cases)

    def _choice(self, variants: Log, cases: int) -> int:
        """Return the first rung with enough cases beyond half the threshold, by the sparse vector technique, or the last."""
        bar, *noise = self._testing.draw(len(self.rungs), self._random_bytes).tolist()
        half = -(-self._selection.centre // 2)
        for rung, drawn in enumerate(noise):
            counts = self.rungs[rung].grouped(variants).variants.counts
            beyond = int(np.maximum(counts - half, 0).sum())  # one more case changes this by at most one
            if beyond + drawn >= cases // ENOUGH + bar:
                return rung
        return len(self.rungs) - 1


@keep_curve_of.register
def _keep_curve(mechanism: Ladder) -> KeepCurve:
    """The curve of the first or the selected rung; what later rungs keep depends on the log."""
    curve = mechanism._selection.curve
    rungs = tuple(map(str, mechanism.rungs if mechanism.chooses else mechanism.rungs[:1]))
    return replace(curve, build=lambda: curve.table, rungs=rungs)


@parameters_of.register
def _parameters(mechanism: Ladder) -> dict[str, Any]:
    names = ["number of cases", *["choice of the rung"] * mechanism.chooses]
    names += ["the selected rung"] if mechanism.chooses else map(str, mechanism.rungs)
    of_selection = parameters_of(mechanism._selection)
    table = {key: of_selection[key] for key in ("table_length", "table_bits", "centre")}
    steps = [
        {"step": name, "epsilon": as_text(step.epsilon), "delta": as_text(step.delta)} | (table if step.noise else {})
        for name, step in zip(names, mechanism._steps, strict=True)
    ]
    return mechanism._options() | {"steps": steps}


@estimate_of.register
def _estimate(
    mechanism: Ladder, noisy: tuple[int, ...], rungs: tuple[int, ...] = (), cases: int | None = None
) -> Estimate:
    """Estimate rung by rung; cases missing from the noisy total are assigned to the last rung with a release.

    The others get only their own expected counts, because cases they dropped were counted on later rungs.
    """
    if cases is None or not noisy:
        of_last = estimate(mechanism._selection.curve, noisy)
        return replace(of_last, missing_cases=None, missing_cases_interval=None)
    at, values = np.array(rungs), np.array(noisy)
    used = np.unique(at).tolist()
    of_rung = {rung: tuple(values[at == rung].tolist()) for rung in used}
    curve = mechanism._selection.curve
    parts = {rung: estimate(curve, counts, missing=0.0) for rung, counts in of_rung.items()}
    missing = max(0.0, cases - sum(sum(part.counts) for part in parts.values()))
    last = used[-1]
    parts[last] = estimate(curve, of_rung[last], missing)
    merged: dict[str, Any] = {}
    for field in _BY_VARIANT:  # by rung, in the order of the release
        streams = {rung: iter(getattr(part, field)) for rung, part in parts.items()}
        merged[field] = tuple(next(streams[rung]) for rung in rungs)
    spread = sum(((high - low) / 2) ** 2 for low, high in merged["intervals"])
    radius = math.hypot(mechanism._counting.within(CONFIDENCE), math.sqrt(spread))
    interval = (max(0.0, missing - radius), missing + radius)
    return Estimate(**merged, missing_cases=missing, missing_cases_interval=interval, is_measured=True)


_BY_VARIANT = ("counts", "intervals", "spread")


def generalises(mechanism: Mechanism) -> bool:
    """Whether a mechanism generalises traces itself, by rungs."""
    return isinstance(mechanism, Ladder)


def rungs_of(mechanism: Mechanism) -> tuple[Abstraction, ...]:
    """The rules by which a mechanism generalises traces, from fine to coarse."""
    return mechanism.rungs if isinstance(mechanism, Ladder) else (FULL,)
