"""Public functions of one trace, applied before counting: they cost nothing and make variants coarser.

An abstraction is a sequence of steps, written `first | prefix:8`, each a fixed rule that sees one trace only. What each
step does, with examples: docs/abstractions.md. On a whole log, steps work on all traces at once, as one flat array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...errors import ParameterError
from ...privacy.guarantee import Counted, PrivacyUnit
from .rules import FileStep, Group, Only, Without, read_rules
from .steps import AsSet, First, Flat, Fold, Loops, Prefix, Step, Suffix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..variants import Trace, Variants

STEPS: dict[str, type[Step]] = {
    step.name: step for step in (Fold, Loops, First, Prefix, Suffix, Only, Without, Group, AsSet)
}
MAX_STEPS = 20

Files = Literal["read", "refuse"]
"""What to do with a step that names a file: whoever types for another machine must not have it read there."""


@dataclass(frozen=True)
class Abstraction:
    """Steps from left to right; none at all is `full`, the trace as it is.

    >>> Abstraction.parse("first | prefix:2")(("a", "b", "a", "c"))
    ('a', 'b')
    """

    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if len(self.steps) > MAX_STEPS:
            raise ParameterError(f"an abstraction of {len(self.steps)} steps: take at most {MAX_STEPS}")

    def __or__(self, other: Abstraction) -> Abstraction:
        return Abstraction(self.steps + other.steps)

    def __str__(self) -> str:
        return " | ".join(map(str, self.steps)) or "full"

    @classmethod
    def parse(cls, text: str, files: Files = "read") -> Abstraction:
        """From `full`, or steps with `|` between them. A step with a FILE reads it now: the rule is what was in it."""
        names = [name.strip() for name in text.split("|")]
        return cls(()) if names == ["full"] else cls(tuple(_parse_step(name, files) for name in names))

    def as_json(self) -> list[Any]:
        """The rule itself, complete: what was in a file is written out."""
        return [{step.name: step.rules()} if isinstance(step, FileStep) else str(step) for step in self.steps]

    @classmethod
    def from_json(cls, content: Any) -> Abstraction:
        """From what `as_json` gave. No file is opened."""
        if not isinstance(content, list):
            raise ParameterError(f"an abstraction is a list of steps, not a {type(content).__name__}")
        return cls(tuple(map(_step_from_json, content)))

    def __call__(self, trace: Trace) -> Trace:
        """What becomes of one trace."""
        from ..variants import Variants

        found = self.of(Variants.from_mapping({trace: 1})) if trace else None
        return next(iter(found.traces(range(len(found)))), ()) if found else ()

    def of(self, variants: Variants) -> Variants:
        """The log under this abstraction: keys that became equal are one. Cases of which nothing is left are left out."""
        return self.grouped(variants).variants if self.steps else variants

    def check(self, unit: PrivacyUnit, counted: Counted) -> None:
        """Raise ParameterError where variants that were counted like this must not be made coarser."""
        if self.steps and counted == "units" and not unit.is_case:
            raise ParameterError(
                f"abstraction is {self} but this mechanism counts every {unit.name} once per variant, and would count it "
                "several times; use a ladder, or a mechanism that counts cases",
                field="abstraction",
            )

    def grouped(self, variants: Variants) -> Grouped:
        """The same, and which key each variant went to."""
        import numpy as np

        from ..variants import CODE, Variants

        self.check(variants.unit, variants.counted)
        flat = Flat.of(variants)
        for step in self.steps:
            flat = step.apply(flat)
        flat = flat.compact()
        whole = flat.codes.astype(CODE).tobytes()
        places: dict[bytes, int] = {}
        ends = (np.cumsum(flat.lengths) * 4).tolist()
        groups = np.empty(len(ends), dtype=np.int64)
        for row, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            groups[row] = places.setdefault(whole[start:end], len(places)) if end > start else -1
        counts = _sums(groups, variants.counts, len(places))
        lost = int(variants.counts[groups < 0].sum())
        note = (f"{lost} cases with nothing left under {self} were left out",) if lost else ()
        abstracted = Variants(
            flat.alphabet,
            list(places),
            counts,
            variants.columns,
            (*variants.notes, *note),
            variants.abstraction | self,
            unit=variants.unit,
            counted=variants.counted,
            roles=variants.roles,
        )
        return Grouped(abstracted, groups)


FULL = Abstraction()
"""The trace as it is."""


@dataclass(frozen=True, eq=False, repr=False)
class Grouped:
    """A log under an abstraction, and for every variant of the log before it the place of its key, or −1. Confidential."""

    variants: Variants
    groups: NDArray[np.int64]

    def counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cases of each key, when the variants before have so many."""
        return _sums(self.groups, counts, len(self.variants))

    def among(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which variants before have one of these keys."""
        import numpy as np

        chosen = np.zeros(len(self.variants) + 1, dtype=bool)  # the last one is for −1
        chosen[places] = True
        among: NDArray[np.bool_] = chosen[self.groups]
        return among


def _sums(groups: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    import numpy as np

    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups[groups >= 0], counts[groups >= 0])
    return sums


def parse_ladder(text: str, files: Files = "read") -> tuple[Abstraction, ...]:
    """Abstractions with commas between them, from fine to coarse: `full,fold,first,prefix:6`."""
    return tuple(Abstraction.parse(part.strip(), files) for part in text.split(","))


def _parse_step(name: str, files: Files = "read") -> Step:
    kind, _, argument = name.partition(":")
    if kind not in STEPS:
        known = ", ".join(step.usage for step in STEPS.values())
        raise ParameterError(f"abstraction has the step {name!r}, which does not exist: take full, {known}")
    step = STEPS[kind]
    if issubclass(step, FileStep) and files == "refuse":
        raise ParameterError(f"abstraction has the step {kind}, whose rules are in a file, and none is read here")
    return step.make(read_rules(name, argument) if issubclass(step, FileStep) else argument)


def _step_from_json(content: Any) -> Step:
    if isinstance(content, dict) and len(content) == 1:
        [(kind, rules)] = content.items()
        if kind in STEPS and issubclass(STEPS[kind], FileStep):
            return STEPS[kind].make(rules)
    elif isinstance(content, str) and not issubclass(STEPS.get(content.partition(":")[0], Step), FileStep):
        return _parse_step(content)
    raise ParameterError(f"an abstraction has the step {str(content)[:60]!r}, which I do not know")
