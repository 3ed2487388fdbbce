"""The README of a release: what the file is and is not, for whom its guarantee holds, and how to check it.

It depends on the release, the options and the names of the files only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from .. import explain
from ..log.options import SERVICE_TIMES
from ..plots.svg import printable, step_text
from ..releases.release import (
    Kind,
    Release,
    ReleasedLog,
    VariantRelease,
    count_noun,
    counted_of,
    kind_of,
    released_attributes,
    released_event_attributes,
)
from ..trusted.guarantee import Standing
from .guarantee_file import guarantee_path, measurements_path

if TYPE_CHECKING:
    from ..releases.synthetic_log import SyntheticRelease

_CONTENT: dict[explain.Released, str] = {
    "variants of the log": "It contains sequences of activities of the original log, with numbers of {noun}. It is not a copy "
    "of the log: cases are renumbered, and rare sequences are missing.",
    "any sequence": "It contains sequences of activities, with numbers of {noun}. It is not a copy of the log: cases are "
    "renumbered, rare sequences are missing, and some need not occur in the original log.",
    "generated traces": f"{explain.SYNTHETIC} No case in it is a real case.",
    "pairs of activities": f"{explain.PROCESS_MAP} It has no cases and no sequences, and rare pairs are missing.",
}


def readme_path(release: Path) -> Path:
    """Return the path of the README, `OUT.README.txt`, next to the release: releases in one folder do not collide."""
    return release.with_name(release.name + ".README.txt")


def release_files(release: Path, kind: Kind = "variants") -> tuple[Path, ...]:
    """Return all files of a release in the order in which they appear, the release itself last."""
    files = readme_path(release), guarantee_path(release), release
    measurements = measurements_path(release)
    return (measurements, *files) if kind == "synthetic log" and measurements != release else files


def readme_text(release: Release, path: Path, about: Sequence[str] = ()) -> str:
    """Return the text of the README: public facts only."""
    mechanism = release.mechanism
    has_guarantee = release.guarantee.standing is not Standing.NOT_ESTABLISHED
    kind = "a differentially private release" if has_guarantee else "a release WITHOUT an established guarantee"
    segment = (
        f"Only cases with {release.segment} were counted. The files of all segments were released together: ε and δ hold "
        "for all of them."
    )
    lines = [
        f"{path.name}: {kind} of an event log, made with travas.",
        f"{guarantee_path(path).name}: its guarantee, for programs.",
        *about,
        "",
        _CONTENT[explain.released_by(mechanism)].format(noun=count_noun(mechanism)),
        *([segment] if release.segment else []),
        *_about_events(release, path),
        *explain.service_in_words(mechanism),
        *(_about_generated(cast("SyntheticRelease", release), path) if kind_of(mechanism) == "synthetic log" else []),
        *_protection(release, path),
    ]
    return "\n".join(lines) + "\n"


def _about_events(release: Release, path: Path) -> list[str]:
    """What is said about counts, times and shortened traces, where there are any."""
    if not isinstance(release, ReleasedLog):
        return []
    cut = ["Its traces were generalised by a public rule and can be incomplete."] if release.is_abstracted else []
    if not isinstance(release, VariantRelease):
        return [release.times_in_words, *cut]
    counts = explain.COUNT_IN_FILE[release.frequencies].format(noun=count_noun(release.mechanism))
    times = [] if measurements_path(path) == path else [release.times_in_words]  # a .json file has no events
    return [counts, *times, *cut]


def _about_generated(release: SyntheticRelease, path: Path) -> list[str]:
    """What to know before a synthetic log is used: what is coarse, and what may be noise."""
    quality = release.quality()
    stands_out = sum(pair.used and not pair.weight.mostly_noise for pair in quality.pairs)
    lines = [
        "What its measurements support, with 95 % intervals in quality():",
        f"- steps: {stands_out:,} from one activity to the next stand out from the noise",
        *(f"- {name}: {text}" for name, text in explain.details_in_words(quality)),
    ]
    if release.event_times is not None:
        lines.append("Use medians of durations, not means: long durations are measured coarsely.")
    if quality.noisy_tail:
        lines.append("There are too few cases for the longest times of cases: they are mostly noise.")
    for attribute in (*released_attributes(release.mechanism), *released_event_attributes(release.mechanism)):
        if attribute.is_number and attribute != SERVICE_TIMES:
            low, high = (f"{attribute.edges[end]:g}" for end in (0, -1))
            lines.append(
                f"{attribute.name}: every value of {high} or more is written as {high}, and every value below {low} as one "
                f"number below {low}."
            )
    if noise := quality.mostly_noise:
        steps = printable("; ".join(step_text(pair.before, pair.after) for pair in noise))
        lines.append(f"Steps that cannot be told from noise ({len(noise)}): {steps}.")
    return [
        *lines,
        f"{measurements_path(path).name} has the noisy measurements, which are as public as the synthetic log. To generate "
        f"again, at no cost: travas synthesize --from {path.name} --cases N -o OUT",
    ]


def _protection(release: Release, path: Path) -> list[str]:
    """For whom the guarantee holds, for whom it does not, and how to check it."""
    guarantee = release.guarantee
    if guarantee.standing is Standing.NOT_ESTABLISHED:
        return [f"It has {explain.no_guarantee(guarantee)}"]
    unit, counted = guarantee.unit, counted_of(release.mechanism)
    whom = (
        "A person with several cases is protected less than a single case is."
        if unit.is_case
        else f"Each {unit.noun} is protected as a whole; the release counts {explain.counted_per(unit, counted)}."
    )
    return [
        explain.holds(guarantee),
        whom,
        explain.of_epsilon(guarantee.epsilon, guarantee.delta, unit.noun),
        "Further releases of the same log add up: ε and δ hold for "
        f"{'these segments' if release.segment else 'this file'} alone.",
        f"To check it: travas verify {path.name}",
    ]
