"""The functions for Python users: each builds a `Reading` and a `Request`, and returns the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from .budget.account import Approval
from .budget.ledger import Ledger
from .errors import ParameterError, shown
from .log.log import Log
from .log.options import Attribute, BudgetShares, Times, TimesRule
from .log.traces import Activity
from .mechanisms.mechanism import Mechanism, Progress
from .mechanisms.selection import Optimal
from .pipeline import Outcome, Phase, Watch, run
from .progress import notebook_progress
from .releases.release import Frequencies, VariantRelease
from .request import GuaranteeRule, Request
from .sources.engine import read as read_variants
from .sources.reading import DEFAULT_READING, Order, Reading
from .trusted.numbers import Number

if TYPE_CHECKING:
    from .releases.process_map import MapRelease
    from .releases.synthetic_log import SyntheticRelease


@overload
def anonymize(
    source: Any,
    mechanism: Mechanism,
    *,
    frequencies: Frequencies = ...,
    case: str | None = ...,
    activity: str | Sequence[str] | None = ...,
    timestamp: str | None = ...,
    order: Order | None = ...,
    unit: str | None = ...,
    max_cases: int | None = ...,
    reading: Reading | None = ...,
    ledger: Ledger | None = ...,
    dataset: str | None = ...,
    reason: str = ...,
    signed_off_by: str = ...,
    guarantee: GuaranteeRule = ...,
    watch: Watch | None = ...,
) -> Any: ...


@overload
def anonymize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    frequencies: Frequencies = ...,
    case: str | None = ...,
    activity: str | Sequence[str] | None = ...,
    timestamp: str | None = ...,
    order: Order | None = ...,
    unit: str | None = ...,
    max_cases: int | None = ...,
    reading: Reading | None = ...,
    ledger: Ledger | None = ...,
    dataset: str | None = ...,
    reason: str = ...,
    signed_off_by: str = ...,
    guarantee: GuaranteeRule = ...,
    watch: Watch | None = ...,
) -> VariantRelease: ...


def anonymize(
    source: Any,
    mechanism: Mechanism | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    frequencies: Frequencies = "estimated",
    case: str | None = None,
    activity: str | Sequence[str] | None = None,
    timestamp: str | None = None,
    order: Order | None = None,
    unit: str | None = None,
    max_cases: int | None = None,
    reading: Reading | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    reason: str = "",
    signed_off_by: str = "",
    guarantee: GuaranteeRule = "required",
    watch: Watch | None = None,
) -> Any:
    """Release the trace variants of a log under (ε, δ)-differential privacy.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        mechanism: The mechanism, such as `Ladder(epsilon=1, delta="1e-6")`.
        epsilon: With `delta` instead of a mechanism: the short form of `Optimal(epsilon=..., delta=...)`.
        delta: See `epsilon`.
        frequencies: Which counts go into an event log: `"estimated"`, the best estimate of a variant's own cases;
            `"spread"`, which adds a share of the missing cases, for similarity studies; `"noisy"`. The release has all.
        case: The case column; with the next five, a short form of `reading`. By default columns have usual names.
        activity: The activity column, or several.
        timestamp: The timestamp column.
        order: The order of the events of a case: `"time"` or `"file"`.
        unit: The column that identifies the person of a case: protects persons instead of single cases.
        max_cases: The number of cases per person that are counted, chosen without looking at the log.
        reading: The whole rule from events to variants, instead of the six options above.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the data set in the ledger; by default a file is charged to its path.
        reason: Why the release is made with these parameters; recorded with the charge.
        signed_off_by: Who has signed it off; recorded with the charge.
        guarantee: `"not required"` accepts a mechanism whose guarantee is not established.
        watch: Called with the phase and its share; by default a progress bar in notebooks, and nothing elsewhere.

    Returns:
        The release, with its guarantee. Nothing is written.

    Raises:
        BudgetError: The budget does not allow it; nothing was charged.
        ChargedError: It failed after the charge, which stands.

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
    request = Request(
        source=source,
        mechanism=mechanism,
        reading=_reading(reading, case, activity, timestamp, order, unit, max_cases),
        frequencies=frequencies,
        ledger=ledger or Ledger.from_environment(),
        dataset=dataset,
        approval=Approval(reason, signed_off_by),
        guarantee=guarantee,
    )
    return outcome_of(request, watch).release


