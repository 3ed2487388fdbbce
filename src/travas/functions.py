"""The functions that make releases in Python: each builds a `Request` and returns the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from .budget.ledger import Ledger
from .errors import ParameterError
from .mechanisms import mechanism as mechanism_by_name
from .model.detail_options import TIMES_IF_RECORDED, Attribute, BudgetShares, Times
from .model.mechanism import Mechanism
from .model.release import Frequencies, Release
from .model.traces import Activity
from .pipeline import GuaranteeRule, Request, run
from .privacy.numbers import Number
from .sources.columns import DEFAULT_READING, Reading

if TYPE_CHECKING:
    from .maps.map_release import MapRelease
    from .synthesis.synthetic_release import SyntheticRelease


@overload
def anonymize(
    source: Any,
    mechanism: Mechanism,
    *,
    frequencies: Frequencies = ...,
    reading: Reading = ...,
    ledger: Ledger | None = ...,
    dataset: str | None = ...,
    guarantee: GuaranteeRule = ...,
) -> Release: ...


@overload
def anonymize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    frequencies: Frequencies = ...,
    reading: Reading = ...,
    ledger: Ledger | None = ...,
    dataset: str | None = ...,
    guarantee: GuaranteeRule = ...,
) -> Release: ...


def anonymize(
    source: Any,
    mechanism: Mechanism | None = None,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    frequencies: Frequencies = "estimated",
    reading: Reading = DEFAULT_READING,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    guarantee: GuaranteeRule = "required",
) -> Release:
    """Release the trace variants of a log under (ε, δ)-differential privacy.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Variants`.
        mechanism: The mechanism, such as `Ladder(epsilon=1, delta="1e-6")`.
        epsilon: With `delta` instead of a mechanism: the short form of `Optimal(epsilon=..., delta=...)`.
        delta: See `epsilon`.
        frequencies: Which counts go into an event log; the release has both.
        reading: The rule from events to variants, and whom it protects: `Reading(unit="patient", max_cases=3)`.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the account in the ledger; by default that of the source's location.
        guarantee: `"not required"` accepts a mechanism whose guarantee is not established.

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
        mechanism = mechanism_by_name("optimal", epsilon, delta)
    elif epsilon is not None or delta is not None:
        raise ParameterError("epsilon and delta belong to the mechanism; set them there", field="epsilon")
    return run(
        Request(
            source=source,
            mechanism=mechanism,
            reading=reading,
            frequencies=frequencies,
            ledger=ledger or Ledger.from_environment(),
            dataset=dataset,
            guarantee=guarantee,
        )
    ).release


def synthesize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    alphabet: Sequence[Activity] | None = None,
    times: Times | None = TIMES_IF_RECORDED,
    attributes: Sequence[Attribute | str] = (),
    shares: BudgetShares | str | None = None,
    reading: Reading = DEFAULT_READING,
    ledger: Ledger | None = None,
    dataset: str | None = None,
) -> SyntheticRelease:
    """Generate a synthetic log of full traces under (ε, δ)-differential privacy, with times and attributes.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Variants`.
        epsilon: ε for one case, or for one person where the reading has a unit.
        delta: δ, as for ε.
        alphabet: The activities, if they are public: a list that does not come from the log. Then no part of the budget
            is spent on finding them.
        times: The zone, the weekend days and the resolution of times. By default times are released if the log has a time
            column; None releases none.
        attributes: Case attributes to release: names, or `Attribute("age", bins=[0, 20, 40, 60])` for numbers.
        shares: The parts of the budget for times and attributes, such as `"times=0.25,attributes=0.1"` (the default); the
            rest is for the control flow.
        reading: The rule from events to variants, and whom it protects: `Reading(unit="patient", max_cases=3)`.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the account in the ledger; by default that of the source's location.

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

    chosen = Synthesis(epsilon, delta, alphabet=alphabet, times=times, attributes=attributes, shares=shares)
    account = ledger or Ledger.from_environment()
    outcome = run(Request(source=source, mechanism=chosen, reading=reading, ledger=account, dataset=dataset))
    return cast("SyntheticRelease", outcome.release)


def process_map(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    parts: Sequence[str] = (),
    alphabet: Sequence[Activity] | None = None,
    reading: Reading = DEFAULT_READING,
    ledger: Ledger | None = None,
    dataset: str | None = None,
) -> MapRelease:
    """Release a process map under (ε, δ)-differential privacy: how many cases have each directly-follows pair.

    Args:
        source: A path, folder, glob, URL of a database, DataFrame, mapping of traces to counts, or `Variants`.
        epsilon: ε for one case, or for one person where the reading has a unit.
        delta: δ, as for ε.
        parts: What to measure beyond counts: `"durations"`, `"rework"` and `"throughput"`.
        alphabet: The activities, if they are public: a list that does not come from the log. Then no part of the budget
            is spent on finding them, and all others are `other`.
        reading: The rule from events to variants, and whom it protects: `Reading(unit="patient", max_cases=3)`.
        ledger: The ledger to charge, before any noise is drawn; by default that of `TRAVAS_LEDGER`, or none.
        dataset: The name of the account in the ledger; by default that of the source's location.

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
    chosen = mechanism_by_name("map", epsilon, delta, alphabet=alphabet, parts=parts)
    account = ledger or Ledger.from_environment()
    outcome = run(Request(source=source, mechanism=chosen, reading=reading, ledger=account, dataset=dataset))
    return cast("MapRelease", outcome.release)
