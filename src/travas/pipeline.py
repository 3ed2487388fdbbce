"""The pipeline, the only code that makes releases: check, read, charge, draw, write.

Everything that can be refused is refused before the charge. The charge is on the disk before any noise is drawn. What
fails after it, an interrupt included, is a `ChargedError`. The command line, the web app and the functions of
`functions.py` build a `Request` and render its `Outcome`; they decide nothing about privacy.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any, Literal, cast

import attrs

from .budget.account import NO_APPROVAL, Account, Approval, Entry
from .budget.accounting import ChargedPeriod
from .budget.ledger import Ledger
from .budget.policy import Policy
from .errors import ChargedError, ParameterError, check_choice, check_encodable, shown
from .explain import named_by_rules, without_effect
from .log.abstraction import FULL
from .log.log import Log, Roles
from .log.options import SERVICE_TIMES, TimesRule
from .mechanisms.mechanism import Mechanism, check_log, protecting
from .outputs.atomic import Existing
from .outputs.inputs import check_not_input
from .outputs.write import ReservedRelease, reserved_release, segment_path
from .releases.release import (
    Frequencies,
    Release,
    VariantRelease,
    check_columns,
    counted_of,
    details_of,
    kind_of,
    name_of,
    of_pairs,
    released_event_attributes,
    released_times,
)
from .sources.engine import assumptions_of, read, segments
from .sources.example_log import ExampleLog
from .sources.files import location_of
from .sources.reading import DEFAULT_READING, Reading, released_columns
from .trusted.guarantee import Standing

LOGGER = logging.getLogger("travas")
"""The phases of every run, at the level INFO, by options alone: nothing of a log, not even its size. Silent by default."""

LOGGER.addHandler(logging.NullHandler())

GuaranteeRule = Literal["required", "not required"]
"""Whether a release whose guarantee is not established is refused."""

LogOrigin = Literal["original", "copy"]
"""Whether the source is where the data are kept, or a temporary copy."""

_CHOICES = {
    "existing": Existing,
    "origin": LogOrigin,
    "guarantee": GuaranteeRule,
    "times": TimesRule,
    "frequencies": Frequencies,
}
_TYPES: dict[str, tuple[Any, str]] = {
    "mechanism": (Mechanism, "a mechanism such as Optimal(epsilon=1, delta='1e-6')"),
    "reading": (Reading, "Reading(...)"),
    "output": (Path | None, "Path(...)"),
    "ledger": (Ledger | None, "Ledger(path)"),
    "dataset": (str | None, "the name of a data set"),
    "policy": (Policy | None, "Policy.load(path)"),
    "approval": (Approval, "Approval(reason, signed_off_by)"),
    "about": (tuple, "a tuple of lines"),
}
"""The types of other fields, and what to use instead of another one."""


@dataclass(frozen=True)
class Request:
    """A release to be made: everything that decides it, fixed before the log is opened.

    Attributes:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        mechanism: What is released and what it costs.
        reading: The rule from events to variants.
        output: The file to write; None keeps the release in memory.
        existing: What to do if `output` exists.
        frequencies: Which counts go into an event log.
        times: Whether a log without a timestamp column is refused by a mechanism that measures times, or released without
            them. Decided by the columns of the log, never by values.
        ledger: Where the release is charged; None charges nothing.
        dataset: The name of the account; None is the account of the source's location.
        origin: `"copy"` if the source is a temporary copy, such as an upload: its location says nothing about it.
        guarantee: Whether a release without an established guarantee is refused.
        policy: Rules in addition to those of `TRAVAS_POLICY` or of the data directory, which apply to every release.
        approval: The reason of the release, and who has signed it off.
        about: What the README says about the data, in lines: public text.
    """

    source: Any
    mechanism: Mechanism
    reading: Reading = DEFAULT_READING
    output: Path | None = None
    existing: Existing = "fail"
    frequencies: Frequencies = "estimated"
    times: TimesRule = "required"
    ledger: Ledger | None = None
    dataset: str | None = None
    origin: LogOrigin = "original"
    guarantee: GuaranteeRule = "required"
    policy: Policy | None = None
    approval: Approval = NO_APPROVAL
    about: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            check_choice(getattr(self, name), choices, name)
        for name, (types, example) in _TYPES.items():
            if not isinstance(value := getattr(self, name), types):
                raise ParameterError(f"{name} is {shown(value)}; use {example}", field=name)
        if kind_of(self.mechanism) != "variants":  # its numbers are generated, or have their own intervals
            object.__setattr__(self, "frequencies", "noisy")
        unit = self.source.unit if isinstance(self.source, Log) else self.reading.privacy_unit
        object.__setattr__(self, "mechanism", protecting(self.mechanism, unit))
        if self.reading.lifecycle == "pairs":
            object.__setattr__(self, "mechanism", of_pairs(self.mechanism))
        reading = self.reading.for_counts_of(counted_of(self.mechanism))
        details = details_of(self.mechanism)
        if released_times(self.mechanism) is None:
            object.__setattr__(self, "times", "required")  # there is nothing to decide
        elif self.times == "if recorded":
            details = replace(details, times="if recorded")
        object.__setattr__(self, "reading", attrs.evolve(reading, details=details))
        check_columns(released_columns(reading.activity), self.mechanism)
        check_encodable("about", *self.about)
        if self.dataset is not None and self.ledger is None:
            raise ParameterError(
                f"dataset is {shown(self.dataset)} but no ledger is set; set ledger=Ledger(path)", field="dataset"
            )


class Phase(StrEnum):
    """The phases of a run, in order. From `CHARGING` on it cannot be undone."""

    CHECKING = "building and verifying the noise"
    READING = "reading the log"
    CHARGING = "charging the ledger"
    WRITING = "drawing the noise and writing the release"
    DONE = "done"


Watch = Callable[[Phase, float], None]
"""Called with the phase and how much of it is done, from 0 to 1."""


@dataclass(frozen=True)
class Outcome:
    """The releases that were made, one for each segment, where they were written, the account that was charged once for
    all of them, and the policy that allowed it.

    `variants` is confidential: it is the original log as it was read.
    """

    releases: tuple[Release, ...]
    account: Account | None
    outputs: tuple[Path, ...]
    variants: Log
    policy: Policy | None

    @property
    def release(self) -> Release:
        """The release; with segments, that of the first."""
        return self.releases[0]

    @contextmanager
    def after_release(self) -> Iterator[None]:
        """Turn whatever fails after a charged release into an error which says that the charge is not refunded.

        It also says that the release is complete, if it was written.
        """
        with _charged(self.account, is_complete=bool(self.outputs)):  # a release in memory is lost
            yield


@contextmanager
def _charged(account: Account | None, is_complete: bool) -> Iterator[None]:
    """Turn whatever fails into a ChargedError, if something was charged."""
    try:
        yield
    except BaseException as error:
        if account is None or isinstance(error, ChargedError | GeneratorExit):
            raise
        raise ChargedError.from_cause(error, account.label, completed=is_complete) from error


def run(
    request: Request, watch: Watch = lambda phase, share: None, caution: Callable[[str], None] = lambda text: None
) -> Outcome:
    """Make a release. `caution` is told what seems to be wrong with a log, before the charge."""
    _enter(Phase.CHECKING, watch)
    _check(request)
    # the example log comes with travas: only a policy that is stated applies to it
    policy = request.policy if type(request.source) is ExampleLog else Policy.applying(request.policy)
    charge = _charge_of(request)
    before = None if request.ledger is None else request.ledger.check(charge)
    if policy is not None:
        policy.check(charge, before)
    with ExitStack() as end, _reserved(request) as outputs:
        _enter(Phase.READING, watch)
        variants = read(request.source, request.reading, lambda share: watch(Phase.READING, share))
        mechanism = _fitting(request, variants)
        logs = segments(variants, request.reading)
        for text in (*variants.cautions, *unmatched(request.reading, variants, named_by_rules(mechanism), logs)):
            caution(text)
        _enter(Phase.CHARGING, watch)
        with InterruptsDeferred() as interrupts:  # until it is known whether the charge is on the disk
            charge = _charge_of(request, mechanism, variants.roles)
            account = None if request.ledger is None else request.ledger.charge(charge, policy)
            with _after_the_charge(account, end):
                interrupts.deliver()
                _enter(Phase.WRITING, watch)
                names = request.reading.named_segments
                releases = tuple(
                    _released(request, mechanism, part, name) for part, name in zip(logs, names, strict=True)
                )
                for output, release in zip(outputs, releases, strict=False):  # without an output there are none
                    output.write(release, (*request.about, *without_effect(release)))
                end.enter_context(InterruptsDeferred())  # while names change it is too late: the run ends as usual
                for output in outputs:
                    output.publish()
                written = tuple(output.target for output in outputs)
                outcome = Outcome(releases, account, written, variants, policy)
                with outcome.after_release():
                    _enter(Phase.DONE, watch, 1.0)
    return outcome


def unmatched(reading: Reading, variants: Log, of_rules: Sequence[str] = (), logs: Sequence[Log] = ()) -> Iterator[str]:
    """Say which stated names the log does not have. Confidential."""
    stated = {"rules": of_rules}
    if reading.period is not None and reading.abstraction == FULL:
        stated["end_activity"] = reading.period.end_activity
    is_stated = any(stated.values())  # a cluster has to look for the activities of its log
    found = {each if isinstance(each, str) else each[0] for each in variants.alphabet} if is_stated else set()
    for field, names in stated.items():
        if missing := [shown(name) for name in names if name not in found]:
            yield f"{field}: no event that was read has the activity {', '.join(missing)}; check the spelling"
    for value, part in zip(reading.segments, logs, strict=False):  # without segments there is one log
        if value != "other" and not len(part):
            yield f"segments: no case that was read has {reading.by} = {shown(value)}; check the spelling"


def _enter(phase: Phase, watch: Watch, share: float = 0.0) -> None:
    """Say that a phase begins."""
    LOGGER.info("%s", phase)
    watch(phase, share)


def _targets(request: Request) -> tuple[Path, ...]:
    """The files to write: one for each segment, or one; none for a release in memory."""
    if request.output is None:
        return ()
    if request.reading.by is None:
        return (request.output,)
    kind = kind_of(request.mechanism)
    return tuple(segment_path(request.output, value, kind) for value in request.reading.segments)


@contextmanager
def _reserved(request: Request) -> Iterator[list[ReservedRelease]]:
    """Hold the names of the outputs until the end: another run to the same names is refused before its charge."""
    form = request.existing, kind_of(request.mechanism)
    with ExitStack() as held:
        yield [held.enter_context(reserved_release(target, *form)) for target in _targets(request)]


def _released(request: Request, mechanism: Mechanism, variants: Log, segment: str) -> Release:
    """Draw the noise for the cases of a segment, or of the whole log; what is released says how they were read."""
    counted_elsewhere = variants.roles is None or isinstance(request.source, Log)
    release: Release = replace(
        mechanism.release(variants),
        mechanism=mechanism,  # whose guarantee was charged, whatever made the release
        assumptions=assumptions_of(request.source, request.reading),
        reading=None if counted_elsewhere else request.reading.describe(cast(Roles, variants.roles)),
        segment=segment,
    )
    if isinstance(release, VariantRelease):
        release = replace(release, frequencies=request.frequencies)
    return release


def _check(request: Request) -> None:
    """Refuse what can be refused without the log."""
    standing = request.mechanism.guarantee().standing
    if standing is Standing.NOT_ESTABLISHED and request.guarantee == "required":
        raise ParameterError(
            f"the guarantee of {name_of(request.mechanism)} is not established; use another mechanism, or accept a release "
            "without a guarantee (research on public logs only)",
            field="guarantee",
        )
    _check_period(request)
    for target in _targets(request):
        log = request.source if isinstance(request.source, str | Path) else None
        check_not_input(target, log, None if request.ledger is None else request.ledger.path)
    # numpy ends the process if it lacks memory at its first use, so use it before the charge
    import numpy as np

    np.zeros(1) @ np.zeros(1)


def _charge_of(request: Request, mechanism: Mechanism | None = None, roles: Roles | None = None) -> Entry:
    """Return the charge of a release: as it will be made or, before the log is opened, as far as it is known."""
    location = None if request.origin == "copy" else location_of(request.source)
    case = request.reading.known_case if mechanism is None else "" if roles is None else roles.defined_case
    period = ChargedPeriod.of(request.reading, roles)
    return Entry.of(request.dataset, location, mechanism or request.mechanism, case, period, request.approval)


def _check_period(request: Request) -> None:
    """Refuse a period that cannot be counted, or whose events may not all be present yet."""
    if (period := request.reading.period) is None:
        return
    if datetime.now(UTC) < period.earliest_release:
        raise ParameterError(
            f"period is {period.name!r}: it can be released from {period.earliest_release:%Y-%m-%d %H:%M} UTC on, {period.grace} "
            "after its end, when all its events are present",
            field="period",
        )


def _fitting(request: Request, variants: Log) -> Mechanism:
    """Return the mechanism that is charged. One that does not fit the log is refused."""
    mechanism = request.mechanism
    recorded = variants.totals is not None and variants.totals.details.times == "read"
    if request.times == "if recorded" and released_times(mechanism) is not None and not recorded:
        changed: dict[str, Any] = {"times": None}  # by the columns of the log, which are public
        if SERVICE_TIMES in (attributes := released_event_attributes(mechanism)):
            changed["event_attributes"] = [each for each in attributes if each != SERVICE_TIMES]
        mechanism = attrs.evolve(cast(Any, mechanism), **changed)
    check_log(mechanism, variants)
    check_columns(variants.columns, mechanism)
    return mechanism


@contextmanager
def _after_the_charge(account: Account | None, end: ExitStack) -> Iterator[None]:
    """Turn whatever fails into a ChargedError, if something was charged. A second interrupt must not replace it."""
    with _charged(account, is_complete=False):
        try:
            yield
        except BaseException:
            end.enter_context(InterruptsDeferred())
            raise


class InterruptsDeferred:
    """Collect Ctrl-C instead of raising it. Only the main thread receives it; elsewhere there is nothing to do."""

    def __init__(self) -> None:
        self._pending = False
        self._previous: Any = None

    def __enter__(self) -> InterruptsDeferred:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def deliver(self) -> None:
        """End the deferral now, and pass on what has arrived."""
        previous, self._previous = self._previous, None
        if previous is not None:
            signal.signal(signal.SIGINT, previous)
            if self._pending:
                signal.raise_signal(signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
