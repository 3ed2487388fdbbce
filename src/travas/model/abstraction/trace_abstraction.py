"""Public rules on one trace, applied before counting: they generalise variants at no privacy cost.

An abstraction is a sequence of steps, such as `first | prefix:8`, each a fixed rule on a single trace. The steps, with
examples: docs/abstractions.md. For a whole log, steps process all traces at once, as one flat array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...errors import ParameterError, shown
from ...trusted.guarantee import Counted, PrivacyUnit
from ..traces import CODE, Codes
from .abstraction_steps import AbstractionStep, AsSet, First, FlatLog, Fold, Loops, Prefix, Suffix
from .rules import FileStep, Group, Only, Without, read_rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..traces import Trace
    from ..variants import Variants

STEPS: dict[str, type[AbstractionStep]] = {
    step.name: step for step in (Fold, Loops, First, Prefix, Suffix, Only, Without, Group, AsSet)
}
MAX_STEPS = 20

RuleFiles = Literal["read", "refuse"]
"""Whether a step that names a file reads it; a web user must not read files of the server."""


@dataclass(frozen=True)
class Abstraction:
    """A sequence of steps, applied from left to right; without steps it is `full`, the unchanged trace.

    >>> Abstraction.parse("first | prefix:2")(("a", "b", "a", "c"))
    ('a', 'b')
    """

    steps: tuple[AbstractionStep, ...] = ()

    def __post_init__(self) -> None:
        if len(self.steps) > MAX_STEPS:
            raise ParameterError(
                f"abstraction has {len(self.steps)} steps; use at most {MAX_STEPS}", field="abstraction"
            )
        for step in self.steps:
            if not isinstance(step, tuple(STEPS.values())):
                raise ParameterError(
                    f"abstraction has the step {shown(step)}, which is not part of travas; use {', '.join(STEPS)}",
                    field="abstraction",
                )

    def __or__(self, other: Abstraction) -> Abstraction:
        return Abstraction(self.steps + other.steps)

    def __str__(self) -> str:
        return " | ".join(map(str, self.steps)) or "full"

    @classmethod
    def parse(cls, text: str, files: RuleFiles = "read") -> Abstraction:
        """Parse `full`, or steps separated by `|`. A file that a step names is read now and becomes part of the rule.

        Args:
            text: The steps, such as `first | prefix:8`.
            files: Whether files may be read.

        Returns:
            The abstraction.
        """
        names = [name.strip() for name in text.split("|")]
        return cls(()) if names == ["full"] else cls(tuple(_parse_step(name, files) for name in names))

    def as_json(self) -> list[Any]:
        """Return the complete rule as JSON values, including the content of files.

        Returns:
            A list of steps.
        """
        return [{step.name: step.rules()} if isinstance(step, FileStep) else str(step) for step in self.steps]

    @classmethod
    def from_json(cls, content: Any) -> Abstraction:
        """Rebuild an abstraction from `as_json`, without opening files.

        Args:
            content: What `as_json` returned.

        Returns:
            The abstraction.
        """
        if not isinstance(content, list):
            raise ParameterError(
                f"an abstraction must be a list of steps, not a {type(content).__name__}", field="abstraction"
            )
        return cls(tuple(map(_step_from_json, content)))

    def __call__(self, trace: Trace) -> Trace:
        """Return the generalised trace."""
        import numpy as np

        codes = Codes()
        encoded = np.array([codes[activity] for activity in trace], dtype=np.int64)
        flat = self.applied(FlatLog(list(codes), encoded, np.array([len(trace)])))
        return tuple(flat.alphabet[code] for code in flat.codes.tolist())

    def may_shorten(self, trace: Trace) -> bool:
        """Return whether events can be missing in a generalised trace. It depends on the rule and this trace alone.

        Args:
            trace: A generalised trace.

        Returns:
            True if events can be missing.

        Examples:
            >>> [Abstraction.parse("prefix:2").may_shorten(trace) for trace in (("a",), ("a", "b"))]
            [False, True]
        """
        return any(step.may_shorten(len(trace)) for step in self.steps)

    def of(self, variants: Variants) -> Variants:
        """Return the generalised log. Traces that became equal are merged; cases with an empty trace are left out.

        Args:
            variants: The log.

        Returns:
            The generalised log.
        """
        return self.grouped(variants).variants if self.steps else variants

    def check(self, unit: PrivacyUnit, counted: Counted) -> None:
        """Raise ParameterError if variants counted in this way must not be generalised.

        Args:
            unit: Whom the mechanism protects.
            counted: What is counted of each unit.
        """
        if self.steps and counted == "units" and not unit.is_case:
            raise ParameterError(
                f"abstraction is {self} but this mechanism counts every {unit.name} once per variant, and would count it "
                "several times; use a ladder, or a mechanism that counts cases",
                field="abstraction",
            )

    def grouped(self, variants: Variants) -> Grouped:
        """Return the generalised log, and the key of each variant.

        Args:
            variants: The log.

        Returns:
            The generalised log with the keys.
        """
        import numpy as np

        self.check(variants.unit, variants.counted)
        flat = self.applied(FlatLog.of(variants)).compact()
        encoded = flat.codes.astype(CODE).tobytes()
        numbers: dict[bytes, int] = {}
        ends = (np.cumsum(flat.lengths) * 4).tolist()
        groups = np.empty(len(ends), dtype=np.int64)
        for row, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            groups[row] = numbers.setdefault(encoded[start:end], len(numbers)) if end > start else -1
        counts = _sums(groups, variants.counts, len(numbers))
        lost = int(variants.counts[groups < 0].sum())
        note = (f"{lost} cases with an empty trace under {self} were left out",) if lost else ()
        return Grouped(variants.generalised(self, flat.alphabet, list(numbers), counts, note), groups)

    def applied(self, flat: FlatLog) -> FlatLog:
        """Return the traces after all steps.

        Args:
            flat: The traces.

        Returns:
            The generalised traces.
        """
        for step in self.steps:
            flat = step.apply(flat)
        return flat


FULL = Abstraction()
"""The unchanged trace."""


@dataclass(frozen=True, eq=False, repr=False)
class Grouped:
    """A generalised log, and for every original variant the index of its key, or −1. Confidential."""

    variants: Variants
    groups: NDArray[np.int64]

    def counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of cases of each key, from those of the original variants.

        Args:
            counts: The number of cases of each original variant.

        Returns:
            The number of cases of each key.
        """
        return _sums(self.groups, counts, len(self.variants))

    def among(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which original variants have one of these keys.

        Args:
            indices: The indices of keys.

        Returns:
            A truth value for each original variant.
        """
        import numpy as np

        selected = np.zeros(len(self.variants) + 1, dtype=bool)  # the last one is for −1
        selected[indices] = True
        among: NDArray[np.bool_] = selected[self.groups]
        return among


def _sums(groups: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    import numpy as np

    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups[groups >= 0], counts[groups >= 0])
    return sums


def parse_ladder(text: str, files: RuleFiles = "read") -> tuple[Abstraction, ...]:
    """Parse abstractions separated by commas, from fine to coarse: `full,fold,first,prefix:6`."""
    return tuple(Abstraction.parse(part.strip(), files) for part in text.split(","))


def _parse_step(name: str, files: RuleFiles = "read") -> AbstractionStep:
    kind, _, argument = name.partition(":")
    if kind not in STEPS:
        available = ", ".join(step.usage for step in STEPS.values())
        raise ParameterError(
            f"abstraction has the step {name!r}, which does not exist; available: full, {available}",
            field="abstraction",
        )
    step = STEPS[kind]
    if issubclass(step, FileStep) and files == "refuse":
        raise ParameterError(
            f"abstraction has the step {kind}, which needs a file, and files are not read here", field="abstraction"
        )
    return step.make(read_rules(name, argument) if issubclass(step, FileStep) else argument)


def _step_from_json(content: Any) -> AbstractionStep:
    if isinstance(content, dict) and len(content) == 1:
        [(kind, rules)] = content.items()
        if kind in STEPS and issubclass(STEPS[kind], FileStep):
            return STEPS[kind].make(rules)
    elif isinstance(content, str) and not issubclass(STEPS.get(content.partition(":")[0], AbstractionStep), FileStep):
        return _parse_step(content)
    raise ParameterError(f"abstraction has the unknown step {str(content)[:60]!r}", field="abstraction")
