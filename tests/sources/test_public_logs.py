"""Counts read from every public log equal those its README gives."""

import re
from pathlib import Path

import pytest

from conftest import DATA
from travas import Reading, read


def rows() -> dict[str, list[str]]:
    if not DATA.is_dir():
        return {}
    lines = (DATA / "README.md").read_text().splitlines()
    return {
        m[1]: [c.strip() for c in line.split("|")[1:-1]] for line in lines if (m := re.match(r"\| `([^`]+)`", line))
    }


@pytest.mark.parametrize("name", rows())
def test_counts_equal_the_readme(name: str, data: Path) -> None:
    events, cases, activities, variants = map(int, rows()[name][3:7])
    longest = int(rows()[name][9])
    found = read(data / name, Reading(order="file")).summary()
    assert (found.events, found.cases, found.activities, found.variants) == (events, cases, activities, variants)
    assert found.longest_trace == longest
    assert found.trace_uniqueness == variants / cases


def test_lifecycle_makes_more_activities(data: Path) -> None:
    reading = Reading(activity=("concept:name", "lifecycle:transition"))
    found = read(data / "bpic2013-incidents.xes.gz", reading).summary()
    assert (found.activities, found.variants) == (13, 2278)


def test_a_stable_sort_by_time_changes_two_variants_of_hospital_billing(data: Path) -> None:
    assert read(data / "hospital-billing.csv.gz").summary().variants == 1022
