"""Long work in a separate process: the page stays responsive, and a cancelled run is killed at once.

A run that is about to charge the ledger asks first. From then on it cannot be cancelled: a release that was paid for is kept.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import ChargedError, TravasError
from ..pipeline import Phase
from .failures import in_words

JobWatch = Callable[[str, float], None]
"""Called with a description of the current work and its progress, from 0 to 1."""


PRELOADED = ["travas.cli.main", "travas.verification.verify", "travas.web.preview"]
"""The imports of the process that limited tasks are forked from, so that they start fast. It has no threads."""


@dataclass(frozen=True)
class Limits:
    """The limits of a task: memory in bytes beyond that of an idle process (on Linux), and time in seconds."""

    memory: int
    seconds: float


_spawned, _forked = multiprocessing.get_context("spawn"), multiprocessing.get_context("forkserver")
_forked.set_forkserver_preload(PRELOADED)


class Job:
    """One task: a function of this package with its arguments and a `Watch`, whose result can be pickled.

    Errors of travas are returned as they are; others by type only, because their messages may quote the log.
    `name` is what the task is about, and `account` what it charges, for errors that the task does not raise itself.
    """

    def __init__(
        self, task: Callable[..., Any], *arguments: Any, limits: Limits | None = None, name: str = "", account: str = ""
    ) -> None:
        self.task, self.arguments, self.limits, self.name, self.account = task, arguments, limits, name, account
        self.words, self.share = "starting", 0.0
        self.result: Any = None
        self.error: TravasError | None = None
        self.cancelled = False
        self.done = False
        self.charging = False  # from here on it cannot be cancelled
        self._process: Any = None
        self._decision = threading.Lock()
        self._ended_event = threading.Event()

    def start(self) -> None:
        """Start the process. If the system has none to spare, the task has ended with an error."""
        context = _spawned if self.limits is None else _forked
        try:
            here, there = context.Pipe()
            process = context.Process(target=_child, args=(there, self.task, self.arguments, self.limits), daemon=True)
            process.start()
            self._process = process
            there.close()
            threading.Thread(target=self._listen, args=(here,), daemon=True).start()
        except (OSError, RuntimeError, EOFError) as error:  # no thread to spare, or the process to fork from has died
            self.kill()
            why = getattr(error, "strerror", None) or ("it ended" if isinstance(error, EOFError) else "no thread")
            self._fail(f"no process can be started on this machine ({why}); try again when less is running")
            self.cancelled, self.done = False, True
            self._ended_event.set()

    def cancel(self) -> bool:
        """Kill the task, unless it charges the ledger or has done so."""
        with self._decision:
            if not self.charging:
                self.kill()
            return not self.charging

    def kill(self) -> None:
        """Kill the task, whatever it does. A charge stands."""
        if not self.done:
            self.cancelled = True
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        """Wait until the task has ended."""
        self._ended_event.wait()

    async def wait(self) -> Any:
        """Return the result of the task; raises TravasError if it was refused or cancelled."""
        while not self.done:
            await asyncio.sleep(0.05)
        if self.error is not None:
            raise self.error
        return self.result

    def _listen(self, here: Connection) -> None:
        finished, late, end = False, False, None
        with suppress(EOFError, OSError):
            here.recv()  # it has started, and its time begins
            if self.limits is not None:
                end = time.monotonic() + self.limits.seconds
            while not finished:
                if end is not None and not here.poll(max(end - time.monotonic(), 0)):
                    late = True
                    self._process.kill()
                    break
                kind, content = here.recv()
                if kind == "progress":
                    self.words, self.share = content
                    if content[0] == Phase.CHARGING:
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
            self._fail("cancelled" if self.cancelled else self._ended(late))
        self.done = True
        self._ended_event.set()

    def _fail(self, words: str) -> None:
        """Set an error that the task has not raised. It says whether something was charged, as far as that is known."""
        words = f"{self.name}: {words}" if self.name else words
        if not self.charging:
            self.error = TravasError(words)
        elif self.words == Phase.CHARGING:
            self.error = TravasError(
                f"{words}; the release may have been charged: check the account before you release again"
            )
        else:
            self.error = ChargedError(words, account=self.account, completed=self.words == Phase.DONE)

    def _let_charge(self, here: Connection) -> None:
        """Answer a task that asks whether it may charge the ledger. One that was cancelled gets no answer, and ends."""
        with self._decision:
            if not self.cancelled:
                self.charging = True
                here.send("charge")

    def _ended(self, late: bool) -> str:
        """Return why a task that was not cancelled has no result."""
        if self.limits is None:
            return "the process ended unexpectedly, possibly because it ran out of memory"
        if late:
            return f"took longer than {self.limits.seconds:g} s; check that the file is not damaged"
        return f"needed more than {self.limits.memory >> 20} MB of memory; check that the file is not damaged"


def warm_up() -> None:
    """Start the process that tasks with limits are forked from, so that the first one need not wait for it."""
    forkserver.ensure_running()


def _limit(limits: Limits) -> None:
    """Bound the memory of this process: private pages, not files that are mapped."""
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text(encoding="ascii")
        idle = 1024 * int(status.partition("VmData:")[2].split()[0])
        resource.setrlimit(resource.RLIMIT_DATA, (idle + limits.memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _sendable(error: TravasError) -> TravasError:
    """Return the error itself; one of another package, which may not be picklable, as its message and fields."""
    if type(error).__module__ == TravasError.__module__:
        return error
    return TravasError(str(error), field=error.field, other_fields=error.other_fields, confidential=error.confidential)


def _child(there: Connection, task: Callable[..., Any], arguments: tuple[Any, ...], limits: Limits | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    if limits is not None:
        _limit(limits)
    there.send(("started", None))

    charged = False

    def watch(words: str, share: float) -> None:
        nonlocal charged
        try:
            there.send(("progress", (words, share)))
        except ConnectionError:
            if not charged:
                raise
            return  # the server was killed; what was paid for is finished
        if words == Phase.CHARGING:
            there.recv()  # leave to charge; without it the server has gone, or this process is about to be killed
            charged = True
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # whatever ends the terminal or the group of the server:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what is paid for is finished

    try:
        there.send(("result", task(*arguments, watch)))
        return
    except TravasError as error:
        answer: tuple[str, Any] = "refusal", _sendable(error)
    except (ConnectionError, EOFError):
        return
    except BaseException as error:  # a panic of Polars is not an Exception
        answer = "error", in_words(error)
    with suppress(ConnectionError):  # the server was killed
        there.send(answer)
