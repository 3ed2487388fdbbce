"""Synthetic logs read back with their measurements, so that anyone can generate again, free of charge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError
from ..mechanisms import from_description
from ..model.abstraction import Abstraction
from ..model.release import MAKER
from ..privacy.guarantee import Standing
from ..privacy.noise import Seeded
from ..sources.files import strict_json
from ..synthesis.measurements import Measurements
from ..synthesis.synthetic_release import SyntheticRelease


def read_synthetic(path: str | Path) -> SyntheticRelease:
    """The synthetic log of a `.json` file, with its measurements: `read_synthetic(path).regenerate(cases=10_000)`.

    Args:
        path: A `.json` file that `SyntheticRelease.write` wrote. `verify` checks that it is the one that its guarantee
            file describes.

    Returns:
        The release. Its standing is not established if the file says so.

    Raises:
        LogError: The file cannot be read, or it is not a synthetic log.
    """
    source = Path(path)
    try:
        content: dict[str, Any] = strict_json(source.read_text(encoding="utf-8"))
        mechanism = from_description(content["description"])
        if mechanism.kind != "synthetic log":
            raise ValueError
        if content["standing"] == Standing.NOT_ESTABLISHED:
            mechanism = mechanism.with_random_bytes(Seeded(0))
        traces = tuple(tuple(a if isinstance(a, str) else tuple(a) for a in trace) for trace in content["variants"])
        origins, noisy = tuple(content["origins"]), tuple(map(int, content["noisy"]))
        if not set(origins) <= {"released", "generated"} or not len(origins) == len(noisy) == len(traces):
            raise ValueError
        return SyntheticRelease(
            mechanism,
            traces,
            noisy,
            tuple(map(str, content["columns"])),
            "noisy",
            tuple(map(Abstraction.from_json, content["abstractions"])),
            assumptions=tuple(map(str, content["assumptions"])),
            reading=content["reading"],
            measurements=Measurements.from_json(content["measurements"]),
            origins=origins,
            seed=int(content["seed"]),
            generation="again" if content["generation"] == "again" else "first",
            maker=MAKER,
        )
    except OSError as error:
        raise LogError(f"{source}: cannot be opened ({error.strerror}); check the path") from None
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError, ParameterError):
        raise LogError(
            f"{source}: not a synthetic log with its measurements; use a .json file of a synthetic log"
        ) from None
