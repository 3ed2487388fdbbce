"""Checks whether a `.json` release of any kind can come from its mechanism, field by field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import LogError, VerificationError
from ..model.mechanism import Mechanism
from ..model.release import Release
from .json_fields import impossible_fields
from .plausibility import impossible_cases, impossible_content
from .plausible_values import StatedFacts, impossible_columns
from .release_file import content_of_json

if TYPE_CHECKING:
    from ..mechanisms.process_map import ProcessMap
    from ..mechanisms.synthesis_mechanism import Synthesis


def check_json(path: Path, content: dict[str, Any], mechanism: Mechanism, stated: StatedFacts) -> None:
    """Raise VerificationError if a `.json` release cannot come from its mechanism.

    Args:
        path: The release.
        content: What it contains.
        mechanism: The mechanism stated by the guarantee.
        stated: What the guarantee states about the file.
    """
    try:
        release, why = _read(content, path, mechanism, stated)
    except LogError as error:
        raise VerificationError(str(error)) from None
    if release is not None and why is None:
        own = replace(release, mechanism=mechanism, reading=stated.reading, assumptions=stated.assumptions)
        why = impossible_fields(content, own, stated.version) or _impossible_facts(own, stated)
    if why is not None:
        raise VerificationError(f"{path}: {mechanism.name} cannot have released this: {why}")


def _read(
    content: dict[str, Any], path: Path, mechanism: Mechanism, stated: StatedFacts
) -> tuple[Release | None, str | None]:
    """The release of a loaded file, and why its mechanism cannot have made it. Only ours have a guarantee to verify."""
    if mechanism.kind == "variants":
        log = content_of_json(content, path)
        why = impossible_content(log, mechanism, stated) or impossible_cases(log.cases, mechanism)
        return log.release(mechanism, stated.frequencies), why
    from .map_plausibility import impossible_map
    from .measured_file import map_of, synthetic_of
    from .synthetic_plausibility import impossible_synthetic

    if mechanism.kind == "synthetic log":
        synthetic = synthetic_of(content, path)
        why = impossible_columns(synthetic.columns, stated.reading)
        return synthetic, why or impossible_synthetic(synthetic, cast("Synthesis", mechanism))
    made = map_of(content, path)
    why = impossible_columns(made.columns, stated.reading)
    return made, why or impossible_map(made.measurements, cast("ProcessMap", mechanism), len(made.columns))


def _impossible_facts(release: Release, stated: StatedFacts) -> str | None:
    if release.used_abstractions != stated.used:
        return "its traces were not generalised by the rules that its guarantee states"
    if release.notices != stated.notices:
        return "what it says about the log as a whole is not what its guarantee states"
    return None
