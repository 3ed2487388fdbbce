"""What a release file itself proves wrong: content that its mechanism cannot have released."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from ..errors import LogError, VerificationError
from ..model.mechanism import Mechanism
from ..model.release import Frequencies
from ..model.variants import Trace
from ..sources.files import suffix_of

MOST = 2**53
"""No count of cases is larger."""


def check_possible(path: Path, mechanism: Mechanism, frequencies: Frequencies) -> None:
    """Raise VerificationError if a `.json` release cannot come from its mechanism; event logs have no noisy counts.

    Args:
        path: The release.
        mechanism: What its guarantee says that it was made by.
        frequencies: Which counts it has.
    """
    from .release_file import read_release

    if mechanism.kind != "variants" or not suffix_of(path, (".json",)):
        return
    try:
        content = read_release(path)
    except LogError as error:
        raise VerificationError(str(error)) from None
    why = impossible_traces(mechanism, content.variants, content.rungs, len(content.columns))
    if why is None and content.noisy is not None:
        why = impossible_counts(mechanism, content.noisy, content.rungs)
        made = content.release(mechanism, frequencies) if why is None else None
        if made is not None and any(map(_differ, content.counts, made.counts)):
            why = f"its counts are not the {frequencies} counts that follow from the noisy counts"
    if why is None and any(not 1 <= count <= MOST for count in content.counts):
        why = "a count is below 1 or too large"
    if why is None and (content.cases is not None) != mechanism.generalises:
        why = f"a number of cases belongs to a ladder, and {mechanism.name} is another mechanism"
    if why is None and content.cases is not None and not 0 <= content.cases <= MOST:
        why = "its number of cases is negative or too large"
    if why is not None:
        raise VerificationError(f"{path}: {mechanism.name} cannot have released this: {why}")


def _differ(stated: int, computed: int) -> bool:
    """Whether a count is another one: estimates are floating-point numbers and may be rounded elsewhere on another machine."""
    return abs(stated - computed) > 1 + computed // 100


def impossible_traces(
    mechanism: Mechanism, variants: tuple[Trace, ...], rungs: tuple[int, ...], width: int
) -> str | None:
    """Why no release of this mechanism has these variants; None if one can."""
    if any(first >= second for first, second in pairwise(zip(variants, rungs, strict=True))):
        return "a variant is there twice, or not in canonical order"
    for trace in variants:
        if not trace:
            return "a variant has no activity"
        for activity in trace:
            parts = (activity,) if isinstance(activity, str) else activity
            if len(parts) != width or not all(isinstance(part, str) and part for part in parts):
                return "an activity is empty, not a text, or of another number of columns"
    return mechanism.impossible(variants, rungs)


def impossible_counts(mechanism: Mechanism, noisy: tuple[int, ...], rungs: tuple[int, ...]) -> str | None:
    """Why no release of this mechanism has these noisy counts; None if one can."""
    least = {rung: mechanism.least_count(rung) for rung in set(rungs)}
    if any(count < least[rung] for count, rung in zip(noisy, rungs, strict=True)):
        return "a noisy count is below the least that it can release"
    return "a noisy count is too large" if any(count > MOST for count in noisy) else None
