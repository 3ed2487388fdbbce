"""Public rules on one trace, applied before counting: they generalise variants at no privacy cost.

An abstraction is a sequence of steps, such as `first | prefix:8`, each a fixed rule on a single trace. The steps, with
examples: docs/abstractions.md. For a whole log, steps process all traces at once, as one flat array.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

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


def _fold(flat: FlatLog, _: None) -> FlatLog:
    """Immediate repetitions of an activity count once."""
    kept = np.ones(len(flat.codes), dtype=bool)
    kept[1:] = (flat.codes[1:] != flat.codes[:-1]) | (flat.positions()[1:] == 0)
    return flat.where(kept)


def _loops(flat: FlatLog, _: None) -> FlatLog:
    """Immediate repetitions of a block of activities count once, shortest blocks first, from left to right."""
    ends = np.cumsum(flat.lengths)
    repeats = np.flatnonzero(_first(flat, None).lengths < flat.lengths)  # only these can have loops
    codes, kept = flat.codes.tolist(), bytearray(b"\1") * len(flat.codes)
    for start, end in zip((ends - flat.lengths)[repeats].tolist(), ends[repeats].tolist(), strict=True):
        _drop_loops(codes, start, end, kept)
    return flat.where(np.frombuffer(kept, dtype=bool))


def _drop_loops(codes: list[int], start: int, end: int, kept: bytearray) -> None:
    """Process one trace: whenever it ends in a repeated block, the second copy is removed."""
    left: list[int] = []  # remaining activities, with their indexes in `origins`
    origins: list[int] = []
    before: dict[int, list[int]] = {}  # the indexes of each activity in `left`
    for index in range(start, end):
        again = before.setdefault(codes[index], [])
        again.append(len(left))
        left.append(codes[index])
        origins.append(index)
        for other in reversed(again[:-1]):
            size = len(left) - 1 - other
            if 2 * size > len(left):
                break
            if left[-size:] == left[-2 * size : -size]:
                for removed in left[-size:]:
                    before[removed].pop()
                for removed in origins[-size:]:
                    kept[removed] = 0
                del left[-size:], origins[-size:]
                break


def _first(flat: FlatLog, _: None) -> FlatLog:
    """The first occurrence of every activity, in order."""
    first = np.unique(flat.rows() * len(flat.alphabet) + flat.codes, return_index=True)[1]
    kept = np.zeros(len(flat.codes), dtype=bool)
    kept[first] = True
    return flat.where(kept)


def _set(flat: FlatLog, _: None) -> FlatLog:
    """The set of activities, in the order of their names."""
    flat = _first(flat, None).compact()
    return flat.reordered(np.lexsort((flat.codes, flat.rows())))


def _prefix(flat: FlatLog, length: int) -> FlatLog:
    """The first n activities."""
    return flat.where(flat.positions() < length)


def _suffix(flat: FlatLog, length: int) -> FlatLog:
    """The last n activities."""
    return flat.where(flat.positions() >= np.repeat(flat.lengths, flat.lengths) - length)


def _only(flat: FlatLog, names: tuple[str, ...]) -> FlatLog:
    """Only these activities; the others are removed."""
    return flat.where(np.isin(flat.codes, _codes_of(flat, names)))


def _without(flat: FlatLog, names: tuple[str, ...]) -> FlatLog:
    """Without these activities."""
    return flat.where(~np.isin(flat.codes, _codes_of(flat, names)))


def _group(flat: FlatLog, pairs: tuple[tuple[str, str], ...]) -> FlatLog:
    """Activities by the name of their group, from a public hierarchy; those in no group stay."""
    groups, codes = dict(pairs), Codes()
    mapped = [codes[groups.get(name, name)] for name in _one_column(flat)]
    return replace(flat, alphabet=list(codes), codes=np.array(mapped, dtype=np.int64)[flat.codes])


def _codes_of(flat: FlatLog, names: tuple[str, ...]) -> list[int]:
    wanted = {*names}
    return [code for code, name in enumerate(_one_column(flat)) if name in wanted]


def _one_column(flat: FlatLog) -> list[str]:
    """The names of activities, of one column each."""
    for activity in flat.alphabet:
        if isinstance(activity, tuple):
            raise ParameterError(
                f"abstraction supports one activity column but the log has {len(activity)}; read the log with one",
                field="abstraction",
            )
    return cast("list[str]", flat.alphabet)


STEPS: dict[str, tuple[Literal["", "n", "FILE"], Callable[[FlatLog, Any], FlatLog]]] = {
    "fold": ("", _fold),
    "loops": ("", _loops),
    "first": ("", _first),
    "prefix": ("n", _prefix),
    "suffix": ("n", _suffix),
    "only": ("FILE", _only),
    "without": ("FILE", _without),
    "group": ("FILE", _group),
    "set": ("", _set),
}
"""The argument of every step, and what it makes of traces."""


@dataclass(frozen=True)
class AbstractionStep:
    """A fixed rule on one trace.

    Attributes:
        name: One of `STEPS`.
        argument: n; or the content of a public file, which the guarantee contains completely: activities, or pairs of an
            activity and its group.
    """

    name: str
    argument: int | tuple[str, ...] | tuple[tuple[str, str], ...] | None = None

    def __str__(self) -> str:
        if not isinstance(self.argument, tuple):
            return self.name if self.argument is None else f"{self.name}:{self.argument}"
        content = json.dumps(self.argument, ensure_ascii=False).encode()
        return f"{self.name}:sha256-{hashlib.sha256(content).hexdigest()[:12]}"

    def as_json(self) -> Any:
        """Return the step as JSON values."""
        if not isinstance(self.argument, tuple):
            return str(self)
        return {self.name: [part if isinstance(part, str) else list(part) for part in self.argument]}

    @classmethod
    def of(cls, name: str, content: Any) -> AbstractionStep:
        """Return a step with the text of its argument, or with the lines or rows of its file."""
        argument: Any = None
        kind = STEPS[name][0] if name in STEPS else None
        if kind == "FILE" and isinstance(content, list):
            argument = _groups(content) if name == "group" else _activities(name, content)
        elif kind == "n" and isinstance(content, str):
            argument = whole_number(typed_whole_number(content, "abstraction"), "abstraction", 1, MAX_LENGTH)
        elif kind != "" or content:
            raise ParameterError(
                f"abstraction has the unknown step {name[:60]!r}; available: {_USAGE}", field="abstraction"
            )
        return cls(name, argument)


_USAGE = ", ".join(["full", *(f"{name}:{kind}" if kind else name for name, (kind, _) in STEPS.items())])


def _activities(name: str, lines: list[Any]) -> tuple[str, ...]:
    names = {line for line in lines if line} if _are_texts(lines) else set()
    if not names:
        raise LogError(f"abstraction {name} has no activities; use a text file of activities, one per line")
    check_encodable("abstraction", *names)
    return tuple(sorted(names))


def _groups(rows: list[Any]) -> tuple[tuple[str, str], ...]:
    groups: dict[str, str] = {}
    for row in rows or [None]:
        if not (isinstance(row, list) and _are_texts(row) and all(row) and len(row) == 2):
            raise LogError("abstraction group: every line must be `activity,group`; use a CSV file with two columns")
        check_encodable("abstraction", *row)
        if groups.setdefault(row[0], row[1]) != row[1]:
            raise LogError(f"abstraction group has {row[0]!r} in two groups, {groups[row[0]]!r} and {row[1]!r}")
    return tuple(sorted(groups.items()))


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


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
        return [step.as_json() for step in self.steps]

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
            flat = STEPS[step.name][1](flat, step.argument)
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


def _parse_step(text: str, files: RuleFiles) -> AbstractionStep:
    name, _, argument = text.partition(":")
    if STEPS.get(name, ("",))[0] != "FILE":
        return AbstractionStep.of(name, argument)
    if files == "refuse":
        raise ParameterError(
            f"abstraction has the step {name}, which needs a file, and files are not read here", field="abstraction"
        )
    content = _text_of(Path(argument), f"abstraction {text!r} needs a text file")
    if name != "group":
        return AbstractionStep.of(name, content.splitlines())
    try:
        return AbstractionStep.of(name, [row for row in csv.reader(io.StringIO(content)) if row])
    except csv.Error as error:
        raise LogError(f"abstraction group: not a CSV file ({error}); fix it") from None


def _step_from_json(content: Any) -> AbstractionStep:
    if isinstance(content, str):
        return _parse_step(content, "refuse")
    if isinstance(content, dict) and len(content) == 1:
        return AbstractionStep.of(*next(iter(content.items())))
    raise ParameterError(f"abstraction has the unknown step {str(content)[:60]!r}", field="abstraction")
