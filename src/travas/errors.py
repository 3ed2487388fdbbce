"""All errors that travas raises, as one tree.

    TravasError
    ├── ParameterError (ValueError)       a parameter is invalid
    ├── LogError (ValueError)             the event log or another input file cannot be read
    ├── OutputError (OSError)             the output cannot be written
    ├── LedgerError (OSError)             the ledger is damaged, not a ledger, or not writable
    ├── PolicyError (ValueError)          the policy of the organisation does not allow this release
    ├── BudgetError                       the budget of the data set does not allow this release
    ├── ChargedError                      a release failed after it was charged; no refund
    ├── VerificationError                 a noise table, a guarantee or a digest is wrong
    └── MissingExtraError (ImportError)   an optional dependency is not installed

OutputError and LedgerError are OSErrors, as that is what programs expect and catch where a file cannot be written or opened;
they have no `errno`.

Every message is one line: what is wrong, with the value, and what to do next. A message that reveals something about
the original log ends in `CONFIDENTIAL`, so that it is not published by accident. A message contains at most one value
from the user's data, shortened by `shown`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, get_args

CONFIDENTIAL = "[confidential: about the original log]"
"""Appended to every message that quotes the original log."""

_MARK = f" {CONFIDENTIAL}"

CONFIDENTIAL_HEADING = "CONFIDENTIAL: about the original log, do not publish"
"""The heading of every table, figure or section that is computed from the original log."""

CONFIDENTIAL_UNLESS_PUBLIC = "CONFIDENTIAL: about the original log, publish only if the log is public"
"""The heading of figures of an experiment, whose logs are often public."""

_LONGEST_VALUE = 60


def is_encodable(text: str) -> bool:
    """Return whether text can be written as UTF-8; lone surrogates cannot."""
    return text.isascii() or text.encode(errors="ignore").decode() == text


def check_encodable(field: str, *texts: str) -> None:
    """Raise ParameterError if a text cannot be written as UTF-8: no file could hold it."""
    for text in texts:
        if not is_encodable(text):
            raise ParameterError(f"{field} is not valid UTF-8: {shown(text)}; correct it", field=field)


def text_tuple(values: Sequence[str]) -> tuple[str, ...]:
    """Convert an attrs field of several texts; what is no list of them is refused by `are_texts`."""
    is_list = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray)
    return tuple(values) if is_list else values  # type: ignore[return-value]


def are_texts(_: Any, attribute: Any, values: object) -> None:
    """Validate an attrs field of several texts, none of them empty."""
    name = attribute.name
    if not isinstance(values, tuple) or not all(isinstance(text, str) and text for text in values):
        raise ParameterError(f"{name} is {shown(values)}; use a list of texts that are not empty", field=name)
    check_encodable(name, *values)


def shown(value: object) -> str:
    """Return a value as shown in messages: strings shortened, anything but a string or a number by its type only.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    >>> shown({"patient": "Ann"})
    'a dict'
    >>> shown(object())
    'an object'
    """
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "…")
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**30):
        return repr(value)
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def number_of(number: int, what: str) -> str:
    """`1 event without …`, `2 events without …`: `what` begins with the plural."""
    plural, space, rest = what.partition(" ")
    singular = f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")
    return f"{number:,} {singular if number == 1 else plural}{space}{rest}"


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that it came from, means that there was not enough memory.

    Of messages only those of threads are looked at, which contain nothing of a log.
    """
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ if error.__suppress_context__ else error.__context__
    return any(
        isinstance(step, MemoryError)
        or (isinstance(step, OSError) and step.errno == errno.ENOMEM)
        or (isinstance(step, RuntimeError) and step.args == ("can't start new thread",))
        or (type(step).__name__ == "PanicException" and str(step).startswith("could not spawn threads"))  # of Polars
        for step in chain
    )


def system_reason(error: BaseException | None) -> str:
    """Return what the operating system calls an error, by its number: the text of an error may contain data."""
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number in errno.errorcode:
        return os.strerror(number)
    return type(error).__name__


def confidential_repr(value: Any) -> str:
    """Return the usual text of a dataclass that is computed from the original log, marked as confidential."""
    inside = ", ".join(f"{field.name}={getattr(value, field.name)!r}" for field in fields(value))
    return f"{CONFIDENTIAL_HEADING}: {type(value).__name__}({inside})"


def extended(message: str, more: str) -> str:
    """Append words to a message. The mark of a confidential one remains its end."""
    return f"{message.removesuffix(_MARK)}{more}{_MARK}" if message.endswith(_MARK) else message + more


