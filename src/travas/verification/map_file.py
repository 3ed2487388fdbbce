"""Process maps read back from their `.json` file, so that anyone can draw and write them in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError
from ..maps.map_measurements import MapMeasurements
from ..maps.map_release import MapRelease
from ..mechanisms import from_description
from ..model.abstraction import Abstraction
from ..model.release import MAKER
from ..privacy.guarantee import Standing
from ..privacy.noise import Seeded
from ..sources.files import strict_json


def read_map(path: str | Path) -> MapRelease:
    """The process map of a `.json` file: `read_map("map.json").write("map.html")`.

    Args:
        path: A `.json` file that `MapRelease.write` wrote. Whether it is the one that its guarantee file speaks of is the
            question of `verify`.

    Returns:
        The map, computed anew from the measurements in the file. Its standing is not established if the file says so.

    Raises:
        LogError: The file cannot be read, or it is not a process map.
    """
    source = Path(path)
    try:
        content: dict[str, Any] = strict_json(source.read_text(encoding="utf-8"))
        mechanism = from_description(content["description"])
        if mechanism.kind != "process map":
            raise ValueError
        if content["standing"] == Standing.NOT_ESTABLISHED:
            mechanism = mechanism.with_random_bytes(Seeded(0))
        measurements = MapMeasurements.from_json(content["measurements"])
        reading, columns = content["reading"], tuple(map(str, content["columns"]))
        if not isinstance(reading, dict | None) or any(
            (1 if isinstance(name, str) else max(len(name), 2)) != len(columns) for name in measurements.activities
        ):
            raise ValueError
        return MapRelease(
            mechanism,
            (),
            (),
            columns,
            "noisy",
            tuple(map(Abstraction.from_json, content["abstractions"])),
            assumptions=tuple(map(str, content["assumptions"])),
            reading=reading,
            measurements=measurements,
            maker=MAKER,
        )
    except OSError as error:
        raise LogError(f"{source}: cannot be opened ({error.strerror}); check the path") from None
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError, ParameterError, LogError):
        raise LogError(f"{source}: not a process map; use a .json file written by `travas map`") from None
