"""All errors that travas raises, as one tree.

    TravasError
    ├── ParameterError (ValueError)       a parameter is invalid
    ├── LogError (ValueError)             the event log or another input file cannot be read
    │   └── EmptyLogError                 nothing can be measured against a log without events
    ├── OutputError (OSError)             the output cannot be written
    ├── LedgerError (OSError)             the ledger is damaged, not a ledger, of an unsupported version or not writable
    ├── PolicyError (ValueError)          the policy of the organisation does not allow this release
    ├── BudgetError                       the budget of the data set does not allow this release
    ├── ChargedError                      a release failed after it was charged; the charge stands
    ├── VerificationError                 a noise table, a guarantee or a digest is wrong
    └── MissingExtraError (ImportError)   an optional dependency is not installed

Every message is one line: what is wrong, with the value, and what to do next. A message that reveals something about
the original log ends in `CONFIDENTIAL`, so that it is not published by accident. A message contains at most one value
from the user's data, shortened by `shown`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

CONFIDENTIAL = "[confidential: about the original log]"
"""Appended to every message that quotes the original log."""

CONFIDENTIAL_HEADING = "CONFIDENTIAL: about the original log, do not publish"
"""The heading of every table, figure or section that is computed from the original log."""

_LONGEST_VALUE = 60


def shown(value: object) -> str:
    """Return a value as shown in messages: strings shortened, anything but a string or a number by its type only.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    >>> shown({"patient": "Ann"})
    'a dict'
    """
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "…")
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**30):
        return repr(value)
    return f"a {type(value).__name__}"


def confidential_repr(value: Any) -> str:
    """Return the usual text of a dataclass that is computed from the original log, marked as confidential."""
    inside = ", ".join(f"{field.name}={getattr(value, field.name)!r}" for field in fields(value))
    return f"{CONFIDENTIAL_HEADING}: {type(value).__name__}({inside})"


class TravasError(Exception):
    """Base class of all travas errors. The command line prints the message and exits with code 2.

    Attributes:
        field: The Python name of the invalid parameter (`max_cases`); empty if the error is not about one parameter.
        other_fields: The names of further parameters, if the message lists several problems.
        confidential: Whether the message reveals something about the original log; it then ends in `CONFIDENTIAL`.
    """

    def __init__(
        self,
        message: str = "",
        *,
        field: str = "",
        other_fields: tuple[str, ...] = (),
        confidential: bool = False,
    ) -> None:
        self.field, self.other_fields = field, other_fields
        self.confidential = confidential or CONFIDENTIAL in message
        super().__init__(message if not self.confidential or CONFIDENTIAL in message else f"{message} {CONFIDENTIAL}")


class ParameterError(TravasError, ValueError):
    """A parameter is invalid, on its own or in combination with others."""


class LogError(TravasError, ValueError):
    """The event log or another input file cannot be read."""


class EmptyLogError(LogError):
    """The log has no events, so nothing can be measured against it. It can still be read and released."""


class OutputError(TravasError, OSError):
    """The output cannot be written."""


class LedgerError(TravasError, OSError):
    """The ledger cannot be used. It is not changed, and nothing is released."""


class PolicyError(TravasError, ValueError):
    """The policy of the organisation does not allow this release; nothing was read and nothing was charged."""


class BudgetError(TravasError):
    """The budget does not allow this release; nothing was charged. The command line exits with code 3."""


class ChargedError(TravasError):
    """A release failed after its charge was written. The charge stands, because noise may have been drawn.

    Attributes:
        account: The account that was charged.
        interrupted: Whether the release was interrupted by Ctrl-C.
    """

    def __init__(self, reason: str, *, account: str = "", interrupted: bool = False) -> None:
        super().__init__(reason)
        self.account, self.interrupted = account, interrupted

    def __str__(self) -> str:
        return f"{self.args[0]}; the charge to {self.account!r} stands, because noise may have been drawn"

    @classmethod
    def from_cause(cls, cause: BaseException, account: str) -> ChargedError:
        """Build the error from any exception. Only travas messages are quoted, because others may contain data."""
        if isinstance(cause, TravasError):
            return cls(str(cause).rstrip("."), account=account)
        if isinstance(cause, KeyboardInterrupt):
            return cls("interrupted", account=account, interrupted=True)
        if isinstance(cause, MemoryError):
            return cls("not enough memory", account=account)
        if isinstance(cause, OSError) and cause.strerror:
            return cls(f"operating system error: {cause.strerror}", account=account)
        return cls(f"unexpected {type(cause).__name__}; please report it, without the log", account=account)


class VerificationError(TravasError):
    """A noise table, a guarantee file or a digest is wrong. Nothing is released."""


class MissingExtraError(TravasError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed: pip install 'travas[{extra}]'")
        self._arguments = what, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """Support pickling between processes."""
        return type(self), self._arguments
