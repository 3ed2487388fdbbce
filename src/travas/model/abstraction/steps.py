"""The steps of abstractions, on all traces at once: a log is one flat array of codes and the length of every trace."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..variants import Activity, Variants

MAX_LENGTH = 10**9


@dataclass(frozen=True, eq=False, repr=False)
class Flat:
    """All traces, one after the other: `codes` into `alphabet`, and how long each trace is. Confidential."""

    alphabet: Sequence[Activity]
    codes: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, variants: Variants) -> Flat:
        import numpy as np

        from ..variants import CODE, CODE_BYTES

        lengths = np.fromiter(map(len, variants.keys), np.int64, len(variants)) // CODE_BYTES
        codes = np.frombuffer(b"".join(variants.keys), CODE).astype(np.int64)
        return cls(variants.alphabet, codes, lengths)

    def rows(self) -> NDArray[np.int64]:
        """To which trace each event belongs."""
        import numpy as np

        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def positions(self) -> NDArray[np.int64]:
        """The place of each event in its trace, from 0."""
        import numpy as np

        return np.arange(len(self.codes)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    def where(self, kept: NDArray[np.bool_]) -> Flat:
        """Only these events."""
        import numpy as np

        lengths = np.bincount(self.rows()[kept], minlength=len(self.lengths))
        return replace(self, codes=self.codes[kept], lengths=lengths)

    def compact(self) -> Flat:
        """Coded by the activities that occur, in the order of their names."""
        import numpy as np

        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.alphabet))).tolist()
        ordered = sorted(used, key=self.alphabet.__getitem__)
        codes = np.zeros(len(self.alphabet), dtype=np.int64)
        codes[ordered] = np.arange(len(ordered))
        return replace(self, alphabet=[self.alphabet[code] for code in ordered], codes=codes[self.codes])


@dataclass(frozen=True)
class Step(ABC):
    """A fixed rule on one trace."""

    name: ClassVar[str]
    usage: ClassVar[str]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def make(cls, argument: Any) -> Step:
        if argument:
            raise ParameterError(f"abstraction {cls.name}:{argument} has an argument too many: write {cls.usage}")
        return cls()

    @abstractmethod
    def apply(self, flat: Flat) -> Flat:
        """The traces after this step."""


class Fold(Step):
    """An activity that follows itself at once counts once."""

    name = usage = "fold"

    def apply(self, flat: Flat) -> Flat:
        import numpy as np

        kept = np.ones(len(flat.codes), dtype=bool)
        kept[1:] = (flat.codes[1:] != flat.codes[:-1]) | (flat.positions()[1:] == 0)
        return flat.where(kept)


class Loops(Step):
    """A block of activities that follows itself at once counts once, the shortest block first, from left to right."""

    name = usage = "loops"

    def apply(self, flat: Flat) -> Flat:
        import numpy as np

        ends = np.cumsum(flat.lengths)
        repeats = np.flatnonzero(First().apply(flat).lengths < flat.lengths)  # only these can have loops
        codes, kept = flat.codes.tolist(), bytearray(b"\1") * len(flat.codes)
        for start, end in zip((ends - flat.lengths)[repeats].tolist(), ends[repeats].tolist(), strict=True):
            _drop_loops(codes, start, end, kept)
        return flat.where(np.frombuffer(kept, dtype=bool))


def _drop_loops(codes: list[int], start: int, end: int, kept: bytearray) -> None:
    """Of one trace. Whenever what is left so far ends in a block twice, the second copy goes."""
    left: list[int] = []  # activities, and where they were
    places: list[int] = []
    before: dict[int, list[int]] = {}  # where in `left` each activity is
    for place in range(start, end):
        code = codes[place]
        again = before.get(code)
        if again is None:
            before[code] = [len(left)]
            left.append(code)
            places.append(place)
            continue
        again.append(len(left))
        left.append(code)
        places.append(place)
        for other in reversed(again[:-1]):
            size = len(left) - 1 - other
            if 2 * size > len(left):
                break
            if left[-size:] == left[-2 * size : -size]:
                for gone in left[-size:]:
                    before[gone].pop()
                for gone in places[-size:]:
                    kept[gone] = 0
                del left[-size:], places[-size:]
                break


class First(Step):
    """The first occurrence of every activity, in order."""

    name = usage = "first"

    def apply(self, flat: Flat) -> Flat:
        import numpy as np

        _, first = np.unique(flat.rows() * len(flat.alphabet) + flat.codes, return_index=True)
        kept = np.zeros(len(flat.codes), dtype=bool)
        kept[first] = True
        return flat.where(kept)


class AsSet(Step):
    """Which activities occur, in the order of their names."""

    name = usage = "set"

    def apply(self, flat: Flat) -> Flat:
        import numpy as np

        flat = First().apply(flat).compact()
        return replace(flat, codes=flat.codes[np.lexsort((flat.codes, flat.rows()))])


@dataclass(frozen=True)
class _Cut(Step):
    length: int

    def __str__(self) -> str:
        return f"{self.name}:{self.length}"

    @classmethod
    def make(cls, argument: Any) -> Step:
        if not re.fullmatch(r"[0-9]{1,10}", argument, re.ASCII) or not 1 <= int(argument) <= MAX_LENGTH:
            raise ParameterError(
                f"abstraction {cls.name} has the length {argument!r}: write {cls.usage} with a whole number from 1"
            )
        return cls(int(argument))


class Prefix(_Cut):
    """The first so many activities."""

    name, usage = "prefix", "prefix:n"

    def apply(self, flat: Flat) -> Flat:
        return flat.where(flat.positions() < self.length)


class Suffix(_Cut):
    """The last so many activities."""

    name, usage = "suffix", "suffix:n"

    def apply(self, flat: Flat) -> Flat:
        import numpy as np

        return flat.where(flat.positions() >= np.repeat(flat.lengths, flat.lengths) - self.length)
