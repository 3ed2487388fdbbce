"""The door: the one way by which confidential data leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .budget.account import check_name
from .budget.ledger import Ledger
from .errors import ParameterError
from .mechanisms import mechanism as mechanism_by_name
from .model.abstraction import Abstraction
from .model.release import Frequencies, Release, check_frequencies
from .model.variants import Activity, Variants
from .privacy.numbers import Number
from .sources.columns import DEFAULT_READING, Reading
from .sources.engine import needs_name, read


def anonymize(
    source: Any,
    *,
    epsilon: Number,
    delta: Number,
    mechanism: str = "optimal",
    minimum_cases: int | None = None,
    splits: int | None = None,
    max_length: int | None = None,
    prune: int | None = None,
    alphabet: Sequence[Activity] | None = None,
    rungs: str | Sequence[Abstraction | str] | None = None,
    shares: str | Sequence[Number] | None = None,
    frequencies: Frequencies = "estimated",
    reading: Reading = DEFAULT_READING,
    ledger: Ledger | None = None,
    dataset: str | None = None,
) -> Release:
    """Release the trace variants of a log under (ε, δ)-differential privacy for one case more or less.

    With `reading=Reading(unit=…, max_cases=…)` for all cases of one unit more or less, a patient for instance.

    `source` is a path, a URL of a database, a DataFrame, a mapping of tuples of activities to counts, or `Variants`.
    `frequencies` says which counts go into an event log; the release has both.
    The other options belong to single mechanisms: `minimum_cases` to optimal, travas and ladder, `splits` to utravas,
    `max_length`, `prune` and `alphabet` to prefix-tree and sacofa, `rungs` and `shares` to ladder.
    The noise table is built and verified in exact arithmetic before the log is opened.
    A `ledger` is charged before any noise is drawn: the `dataset` of this name, or else the log as it is. BudgetError if
    its budget does not allow it. Without a ledger nobody counts; to keep within a budget is then up to you.

    >>> log = {("register", "visit", "release"): 20, ("register", "release"): 2}
    >>> release = anonymize(log, epsilon=1, delta="1e-6")
    >>> release.guarantee.standing
    <Standing.VERIFIED: 'verified'>
    """
    chosen = mechanism_by_name(
        mechanism,
        epsilon,
        delta,
        minimum_cases=minimum_cases,
        splits=splits,
        max_length=max_length,
        prune=prune,
        alphabet=alphabet,
        rungs=rungs,
        shares=shares,
        unit=source.unit if isinstance(source, Variants) else reading.privacy_unit,
    )
    chosen.guarantee()
    reading = reading.for_counts_of(chosen.counted)
    check_frequencies(frequencies)
    if ledger is None:
        if dataset is not None:
            raise ParameterError(f"dataset is {dataset!r}, but there is no ledger to charge; give ledger=Ledger(path)")
        variants = read(source, reading)
        chosen.check(variants)
    else:
        if dataset is None and needs_name(source):
            raise ParameterError("a database is charged under a name: give dataset=NAME (--dataset)")
        if dataset is not None:
            ledger.check(check_name(dataset), chosen)  # a refusal need not wait for the log
        variants = read(source, reading)
        chosen.check(variants)
        ledger.charge(dataset or ledger.dataset_of(variants), chosen)
    return replace(chosen.release(variants), frequencies=frequencies)
