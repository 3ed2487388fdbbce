"""The public thing, and the rule that makes it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from .privacy import Guarantee
from .variants import Trace, Variants

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Progress = Callable[[float], None]
"""Called with the share of the work that is done, from 0 to 1."""


class Mechanism(ABC):
    """An immutable value with two functions: what it would cost, and the release."""

    name: ClassVar[str]

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What a release costs. Computed from the very tables that `release` samples, before any data are seen."""

    @abstractmethod
    def parameters(self) -> dict[str, int | str]:
        """The public constants a reader needs to check the guarantee and to interpret the counts."""

    @abstractmethod
    def release(self, variants: Variants) -> Release:
        """Draw the noise, once, and keep what may be kept."""


@dataclass(frozen=True)
class Release:
    """What leaves: variants with noisy counts in canonical order, and the guarantee. No road leads back.

    The order is that of the activity sequences: it says nothing about the log. An empty release is valid.
    """

    mechanism: Mechanism
    variants: tuple[Trace, ...]
    counts: tuple[int, ...]
    columns: tuple[str, ...] = ("concept:name",)

    def __post_init__(self) -> None:
        canonical = sorted(zip(self.variants, self.counts, strict=True))
        object.__setattr__(self, "variants", tuple(trace for trace, _ in canonical))
        object.__setattr__(self, "counts", tuple(count for _, count in canonical))

    def __repr__(self) -> str:
        guarantee = self.guarantee
        return f"<Release: {len(self.variants)} variants, {guarantee.mechanism}, {guarantee.standing}>"

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
