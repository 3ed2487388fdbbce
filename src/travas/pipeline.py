"""The pipeline, the only code that makes releases: check, read, charge, draw, write.

Everything that can be refused is refused before the charge. The charge is on the disk before any noise is drawn. What
fails after it, an interrupt included, is a `ChargedError`. The command line, the web app and the functions of
`functions.py` build a `Request` and render its `Outcome`; they decide nothing about privacy.
"""

from __future__ import annotations

import json
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any, Literal, get_args

from .budget.account import NO_APPROVAL, Account, Approval
from .budget.ledger import Ledger
from .budget.periods import ChargedPeriod
from .budget.policy import Policy
from .errors import ChargedError, ParameterError, shown
from .model.mechanism import Kind, Mechanism
from .model.other_packages import dotted_name, failures_named
from .model.release import (
    MAKER,
    Frequencies,
    Profile,
    Release,
    Timestamps,
    check_frequencies,
    check_profile,
    check_timestamps,
)
from .model.variants import Roles, Variants
from .outputs.atomic import Existing
from .outputs.inputs import check_not_input
from .outputs.standard_output import StandardOutput
from .outputs.write import ReservedRelease, check_output, reserved_release
from .privacy.guarantee import Standing
from .privacy.numbers import as_text
from .sources.engine import read
from .sources.log_location import location_of
from .sources.reading import DEFAULT_READING, Reading

LOGGER = logging.getLogger("travas")
"""The stages of every run, at the level INFO, by options alone: nothing of a log, not even its size. Silent by default."""

LOGGER.addHandler(logging.NullHandler())

GuaranteeRule = Literal["required", "not required"]
"""Whether a release whose guarantee is not established is refused."""

LogOrigin = Literal["original", "copy"]
"""Whether the source is where the data are kept, or a temporary copy."""

_CHOICES = {"existing": get_args(Existing), "origin": get_args(LogOrigin), "guarantee": get_args(GuaranteeRule)}
_KINDS = {"mechanism": Mechanism, "reading": Reading, "ledger": Ledger | None, "dataset": str | None}
_EXAMPLES = {
    "mechanism": "a mechanism such as Optimal(epsilon=1, delta='1e-6')",
    "reading": "Reading(...)",
    "ledger": "Ledger(path)",
    "dataset": "the name of a data set",
}


class Phase(StrEnum):
    """The steps of a run, in order. From `CHARGING` on it cannot be undone."""

    CHECKING = "building and verifying the noise"
    READING = "reading the log"
    CHARGING = "charging the ledger"
    WRITING = "drawing the noise and writing the release"
    DONE = "done"


Watch = Callable[[Phase, float], None]
"""Called with the stage and how much of it is done, from 0 to 1."""


@dataclass(frozen=True)
class Request:
    """A release to be made: everything that decides it, fixed before the log is opened.

    Attributes:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Variants`.
        mechanism: What is released and what it costs.
        reading: The rule from events to variants.
        output: The file to write, or standard output; None keeps the release in memory.
        existing: What to do if `output` exists.
        frequencies: Which counts go into an event log.
        timestamps: Whether the events of an event log have artificial timestamps.
        profile: For which program a table is written.
        ledger: Where the release is charged; None charges nothing.
        dataset: The name of the account; None is the account of the source's location.
        origin: `"copy"` if the source is a temporary copy, such as an upload: its location says nothing about it.
        guarantee: Whether a release without an established guarantee is refused.
        policy: The policy; None uses that of `TRAVAS_POLICY` or of the data directory, if there is one.
        approval: The reason of the release, and who has signed it off.
        about: What the README says about the data, in lines: public text.
    """

    source: Any
    mechanism: Mechanism
    reading: Reading = DEFAULT_READING
    output: Path | StandardOutput | None = None
    existing: Existing = "fail"
    frequencies: Frequencies = "estimated"
    timestamps: Timestamps = "artificial"
    profile: Profile = "travas"
    ledger: Ledger | None = None
    dataset: str | None = None
    origin: LogOrigin = "original"
    guarantee: GuaranteeRule = "required"
    policy: Policy | None = None
    approval: Approval = NO_APPROVAL
    about: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise ParameterError(f"{name} is {shown(value)}; use one of {', '.join(choices)}", field=name)
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds):
                raise ParameterError(f"{name} is {shown(value)}; use {_EXAMPLES[name]}", field=name)
        if (kind := self.mechanism.kind) not in get_args(Kind):
            words = (
                f"the kind of {dotted_name(self.mechanism)} is {shown(kind)}; use one of {', '.join(get_args(Kind))}"
            )
            raise ParameterError(words, field="mechanism")
        check_frequencies(self.frequencies)
        check_timestamps(self.timestamps, self.mechanism.kind)
        check_profile(self.profile, self.timestamps)
        if self.mechanism.kind != "variants":  # its numbers are generated, or have intervals of their own
            object.__setattr__(self, "frequencies", "noisy")
        unit = self.source.unit if isinstance(self.source, Variants) else self.reading.privacy_unit
        object.__setattr__(self, "mechanism", self.mechanism.protecting(unit))
        reading = self.reading.for_counts_of(self.mechanism.counted)
        object.__setattr__(self, "reading", replace(reading, details=self.mechanism.details))
        if self.dataset is not None and self.ledger is None:
            raise ParameterError(f"dataset is {self.dataset!r} but no ledger is set; set ledger=Ledger(path)")

    @property
    def location(self) -> str | None:
        """Where the log is, for the ledger."""
        return location_of(self.source, self.reading) if self.origin == "original" else None


