"""Long work in a process of its own: the page stays responsive, and a cancelled run is killed at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from ..errors import TravasError

Watch = Callable[[str, float], None]
"""Called with what is being done, in words, and how much of it is, from 0 to 1."""


class Job:
    """One task: a function of this package that takes its arguments and a `Watch`, and gives something to pickle.

    Errors of ours come back as their one line; others by their kind only, for their words may quote the log.
    """

    def __init__(self, task: Callable[..., Any], *arguments: Any) -> None:
        self.task, self.arguments = task, arguments
        self.words, self.share = "starting", 0.0
        self.result: Any = None
        self.error = ""
        self.cancelled = False
        self.done = False
        self._process: Any = None

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_child, args=(there, self.task, self.arguments), daemon=True)
        self._process.start()
        there.close()
        threading.Thread(target=self._listen, args=(here,), daemon=True).start()

    def cancel(self) -> None:
        if not self.done:
            self.cancelled = True
            self._process.kill()

    async def wait(self) -> Any:
        """What the task gives; TravasError where it refused or was cancelled."""
        while not self.done:
            await asyncio.sleep(0.05)
        if self.error:
            raise TravasError(self.error)
        return self.result

    def _listen(self, here: Connection) -> None:
        finished = False
        with suppress(EOFError, OSError):
            while not finished:
                kind, content = here.recv()
                if kind == "progress":
                    self.words, self.share = content
                else:
                    finished = True
                    if kind == "result":
                        self.result = content
                    else:
                        self.error = content
        here.close()
        self._process.join()
        if not finished:
            self.error = "cancelled" if self.cancelled else "the run ended before its time: too little memory, perhaps"
        self.done = True


def _child(there: Connection, task: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us

    def watch(words: str, share: float) -> None:
        there.send(("progress", (words, share)))

    try:
        there.send(("result", task(*arguments, watch)))
    except TravasError as error:
        there.send(("error", " ".join(str(error).splitlines())))
    except BrokenPipeError:
        return
    except MemoryError:
        there.send(("error", "too little memory for this log"))
    except Exception as error:
        there.send(
            ("error", f"something is wrong in travas ({type(error).__name__}); please report it, without the log")
        )
