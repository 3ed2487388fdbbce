"""Public rules on one trace, applied before counting: they generalise variants at no privacy cost.

An abstraction is a sequence of steps, such as `first | prefix:8`, each a fixed rule on a single trace. The steps, with
examples: docs/abstractions.md. For a whole log, steps process all traces at once, as one flat array.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError, ParameterError, check_encodable
from ..trusted.guarantee import Counted, PrivacyUnit
from ..trusted.numbers import typed_whole_number, whole_number
from ..trusted.samplers import Booleans, Integers
from .traces import CODE, Codes, keys_of

if TYPE_CHECKING:
    from .log import Log
    from .traces import Activity, Trace


MAX_LENGTH = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class FlatLog:
    """All traces, concatenated: `codes` into `alphabet`, and the length of each trace. Confidential.

    `origin`, where it is set: the index of each event before the first step. Every step keeps events, reorders them or
    renames their activities; it never makes one.
    """

    alphabet: Sequence[Activity]
    codes: NDArray[np.integer[Any]]
    lengths: Integers
    origin: Integers | None = None

    @classmethod
    def of(cls, variants: Log) -> FlatLog:
        """Lay out the traces of variants as one array of events."""
        codes = np.frombuffer(b"".join(variants.keys), CODE).astype(np.int64)
        return cls(variants.alphabet, codes, variants.lengths())

    def rows(self) -> Integers:
        """The index of the trace of each event."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def positions(self) -> Integers:
        """The index of each event in its trace, from 0."""
        return np.arange(len(self.codes)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    def where(self, kept: Booleans) -> FlatLog:
        """Return the traces with only these events."""
        lengths = np.bincount(self.rows()[kept], minlength=len(self.lengths))
        return replace(self, codes=self.codes[kept], lengths=lengths, origin=self._moved(kept))

    def reordered(self, order: Integers) -> FlatLog:
        """Return the traces with their events in another order, which must not move events to other traces."""
        return replace(self, codes=self.codes[order], origin=self._moved(order))

    def _moved(self, index: NDArray[Any]) -> Integers | None:
        return None if self.origin is None else self.origin[index]

    def compact(self) -> FlatLog:
        """Return the traces encoded by the activities that occur, in the order of their names."""
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.alphabet))).tolist()
        ordered = sorted(used, key=self.alphabet.__getitem__)
        codes = np.zeros(len(self.alphabet), dtype=np.int64)
        codes[ordered] = np.arange(len(ordered))
        return replace(self, alphabet=[self.alphabet[code] for code in ordered], codes=codes[self.codes])


@dataclass(frozen=True)
class AbstractionStep(ABC):
    """A fixed rule on one trace."""

    name: ClassVar[str]
    usage: ClassVar[str]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def make(cls, argument: Any) -> AbstractionStep:
        """Build the step from its argument."""
        if argument:
            raise ParameterError(
                f"abstraction {cls.name}:{argument} has too many arguments; use {cls.usage}", field="abstraction"
            )
        return cls()

    @abstractmethod
    def apply(self, flat: FlatLog) -> FlatLog:
        """Return the traces after this step."""


class Fold(AbstractionStep):
    """Immediate repetitions of an activity count once."""

    name = usage = "fold"

    def apply(self, flat: FlatLog) -> FlatLog:
        kept = np.ones(len(flat.codes), dtype=bool)
        kept[1:] = (flat.codes[1:] != flat.codes[:-1]) | (flat.positions()[1:] == 0)
        return flat.where(kept)


class First(AbstractionStep):
    """The first occurrence of every activity, in order."""

    name = usage = "first"

    def apply(self, flat: FlatLog) -> FlatLog:
        _, first = np.unique(flat.rows() * len(flat.alphabet) + flat.codes, return_index=True)
        kept = np.zeros(len(flat.codes), dtype=bool)
        kept[first] = True
        return flat.where(kept)


class AsSet(AbstractionStep):
    """The set of activities, in the order of their names."""

    name = usage = "set"

    def apply(self, flat: FlatLog) -> FlatLog:
        flat = First().apply(flat).compact()
        return flat.reordered(np.lexsort((flat.codes, flat.rows())))


@dataclass(frozen=True)
class _Cut(AbstractionStep):
    length: int

    def __str__(self) -> str:
        return f"{self.name}:{self.length}"

    @classmethod
    def make(cls, argument: Any) -> AbstractionStep:
        return cls(whole_number(typed_whole_number(argument, "abstraction"), "abstraction", 1, MAX_LENGTH))