@dataclass(frozen=True)
class Outcome:
    """A release that was made, the account that was charged, and where it was written.

    `variants` is confidential: it is the original log as it was read.
    """

    release: Release
    account: Account | None
    output: Path | StandardOutput | None
    variants: Variants


def _unwatched(stage: Phase, share: float) -> None:
    """Ignore the progress."""


def run(request: Request, watch: Watch = _unwatched) -> Outcome:
    """Make a release.

    Args:
        request: What to release.
        watch: Called with the progress.

    Returns:
        The release, the account and the output.

    Raises:
        ChargedError: Something failed after the ledger was charged; the charge stands.
        TravasError: The request was refused; nothing was charged and nothing was written.
    """
    _announce(request.mechanism)
    _enter(Phase.CHECKING, watch)
    _check(request)
    with ExitStack() as end, _reserved(request) as output:
        _enter(Phase.READING, watch)
        variants = read(request.source, request.reading, lambda share: watch(Phase.READING, share))
        mechanism = _settled(request.mechanism, variants)
        _enter(Phase.CHARGING, watch)
        with _InterruptsDeferred() as interrupts:  # until it is known whether the charge is on the disk
            account = _charge(request, mechanism, variants.roles)
            with _after_the_charge(account, end):
                interrupts.deliver()
                _enter(Phase.WRITING, watch)
                release = replace(
                    _drawn(mechanism, variants),
                    frequencies=request.frequencies,
                    timestamps=request.timestamps,
                    assumptions=request.reading.assumptions,
                    reading=_described(request, variants),
                    maker=MAKER,
                )
                if output is not None:
                    output.write(release, request.about)
                end.enter_context(_InterruptsDeferred())  # while names change it is too late: the run ends as usual
                if output is not None:
                    output.publish()
                LOGGER.info("%s", Phase.DONE)
                watch(Phase.DONE, 1.0)
    return Outcome(release, account, request.output, variants)


def _announce(mechanism: Mechanism) -> None:
    LOGGER.info("%s, ε = %s, δ = %s", mechanism.name, as_text(mechanism.epsilon), as_text(mechanism.delta))


def _enter(stage: Phase, watch: Watch) -> None:
    """Say that a stage begins."""
    LOGGER.info("%s", stage)
    watch(stage, 0.0)


@contextmanager
def _reserved(request: Request) -> Iterator[ReservedRelease | None]:
    """Hold the names of the output until the end: another run to the same names is refused before its charge."""
    if request.output is None:
        yield None
        return
    with reserved_release(request.output, request.existing, request.mechanism.kind, request.profile) as output:
        yield output


def _described(request: Request, variants: Variants) -> dict[str, Any] | None:
    """The reading for the guarantee file; None for variants that were counted elsewhere."""
    if variants.roles is None or isinstance(request.source, Variants):
        return None
    return request.reading.describe(variants.roles)


