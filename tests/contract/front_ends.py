"""The front ends of travas as functions: each makes a release of a file, and returns what its user reads if it fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import travas as package
from travas import Ledger, TravasError
from travas.mechanisms import mechanism as by_name
from travas.pipeline import GuaranteeRule, Request
from travas.pipeline import run as run_request
from travas.settings.project import Project
from travas.web import jobs, release
from travas.web.workbench import in_words

if TYPE_CHECKING:
    from conftest import Run


@dataclass(frozen=True)
class Case:
    """A release to be made, as a user would ask for it."""

    log: Path
    output: Path
    ledger: Path
    epsilon: str = "1"
    delta: str = "1e-6"
    dataset: str = "hospital"
    mechanism: str = "optimal"
    options: dict[str, Any] = field(default_factory=dict)
    guarantee: GuaranteeRule = "required"

    @property
    def charges(self) -> int:
        """How often the ledger was charged."""
        return len(Ledger(self.ledger).history())

    @property
    def written(self) -> list[str]:
        """The names of all files of the release, partial ones included."""
        return sorted(path.name for path in self.output.parent.glob("*release*"))

    def but(self, **values: Any) -> Case:
        """The same, with some values changed."""
        return replace(self, **values)


FrontEnd = Callable[[Case, "Run"], str]


def by_a_request(case: Case, _: Run) -> str:
    """Python, with an output: what is written belongs to the run."""
    try:
        request = Request(
            source=case.log,
            mechanism=by_name(case.mechanism, case.epsilon, case.delta, **case.options),
            output=case.output,
            ledger=Ledger(case.ledger),
            dataset=case.dataset,
            guarantee=case.guarantee,
        )
        run_request(request)
    except TravasError as error:
        return str(error)
    return ""


def by_a_function(case: Case, _: Run) -> str:
    """Python, by one of the three functions; writing is a step of its own."""
    try:
        charge: dict[str, Any] = {"ledger": Ledger(case.ledger), "dataset": case.dataset}
        release: package.Release
        if case.mechanism in ("synthesis", "map"):
            make: Any = package.synthesize if case.mechanism == "synthesis" else package.process_map
            release = make(case.log, epsilon=case.epsilon, delta=case.delta, **case.options, **charge)
        else:
            mechanism = by_name(case.mechanism, case.epsilon, case.delta, **case.options)
            release = package.anonymize(case.log, mechanism, guarantee=case.guarantee, **charge)
    except TravasError as error:
        return str(error)
    release.write(case.output)
    return ""


def settings_as_words(mechanism: str, values: Mapping[str, Any], folder: Path) -> list[str]:
    """The command that makes a kind of release, with settings as its options; an alphabet is a file."""
    words = {"synthesis": ["synthesize"], "map": ["map"]}.get(mechanism, ["anonymize", "--mechanism", mechanism])
    for name, value in values.items():
        if name == "alphabet":
            value = folder / "alphabet.txt"
            value.write_text("\n".join(values[name]))
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    return words


def words_of(case: Case) -> list[str]:
    """The command line of a case."""
    stated: dict[str, Any] = {"epsilon": case.epsilon, "delta": case.delta, **case.options, "dataset": case.dataset}
    stated |= {"ledger": case.ledger, "output": case.output}
    if case.guarantee != "required":
        stated["guarantee"] = case.guarantee
    return [*settings_as_words(case.mechanism, stated, case.log.parent), str(case.log)]


def on_the_command_line(case: Case, travas: Run) -> str:
    ran = travas(*words_of(case))
    assert (ran.code == 0) == (ran.err == "") and len(ran.err.splitlines()) <= 1
    return ran.err


def web_task(case: Case) -> Callable[..., None]:
    """The task that the web app starts for a release."""
    values = {"mechanism": case.mechanism, "epsilon": case.epsilon, "delta": case.delta, **case.options}
    account = {"dataset": case.dataset, "ledger": str(case.ledger)}
    project = Project(references="refuse").with_values(values | account)
    return partial(_release, project, str(case.log), case.output)


def _release(project: Project, log: str, output: Path, watch: jobs.JobWatch) -> None:
    release.draw(project, log, "log.csv", "original", "", output, watch)


class _Here:
    """Stands in for a process of the web app: its task runs in this thread, where it can be patched and interrupted."""

    Pipe = staticmethod(Pipe)

    def Process(self, target: Callable[..., None], args: tuple[Any, ...], daemon: bool) -> _Here:  # noqa: N802
        self.work = partial(target, Connection(os.dup(args[0].fileno())), *args[1:])
        return self

    def start(self) -> None:
        """It is started below, when the job listens."""

    join = kill = start


def in_the_web_app(case: Case, _: Run) -> str:
    """What the page says about a job, whose messages and results are pickled on their way."""
    here = _Here()
    try:
        job = jobs.Job(web_task(case))
    except TravasError as error:  # the step refuses it
        return in_words(error)
    with mock.patch.object(jobs, "_processes", here):
        job.start()
        if not job.done:
            here.work()
        job.join()
        return "" if job.error is None else in_words(job.error)


FRONT_ENDS: dict[str, FrontEnd] = {"python": by_a_request, "cli": on_the_command_line, "web": in_the_web_app}
"""Those whose run has an output."""

ALL_FRONT_ENDS = FRONT_ENDS | {"functions": by_a_function}
