"""A synthetic log as a release: generated traces, the measurements they were generated from, and the guarantee."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from ..errors import number_of
from ..model.abstraction import Abstraction
from ..model.case_columns import CaseColumn
from ..model.mechanism import Mechanism
from ..model.release import MAKER, ORIGIN, SYNTHETIC, Origin, Release
from ..model.statements import description_of
from ..privacy.numbers import whole_number
from ..privacy.sealed_classes import sealed
from .case_attributes import case_columns
from .event_times import event_times
from .generation import generate
from .measurements import Measurements
from .quality import Quality, quality
from .randomness import new_seed

GENERATED_TIMES = "generated from noisy measurements: no time is that of a real event"

NOTICE = "synthetic: traces were generated from noisy measurements and need not occur in the original log"

REGENERATED = (
    "generated again from measurements that were released before: no further privacy cost. Logs with the same "
    "travas:measurements are one release"
)

Generation = Literal["first", "again"]
"""Whether the log was made together with its measurements, or from measurements that were released before."""

MAX_CASES = 100_000_000


@final
@sealed
@dataclass(frozen=True, repr=False)
class SyntheticRelease(Release):
    """A synthetic log. No statement about a single generated trace is meaningful.

    Attributes:
        measurements: The noisy measurements: public, and all that the traces depend on.
        origins: For every trace, whether it is a released variant of the log or was generated.
        seed: The seed of the generation: it has nothing to do with the noise.
        generation: `"again"` if it was made from measurements that were released before.
    """

    measurements: Measurements = field(kw_only=True)
    origins: tuple[Origin, ...] = field(kw_only=True)
    seed: int = field(kw_only=True)
    generation: Generation = field(default="first", kw_only=True)

    operation: ClassVar[str] = "substitution"

    def __post_init__(self, maker: object) -> None:
        order = sorted(range(len(self.variants)), key=lambda index: (self.variants[index], self.origins[index]))
        for name in ("variants", "noisy", "origins"):
            values = getattr(self, name)
            object.__setattr__(self, name, tuple(values[index] for index in order))
        super().__post_init__(maker)

    def __repr__(self) -> str:
        return f"<SyntheticRelease: {number_of(sum(self.counts), 'cases')}, {self.guarantee.standing}>"

    @classmethod
    def generated(
        cls,
        mechanism: Mechanism,
        measurements: Measurements,
        columns: tuple[str, ...],
        abstraction: Abstraction,
        seed: int,
    ) -> SyntheticRelease:
        """Generate a synthetic log from measurements: deterministic for a seed, free of charge.

        Args:
            mechanism: The mechanism that made the measurements.
            measurements: The noisy measurements.
            columns: The columns that make an activity.
            abstraction: The public rule that was applied to every trace before it was measured.
            seed: The seed of the generation.

        Returns:
            The synthetic log, with the noisy number of cases.
        """
        made = generate(measurements, seed)
        return cls(
            mechanism,
            tuple(row.trace for row in made),
            tuple(row.cases for row in made),
            columns,
            "noisy",
            (abstraction,),
            measurements=measurements,
            origins=tuple(row.origin for row in made),
            seed=seed,
            maker=MAKER,
        )

    def regenerate(self, *, cases: int | None = None, seed: int | None = None) -> SyntheticRelease:
        """Generate another log from the same measurements, larger or smaller: free of charge.

        Args:
            cases: The number of cases; by default the noisy number of cases.
            seed: The seed of the generation; by default from the operating system.

        Returns:
            A synthetic log with the same guarantee: the privacy cost has been paid with the measurements.
        """
        used_seed = new_seed() if seed is None else whole_number(seed, "seed", 0, 2**63 - 1)
        if cases is not None:
            whole_number(cases, "cases", 0, MAX_CASES)
        made = generate(self.measurements, used_seed, cases)
        return replace(
            self,
            variants=tuple(row.trace for row in made),
            noisy=tuple(row.cases for row in made),
            rungs=(),
            origins=tuple(row.origin for row in made),
            seed=used_seed,
            generation="again",
            maker=MAKER,
        )

    @property
    def share_released(self) -> float:
        """The share of the cases whose variant was released as such; all others are generated."""
        released = sum(count for count, origin in zip(self.counts, self.origins, strict=True) if origin == "released")
        return released / max(sum(self.counts), 1)

    def quality(self) -> Quality:
        """Return what the measurements show, with intervals for the noise; the original log is not used.

        Returns:
            The quality.
        """
        return quality(self.measurements)

    @property
    def headline(self) -> str:
        """What was released and how much of it, in a few words."""
        return f"Synthetic log: {sum(self.counts):,} generated cases"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons against using the log: that it is empty, or rests mostly on noise."""
        return self.quality().warnings(sum(self.counts))

    @cached_property
    def event_times(self) -> NDArray[np.int64] | None:
        """The times of all events of all cases, generated from the measurements; None if times were not measured."""
        if self.measurements.times is None:
            return None
        return event_times(self.measurements, self.variants, self.counts, self.seed)

    @property
    def zone(self) -> str:
        """The time zone of the measured calendars, in which times are written."""
        return "UTC" if self.measurements.times is None else self.measurements.times.settings.zone

    @cached_property
    def case_columns(self) -> tuple[CaseColumn, ...]:
        """Attributes of all cases, generated from the measurements."""
        if not self.measurements.attributes:
            return ()
        code_of = {activity: code for code, activity in enumerate(self.measurements.activities)}
        last = np.array([code_of.get(trace[-1], len(code_of)) for trace in self.variants], dtype=np.int64)
        return case_columns(self.measurements, np.repeat(last, self.counts), self.seed)

    @property
    def case_labels(self) -> dict[str, tuple[str, ...]]:
        """Columns about each trace: by which rule it was generalised, and its origin."""
        return super().case_labels | {ORIGIN: self.origins}

    @property
    def notices(self) -> dict[str, str]:
        """What every file says about the log as a whole."""
        again = {"travas:regenerated": REGENERATED} if self.generation == "again" else {}
        digest = f"SHA-256 {self.measurements.digest}"
        return super().notices | {SYNTHETIC: NOTICE, "travas:measurements": digest} | again

    @property
    def title(self) -> str:
        """What the log is called in file headers and pictures."""
        return "synthetic log, generated by travas"

    def json_fields(self) -> dict[str, Any]:
        """What the JSON file contains beyond the traces: enough to generate again."""
        return super().json_fields() | {
            "notices": self.notices,
            "description": description_of(self.mechanism),
            "reading": self.reading and dict(self.reading),
            "assumptions": self.assumptions,
            "seed": self.seed,
            "generation": self.generation,
            "origins": self.origins,
            "measurements": self.measurements.as_json(),
        }
