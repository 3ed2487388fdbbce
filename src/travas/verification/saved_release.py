"""Releases of any kind opened again from their `.json` file and its guarantee file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import LogError, ParameterError, shown
from ..model.mechanism import is_ours
from ..model.release import Release, VariantRelease, check_frequencies
from ..outputs.guarantee_file import guarantee_path
from ..sources.formats import RELEASE_SUFFIXES, suffix_of
from ..sources.release_json import load_release_json, texts_of
from .json_fields import impossible_fields
from .plausibility import impossible_release
from .release_file import NO_JSON_RELEASE, content_of_json, refuse_damaged, stated_mechanism
from .verify import load, stated_reading


def open_release(path: str | Path) -> Release:
    """Open a release that was written as `.json`: `open_release("release.json").write("release.xes.gz")`.

    Args:
        path: A `.json` file that `Release.write` wrote, next to its guarantee file. `verify` checks that they belong
            together.

    Returns:
        The release as it was made, which may be a `SyntheticRelease` or a `MapRelease`. Its standing is not established
        if the guarantee file says so.

    Raises:
        ParameterError: The argument is not a path.
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
    release = read_measured(source, stated.get("kind")) or _variants(source, stated)
    if str(release.guarantee.standing) != stated.get("standing"):
        refuse_damaged(source, "its standing is not the one that its guarantee file states")
    return release


def read_measured(path: Path, kind: object) -> Release | None:
    """Read a `.json` release of a kind that has measurements; None for variants, which have none.

    Args:
        path: The file.
        kind: The kind that its guarantee file states.

    Returns:
        The release as it was made.

    Raises:
        LogError: The file cannot be read, or it is of another kind.
    """
    from .measured_file import read_map, read_synthetic

    readers: dict[str, Callable[[Path], Release]] = {"synthetic log": read_synthetic, "process map": read_map}
    read = readers.get(str(kind))
    return None if read is None else read(path)


def _variants(source: Path, stated: dict[str, Any]) -> VariantRelease:
    fields = load_release_json(source, NO_JSON_RELEASE)
    content = content_of_json(fields, source)
    try:
        facts = stated["release"]
        made = content.release(stated_mechanism(stated), check_frequencies(facts["frequencies"]))
        if made is None:
            raise KeyError("noisy")
        if is_ours(made.mechanism):
            refuse_damaged(source, impossible_release(made) or impossible_fields(fields, made, stated["version"]))
        stated_reading(stated, guarantee_path(source))  # raises
        return replace(
            made,
            assumptions=texts_of(facts.get("assumptions", [])),
            reading=stated["reading"],
            timestamps=facts.get("timestamps", "artificial"),
        )
    except LogError:
        raise
    except ParameterError as error:
        raise LogError(f"{guarantee_path(source)}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise LogError(
            f"{source}: the release or its guarantee file is damaged; write both again, or download them again"
        ) from None
