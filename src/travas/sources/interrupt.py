"""Long work elsewhere that an interrupt ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def interruptible(work: Callable[[], Result], cancel: Callable[[], object]) -> Result:
    """Do it in a thread of its own, so that an interrupt is heard here at once and cancels it there.

    Spark's client is deaf while it waits, and so is DuckDB. Ten seconds are given for the cancelling.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        while not wait([outcome], timeout=0.2).done:  # a signal may have been delivered to another thread
            pass
    except KeyboardInterrupt:
        for _ in range(50):  # it may not have begun yet
            cancel()
            if wait([outcome], timeout=0.2).done:
                break
        raise
    return outcome.result()
