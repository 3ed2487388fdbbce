"""The option `--from` of `synthesize` and `map`: a release is written again. No log is read, nothing is charged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from ..errors import VerificationError
from ..outputs.atomic import Existing
from ..releases.release import Profile, Release
from ..sources.reading import DEFAULT_READING, Reading
from .charge_flags import Charge
from .console import print_json, progress
from .options import refuse_options
from .release_output import release_facts, show_release

ReadRelease = TypeVar("ReadRelease", bound=Release)


def refuse_log_options(options: Mapping[str, object], charge: Charge, reading: Reading) -> None:
    """Refuse options that have no meaning where no log is read and nothing is charged."""
    read = {"the reading options": None if reading == DEFAULT_READING else reading}
    refuse_options({**options, **charge.stated(), **read}, "--from reads no log and charges nothing")


def verified(release: Path, read: Callable[[Path], ReadRelease]) -> ReadRelease:
    """Read a release, or the measurements beside a synthetic log, and verify it."""
    from ..outputs.guarantee_file import file_digest, guarantee_path, measurements_path
    from ..verification.verify import verify

    with progress("verifying the release"):
        measurements = measurements_path(release)
        source = read(measurements if measurements.exists() else release)
        verify(guarantee_path(release), release)
        if measurements != release:
            stated = json.loads(guarantee_path(release).read_text(encoding="utf-8"))["release"]
            if file_digest(measurements) != stated.get("measurements"):
                raise VerificationError(f"{measurements}: its SHA-256 is not the one in {guarantee_path(release)}")
    return source


def write_again(made: Release, release: Path, output: Path, existing: Existing, profile: Profile = "travas") -> None:
    """Write what was made from a release, without overwriting any of its files."""
    from ..outputs.inputs import check_not_same
    from ..outputs.readme_file import release_files
    from ..outputs.write import write_release

    kind = made.mechanism.kind
    check_not_same(
        release_files(output, kind), release_files(release, kind), "release that is read, or one of its files"
    )
    write_release(made, output, existing, profile)


def print_again(made: Release, output: Path, stated_cases: int | None, as_json: bool) -> None:
    """Print what was written, all of which is public."""
    if as_json:
        print_json(release_facts(made, output, stated_cases) | {"ledger": None})
    else:
        show_release(made, output, stated_cases)
