"""The public thing, and the rule that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from ..errors import ParameterError, shown
from ..privacy.guarantee import Guarantee
from .abstraction import FULL, Abstraction
from .estimate import Estimate
from .mechanism import Mechanism
from .registry import registered
from .variants import Trace

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Frequencies = Literal["estimated", "noisy"]
"""Which counts go into an event log. Why estimated is the default: docs/mechanisms/frequencies.md."""

RULE = "case:travas:abstraction"
"""The column that names the rule by which a case was generalised, if there are rules; in XES an attribute of the trace."""

ORIGIN = "case:travas:origin"
"""The column that says of every case of a synthetic log whether its variant was released as such or generated."""


MAKER = object()
"""What the constructor asks for. Only mechanisms, and what reads a release from a file, use it."""


def check_frequencies(value: str) -> Frequencies:
    """Which counts go into an event log: a word that means nothing is found before anything is spent."""
    if not isinstance(value, str) or value not in get_args(Frequencies):
        raise ParameterError(
            f"frequencies is {shown(value)}: available are {', '.join(get_args(Frequencies))}", field="frequencies"
        )
    return cast(Frequencies, value)


@dataclass(frozen=True)
class Release:
    """What leaves: variants with noisy and estimated counts in canonical order, and the guarantee. No road leads back.

    The order is that of the activity sequences: it says nothing about the log. An empty release is valid.
    `frequencies` says which counts go into an event log. `abstractions` are the public rules by which traces were made
    coarser before counting, `rungs` the place among them for every variant: on a ladder a trace can be there once a rung.
    `reading` describes the rule from events to variants, for the guarantee file; None where counts were given.
    `cases` is the number of all cases, with noise, where the mechanism pays for it. `assumptions` are those of reading
    the log, such as that a query works case by case; the guarantee holds under them.

    Only a mechanism makes a release, or it is read from a file: anything else could claim a guarantee that nobody paid
    for. So the constructor, and `dataclasses.replace`, ask for `maker=MAKER`.
    """

    mechanism: Mechanism
    variants: tuple[Trace, ...]
    noisy: tuple[int, ...]
    columns: tuple[str, ...] = ("concept:name",)
    frequencies: Frequencies = "estimated"
    abstractions: tuple[Abstraction, ...] = (FULL,)
    rungs: tuple[int, ...] = ()
    cases: int | None = None
    assumptions: tuple[str, ...] = ()
    reading: Mapping[str, Any] | None = None
    maker: InitVar[object] = field(default=None, kw_only=True)

    def __post_init__(self, maker: object) -> None:
        if maker is not MAKER:
            raise ParameterError("a Release is made by a mechanism, or read from a file; use travas.anonymize")
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
        guarantee = self.mechanism.guarantee()
        return replace(guarantee, assumptions=(*guarantee.assumptions, *self.assumptions))

    @property
    def case_labels(self) -> dict[str, tuple[str, ...]]:
        """Columns that say something about every case, with a value for each variant: how it was generalised."""
        return {RULE: self.rules} if self.is_abstracted else {}

    @property
    def notices(self) -> dict[str, str]:
        """What every file must say about the log as a whole, by key."""
        return {}

    def details(self) -> dict[str, Any]:
        """What the JSON file contains beyond the variants of any release."""
        return {}

    def to_polars(self) -> pl.DataFrame:
        """An event log with pm4py's column names, fresh case identifiers and artificial timestamps."""
        return cast("pl.DataFrame", registered("polars")(self))

    def to_pandas(self) -> pd.DataFrame:
        """The same for pm4py: `pm4py.get_variants(release.to_pandas())` are the released variants and counts."""
        return cast("pd.DataFrame", registered("pandas")(self))

    def write(self, path: str | Path, existing: Literal["fail", "replace"] = "fail") -> Path:
        """Write the release (`.xes`, `.xes.gz`, `.csv`, `.parquet`, `.json`) and `PATH.guarantee.json` beside it."""
        return cast(Path, registered("write")(self, Path(path), existing))

    def draw(self, path: str | Path) -> Path:
        """A picture of the release (`.png`, `.svg` or `.pdf`): its most frequent variants and what is kept."""
        return cast(Path, registered("draw")(self, Path(path)))
