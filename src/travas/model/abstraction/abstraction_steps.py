"""The steps of abstractions, for all traces at once: a log is one flat array of codes and the length of every trace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import ParameterError
from ...trusted.numbers import typed_whole_number, whole_number
from ..traces import CODE, CODE_BYTES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..traces import Activity
    from ..variants import Variants

MAX_LENGTH = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class FlatLog:
    """All traces, concatenated: `codes` into `alphabet`, and the length of each trace. Confidential.

    `origin`, where it is set: the index of each event before the first step. Every step keeps events, reorders them or
    renames their activities; it never makes one.
    """

    alphabet: Sequence[Activity]
    codes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    origin: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, variants: Variants) -> FlatLog:
        """Lay out the traces of variants as one array of events.

        Args:
            variants: The variants, in memory.

        Returns:
            The traces.
        """
        import numpy as np

        lengths = np.fromiter(map(len, variants.keys), np.int64, len(variants)) // CODE_BYTES
        codes = np.frombuffer(b"".join(variants.keys), CODE).astype(np.int64)
        return cls(variants.alphabet, codes, lengths)

    def rows(self) -> NDArray[np.int64]:
        """The index of the trace of each event.

        Returns:
            An index for each event.
        """
        import numpy as np

        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def positions(self) -> NDArray[np.int64]:
        """The index of each event in its trace, from 0.

        Returns:
            An index for each event.
        """
        import numpy as np

        return np.arange(len(self.codes)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    def where(self, kept: NDArray[np.bool_]) -> FlatLog:
        """Return the traces with only these events.

        Args:
            kept: Whether each event is kept.

        Returns:
            The traces with these events.
        """
        import numpy as np

        lengths = np.bincount(self.rows()[kept], minlength=len(self.lengths))
        return replace(self, codes=self.codes[kept], lengths=lengths, origin=self._moved(kept))

    def reordered(self, order: NDArray[np.int64]) -> FlatLog:
        """Return the traces with their events in another order, which must not move events to other traces.

        Args:
            order: The indexes of the events in their new order.

        Returns:
            The traces in that order.
        """
        return replace(self, codes=self.codes[order], origin=self._moved(order))

    def _moved(self, index: NDArray[Any]) -> NDArray[np.int64] | None:
        return None if self.origin is None else self.origin[index]

    def compact(self) -> FlatLog:
        """Return the traces encoded by the activities that occur, in the order of their names.

        Returns:
            The traces with other codes.
        """
        import numpy as np

        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.alphabet))).tolist()
        ordered = sorted(used, key=self.alphabet.__getitem__)
        codes = np.zeros(len(self.alphabet), dtype=np.int64)
        codes[ordered] = np.arange(len(ordered))
        return replace(self, alphabet=[self.alphabet[code] for code in ordered], codes=codes[self.codes])


@dataclass(frozen=True)
class AbstractionStep(ABC):
    """A fixed rule on one trace."""

    name: ClassVar[str]
    usage: ClassVar[str]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def make(cls, argument: Any) -> AbstractionStep:
        """Build the step from its argument.

        Args:
            argument: What follows the colon, or the content of the file that is named there; empty if there is nothing.

        Returns:
            The step.
        """
        if argument:
            raise ParameterError(
                f"abstraction {cls.name}:{argument} has too many arguments; use {cls.usage}", field="abstraction"
            )
        return cls()

    @abstractmethod
    def apply(self, flat: FlatLog) -> FlatLog:
        """Return the traces after this step.

        Args:
            flat: The traces before the step.

        Returns:
            The traces after it.
        """

    def may_shorten(self, length: int) -> bool:
        """Return whether events can be missing in a trace that has this length after the last step.

        Args:
            length: The length of the trace.

        Returns:
            True if events can be missing.
        """
        return True


class Fold(AbstractionStep):
    """Immediate repetitions of an activity count once."""

    name = usage = "fold"

    def apply(self, flat: FlatLog) -> FlatLog:
        import numpy as np

        kept = np.ones(len(flat.codes), dtype=bool)
        kept[1:] = (flat.codes[1:] != flat.codes[:-1]) | (flat.positions()[1:] == 0)
        return flat.where(kept)


class Loops(AbstractionStep):
    """Immediate repetitions of a block of activities count once, shortest blocks first, from left to right."""

    name = usage = "loops"

    def apply(self, flat: FlatLog) -> FlatLog:
        import numpy as np

        ends = np.cumsum(flat.lengths)
        repeats = np.flatnonzero(First().apply(flat).lengths < flat.lengths)  # only these can have loops
        codes, kept = flat.codes.tolist(), bytearray(b"\1") * len(flat.codes)
        for start, end in zip((ends - flat.lengths)[repeats].tolist(), ends[repeats].tolist(), strict=True):
            _drop_loops(codes, start, end, kept)
        return flat.where(np.frombuffer(kept, dtype=bool))


def _drop_loops(codes: list[int], start: int, end: int, kept: bytearray) -> None:
    """Process one trace: whenever it ends in a repeated block, the second copy is removed."""
    left: list[int] = []  # remaining activities, with their indexes in `origins`
    origins: list[int] = []
    before: dict[int, list[int]] = {}  # the indexes of each activity in `left`
    for index in range(start, end):
        code = codes[index]
        again = before.get(code)
        if again is None:
            before[code] = [len(left)]
            left.append(code)
            origins.append(index)
            continue
        again.append(len(left))
        left.append(code)
        origins.append(index)
        for other in reversed(again[:-1]):
            size = len(left) - 1 - other
            if 2 * size > len(left):
                break
            if left[-size:] == left[-2 * size : -size]:
                for removed in left[-size:]:
                    before[removed].pop()
                for removed in origins[-size:]:
                    kept[removed] = 0
                del left[-size:], origins[-size:]
                break


class First(AbstractionStep):
    """The first occurrence of every activity, in order."""

    name = usage = "first"

    def apply(self, flat: FlatLog) -> FlatLog:
        import numpy as np

        _, first = np.unique(flat.rows() * len(flat.alphabet) + flat.codes, return_index=True)
        kept = np.zeros(len(flat.codes), dtype=bool)
        kept[first] = True
        return flat.where(kept)


class AsSet(AbstractionStep):
    """The set of activities, in the order of their names."""

    name = usage = "set"

    def apply(self, flat: FlatLog) -> FlatLog:
        import numpy as np

        flat = First().apply(flat).compact()
        return flat.reordered(np.lexsort((flat.codes, flat.rows())))


@dataclass(frozen=True)
class _Cut(AbstractionStep):
    length: int

    def __str__(self) -> str:
        return f"{self.name}:{self.length}"

    @classmethod
    def make(cls, argument: Any) -> AbstractionStep:
        try:
            return cls(whole_number(typed_whole_number(argument, "n"), "n", 1, MAX_LENGTH))
        except ParameterError as error:
            raise ParameterError(f"abstraction {cls.usage}: {error}", field="abstraction") from None

    def may_shorten(self, length: int) -> bool:
        return length >= self.length


class Prefix(_Cut):
    """The first n activities."""

    name, usage = "prefix", "prefix:n"

    def apply(self, flat: FlatLog) -> FlatLog:
        return flat.where(flat.positions() < self.length)


class Suffix(_Cut):
    """The last n activities."""

    name, usage = "suffix", "suffix:n"

    def apply(self, flat: FlatLog) -> FlatLog:
        import numpy as np

        return flat.where(flat.positions() >= np.repeat(flat.lengths, flat.lengths) - self.length)