class Prefix(_Cut):
    """The first n activities."""

    name, usage = "prefix", "prefix:n"

    def apply(self, flat: FlatLog) -> FlatLog:
        return flat.where(flat.positions() < self.length)


class Suffix(_Cut):
    """The last n activities."""

    name, usage = "suffix", "suffix:n"

    def apply(self, flat: FlatLog) -> FlatLog:
        return flat.where(flat.positions() >= np.repeat(flat.lengths, flat.lengths) - self.length)


class FileStep(AbstractionStep):
    """A rule from a public file, which the guarantee contains completely."""

    def __post_init__(self) -> None:
        for rule in self.rules():
            check_encodable("abstraction", *([rule] if isinstance(rule, str) else rule))

    def __str__(self) -> str:
        content = json.dumps(self.rules(), ensure_ascii=False).encode()
        return f"{self.name}:sha256-{hashlib.sha256(content).hexdigest()[:12]}"

    @abstractmethod
    def rules(self) -> Any:
        """Return the rules as JSON values."""


@dataclass(frozen=True)
class Only(FileStep):
    """Only these activities; the others are removed."""

    name, usage = "only", "only:FILE"
    activities: tuple[str, ...]

    @classmethod
    def make(cls, argument: Any) -> AbstractionStep:
        lines = argument.splitlines() if isinstance(argument, str) else argument
        names = sorted({name for name in lines if name}) if isinstance(lines, list) and _texts(lines) else []
        if not names:
            raise LogError(f"abstraction {cls.name} has no activities; use a text file of activities, one per line")
        return cls(tuple(names))

    def rules(self) -> Any:
        return list(self.activities)

    def apply(self, flat: FlatLog) -> FlatLog:
        return flat.where(self._named(flat)[flat.codes])

    def _named(self, flat: FlatLog) -> Booleans:
        activities = set(self.activities)
        return np.array([name in activities for name in _one_column(self, flat)], dtype=bool)


class Without(Only):
    """Without these activities."""

    name, usage = "without", "without:FILE"

    def apply(self, flat: FlatLog) -> FlatLog:
        return flat.where(~self._named(flat)[flat.codes])


@dataclass(frozen=True)
class Group(FileStep):
    """Activities by the name of their group, from a public hierarchy; those in no group stay."""

    name, usage = "group", "group:FILE"
    groups: tuple[tuple[str, str], ...]

    @classmethod
    def make(cls, argument: Any) -> AbstractionStep:
        try:
            pairs = [row for row in csv.reader(io.StringIO(argument)) if row] if isinstance(argument, str) else argument
        except csv.Error as error:
            raise LogError(f"abstraction group: not a CSV file ({error}); fix it") from None
        if (
            not isinstance(pairs, list)
            or not pairs
            or not all(_texts(pair) and all(pair) and len(pair) == 2 for pair in pairs)
        ):
            raise LogError("abstraction group: every line must be `activity,group`; use a CSV file with two columns")
        groups: dict[str, str] = {}
        for activity, group in pairs:
            if groups.setdefault(activity, group) != group:
                raise LogError(f"abstraction group has {activity!r} in two groups, {groups[activity]!r} and {group!r}")
        return cls(tuple(sorted(groups.items())))

    def rules(self) -> Any:
        return [list(pair) for pair in self.groups]

    def apply(self, flat: FlatLog) -> FlatLog:
        groups, codes, names = dict(self.groups), Codes(), _one_column(self, flat)
        mapped = [codes[groups.get(name, name)] for name in names]
        return replace(flat, alphabet=list(codes), codes=np.array(mapped, dtype=np.int64)[flat.codes])


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _one_column(step: AbstractionStep, flat: FlatLog) -> list[str]:
    """The names of activities, of one column each."""
    for activity in flat.alphabet:
        if isinstance(activity, tuple):
            raise ParameterError(
                f"abstraction {step.usage} supports one activity column but the log has {len(activity)}; "
                "read the log with one activity column",
                field="abstraction",
            )
    return cast("list[str]", flat.alphabet)


def read_activities(path: Path) -> tuple[str, ...]:
    """Read a public list of activities, one per line; empty lines are ignored."""
    remedy = "use a text file of activities, one per line"
    names = tuple(line for line in _text_of(path, remedy).splitlines() if line)
    if not names:
        raise LogError(f"{path}: contains no activity; {remedy}")
    return names


