"""Case attributes of generated cases: post-processing, from measurements and a seed alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..log.options import OTHER, Attribute, CaseColumn
from ..trusted.stages import Stage
from .measurements import (
    LENGTHS,
    VARIANTS,
    AttributeCells,
    AttributeMeasurements,
    Measurements,
    first_stage,
    second_stage,
)
from .randomness import Random, generator
from .shrinkage import Booleans, Floats, Integers, deviating, normalised, uniform

WORTHWHILE = 4.0  # an attribute is measured by last activity if there are this many times as many cases as noise
STANDS_OUT = 1.5  # a public cell is taken as empty below this many standard deviations
LARGEST_WHOLE = 2**53  # beyond it, floating-point numbers skip whole ones
_STREAM = 2


def number_of_cases(measurements: Measurements) -> float:
    """The noisy number of cases: of released variants and of all others."""
    released = sum(value for _, value in measurements.variants) / measurements.contributions[VARIANTS]
    return released + float(measurements.in_cases(LENGTHS, measurements.lengths).sum())


@dataclass(frozen=True, eq=False)
class FirstMeasurement:
    """What the first stage measured about an attribute, in cases: a number and a standard deviation for every cell.

    Attributes:
        numbers: The numbers of cases by cell, with noise.
        deviations: The standard deviation of each.
        certain: Which cells were selected: they are there, whatever noise says.
    """

    numbers: Floats
    deviations: Floats
    certain: Booleans

    @classmethod
    def of(
        cls, attribute: Attribute, first: Integers, contribution: int, deviation: float, cases: float
    ) -> FirstMeasurement:
        """The numbers of the first stage; that of `other` is what the others leave of all cases."""
        noisy = first / contribution
        if attribute.is_number:
            return cls(noisy, np.full(len(noisy), deviation), np.zeros(len(noisy), dtype=bool))
        rest = max(cases - float(np.maximum(noisy, 0.0).sum()), 0.0)
        numbers = np.r_[noisy[:-1], rest, noisy[-1]]
        deviations = np.full(len(numbers), deviation)
        deviations[-2] = deviation * np.sqrt(len(noisy))
        certain = (np.arange(len(numbers)) < len(noisy) - 1) & attribute.is_selected
        return cls(numbers, deviations, certain)

    def shares(self) -> Floats:
        """Shares of all cells; public cells that do not stand out from the noise are taken as empty."""
        present = self.certain | (self.numbers > STANDS_OUT * self.deviations)
        kept = np.where(present, np.maximum(self.numbers, 0.0), 0.0)
        return normalised(kept, uniform(len(kept)))

    def again(self, second: Floats, deviation: float) -> FirstMeasurement:
        """The average with a second measurement of the same cells, weighted by precision."""
        first_precision, precision = 1 / self.deviations**2, 1 / deviation**2
        total = first_precision + precision
        return FirstMeasurement(
            (self.numbers * first_precision + second * precision) / total, 1 / np.sqrt(total), self.certain
        )


def measures_by_last(attribute: Attribute, first: Integers, flow: Measurements, once: Stage, again: Stage) -> bool:
    """Decide, from outputs so far, whether an attribute is measured by last activity."""
    cases, activities = number_of_cases(flow), len(flow.activities)
    measured = FirstMeasurement.of(attribute, first, once.contribution, once.deviation, cases)
    values = int((measured.shares() > 0).sum())
    return activities > 0 and cases > WORTHWHILE * again.deviation * values * activities**0.5


def combined_numbers(measurements: Measurements, measured: AttributeMeasurements) -> FirstMeasurement:
    """What both stages say about the cells of an attribute, whatever the last activity is."""
    stage, cases = first_stage(measured.attribute.name), number_of_cases(measurements)
    contribution, deviation = measurements.contributions[stage], measurements.deviation(stage)
    first = FirstMeasurement.of(measured.attribute, measured.first, contribution, deviation, cases)
    if measured.is_by_last:
        return first
    stage = second_stage(measured.attribute.name)
    return first.again(measurements.in_cases(stage, measured.second), measurements.deviation(stage))


def attribute_shares(measurements: Measurements, measured: AttributeMeasurements) -> Floats:
    """The shares of the cells of an attribute by last activity; the last row is for any activity."""
    activities = len(measurements.activities)
    overall = combined_numbers(measurements, measured).shares()
    if not measured.is_by_last:
        return np.tile(overall, (activities + 1, 1))
    stage = second_stage(measured.attribute.name)
    second = measurements.in_cases(stage, measured.second).T * (overall > 0)
    rows, _ = deviating(second, measurements.deviation(stage), np.tile(overall, (activities, 1)))
    return np.vstack([rows, overall])


def case_columns(measurements: Measurements, last: Integers, seed: int) -> tuple[CaseColumn, ...]:
    """Values of all attributes for the cases of a synthetic log."""
    random = generator(seed, _STREAM)
    return tuple(
        column_of(measured, drawn_cells(attribute_shares(measurements, measured), last, random), random)
        for measured in measurements.attributes
    )


def drawn_cells(shares: Floats, row: Integers, random: Random) -> Integers:
    """A cell for every row by its shares, one from each of equal parts of the row's distribution."""
    order = random.permutation(len(row))
    order = order[np.argsort(row[order], kind="stable")]
    sizes = np.bincount(row, minlength=len(shares))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    even = (rank + random.random(len(row))) / np.repeat(sizes, sizes)
    total = np.cumsum(shares, axis=1)
    flat = (total / total[:, -1:] + np.arange(len(shares))[:, None]).ravel()
    sorted_row = row[order]
    index = np.searchsorted(flat, sorted_row + even, side="right") - sorted_row * shares.shape[1]
    cells = np.empty(len(row), dtype=np.int64)
    cells[order] = np.minimum(index, shares.shape[1] - 1)
    return cells


def column_of(measured: AttributeCells, cells: Integers, random: Random) -> CaseColumn:
    """Values in cells: texts as they are, numbers evenly within their bin."""
    attribute, missing = measured.attribute, cells == measured.cells - 1
    if not attribute.is_number:
        return CaseColumn(attribute.name, "text", cells, missing, (*measured.values, OTHER))
    whole = all(edge.denominator == 1 and abs(edge) <= LARGEST_WHOLE for edge in attribute.bins)
    unit = min(Fraction(1, edge.denominator) for edge in attribute.bins)
    low = np.array([float(attribute.bins[0] - unit), *attribute.edges, 0.0])
    high = np.array([*attribute.edges, attribute.edges[-1], 0.0])
    open_end = (cells == 0) | (cells >= len(attribute.bins))
    drawn = np.where(open_end, low[cells], low[cells] + random.random(len(cells)) * (high - low)[cells])
    if whole:
        return CaseColumn(attribute.name, "whole number", np.floor(drawn).astype(np.int64), missing)
    return CaseColumn(attribute.name, "number", drawn, missing)
