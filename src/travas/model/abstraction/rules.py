"""Steps whose rules come from a public file; the guarantee contains them completely."""

from __future__ import annotations

import csv
import io
import json
from abc import abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import LogError, ParameterError, check_encodable
from ..traces import Codes
from .abstraction_steps import AbstractionStep, FlatLog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..traces import Activity


class FileStep(AbstractionStep):
    """A rule from a public file, which the guarantee contains completely."""

    def __post_init__(self) -> None:
        for rule in self.rules():
            check_encodable("abstraction", *([rule] if isinstance(rule, str) else rule))

    def __str__(self) -> str:
        import hashlib

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

    def _named(self, flat: FlatLog) -> NDArray[np.bool_]:
        import numpy as np

        activities = set(self.activities)
        return np.array([_one_column(self, name) in activities for name in flat.alphabet], dtype=bool)


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
        pairs = _rows(argument) if isinstance(argument, str) else argument
        if not isinstance(pairs, list) or not pairs or not all(_texts(pair, 2) and all(pair) for pair in pairs):
            raise LogError("abstraction group: every line must be `activity,group`; use a CSV file with two columns")
        if unfit := [group for _, group in pairs if not group.isprintable()]:
            raise LogError(f"abstraction group has the group {unfit[0][:60]!r}, which is not printable; rename it")
        groups: dict[str, str] = {}
        for activity, group in pairs:
            if groups.setdefault(activity, group) != group:
                raise LogError(f"abstraction group has {activity!r} in two groups, {groups[activity]!r} and {group!r}")
        return cls(tuple(sorted(groups.items())))

    def rules(self) -> Any:
        return [list(pair) for pair in self.groups]

    def may_shorten(self, length: int) -> bool:
        return False

    def apply(self, flat: FlatLog) -> FlatLog:
        import numpy as np

        groups, codes = dict(self.groups), Codes()
        mapped = [codes[groups.get(_one_column(self, name), _one_column(self, name))] for name in flat.alphabet]
        return replace(flat, alphabet=list(codes), codes=np.array(mapped, dtype=np.int64)[flat.codes])


def _rows(text: str) -> list[list[str]]:
    """The rows of a CSV text that are not empty."""
    try:
        return [row for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error as error:
        raise LogError(f"abstraction group: not a CSV file ({error}); fix it") from None


def _texts(value: Any, length: int | None = None) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(item, str) for item in value)
        and (length is None or len(value) == length)
    )


def _one_column(step: AbstractionStep, activity: Activity) -> str:
    if isinstance(activity, tuple):
        raise ParameterError(
            f"abstraction {step.usage} supports one activity column but the log has {len(activity)}; "
            "read the log with one activity column",
            field="abstraction",
        )
    return activity


def read_rules(step: str, path: str) -> str:
    """Read a public rule file."""
    if not path:
        raise ParameterError(f"abstraction {step!r} names no file; use {step.rstrip(':')}:FILE", field="abstraction")
    return _text_of(Path(path), f"abstraction {step!r} needs a text file")


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