def _text_of(path: Path, remedy: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise LogError(f"{path}: cannot be read ({reason}); {remedy}") from None


STEPS: dict[str, type[AbstractionStep]] = {
    step.name: step for step in (Fold, First, Prefix, Suffix, Only, Without, Group, AsSet)
}

RuleFiles = Literal["read", "refuse"]
"""Whether a step that names a file reads it; a web user must not read files of the server."""


@dataclass(frozen=True)
class Abstraction:
    """A sequence of steps, applied from left to right; without steps it is `full`, the unchanged trace.

    >>> Abstraction.parse("first | prefix:2")(("a", "b", "a", "c"))
    ('a', 'b')
    """

    steps: tuple[AbstractionStep, ...] = ()

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
        codes = Codes()
        encoded = np.array([codes[activity] for activity in trace], dtype=np.int64)
        flat = self.applied(FlatLog(list(codes), encoded, np.array([len(trace)])))
        return tuple(flat.alphabet[code] for code in flat.codes.tolist())

    def of(self, variants: Log) -> Log:
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
                f"abstraction is {self} but this mechanism counts every {unit.noun} once per variant, and would count it "
                "several times; use a ladder, or a mechanism that counts cases",
                field="abstraction",
            )

    def grouped(self, variants: Log) -> Grouped:
        """Return the generalised log, and the key of each variant.

        Args:
            variants: The log.

        Returns:
            The generalised log with the keys.
        """
        self.check(variants.unit, variants.counted)
        flat = self.applied(FlatLog.of(variants)).compact()
        numbers: dict[bytes, int] = {}
        keys = keys_of(flat.codes, flat.lengths)
        groups = np.array([numbers.setdefault(key, len(numbers)) if key else -1 for key in keys], dtype=np.int64)
        counts = _sums(groups, variants.counts, len(numbers))
        lost = int(variants.counts[groups < 0].sum())
        note = (f"{lost} cases with an empty trace under {self} were left out",) if lost else ()
        generalised = replace(
            variants,
            alphabet=flat.alphabet,
            keys=list(numbers),
            counts=counts,
            notes=(*variants.notes, *note),
            abstraction=variants.abstraction | self,
            totals=None if variants.totals is None else variants.totals.under(self),
        )
        return Grouped(generalised, groups)

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

    variants: Log
    groups: Integers

    def counts(self, counts: Integers) -> Integers:
        """Return the number of cases of each key, from those of the original variants."""
        return _sums(self.groups, counts, len(self.variants))

    def among(self, indices: Integers) -> Booleans:
        """Return which original variants have one of these keys."""
        selected = np.zeros(len(self.variants) + 1, dtype=bool)  # the last one is for −1
        selected[indices] = True
        return np.asarray(selected[self.groups])


def _sums(groups: Integers, counts: Integers, size: int) -> Integers:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups[groups >= 0], counts[groups >= 0])
    return sums


def parse_ladder(text: str, files: RuleFiles = "read") -> tuple[Abstraction, ...]:
    """Parse abstractions separated by commas, from fine to coarse: `full,fold,first,prefix:6`."""
    return tuple(Abstraction.parse(part.strip(), files) for part in text.split(","))


def _parse_step(name: str, files: RuleFiles) -> AbstractionStep:
    kind, _, argument = name.partition(":")
    if kind not in STEPS:
        available = ", ".join(step.usage for step in STEPS.values())
        raise ParameterError(
            f"abstraction has the step {name!r}, which does not exist; available: full, {available}",
            field="abstraction",
        )
    step = STEPS[kind]
    if issubclass(step, FileStep):
        if files == "refuse":
            raise ParameterError(
                f"abstraction has the step {kind}, which needs a file, and files are not read here", field="abstraction"
            )
        argument = _text_of(Path(argument), f"abstraction {name!r} needs a text file")
    return step.make(argument)


def _step_from_json(content: Any) -> AbstractionStep:
    if isinstance(content, str):
        return _parse_step(content, "refuse")
    if isinstance(content, dict) and len(content) == 1:
        [(kind, rules)] = content.items()
        if kind in STEPS and issubclass(STEPS[kind], FileStep):
            return STEPS[kind].make(rules)
    raise ParameterError(f"abstraction has the unknown step {str(content)[:60]!r}", field="abstraction")
