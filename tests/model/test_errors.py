"""An error that means too little memory is recognised without the words of anything that may quote a log."""

import errno
import pickle
from typing import Any

import polars as pl
import pytest

from travas import ChargedError, Log, LogError, ParameterError, TravasError
from travas.errors import CONFIDENTIAL, is_out_of_memory, shown
from travas.web.workbench import in_words


def handling(context: BaseException, error: BaseException, *, replaces: bool = False) -> BaseException:
    """The error as it is when it was raised while another one was handled, or from that one."""
    error.__context__ = context
    if replaces:
        error.__cause__ = context
    return error


TOO_LITTLE = {
    "Python": MemoryError(),
    "the system": OSError(errno.ENOMEM, "Cannot allocate memory"),
    "a thread": RuntimeError("can't start new thread"),
    "the threads of Polars": pl.exceptions.PanicException("could not spawn threads: ThreadPoolBuildError { … }"),
    "while another error was handled": handling(MemoryError(), SystemError("no exception set")),
}
OTHER = {
    "a bug of Polars": pl.exceptions.PanicException("index out of bounds"),
    "a disk": OSError(errno.ENOSPC, "No space left on device"),
    "a message of another library": ValueError("Cannot allocate memory"),
    "one that replaces it": handling(ValueError("bad"), handling(MemoryError(), KeyError("x")), replaces=True),
}


@pytest.mark.parametrize("name", TOO_LITTLE)
def test_too_little_memory(name: str) -> None:
    assert is_out_of_memory(TOO_LITTLE[name])
    assert str(ChargedError.from_cause(TOO_LITTLE[name], "a")).startswith(
        "not enough memory; the charge to 'a' is not refunded"
    )


@pytest.mark.parametrize("name", OTHER)
def test_other_errors(name: str) -> None:
    assert not is_out_of_memory(OTHER[name])
    assert "memory;" not in str(ChargedError.from_cause(OTHER[name], "a"))


# ---- A message contains at most one value of the user, shortened, and says if it is confidential.


ROWS = {f"patient {number}": "HIV positive" for number in range(10_000)}


@pytest.mark.parametrize(
    "mapping",
    [
        *({("a",): count} for count in (ROWS, [ROWS], "long " * 1000, 10**1000, object(), None, 1.5)),
        {5: 3}, {frozenset(ROWS): 3}, {"abc": 3},
    ],
)  # fmt: skip
def test_a_mapping_of_another_shape_does_not_print_its_values(mapping: Any) -> None:
    with pytest.raises(LogError) as refused:
        Log.from_mapping(mapping)
    message = str(refused.value)
    assert len(message) < 250 and "patient" not in message and "HIV" not in message
    assert not message.endswith(CONFIDENTIAL) or refused.value.confidential


def test_an_error_carries_its_field_through_another_process() -> None:
    error = ParameterError(f"max_cases is 0; use 1 {CONFIDENTIAL}", field="max_cases")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, TravasError) and (again.field, again.confidential) == ("max_cases", True)
    assert str(again) == f"max_cases is 0; use 1 {CONFIDENTIAL}" == str(error)


@pytest.mark.parametrize("completed", [False, True])
def test_the_mark_is_the_end_of_a_message_also_after_a_charge(completed: bool) -> None:
    cause = LogError(f"row 3 has {shown('x')} {CONFIDENTIAL}", field="case", other_fields=("timestamp",))
    error = pickle.loads(pickle.dumps(ChargedError.from_cause(cause, "ward", completed=completed)))
    assert (error.field, error.other_fields, error.confidential) == ("case", ("timestamp",), True)
    stands = "the charge to 'ward' is not refunded" + ("" if completed else ", because noise may have been drawn")
    assert str(error).endswith(f"row 3 has 'x'; {stands} {CONFIDENTIAL}") and str(error).count(CONFIDENTIAL) == 1
    assert in_words(ParameterError(f"x {CONFIDENTIAL}", field="order")) == f"x {CONFIDENTIAL}"
    assert str(LogError(f"a {CONFIDENTIAL} b")) == f"a b {CONFIDENTIAL}"
