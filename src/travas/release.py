"""The public thing, and the rule that makes it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

from .abstractions import FULL, Abstraction
from .errors import ParameterError
from .estimate import Estimate
from .noise import MAX_EPSILON, Noise, RandomBytes
from .privacy import ONE_CASE, Counted, Guarantee, PrivacyUnit, Replacing, Standing, as_text, exact_delta, exact_epsilon
from .units import Step, step
from .variants import Trace, Variants

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Frequencies = Literal["estimated", "noisy"]
"""Which counts go into an event log. Why estimated is the default: docs/mechanisms/frequencies.md."""


def check_frequencies(value: str) -> Frequencies:
    """Which counts go into an event log: a word that means nothing is found before anything is spent."""
    if value not in get_args(Frequencies):
        raise ParameterError(f"frequencies is {value!r}: take one of {', '.join(get_args(Frequencies))}")
    return cast(Frequencies, value)


Progress = Callable[[float], None]
"""Called with the share of the work that is done, from 0 to 1."""


@dataclass(frozen=True)
class Mechanism(ABC):
    """An immutable value with two functions: what it would cost, and the release.

    `options` names its public inputs beyond ε and δ. Noise from anything but the operating system's generator has no
    guarantee. `counted` says what it must be given counts of where a unit has several cases: `cases` is sound for any
    mechanism that draws by `step`, `units` where every count has noise of its own. None: it knows no unit but the case.
    """

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]]
    counted: ClassVar[Counted | None] = None

    epsilon: Fraction
    delta: Fraction
    random_bytes: RandomBytes = field(default=os.urandom, kw_only=True)
    unit: PrivacyUnit = field(default=ONE_CASE, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact_delta(self.delta))
        if self.epsilon > MAX_EPSILON:
            raise ParameterError(
                f"epsilon is {as_text(self.epsilon)}: above {MAX_EPSILON} it protects nobody; take less"
            )
        if self.counted is None and not self.unit.is_case:
            raise ParameterError(f"{self.name} protects cases only: leave out the unit, or take another mechanism")

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What a release costs. Computed from the very tables that `release` samples, before any data are seen."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The public constants a reader needs to check the guarantee and to interpret the counts; all `options` first."""

    @abstractmethod
    def tables(self) -> tuple[Noise, ...]:
        """The verified tables that a release draws from; none where noise needs no table."""

    @abstractmethod
    def estimate(self, noisy: tuple[int, ...]) -> Estimate:
        """What noisy counts tell about the log: post-processing, from nothing but them and public constants."""

    @abstractmethod
    def _release(self, variants: Variants) -> Release:
        """Draw the noise, once, and keep what may be kept."""

    def release(self, variants: Variants) -> Release:
        """Draw the noise, once, and keep what may be kept. Refuses variants that were counted for another unit."""
        self.check(variants)
        return self._release(variants)

    def check(self, variants: Variants) -> None:
        """Raise ParameterError unless these variants were counted for the unit that is protected here."""
        if variants.unit != self.unit or not (self.unit.is_case or variants.counted == self.counted):
            raise ParameterError(
                f"the log was counted for the unit {variants.unit.name!r} (max_cases {variants.unit.max_cases}, "
                f"{variants.counted}), but {self.name} is to protect {self.unit.name!r} (max_cases {self.unit.max_cases}, "
                f"{self.counted}): read it again for this mechanism and unit"
            )

    @property
    def noun(self) -> str:
        """What a count is a number of, in words."""
        by_case = self.unit.is_case or self.counted == "cases"
        return "cases" if by_case else f"different {self.unit.name} values"

    @cached_property
    def step(self) -> Step:
        """(ε, δ) for one count that changes by one: what noise is drawn with."""
        return step(self.epsilon, self.delta, self.unit.max_cases, self.counted or "cases")

    def estimate_release(self, release: Release) -> Estimate:
        """The same for a whole release, where more than the noisy counts was released."""
        return self.estimate(release.noisy)

    def keep_probability(self, cases: int) -> Fraction | None:
        """The chance that a variant of so many cases is released; None where it depends on more than that number."""
        return None

    def surely_kept(self) -> int | None:
        """The least number of cases with which a variant is always released, if there is one."""
        return None

    def _guarantee(
        self,
        step_delta_spent: Fraction,
        standing: Standing,
        replacing: Replacing = "two counts",
        assumptions: tuple[str, ...] = (),
    ) -> Guarantee:
        """The guarantee with this standing if the noise is fair, and none if it is not; δ is what a step spends."""
        if not self.unit.is_case:
            name = self.unit.name
            assumptions = (
                *assumptions,
                f"the column {name!r} tells whose a case is: one {name} has one value there",
                f"of the cases of one {name} at most {self.unit.max_cases} count: fixed without looking at the log",
            )
        if self.unit.max_cases > 1 and standing is Standing.VERIFIED:
            standing = Standing.PROVEN  # of verified steps, by composition
        if self.random_bytes is not os.urandom:
            standing = Standing.NOT_ESTABLISHED
            assumptions = (*assumptions, "the noise was drawn from a seed and can be drawn again by anyone")
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            delta_spent=step_delta_spent * self.step.factor,
            mechanism=self.name,
            standing=standing,
            unit=self.unit,
            replacing=replacing,
            assumptions=assumptions,
        )


