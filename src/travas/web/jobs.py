"""Long work in a process of its own: the page stays responsive, and a cancelled job is killed at once.

A job that is about to charge the ledger asks first. From then on nothing cancels it: what is paid for is finished, even if
the server is killed.
"""

from __future__ import annotations

import multiprocessing
import secrets
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from ..errors import ChargedError, TravasError
from ..pipeline import Phase
from .workbench import in_words

JobWatch = Callable[[str, float], None]
"""Called with what is done at the moment, in words, and how much of it, from 0 to 1."""

_processes = multiprocessing.get_context("spawn")


class Job:
    """A function of this package with its arguments and a watch, whose result can be pickled.

    Errors of travas are returned as they are; others by their kind only, because their messages may quote the log.
    `target` is the address to show when the job has ended; `ended` is called before, with the job, in a thread.
    """

    def __init__(
        self,
        task: Callable[..., Any],
        *arguments: Any,
        target: str = "/",
        account: str = "",
        ended: Callable[[Job], None] = lambda job: None,
    ) -> None:
        self.task, self.arguments, self.target, self.account, self.ended = task, arguments, target, account, ended
        self.number = secrets.token_hex(8)
        self.words, self.share = "starting", 0.0
        self.result: Any = None
        self.error: TravasError | None = None
        self.cancelled = self.charging = self.completed = False
        self._process: Any = None
        self._decision, self._end = threading.Lock(), threading.Event()

    @property
    def done(self) -> bool:
        """Whether it has ended, with a result or an error."""
        return self._end.is_set()

    @property
    def problem(self) -> str:
        """Its error in words; empty without one."""
        return "" if self.error is None else in_words(self.error)

    def start(self) -> None:
        """Start the process. If the system has none to spare, the job has ended with an error."""
        try:
            here, there = _processes.Pipe()
            self._process = _processes.Process(target=_child, args=(there, self.task, self.arguments), daemon=True)
            self._process.start()
            there.close()
            threading.Thread(target=self._listen, args=(here,), daemon=True).start()
        except (OSError, RuntimeError):
            self._fail("no process can be started on this machine; try again when less is running")
            self._finish()

    def cancel(self) -> bool:
        """Kill the job, unless it charges the ledger or has done so; return whether it was killed."""
        with self._decision:
            if not self.charging and not self.done:
                self.cancelled = True
                self._process.kill()
            return self.cancelled

    def join(self, seconds: float | None = None) -> None:
        """Wait until it has ended."""
        self._end.wait(seconds)

    def _listen(self, here: Connection) -> None:
        finished = False
        with suppress(EOFError, OSError):
            while not finished:
                kind, content = here.recv()
                if kind == "progress":
                    self.words, self.share = content
                    self.completed |= self.words == Phase.DONE
                    if self.words == Phase.CHARGING:
                        self._let_charge(here)
                    continue
                finished = True
                if kind == "result":
                    self.result = content
                elif kind == "refusal":
                    self.error = content
                else:
                    self._fail(content)
        here.close()
        self._process.join()
        if not finished:
            dead = "the process ended unexpectedly, possibly because it ran out of memory"
            self._fail("cancelled; nothing was charged" if self.cancelled else dead)
        self._finish()

    def _finish(self) -> None:
        try:
            self.ended(self)
        except Exception as error:
            self._fail(in_words(error))
        self._end.set()

    def _fail(self, words: str) -> None:
        """Set an error that the task has not raised. It says whether something was charged, as far as that is known."""
        if not self.charging:
            self.error = TravasError(words)
        elif self.words == Phase.CHARGING:
            self.error = TravasError(f"{words}; it may have been charged: check the budget before you release again")
        else:
            self.error = ChargedError(words, account=self.account, completed=self.completed)

    def _let_charge(self, here: Connection) -> None:
        """Answer a job that asks whether it may charge the ledger. One that was cancelled gets no answer, and ends."""
        with self._decision:
            if not self.cancelled:
                self.charging = True
                here.send("charge")


def _child(there: Connection, task: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    charged = False
    shown: tuple[str, float] = "", 0.0

    def watch(words: str, share: float) -> None:
        nonlocal charged, shown
        if words == shown[0] and share - shown[1] < 0.01:
            return
        shown = words, share
        try:
            there.send(("progress", (str(words), share)))
        except ConnectionError:
            if not charged:
                raise
            return  # the server was killed; what was paid for is finished
        if words == Phase.CHARGING:
            there.recv()  # leave to charge; without it the server has gone, or this process is about to be killed
            charged = True
            for name in ("SIGTERM", "SIGHUP"):  # whatever ends the terminal or the server: what is paid for is finished
                if hasattr(signal, name):
                    signal.signal(getattr(signal, name), signal.SIG_IGN)

    try:
        there.send(("result", task(*arguments, watch)))
        return
    except TravasError as error:
        answer: tuple[str, Any] = "refusal", error
    except (ConnectionError, EOFError):
        return
    except BaseException as error:  # a panic of Polars is not an Exception
        answer = "error", in_words(error)
    with suppress(ConnectionError):  # the server was killed
        there.send(answer)