def _check(request: Request) -> None:
    """Refuse what can be refused without the log."""
    standing = request.mechanism.guarantee().standing
    if standing is Standing.NOT_ESTABLISHED and request.guarantee == "required":
        raise ParameterError(
            f"the guarantee of {request.mechanism.name} is not established; use another mechanism, or accept a release "
            "without a guarantee (research on public logs only)",
            field="guarantee",
        )
    _check_period(request)
    if request.output is not None:
        check_output(request.output, request.existing, request.mechanism.kind, request.profile)
        log = [request.source] if isinstance(request.source, str | Path) else []
        check_not_input(request.output, log, None if request.ledger is None else request.ledger.path)
    import numpy as np  # memory that numpy needs to start is missing now, or not at all: it ends the process

    np.zeros(1) @ np.zeros(1)
    _check_policy(request, _account(request))


def _check_policy(request: Request, account: Account | None) -> None:
    """Refuse what the policy does not allow. Checked first without the log, and again when the ledger is locked."""
    if (policy := request.policy or Policy.found()) is not None:
        policy.check(request.mechanism, request.approval, account, ChargedPeriod.of(request.reading, None))


def _account(request: Request) -> Account | None:
    """Return the account before the charge; refuse what the ledger would refuse."""
    if request.ledger is None:
        return None
    case, period = request.reading.case or "", ChargedPeriod.of(request.reading, None)
    return request.ledger.check(request.dataset, request.location, request.mechanism, case, period)


def _check_period(request: Request) -> None:
    """Refuse a period that cannot be counted, or whose events may not all be present yet."""
    if (period := request.reading.period) is None:
        return
    if isinstance(request.source, Variants | Mapping | Release):
        raise ParameterError("period is set but the source is counts, which have no times; use events", field="period")
    if datetime.now(UTC) < period.earliest_release:
        raise ParameterError(
            f"period is {period.name!r}: it can be released from {period.earliest_release:%Y-%m-%d %H:%M} UTC on, {period.grace} "
            "after its end, when all its events are present",
            field="period",
        )


def _settled(mechanism: Mechanism, variants: Variants) -> Mechanism:
    """Return the mechanism that is charged. One that does not fit the log, or cannot describe itself, is refused."""
    with failures_named(mechanism):
        settled = mechanism.settled(variants)
        settled.check(variants)
        json.dumps(settled.describe() | settled.parameters())  # ledger and guarantee file need both
    return settled


def _drawn(mechanism: Mechanism, variants: Variants) -> Release:
    """Draw the noise. The release must be that of the mechanism that was charged, whose guarantee it states."""
    with failures_named(mechanism):
        drawn = mechanism.release(variants)
        if isinstance(drawn, Release) and drawn.mechanism == mechanism:
            return drawn
    raise ParameterError(
        f"the mechanism {dotted_name(mechanism)} returned no release of its own; correct it, or use another one",
        field="mechanism",
    )


def _charge(request: Request, mechanism: Mechanism, roles: Roles | None) -> Account | None:
    """Charge the ledger, if there is one."""
    if request.ledger is None:
        return None
    case, period = "" if roles is None else roles.case, ChargedPeriod.of(request.reading, roles)
    return request.ledger.charge(
        request.dataset,
        request.location,
        mechanism,
        case,
        period,
        request.approval,
        lambda before: _check_policy(request, before),
    )


@contextmanager
def _after_the_charge(account: Account | None, end: ExitStack) -> Iterator[None]:
    """Turn whatever fails into a ChargedError, if something was charged. A second interrupt must not replace it."""
    try:
        yield
    except BaseException as error:
        end.enter_context(_InterruptsDeferred())
        if account is None or isinstance(error, ChargedError | GeneratorExit | SystemExit):
            raise
        with suppress(Exception):  # a handler that fails must not hide the charge
            LOGGER.info("failed after the charge, which stands")
        raise ChargedError.from_cause(error, account.label) from error


class _InterruptsDeferred:
    """Collect Ctrl-C instead of raising it. Only the main thread receives it; elsewhere there is nothing to do."""

    def __init__(self) -> None:
        self._pending = False
        self._previous: Any = None

    def __enter__(self) -> _InterruptsDeferred:
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
