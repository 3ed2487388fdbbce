"""Public questions and the calendar: what is refused, and that offsets are those of the time zone database."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from travas import ParameterError
from travas.log import questions as q
from travas.log.calendar import zone_offsets
from travas.log.questions import Details, check_details

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/Sao_Paulo",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Monrovia",
)


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_are_those_of_the_time_zone_database(zone: str) -> None:
    chance, offsets = random.Random(3), zone_offsets(zone)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    moments = [chance.randrange(-2 * 86_400, 157 * 31_556_952) * 10**6 for _ in range(300)]
    moments += [start + step for start, _ in offsets[1:] for step in (-(10**6), 0)]
    for moment in moments:
        [*_, (_, offset)] = [change for change in offsets if change[0] <= moment]
        expected = (epoch + timedelta(microseconds=moment)).astimezone(ZoneInfo(zone)).utcoffset()
        assert timedelta(microseconds=offset) == expected


WRONG: dict[str, tuple[str, Callable[[], Any]]] = {
    "no contribution": ("contribution", lambda: q.Throughput(activities=(), contribution=0)),
    "truth": ("contribution", lambda: q.Throughput(activities=(), contribution=True)),
    "too large": ("contribution", lambda: q.Throughput(activities=(), contribution=2**26 + 1)),
    "equal edges": ("bins", lambda: q.check_edges((1, 1.0))),
    "decreasing edges": ("bins", lambda: q.check_edges((2, 1))),
    "no edges": ("bins", lambda: q.check_edges(())),
    "not a number": ("bins", lambda: q.check_edges((float("nan"),))),
    "attribute twice": ("attributes", lambda: Details(attributes=("a",), numbers=("a",))),
    "no times": ("times", lambda: check_details(None, Details("read"))),
    "no attribute": ("attributes", lambda: check_details(None, Details(attributes=("a",)))),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_questions_are_refused_with_their_field(name: str) -> None:
    field, make = WRONG[name]
    with pytest.raises(ParameterError) as error:
        make()
    assert error.value.field == field and "\n" not in str(error.value)


def test_a_pair_with_the_node_of_all_others_is_a_cell() -> None:
    question = q.Durations(activities=("a",), pairs=((0, 1), (1, 1)), others="node", contribution=1)
    assert question.shape == (2, q.DURATION_BUCKETS) and q.DURATION_BUCKETS == 16
