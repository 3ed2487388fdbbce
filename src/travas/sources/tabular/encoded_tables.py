"""Encoding the cases of a table, read in one or several passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ...model.totals import Totals
from ...model.traces import Codes
from ..encoded_cases import Coded, EncodedCases, EncodedTotals
from .events import Events
from .instants import AWARE, TIME, whole_microseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CaseEncoder:
    """Collects the cases of all passes over a table."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._details = events.columns.details
        self._codes: list[NDArray[Any]] = []
        self._lengths: list[NDArray[Any]] = []
        self._times: list[NDArray[Any]] = []
        self._aware: list[NDArray[Any]] = []
        self._columns: list[list[pl.Series]] = [[] for _ in events.attributes]

    def add(self, cases: pl.DataFrame, codes: NDArray[Any]) -> None:
        """Add the cases of a pass; `codes` are the codes of the activities of all their events."""
        self._codes.append(codes)
        self._lengths.append(cases[self._events.parts[0]].list.len().to_numpy().astype(np.int64))
        if self._details.times == "read":
            self._times.append(whole_microseconds(cases[TIME].explode(empty_as_null=False)))
            if AWARE in cases.columns:
                self._aware.append(cases[AWARE].explode(empty_as_null=False).to_numpy())
        for column, name in zip(self._columns, self._events.attributes, strict=True):
            column.append(cases[name])

    def totals(self, codes: Codes) -> Totals:
        """Return the answers about all cases that were added."""
        names = self._details.attributes
        columns = list(zip(self._events.columns.attributes, self._columns, strict=True))
        cases = EncodedCases(
            list(codes),
            _joined(self._codes),
            _joined(self._lengths),
            _joined(self._times) if self._times else None,
            self._is_aware(),
            {name: _coded(pieces) for name, pieces in columns[: len(names)]},
            {name: _numbers(pieces) for name, pieces in columns[len(names) :]},
        )
        return EncodedTotals(cases, self._details)

    def _is_aware(self) -> NDArray[np.bool_] | bool:
        if self._aware:
            return _joined(self._aware)
        return self._events.is_zoned


def _joined(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The pieces in one array; a single one is not copied."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _coded(pieces: Sequence[pl.Series]) -> Coded:
    codes: dict[str, int] = {}
    coded = []
    for piece in pieces:
        texts = piece.unique().drop_nulls().cast(pl.String).to_list()
        table = {text: codes.setdefault(text, len(codes)) for text in texts}
        replaced = piece.cast(pl.String).replace_strict(table, default=-1, return_dtype=pl.Int32)
        coded.append(replaced.fill_null(-1).to_numpy())
    return Coded(np.concatenate(coded), list(codes))


def _numbers(pieces: Sequence[pl.Series]) -> NDArray[Any]:
    return np.concatenate([piece.cast(pl.Float64).fill_null(float("nan")).to_numpy() for piece in pieces])
