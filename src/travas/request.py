"""What a release is made from: everything that decides it, fixed and checked before the log is opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import attrs

from .budget.account import NO_APPROVAL, Approval
from .budget.ledger import Ledger
from .budget.policy import Policy
from .errors import ParameterError, check_encodable, shown
from .log.log import Log
from .log.options import TimesRule
from .mechanisms.mechanism import Mechanism, protecting
from .outputs.atomic import Existing
from .releases.release import (
    KINDS,
    Frequencies,
    Profile,
    check_columns,
    check_frequencies,
    check_profile,
    released_times,
)
from .sources.reading import DEFAULT_READING, Reading, released_columns

GuaranteeRule = Literal["required", "not required"]
"""Whether a release whose guarantee is not established is refused."""

LogOrigin = Literal["original", "copy"]
"""Whether the source is where the data are kept, or a temporary copy."""

_CHOICES = {
    "existing": get_args(Existing),
    "origin": get_args(LogOrigin),
    "guarantee": get_args(GuaranteeRule),
    "times": get_args(TimesRule),
}
_TYPES: dict[str, tuple[Any, str]] = {
    "mechanism": (Mechanism, "a mechanism such as Optimal(epsilon=1, delta='1e-6')"),
    "reading": (Reading, "Reading(...)"),
    "output": (Path | None, "Path(...)"),
    "ledger": (Ledger | None, "Ledger(path)"),
    "dataset": (str | None, "the name of a data set"),
    "policy": (Policy | None, "Policy.load(path)"),
    "approval": (Approval, "Approval(reason, signed_off_by)"),
    "about": (tuple, "a tuple of lines"),
}
"""The types of other fields, and what to use instead of another one."""


@dataclass(frozen=True)
class Request:
    """A release to be made: everything that decides it, fixed before the log is opened.

    Attributes:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        mechanism: What is released and what it costs.
        reading: The rule from events to variants.
        output: The file to write, or standard output; None keeps the release in memory.
        existing: What to do if `output` exists.
        frequencies: Which counts go into an event log.
        profile: For which program a table is written.
        times: Whether a log without a timestamp column is refused by a mechanism that measures times, or released without
            them. Decided by the columns of the log, never by values.
        ledger: Where the release is charged; None charges nothing.
        dataset: The name of the account; None is the account of the source's location.
        origin: `"copy"` if the source is a temporary copy, such as an upload: its location says nothing about it.
        guarantee: Whether a release without an established guarantee is refused.
        policy: Rules in addition to those of `TRAVAS_POLICY` or of the data directory, which apply to every release.
        approval: The reason of the release, and who has signed it off.
        about: What the README says about the data, in lines: public text.
    """

    source: Any
    mechanism: Mechanism
    reading: Reading = DEFAULT_READING
    output: Path | None = None
    existing: Existing = "fail"
    frequencies: Frequencies = "estimated"
    profile: Profile = "travas"
    times: TimesRule = "required"
    ledger: Ledger | None = None
    dataset: str | None = None
    origin: LogOrigin = "original"
    guarantee: GuaranteeRule = "required"
    policy: Policy | None = None
    approval: Approval = NO_APPROVAL
    about: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise ParameterError(f"{name} is {shown(value)}; use one of {', '.join(choices)}", field=name)
        for name, (types, example) in _TYPES.items():
            value = getattr(self, name)
            if not isinstance(value, types):
                raise ParameterError(f"{name} is {shown(value)}; use {example}", field=name)
        if (kind := self.mechanism.kind) not in KINDS:
            words = f"the kind of {self.mechanism.name} is {shown(kind)}; use one of {', '.join(KINDS)}"
            raise ParameterError(words, field="mechanism")
        check_frequencies(self.frequencies)
        check_profile(self.profile)
        if self.mechanism.kind != "variants":  # its numbers are generated, or have their own intervals
            object.__setattr__(self, "frequencies", "noisy")
        unit = self.source.unit if isinstance(self.source, Log) else self.reading.privacy_unit
        object.__setattr__(self, "mechanism", protecting(self.mechanism, unit))
        reading = self.reading.for_counts_of(self.mechanism.counted)
        details = self.mechanism.details
        if released_times(self.mechanism) is None:
            object.__setattr__(self, "times", "required")  # there is nothing to decide
        elif self.times == "if recorded":
            details = replace(details, times="if recorded")
        object.__setattr__(self, "reading", attrs.evolve(reading, details=details))
        check_columns(released_columns(reading.activities), self.mechanism)
        for line in self.about:
            if not isinstance(line, str):
                raise ParameterError(f"about contains {shown(line)}; use lines of text", field="about")
        check_encodable("about", *self.about)
        if self.dataset is not None and self.ledger is None:
            raise ParameterError(
                f"dataset is {shown(self.dataset)} but no ledger is set; set ledger=Ledger(path)", field="dataset"
            )