def synthesize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    alphabet: Sequence[Activity] | None = None,
    times: Times | Literal["if recorded"] | None = "if recorded",
    attributes: Sequence[Attribute | str] = (),
    shares: BudgetShares | str | None = None,
    case: str | None = None,
    activity: str | Sequence[str] | None = None,
    timestamp: str | None = None,
    order: Order | None = None,
    unit: str | None = None,
    max_cases: int | None = None,
    reading: Reading | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    reason: str = "",
    signed_off_by: str = "",
    watch: Watch | None = None,
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
        shares: The parts of the budget for times and attributes, such as `"times=0.25,attributes=0.1"` (the default); the
            rest is for the control flow.
        case: The case column; with the next five, a short form of `reading`. By default columns have usual names.
        activity: The activity column, or several.
        timestamp: The timestamp column.
        order: The order of the events of a case: `"time"` or `"file"`.
        unit: The column that identifies the person of a case: protects persons instead of single cases.
        max_cases: The number of cases per person that are counted, chosen without looking at the log.
        reading: The whole rule from events to variants, instead of the six options above.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the data set in the ledger; by default a file is charged to its path.
        reason: Why the release is made with these parameters; recorded with the charge.
        signed_off_by: Who has signed it off; recorded with the charge.
        watch: Called with the phase and its share; by default a progress bar in notebooks, and nothing elsewhere.

    Returns:
        The synthetic log, with its measurements and its guarantee. Nothing is written. `regenerate` makes larger or
        smaller logs of the same measurements, free of charge.

    Raises:
        BudgetError: The budget does not allow it; nothing was charged.
        ChargedError: It failed after the charge, which stands.

    >>> log = {("register", "visit", "release"): 2000, ("register", "release"): 500}
    >>> synthetic = synthesize(log, epsilon=1, delta="1e-6")
    >>> synthetic.guarantee.standing
    <Standing.PROVEN: 'proven'>
    """
    from .mechanisms.synthesis import Synthesis  # it imports numpy, which not every program needs

    needed: TimesRule = "if recorded" if times == "if recorded" else "required"
    settings = Times() if times == "if recorded" else times
    mechanism = Synthesis(epsilon, delta, alphabet=alphabet, times=settings, attributes=attributes, shares=shares)
    rule = _reading(reading, case, activity, timestamp, order, unit, max_cases)
    account = ledger or Ledger.from_environment()
    request = Request(
        source=source,
        mechanism=mechanism,
        reading=rule,
        times=needed,
        ledger=account,
        dataset=dataset,
        approval=Approval(reason, signed_off_by),
    )
    return cast("SyntheticRelease", outcome_of(request, watch).release)


def process_map(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    parts: Sequence[str] = (),
    alphabet: Sequence[Activity] | None = None,
    case: str | None = None,
    activity: str | Sequence[str] | None = None,
    timestamp: str | None = None,
    order: Order | None = None,
    unit: str | None = None,
    max_cases: int | None = None,
    reading: Reading | None = None,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    reason: str = "",
    signed_off_by: str = "",
    watch: Watch | None = None,
) -> MapRelease:
    """Release a process map under (ε, δ)-differential privacy: how many cases have each directly-follows pair.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Log`.
        epsilon: ε for one case, or for one person where the reading has a unit.
        delta: δ, as for ε.
        parts: What to measure beyond counts: `"durations"`, `"rework"` and `"throughput"`.
        alphabet: The activities, if they are public: a list that does not come from the log. Then no part of the budget
            is spent on finding them, and all others are `other`.
        case: The case column; with the next five, a short form of `reading`. By default columns have usual names.
        activity: The activity column, or several.
        timestamp: The timestamp column.
        order: The order of the events of a case: `"time"` or `"file"`.
        unit: The column that identifies the person of a case: protects persons instead of single cases.
        max_cases: The number of cases per person that are counted, chosen without looking at the log.
        reading: The whole rule from events to variants, instead of the six options above.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the data set in the ledger; by default a file is charged to its path.
        reason: Why the release is made with these parameters; recorded with the charge.
        signed_off_by: Who has signed it off; recorded with the charge.
        watch: Called with the phase and its share; by default a progress bar in notebooks, and nothing elsewhere.

    Returns:
        The map, with its measurements and its guarantee. Nothing is written.

    Raises:
        BudgetError: The budget does not allow it; nothing was charged.
        ChargedError: It failed after the charge, which stands.

    >>> log = {("register", "visit", "release"): 2000, ("register", "release"): 500}
    >>> released = process_map(log, epsilon=1, delta="1e-6")
    >>> released.guarantee.standing
    <Standing.PROVEN: 'proven'>
    """
    from .mechanisms.process_map import ProcessMap  # it imports numpy, which not every program needs

    mechanism = ProcessMap(epsilon, delta, alphabet=alphabet, parts=parts)
    rule = _reading(reading, case, activity, timestamp, order, unit, max_cases)
    account = ledger or Ledger.from_environment()
    request = Request(
        source=source,
        mechanism=mechanism,
        reading=rule,
        ledger=account,
        dataset=dataset,
        approval=Approval(reason, signed_off_by),
    )
    return cast("MapRelease", outcome_of(request, watch).release)


def read(
    source: Any,
    reading: Reading | None = None,
    progress: Progress | None = None,
    *,
    case: str | None = None,
    activity: str | Sequence[str] | None = None,
    timestamp: str | None = None,
    order: Order | None = None,
    unit: str | None = None,
    max_cases: int | None = None,
) -> Log:
    """Read the variants of a log. They are confidential.

    Args:
        source: A path, a folder or glob of files, `-` for standard input, a URL of a database, a pandas, Polars or Spark
            DataFrame, an Arrow table, an event log of pm4py, a list of traces, a mapping of traces to counts,
            `Log` or a `Release`.
        reading: The whole rule from events to variants, instead of the options below.
        progress: Called with the share of the work that is done, from 0 to 1; by default a progress bar in notebooks.
        case: The case column. By default columns have usual names.
        activity: The activity column, or several.
        timestamp: The timestamp column.
        order: The order of the events of a case: `"time"` or `"file"`.
        unit: The column that identifies the person of a case.
        max_cases: The number of cases per person that are counted.

    Returns:
        The variants and the number of cases of each.
    """
    rule = _reading(reading, case, activity, timestamp, order, unit, max_cases)
    if progress is not None:
        return read_variants(source, rule, progress)
    with notebook_progress() as watch:
        return read_variants(source, rule, lambda share: watch(Phase.READING, share))


def outcome_of(request: Request, watch: Watch | None = None) -> Outcome:
    """Run a request, with a progress bar in notebooks unless another function reports it."""
    if watch is not None:
        return run(request, watch)
    with notebook_progress() as watch:
        return run(request, watch)


def _reading(
    reading: Reading | None,
    case: str | None,
    activity: str | Sequence[str] | None,
    timestamp: str | None,
    order: Order | None,
    unit: str | None,
    max_cases: int | None,
) -> Reading:
    """Build the reading from the options of a call; setting both is refused, because either could be meant."""
    options = {
        "case": case,
        "activity": activity,
        "timestamp": timestamp,
        "order": order,
        "unit": unit,
        "max_cases": max_cases,
    }
    if reading is not None and not isinstance(reading, Reading):
        raise ParameterError(f"reading is {shown(reading)}; use Reading(...)", field="reading")
    stated = [name for name, value in options.items() if value is not None]
    if not stated:
        return DEFAULT_READING if reading is None else reading
    if reading is not None:
        raise ParameterError(
            f"reading and {stated[0]} are both set; set {stated[0]} in the reading, or remove the reading",
            field=stated[0],
        )
    if activity is not None and (not isinstance(activity, str | list | tuple) or not activity):
        raise ParameterError(f"activity is {shown(activity)}; use the name of a column, or several", field="activity")
    activities = (activity,) if isinstance(activity, str) else tuple(activity or ())
    return Reading(case=case, activities=activities, timestamp=timestamp, order=order, unit=unit, max_cases=max_cases)
