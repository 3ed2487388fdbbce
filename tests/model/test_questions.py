"""The calendar: offsets are those of the time zone database."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from travas.log.calendar import zone_offsets

ZONES = ("UTC", "America/Sao_Paulo", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia")


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
