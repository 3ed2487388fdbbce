"""Variants whose traces stay where they are until they are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from ..model.variants import CODE, Activity, Codes, Roles, Trace, Variants
from ..privacy.guarantee import Counted, PrivacyUnit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Store(Protocol):
    """Where the traces are."""

    def traces(self, places: Sequence[int]) -> list[Trace]:
        """The traces at these places, in this order."""

    def alphabet(self) -> list[Activity]:
        """All activities of the log."""


class RemoteVariants(Variants):
    """Only counts and lengths are here. A mechanism that asks for chosen traces gets those and no others.

    What asks for `keys` (a metric, a mechanism that needs the whole tree) brings everything into memory.
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
    ) -> None:
        self.__dict__ |= {"_store": store, "counts": counts, "_lengths": lengths, "columns": columns, "notes": notes}
        self.__dict__ |= {"unit": unit, "counted": counted, "roles": roles}

    def __len__(self) -> int:
        return len(self.counts)

    def lengths(self) -> NDArray[np.int64]:
        """How many events a case of each variant has."""
        return self._lengths

    def traces(self, chosen: Iterable[int]) -> list[Trace]:
        """The traces of the chosen variants, by their places: they travel now."""
        return self._store.traces(list(chosen))

    def canonical(self) -> Variants:
        """The same variants in the order of their traces: all of them travel."""
        here = Variants(self.alphabet, self.keys, self.counts, self.columns, self.notes)
        return replace(here, unit=self.unit, counted=self.counted, roles=self.roles).canonical()

    @cached_property
    def alphabet(self) -> Sequence[Activity]:
        return self._store.alphabet()

    @cached_property
    def keys(self) -> Sequence[bytes]:
        import numpy as np

        codes = Codes({activity: code for code, activity in enumerate(self.alphabet)})
        return [np.array([codes[name] for name in trace], CODE).tobytes() for trace in self.traces(range(len(self)))]