@dataclass(frozen=True)
class Release:
    """What leaves: variants with noisy and estimated counts in canonical order, and the guarantee. No road leads back.

    The order is that of the activity sequences: it says nothing about the log. An empty release is valid.
    `frequencies` says which counts go into an event log. `abstractions` are the public rules by which traces were made
    coarser before counting, `rungs` the place among them for every variant: on a ladder a trace can be there once a rung.
    `cases` is the number of all cases, with noise, where the mechanism pays for it.
    """

    mechanism: Mechanism
    variants: tuple[Trace, ...]
    noisy: tuple[int, ...]
    columns: tuple[str, ...] = ("concept:name",)
    frequencies: Frequencies = "estimated"
    abstractions: tuple[Abstraction, ...] = (FULL,)
    rungs: tuple[int, ...] = ()
    cases: int | None = None

    def __post_init__(self) -> None:
        rungs = self.rungs or (0,) * len(self.variants)
        canonical = sorted(zip(self.variants, rungs, self.noisy, strict=True))
        object.__setattr__(self, "variants", tuple(trace for trace, _, _ in canonical))
        object.__setattr__(self, "rungs", tuple(rung for _, rung, _ in canonical))
        object.__setattr__(self, "noisy", tuple(count for _, _, count in canonical))
        check_frequencies(self.frequencies)

    def __repr__(self) -> str:
        guarantee = self.guarantee
        return f"<Release: {len(self.variants)} variants, {guarantee.mechanism}, {guarantee.standing}>"

    @cached_property
    def estimate(self) -> Estimate:
        """Counts, intervals, frequencies and what is missing, estimated from the noisy counts alone."""
        return self.mechanism.estimate_release(self)

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each variant occurs in the event log: estimated or noisy, as `frequencies` says."""
        return self.noisy if self.frequencies == "noisy" else self.estimate.frequencies

    @property
    def is_abstracted(self) -> bool:
        """Whether some rule makes traces coarser. A public fact: it does not depend on the log."""
        return any(rule != FULL for rule in self.abstractions)

    @property
    def rules(self) -> tuple[str, ...]:
        """For each variant, the name of the rule by which it was made."""
        names = tuple(map(str, self.abstractions))
        return tuple(names[rung] for rung in self.rungs)

    @property
    def used_abstractions(self) -> tuple[Abstraction, ...]:
        """The rules by which its own traces were made; all of them where nothing was released."""
        return tuple(self.abstractions[rung] for rung in sorted(set(self.rungs))) or self.abstractions

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee()

    def to_polars(self) -> pl.DataFrame:
        """An event log with pm4py's column names, fresh case identifiers and artificial timestamps."""
        from .logs.write import events

        return events(self).collect()

    def to_pandas(self) -> pd.DataFrame:
        """The same for pm4py: `pm4py.get_variants(release.to_pandas())` are the released variants and counts."""
        from .logs.write import pandas_events

        return pandas_events(self)

    def write(self, path: str | Path, existing: Literal["fail", "replace"] = "fail") -> Path:
        """Write the release (`.xes`, `.xes.gz`, `.csv`, `.parquet`, `.json`) and `PATH.guarantee.json` beside it."""
        from .logs.write import write_release

        return write_release(self, Path(path), existing)

    def draw(self, path: str | Path) -> Path:
        """A picture of the release (`.png`, `.svg` or `.pdf`): its most frequent variants and what is kept."""
        from .report import draw_release

        return draw_release(self, Path(path))
