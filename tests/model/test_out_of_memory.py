"""An error that means too little memory is recognised without the words of anything that may quote a log."""

from __future__ import annotations

import errno

import polars as pl
import pytest

from travas.errors import ChargedError, is_out_of_memory


def handling(context: BaseException, error: BaseException, *, replaces: bool = False) -> BaseException:
    """The error as it is when it was raised while another one was handled, or from that one."""
    error.__context__ = context
    if replaces:
        error.__cause__ = context
    return error


def circle(first: BaseException, second: BaseException) -> BaseException:
    """Two errors, each of which came from the other."""
    first.__cause__, second.__cause__ = second, first
    return first


TOO_LITTLE = {
    "Python": MemoryError(),
    "the system": OSError(errno.ENOMEM, "Cannot allocate memory"),
    "a thread": RuntimeError("can't start new thread"),
    "the threads of Polars": pl.exceptions.PanicException("could not spawn threads: ThreadPoolBuildError { … }"),
    "while another error was handled": handling(MemoryError(), SystemError("no exception set")),
    "in a circle": circle(KeyError("x"), MemoryError()),
}
OTHER = {
    "no module": ModuleNotFoundError("No module named 'numpy'"),
    "a bug of Polars": pl.exceptions.PanicException("index out of bounds"),
    "a disk": OSError(errno.ENOSPC, "No space left on device"),
    "a message of another library": ValueError("Cannot allocate memory"),
    "a name": NameError("name 'x' is not defined"),
    "one that replaces it": handling(ValueError("bad"), handling(MemoryError(), KeyError("x")), replaces=True),
    "a circle": circle(KeyError("x"), ValueError("bad")),
}


@pytest.mark.parametrize("name", TOO_LITTLE)
def test_too_little_memory(name: str) -> None:
    assert is_out_of_memory(TOO_LITTLE[name])
    assert str(ChargedError.from_cause(TOO_LITTLE[name], "a")).startswith("not enough memory; the charge to 'a' stands")


@pytest.mark.parametrize("name", OTHER)
def test_other_errors(name: str) -> None:
    assert not is_out_of_memory(OTHER[name])
    assert "memory;" not in str(ChargedError.from_cause(OTHER[name], "a"))