class TravasError(Exception):
    """Base class of all travas errors. The command line prints the message and exits with code 2.

    Attributes:
        field: The Python name of the invalid parameter (`max_cases`); empty if the error is not about one parameter.
        other_fields: The names of further parameters, if the message lists several problems.
        confidential: Whether the message reveals something about the original log; it then ends in `CONFIDENTIAL`.
    """

    def __init__(self, message: str, *, field: str = "", other_fields: tuple[str, ...] = ()) -> None:
        self.field, self.other_fields = field, other_fields
        self.confidential = CONFIDENTIAL in message
        super().__init__(f"{message.replace(_MARK, '')}{_MARK}" if self.confidential else message)


@contextmanager
def naming(field: str) -> Iterator[None]:
    """Let errors about a part of a parameter, such as one abstraction of a ladder, name the parameter."""
    try:
        yield
    except TravasError as error:
        error.field = field
        raise


@contextmanager
def plain_words(what: str, remedy: str, field: str = "", extra: str = "") -> Iterator[None]:
    """Replace errors of a library by their kind: their messages may quote the data, and a damaged file can make it panic.

    `extra` has the libraries that may be missing.
    """
    try:
        yield
    except (TravasError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError:
        if not extra:
            raise
        raise MissingExtraError("reading this log", extra) from None
    except BaseException as error:
        kind = " ".join(filter(None, (type(error).__name__, getattr(error, "sqlstate", None))))
        raise LogError(f"{what} ({kind}); {remedy}", field=field) from None


class ParameterError(TravasError, ValueError):
    """A parameter is invalid, on its own or in combination with others."""


class LogError(TravasError, ValueError):
    """The event log or another input file cannot be read."""


class OutputError(TravasError, OSError):
    """The output cannot be written."""


class LedgerError(TravasError, OSError):
    """The ledger cannot be used. It is not changed, and nothing is released."""


class PolicyError(TravasError, ValueError):
    """The policy of the organisation does not allow this release; nothing was read and nothing was charged."""


class BudgetError(TravasError):
    """The budget does not allow this release; nothing was charged. The command line exits with code 3."""


class ChargedError(TravasError):
    """A release failed after its charge was written. The charge is not refunded, because noise may have been drawn.

    Attributes:
        account: The account that was charged; empty if it is not known.
        interrupted: Whether the release was interrupted by Ctrl-C.
        completed: Whether the release itself is complete, and something after it failed.
    """

    interrupted = False

    def __init__(self, reason: str, *, account: str = "", completed: bool = False) -> None:
        super().__init__(reason)
        self.account, self.completed = account, completed

    def __str__(self) -> str:
        charge = f"; the charge{f' to {self.account!r}' if self.account else ''} is not refunded"
        if self.completed:
            return extended(f"the release is complete, but what follows it failed: {self.args[0]}", charge)
        return extended(self.args[0], f"{charge}, because noise may have been drawn")

    @classmethod
    def from_cause(cls, cause: BaseException, account: str, *, completed: bool = False) -> ChargedError:
        """Build the error from any exception. Only travas messages are quoted, because others may contain data.

        Args:
            cause: What failed.
            account: The account that was charged.
            completed: Whether the release itself is complete, and something after it failed.

        Returns:
            The error to raise instead.
        """
        error = cls(_reason(cause), account=account, completed=completed)
        error.interrupted = isinstance(cause, KeyboardInterrupt)
        if isinstance(cause, TravasError):
            error.field, error.other_fields = cause.field, cause.other_fields
        return error


def _reason(cause: BaseException) -> str:
    if isinstance(cause, TravasError):
        return str(cause).rstrip(".")
    if isinstance(cause, KeyboardInterrupt):
        return "interrupted"
    if is_out_of_memory(cause):
        return "not enough memory"
    if isinstance(cause, OSError) and cause.errno:
        return f"operating system error: {system_reason(cause)}"
    return f"unexpected {type(cause).__name__}; please report it, without the log"


class VerificationError(TravasError):
    """A noise table, a guarantee file or a digest is wrong. Nothing is released."""


class MissingExtraError(TravasError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str = "") -> None:
        """Without an extra, `what` is the whole message: of an error that another process has raised."""
        needs = f" needs an extra that is not installed: pip install 'travas[{extra}]'"
        super().__init__(what + needs * bool(extra))


def check_choice(value: object, choices: Any, field: str) -> None:
    """Raise ParameterError unless a value is one of the choices: a `Literal`, or names."""
    names = get_args(choices) or tuple(choices)
    if not isinstance(value, str) or value not in names:
        raise ParameterError(f"{field} is {shown(value)}; use one of {', '.join(names)}", field=field)


def checked_items(field: str, values: Any, kind: type[Any], example: str) -> tuple[Any, ...]:
    """Return the items of a list, or of anything else that can be iterated once."""
    items = () if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)
    if not items or not all(isinstance(item, kind) for item in items):
        raise ParameterError(f"{field} is {shown(values)}; use {example}", field=field)
    return items


def one_of(choices: Any) -> Callable[[Any, Any, Any], None]:
    """The validator of an attrs field that is one of the choices of a `Literal`."""
    return lambda _, attribute, value: check_choice(value, choices, attribute.name)
