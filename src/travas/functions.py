"""The functions for Python users: each builds a `Reading` and a `Request`, and returns the release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast

from .budget.account import Approval
from .budget.ledger import Ledger
from .errors import CONFIDENTIAL, ParameterError, shown
from .log.log import Log
from .log.options import Attribute, Times, TimesRule
from .log.rules import Rules
from .log.traces import Activity
from .mechanisms.mechanism import Mechanism, Progress
from .mechanisms.selection import Optimal
from .pipeline import GuaranteeRule, Outcome, Phase, Request, Watch, run
from .progress import notebook_progress
from .releases.release import Frequencies, Release, VariantRelease
from .sources.engine import read as read_variants
from .sources.reading import DEFAULT_READING, Decimal, Lifecycle, OnMissing, Order, Reading
from .trusted.numbers import Number

if TYPE_CHECKING:
    from .releases.process_map import MapRelease
    from .releases.synthetic_log import SyntheticRelease


class ReadingOptions(TypedDict, total=False):
    """The most used options of a `Reading`, which the functions take directly."""

    case: str | None
    activity: str | Sequence[str] | None
    timestamp: str | None
    timestamp_format: str | None
    order: Order | None
    ties: str | None
    on_missing: OnMissing | None
    lifecycle: Lifecycle | None
    decimal: Decimal | None
    unit: str | None
    max_cases: int | None


class ReleaseOptions(ReadingOptions, total=False):
    """What all functions that make a release take."""

    reading: Reading | None
    ledger: Ledger | None
    dataset: str | None
    reason: str
    signed_off_by: str
    watch: Watch | None


def anonymize(
    source: Any,
    mechanism: Mechanism | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    frequencies: Frequencies = "estimated",
    guarantee: GuaranteeRule = "required",
    **options: Unpack[ReleaseOptions],
) -> VariantRelease:
    """Release the trace variants of a log under (ε, δ)-differential privacy.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        mechanism: The mechanism, such as `Ladder(epsilon=1, delta="1e-6")`.
        epsilon: With `delta` instead of a mechanism: the short form of `Optimal(epsilon=..., delta=...)`.
        delta: See `epsilon`.
        frequencies: Which counts go into an event log: `"estimated"`, the best estimate of a variant's own cases;
            `"spread"`, which adds a share of the missing cases, for similarity studies; `"noisy"`. The release has all.
        reading: The whole rule from events to variants. By default columns have usual names.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the data set in the ledger; by default a file is charged to its path.
        reason: Why the release is made with these parameters; recorded with the charge.
        signed_off_by: Who has signed it off; recorded with the charge.
        guarantee: `"not required"` accepts a mechanism whose guarantee is not established.
        watch: Called with the phase and its share, from 0 to 1; by default a progress bar in notebooks, and nothing elsewhere.
        **options: A short form of `reading`: the columns `case`, `activity` (one or several) and `timestamp`; `order`, which is
            `"time"` or `"file"`; `timestamp_format`, `ties`, `on_missing`, `lifecycle` and `decimal`, as in `Reading`;
            `unit`, the column that identifies the person of a case, which protects persons instead of
            single cases; and `max_cases`, the number of cases per person that are counted, chosen without looking at the log.

    Returns:
        The release, with its guarantee. Nothing is written.

    Raises:
        BudgetError: The budget does not allow it; nothing was charged.
        ChargedError: It failed after the charge, which is not refunded.

    >>> log = {("register", "visit", "release"): 20, ("register", "release"): 2}
    >>> release = anonymize(log, epsilon=1, delta="1e-6")
    >>> release.guarantee.standing
    <Standing.VERIFIED: 'verified'>
    """
    if mechanism is None:
        if epsilon is None or delta is None:
            raise ParameterError("epsilon and delta, or a mechanism, are required", field="epsilon")
        mechanism = Optimal(epsilon, delta)
    elif epsilon is not None or delta is not None:
        raise ParameterError("epsilon and delta belong to the mechanism; set them there", field="epsilon")
    release = _released(source, mechanism, options, frequencies=frequencies, guarantee=guarantee)
    return cast(VariantRelease, release)


def synthesize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    alphabet: Sequence[Activity] | None = None,
    times: Times | Literal["if recorded"] | None = "if recorded",
    attributes: Sequence[Attribute | str] = (),
    event_attributes: Sequence[Attribute | str] = (),
    rules: Rules | None = None,
    **options: Unpack[ReleaseOptions],
) -> SyntheticRelease:
    """Generate a synthetic log of full traces under (ε, δ)-differential privacy, with times and attributes.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        epsilon: ε for one case, or for one person where the reading has a unit.
        delta: δ, as for ε.
        alphabet: The activities, if they are public: a list that does not come from the log. Then no part of the budget
            is spent on finding them.
        times: The zone, the weekend days and the resolution of times: a log without a timestamp column is refused. By
            default, times are released in UTC if the log has such a column; None releases none.
        attributes: Case attributes to release: names, or `Attribute("age", bins=[0, 20, 40, 60])` for numbers.
        event_attributes: Attributes of events to release, such as `"org:role"`.
        rules: What every generated case obeys: public, and not found by looking at the log.
        reading: The whole rule from events to variants. By default columns have usual names.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the data set in the ledger; by default a file is charged to its path.
        reason: Why the release is made with these parameters; recorded with the charge.
        signed_off_by: Who has signed it off; recorded with the charge.
        watch: Called with the phase and its share, from 0 to 1; by default a progress bar in notebooks, and nothing elsewhere.
        **options: A short form of `reading`: the columns `case`, `activity` (one or several) and `timestamp`; `order`, which is
            `"time"` or `"file"`; `timestamp_format`, `ties`, `on_missing`, `lifecycle` and `decimal`, as in `Reading`;
            `unit`, the column that identifies the person of a case, which protects persons instead of
            single cases; and `max_cases`, the number of cases per person that are counted, chosen without looking at the log.

    Returns:
        The synthetic log, with its measurements and its guarantee. Nothing is written. `regenerate` makes larger or
        smaller logs of the same measurements, free of charge.

    Raises:
        BudgetError: The budget does not allow it; nothing was charged.
        ChargedError: It failed after the charge, which is not refunded.

    >>> log = {("register", "visit", "release"): 2000, ("register", "release"): 500}
    >>> synthetic = synthesize(log, epsilon=1, delta="1e-6")
    >>> synthetic.guarantee.standing
    <Standing.PROVEN: 'proven'>
    """
    from .mechanisms.synthesis import Synthesis  # it imports numpy, which not every program needs

    needed: TimesRule = "if recorded" if times == "if recorded" else "required"
    settings = Times() if times == "if recorded" else times
    mechanism = Synthesis(
        epsilon, delta, alphabet=alphabet, times=settings, attributes=attributes, event_attributes=event_attributes,
        rules=rules,
    )  # fmt: skip
    return cast("SyntheticRelease", _released(source, mechanism, options, times=needed))


def process_map(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    parts: Sequence[str] = (),
    alphabet: Sequence[Activity] | None = None,
    **options: Unpack[ReleaseOptions],
) -> MapRelease:
    """Release a process map under (ε, δ)-differential privacy: how many cases have each directly-follows pair.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        epsilon: ε for one case, or for one person where the reading has a unit.
        delta: δ, as for ε.
        parts: What to measure beyond counts: `"durations"`, `"rework"`, `"throughput"` and `"service"`.
        alphabet: The activities, if they are public: a list that does not come from the log. Then no part of the budget
            is spent on finding them, and all others are `other`.
        reading: The whole rule from events to variants. By default columns have usual names.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the data set in the ledger; by default a file is charged to its path.
        reason: Why the release is made with these parameters; recorded with the charge.
        signed_off_by: Who has signed it off; recorded with the charge.
        watch: Called with the phase and its share, from 0 to 1; by default a progress bar in notebooks, and nothing elsewhere.
        **options: A short form of `reading`: the columns `case`, `activity` (one or several) and `timestamp`; `order`, which is
            `"time"` or `"file"`; `timestamp_format`, `ties`, `on_missing`, `lifecycle` and `decimal`, as in `Reading`;
            `unit`, the column that identifies the person of a case, which protects persons instead of
            single cases; and `max_cases`, the number of cases per person that are counted, chosen without looking at the log.

    Returns:
        The map, with its measurements and its guarantee. Nothing is written.

    Raises:
        BudgetError: The budget does not allow it; nothing was charged.
        ChargedError: It failed after the charge, which is not refunded.

    >>> log = {("register", "visit", "release"): 2000, ("register", "release"): 500}
    >>> released = process_map(log, epsilon=1, delta="1e-6")
    >>> released.guarantee.standing
    <Standing.PROVEN: 'proven'>
    """
    from .mechanisms.process_map import ProcessMap  # it imports numpy, which not every program needs

    mechanism = ProcessMap(epsilon, delta, alphabet=alphabet, parts=parts)
    return cast("MapRelease", _released(source, mechanism, options))


def read(
    source: Any, reading: Reading | None = None, progress: Progress | None = None, **options: Unpack[ReadingOptions]
) -> Log:
    """Read the variants of a log. They are confidential.

    Args:
        source: A path, a folder or glob of files, `-` for standard input, a URL of a database, a pandas, Polars or Spark
            DataFrame, an Arrow table, an event log of pm4py, a list of traces, a mapping of traces to counts,
            `Log` or a `Release`.
        reading: The whole rule from events to variants, by default columns have usual names.
        progress: Called with the share of the work that is done, from 0 to 1; by default a progress bar in notebooks.
        **options: A short form of `reading`: the columns `case`, `activity` (one or several) and `timestamp`; `order`, which is
            `"time"` or `"file"`; `timestamp_format`, `ties`, `on_missing`, `lifecycle` and `decimal`, as in `Reading`;
            `unit`, the column that identifies the person of a case; and `max_cases`, the number of
            cases per person that are counted.

    Returns:
        The variants and the number of cases of each.
    """
    rule = _reading(reading, {**options})
    with notebook_progress() as watch:
        return read_variants(source, rule, progress or (lambda share: watch(Phase.READING, share)))


def _released(source: Any, mechanism: Mechanism, options: ReleaseOptions, **others: Any) -> Release:
    stated: dict[str, Any] = {**options}
    watch, approval = stated.pop("watch", None), Approval(stated.pop("reason", ""), stated.pop("signed_off_by", ""))
    ledger, dataset = stated.pop("ledger", None) or Ledger.from_environment(), stated.pop("dataset", None)
    reading = _reading(stated.pop("reading", None), stated)
    if reading.by is not None:
        raise ParameterError(
            "by is set: use travas.pipeline.run, whose outcome has the releases of all segments", field="by"
        )
    request = Request(source, mechanism, reading, ledger=ledger, dataset=dataset, approval=approval, **others)
    return outcome_of(request, watch).release


def outcome_of(request: Request, watch: Watch | None = None) -> Outcome:
    """Run a request, with a progress bar in notebooks unless another function reports it, and warnings before a charge."""
    with notebook_progress() as shown_here:
        return run(request, watch or shown_here, lambda text: warnings.warn(f"{text} {CONFIDENTIAL}", stacklevel=6))


def _reading(reading: Reading | None, options: dict[str, Any]) -> Reading:
    """Build the reading from the options of a call; setting both is refused, because either could be meant."""
    for name in options:
        if name not in ReadingOptions.__annotations__:
            raise TypeError(f"{name} is not an option; available: {', '.join(ReadingOptions.__annotations__)}")
    if reading is not None and not isinstance(reading, Reading):
        raise ParameterError(f"reading is {shown(reading)}; use Reading(...)", field="reading")
    stated = {name: value for name, value in options.items() if value is not None}
    if reading is not None:
        for name in stated:
            words = f"reading and {name} are both set; set {name} in the reading, or remove the reading"
            raise ParameterError(words, field=name)
        return reading
    return Reading(**stated) if stated else DEFAULT_READING
