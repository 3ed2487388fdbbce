"""Answers to questions about the cases behind variants, summed where the data are. The answers are confidential."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from ..errors import ParameterError, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .abstraction import Abstraction
    from .questions import AttributeValues, CellQuestion


TimesRead = Literal["ignore", "if recorded", "read"]
"""Whether timestamps are read: never, if the log has a column for them, or always."""


@dataclass(frozen=True)
class Details:
    """What is read of a log in addition to its variants, decided before it is opened, or by its columns.

    Attributes:
        times: Whether timestamps are read. Then every event needs one, whatever orders the events.
        attributes: Case attributes whose values are names.
        numbers: Case attributes whose values are numbers.
    """

    times: TimesRead = "ignore"
    attributes: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.times not in get_args(TimesRead):
            raise ParameterError(
                f"times is {shown(self.times)}; use one of {', '.join(get_args(TimesRead))}", field="times"
            )
        names = (*self.attributes, *self.numbers)
        if len(set(names)) != len(names) or "" in names:
            raise ParameterError(f"attributes is {shown(names)}; list every attribute once", field="attributes")

    def __bool__(self) -> bool:
        return self.times == "read" or bool(self.attributes or self.numbers)

    def settled(self, recorded: Literal["recorded", "not recorded"]) -> Details:
        """Return the details for a log whose columns are known.

        Args:
            recorded: Whether it has a column of timestamps.

        Returns:
            The same, with nothing left open.
        """
        if self.times != "if recorded":
            return self
        return replace(self, times="read" if recorded == "recorded" else "ignore")

    def covers(self, other: Details) -> bool:
        """Return whether everything that is read with `other` is read with this.

        Args:
            other: What another reading reads.

        Returns:
            True if all of it is read.
        """
        times = self.times == "read" or other.times != "read"
        return times and {*other.attributes} <= {*self.attributes} and {*other.numbers} <= {*self.numbers}


NO_DETAILS = Details()


class Totals(Protocol):
    """Answers questions about exactly the cases that the variants count. Holds the log, or access to it."""

    @property
    def details(self) -> Details:
        """What was read: questions about anything else cannot be answered."""

    def sums(self, question: CellQuestion) -> NDArray[np.int64]:
        """Return what all cases add to the cells of a question, of its `shape`. Confidential.

        Args:
            question: The question.

        Returns:
            The sums.
        """

    def value_sums(self, question: AttributeValues) -> dict[str | None, int]:
        """Return what all cases add to the values that occur; None stands for missing ones. Confidential.

        Args:
            question: The question.

        Returns:
            The sums by value.
        """

    def under(self, abstraction: Abstraction) -> Totals:
        """Return the answers for traces that are generalised further by an abstraction.

        Args:
            abstraction: The abstraction.

        Returns:
            The answers.
        """


def check_details(totals: Totals | None, details: Details) -> None:
    """Raise ParameterError unless questions about these details can be answered: by what was asked for, not by values.

    Args:
        totals: The handle of the variants; None if there is none.
        details: What the questions are about.
    """
    if not details or (totals is not None and totals.details.covers(details)):
        return
    if details.times == "read" and (totals is None or totals.details.times == "ignore"):
        raise ParameterError(
            "times are to be measured, but the log was read without timestamps; use a log with a timestamp column",
            field="times",
        )
    known = NO_DETAILS if totals is None else totals.details
    missing = [*({*details.attributes} - {*known.attributes}), *({*details.numbers} - {*known.numbers})]
    name = min(missing)
    raise ParameterError(
        f"the attribute {name!r} is to be measured, but the log was read without it; use a log with this column",
        field="attributes",
    )
