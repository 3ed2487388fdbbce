"""What can go wrong, as one tree.

    TravasError
    ├── ParameterError (ValueError)       ε, δ or an option makes no sense
    ├── LogError (ValueError)             the event log, or another file given, cannot be read as it stands
    │   └── EmptyLogError                 nothing can be measured against a log without events
    ├── OutputError (OSError)             the release cannot be written there
    ├── LedgerError (OSError)             the ledger is damaged, foreign, of another version or cannot be written
    ├── BudgetError                       the data set's budget does not allow this release
    ├── ChargedError                      a release failed after it was charged: the charge stands
    ├── VerificationError                 a noise table, a guarantee or a digest does not hold
    └── MissingExtraError (ImportError)   an optional dependency is not installed

Every message is one line: what was wrong, with the value, and what to do next. A message that says
something about the original log ends in `CONFIDENTIAL`, so that nobody pastes it into a public place unaware.
A message never contains more than one value of the user, shortened by `shown`.
"""

from __future__ import annotations

CONFIDENTIAL = "[confidential: about the original log]"
"""The end of a message that quotes the original log."""

CONFIDENTIAL_HEADING = "CONFIDENTIAL: about the original log, do not publish"
"""The heading of a table, picture or page section that is computed from the original log."""

_LONGEST_VALUE = 60


def shown(value: object) -> str:
    """A value for a message: shortened, and of anything but a text or a number only its type.

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


class TravasError(Exception):
    """Anything travas refuses to do. The command line prints the message and exits with code 2.

    Attributes:
        field: The parameter that is wrong, by its name in Python (`max_cases`); empty where it is not one parameter.
        value: The value of that parameter.
        remedy: What to do next, where it is not already in the message; it is appended.
        confidential: Whether the message says something about the original log; it then ends in `CONFIDENTIAL`.
    """

    def __init__(
        self,
        message: str = "",
        *,
        field: str = "",
        value: object = None,
        remedy: str = "",
        confidential: bool = False,
    ) -> None:
        self.field, self.value, self.remedy = field, value, remedy
        self.confidential = confidential or CONFIDENTIAL in message
        text = f"{message}; {remedy}" if remedy else message
        super().__init__(f"{text} {CONFIDENTIAL}" if self.confidential and CONFIDENTIAL not in message else text)


class ParameterError(TravasError, ValueError):
    """A parameter makes no sense, by itself or together with the others."""


class LogError(TravasError, ValueError):
    """The event log cannot be read as it stands."""


class EmptyLogError(LogError):
    """The log has no events, so nothing can be measured against it. Reading and releasing it is allowed."""


class OutputError(TravasError, OSError):
    """The release cannot be written there."""


class LedgerError(TravasError, OSError):
    """The ledger cannot be used. It is left as it is, and nothing is released."""


class BudgetError(TravasError):
    """The budget does not allow this release; nothing was charged. The command line exits with code 3."""


class ChargedError(TravasError):
    """A release failed after its charge was on the disk. The charge stands: the noise may have been drawn.

    Attributes:
        account: The account that was charged.
        interrupted: Whether Ctrl-C ended it.
    """

    def __init__(self, reason: str, *, account: str = "", interrupted: bool = False) -> None:
        super().__init__(reason)
        self.account, self.interrupted = account, interrupted

    def __str__(self) -> str:
        return f"{self.args[0]}; the charge to {self.account!r} stands, because noise may have been drawn"

    @classmethod
    def from_cause(cls, cause: BaseException, account: str) -> ChargedError:
        """The error for whatever ended a release; only messages of ours are quoted, others may contain data."""
        if isinstance(cause, TravasError):
            return cls(str(cause).rstrip("."), account=account)
        if isinstance(cause, KeyboardInterrupt):
            return cls("interrupted", account=account, interrupted=True)
        if isinstance(cause, MemoryError):
            return cls("not enough memory", account=account)
        if isinstance(cause, OSError) and cause.strerror:
            return cls(f"the system refused: {cause.strerror}", account=account)
        return cls(f"unexpected {type(cause).__name__}; please report it, without the log", account=account)


class VerificationError(TravasError):
    """A table, a guarantee file or a digest does not hold. Nothing is released on it."""


class MissingExtraError(TravasError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed: pip install 'travas[{extra}]'")
        self._given = what, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """So that it comes out of another process."""
        return type(self), self._given
