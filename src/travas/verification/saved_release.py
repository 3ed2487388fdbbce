"""Releases of any kind opened again from their `.json` file and its guarantee file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError, shown
from ..mechanisms import from_description
from ..model.mechanism import Mechanism
from ..model.release import MAKER, Release, check_frequencies
from ..outputs.guarantee_file import guarantee_path
from ..privacy.guarantee import Standing
from ..privacy.noise import Seeded
from ..sources.formats import RELEASE_SUFFIXES, suffix_of
from .release_file import read_release
from .verify import load


def open_release(path: str | Path) -> Release:
    """Open a release that was written as `.json`: `open_release("release.json").write("release.xes.gz")`.

    Args:
        path: A `.json` file that `Release.write` wrote, next to its guarantee file. `verify` checks that they belong
            together.

    Returns:
        The release as it was made, which may be a `SyntheticRelease` or a `MapRelease`. Its standing is not established
        if the guarantee file says so.

    Raises:
        ParameterError: The path is no path.
        LogError: One of the files cannot be read, or it is not a release.
    """
    if not isinstance(path, str | Path):
        raise ParameterError(f"path is {shown(path)}; use the path of a .json release", field="path")
    source = Path(path)
    if not suffix_of(source, RELEASE_SUFFIXES):
        raise LogError(
            f"{source}: only .json files contain all of a release; use one, or read the event log with travas.read"
        )
    stated = load(guarantee_path(source))
    kind = stated.get("kind")
    if kind == "process map":
        from .map_file import read_map

        return read_map(source)
    if kind == "synthetic log":
        from .synthetic_file import read_synthetic

        return read_synthetic(source)
    return _variants(source, stated)


def _variants(source: Path, stated: dict[str, Any]) -> Release:
    content = read_release(source)
    try:
        facts = stated["release"]
        made = content.release(_mechanism(stated), check_frequencies(facts["frequencies"]))
        if made is None:
            raise KeyError("noisy")
        return replace(
            made,
            assumptions=tuple(map(str, facts.get("assumptions", ()))),
            reading=stated["reading"],
            timestamps=facts.get("timestamps", "artificial"),
            maker=MAKER,
        )
    except ParameterError as error:
        raise LogError(f"{guarantee_path(source)}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise LogError(
            f"{source}: the release or its guarantee file is damaged; write both again, or download them again"
        ) from None


def _mechanism(stated: dict[str, Any]) -> Mechanism:
    """The mechanism of a guarantee file; noise that has no established guarantee does not get one by being read."""
    mechanism = from_description(stated["description"])
    claimed, own = stated["standing"], mechanism.guarantee().standing
    if claimed == Standing.NOT_ESTABLISHED and own != Standing.NOT_ESTABLISHED:
        return mechanism.with_random_bytes(Seeded(0))
    return mechanism
