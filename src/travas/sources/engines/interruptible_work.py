"""Running long work in a thread that an interrupt can cancel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def interruptible(work: Callable[[], Result], cancel: Callable[[], object]) -> Result:
    """Run work in a separate thread, so that an interrupt is noticed immediately and cancels it.

    Neither Spark's client nor DuckDB reacts to interrupts while waiting. Cancelling may take up to ten seconds.
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
        for _ in range(50):  # it may not have started yet
            cancel()
            if wait([outcome], timeout=0.2).done:
                break
        raise
    return outcome.result()
