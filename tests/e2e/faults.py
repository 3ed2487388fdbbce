"""A process that forks: every run then costs milliseconds, and can be killed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import travas
import travas.outputs.write


def forked(work: Callable[[], None]) -> int:
    """The process that does it. Its exit code: 0 done, 3 refused by the budget, 2 by an error of ours, 1 by anything else."""
    if child := os.fork():
        return child
    code = 1
    try:
        work()
        code = 0
    except travas.BudgetError:
        code = 3
    except travas.TravasError as error:
        code = 2 if len(str(error).splitlines()) == 1 else 1
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(code)


def wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at_line(number: int, work: Callable[[], None]) -> Callable[[], None]:
    """Dies, without a chance to clean up, before line number `number` of travas."""
    left = number

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if "travas" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    def traced() -> None:
        sys.settrace(trace)
        work()

    return traced


def lines_of(work: Callable[[], None]) -> int:
    counted = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal counted
        counted += event == "line"
        return trace if "travas" in frame.f_code.co_filename else None

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return counted
