"""Variants whose traces stay in the source until they are selected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from ...log.log import Log, Roles, check_number_of_cases
from ...log.traces import Activity, Trace
from ...trusted.guarantee import Counted, PrivacyUnit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...log.questions import Totals


class Store(Protocol):
    """Access to the traces in the source."""

    def traces(self, indexes: Sequence[int]) -> list[Trace]:
        """Return the traces with these indexes, in this order."""

    def keys(self, alphabet: Sequence[Activity]) -> list[bytes]:
        """Return all traces, each as the bytes of its activities' codes: their indexes in the alphabet."""

    def alphabet(self) -> list[Activity]:
        """Return all activities of the log."""


class RemoteVariants(Log):
    """Variants of which only counts and lengths are in memory. Only selected traces are transferred.

    Using `keys`, as metrics and prefix trees do, loads all traces into memory.
    """

    _store: Store
    _lengths: NDArray[np.int64]

    def __init__(
        self,
        store: Store,
        counts: NDArray[np.int64],
        lengths: NDArray[np.int64],
        columns: tuple[str, ...],
        notes: tuple[str, ...],
        unit: PrivacyUnit,
        counted: Counted,
        roles: Roles | None = None,
        totals: Totals | None = None,
    ) -> None:
        self.__dict__ |= {"_store": store, "counts": counts, "_lengths": lengths, "columns": columns, "notes": notes}
        check_number_of_cases(counts)
        self.__dict__ |= {"unit": unit, "counted": counted, "roles": roles, "totals": totals}

    def __len__(self) -> int:
        return len(self.counts)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of events of each variant."""
        return self._lengths

    def traces(self, indexes: Iterable[int]) -> list[Trace]:
        """Return the traces of variants by index; they are transferred now."""
        return self._store.traces(list(indexes))

    def canonical(self) -> Log:
        """Return the variants in the order of their traces; all of them are transferred."""
        here = Log(self.alphabet, self.keys, self.counts, self.columns, self.notes)
        return replace(here, unit=self.unit, counted=self.counted, roles=self.roles, totals=self.totals).canonical()

    @cached_property
    def alphabet(self) -> Sequence[Activity]:
        return self._store.alphabet()

    @cached_property
    def keys(self) -> Sequence[bytes]:
        return self._store.keys(self.alphabet)
