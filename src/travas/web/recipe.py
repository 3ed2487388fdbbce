"""The settings of a release as a user of the web app types and changes them, before they are complete.

`Recipe.build()` checks them and makes the mechanism; `tasks.py` makes the `Request` of the pipeline from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import attrs

from .. import explain
from ..errors import ParameterError
from ..log.abstraction import FULL, Abstraction
from ..mechanisms import MECHANISMS
from ..mechanisms.ladder import generalises
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.registry import options_of
from ..releases.release import Kind
from ..settings.project import OFFERED, Project
from ..sources.reading import DEFAULT_READING, Reading
from ..trusted.numbers import exact_delta, exact_epsilon, typed_whole_number
from .typed_period import NO_PERIOD, TypedPeriod

OptionValue = int | str | tuple[str, ...]

Whom = Literal["case", "person"]


@dataclass(frozen=True)
class Recipe:
    """All settings as typed: exact text and whole numbers, never floats. Nothing typed here opens a file.

    `unit` is a column, or empty for one case; `max_cases` belongs to it. `whom` is set to `person` before its column is
    chosen. `options` are those of the mechanism.
    `stated_cases` is the number of cases that the owner states, for the policy line and the forecast only. `looked_at` is
    what the owner looked at of the original log before the release, in words, for the report.
    """

    mechanism: str = "optimal"
    epsilon: str = "1"
    delta: str = "1e-6"
    options: tuple[tuple[str, OptionValue], ...] = ()
    unit: str = ""
    max_cases: str = ""
    abstraction: str = ""
    stated_cases: str = ""
    period: TypedPeriod = NO_PERIOD
    whom: Whom = "case"
    looked_at: tuple[str, ...] = ()

    @property
    def protected(self) -> Whom:
        """Whom it protects."""
        return "person" if self.unit else self.whom

    @property
    def kind(self) -> Kind:
        """What is released."""
        return self._mechanism.kind

    @property
    def _mechanism(self) -> type[Mechanism]:
        """The class of the mechanism; of one of another package, which is not offered, what all have in common."""
        return MECHANISMS.get(self.mechanism, Mechanism)

    def weak_protection(self) -> tuple[str, ...]:
        """Why ε and δ protect only weakly, if they do; ParameterError where one of them is not a number."""
        return explain.weak_protection(exact_epsilon(self.epsilon), exact_delta(self.delta), self.cases, self.protected)

    @property
    def cases(self) -> int | None:
        """The number of cases that the owner states; None where nothing was typed."""
        return explain.check_stated_cases(typed_whole_number(self.stated_cases or None, "stated_cases"))

    def build(self) -> Mechanism:
        """Return the mechanism, before its tables are built; raises ParameterError if the recipe is invalid."""
        return self._project().mechanism()

    def _project(self) -> Project:
        """What was typed about the mechanism, as settings."""
        self.reading(DEFAULT_READING)  # refuses a unit that is not complete
        options: dict[str, Any] = dict(self.options)
        if "alphabet" in options:
            options["alphabet"] = tuple(line.strip() for line in str(options["alphabet"]).splitlines() if line.strip())
        unit = {"unit": self.unit, "max_cases": self.max_cases} if self.unit else {}
        stated = {"mechanism": self.mechanism, "epsilon": self.epsilon, "delta": self.delta, **unit, **options}
        return Project(references="refuse").with_values(stated)

    def reading(self, columns: Reading) -> Reading:
        """Return how the log is read: columns and order as set, unit, abstraction and period as typed."""
        if self.protected == "person" and not self.unit:
            raise ParameterError("no column is chosen that identifies the person; set unit", field="unit")
        made = attrs.evolve(
            columns,
            unit=self.unit or None,
            max_cases=typed_whole_number(self.max_cases or None, "max_cases") if self.unit else None,
            abstraction=_rule(self.abstraction),
            period=self.period.period(),
        )
        return made.for_counts_of(self._mechanism.counted)

    def check(self, columns: Reading) -> None:
        """Raise ParameterError if unit, abstraction, period or mechanism are invalid for any ε and δ."""
        self.reading(columns)
        replace(self, epsilon="1", delta="1e-6")._project().describe()
        if generalises(self._mechanism):
            replace(self, epsilon="10", delta="0.1", unit="").build()

    def with_kind(self, kind: Kind) -> Recipe:
        """Return the recipe of another kind of release, made by the kind's default mechanism."""
        return self if kind == self.kind else self.with_mechanism(OFFERED[kind][0])

    def with_mechanism(self, name: str) -> Recipe:
        """Return the recipe with another mechanism and the options that it has. Shares mean something else in each."""
        available = {*options_of(MECHANISMS[name])} - {"shares"}
        available |= {"zone", "resolution"} if "times" in available else set()
        kept = self.options if name == self.mechanism else (pair for pair in self.options if pair[0] in available)
        return replace(self, mechanism=name, options=tuple(kept))

    def with_option(self, name: str, value: OptionValue | None) -> Recipe:
        """The recipe with an option set, or left to its default."""
        rest = {key: given for key, given in self.options if key != name}
        return replace(self, options=tuple(sorted((rest if value is None else rest | {name: value}).items())))


def _rule(text: str) -> Abstraction:
    return Abstraction.parse(text, files="refuse") if text else FULL
