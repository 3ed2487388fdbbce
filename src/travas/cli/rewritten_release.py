"""The option `--from` of `synthesize` and `map`: a release is written again. No log is read, nothing is charged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import ParameterError
from ..outputs.atomic import Existing
from ..releases.release import Kind, Profile, Release
from ..sources.reading import DEFAULT_READING, Reading
from .charge_flags import Charge
from .console import print_json, progress
from .options import refuse_options
from .release_output import release_facts, show_release


def refuse_log_options(options: Mapping[str, object], charge: Charge, reading: Reading) -> None:
    """Refuse options that have no meaning where no log is read and nothing is charged."""
    read = {"the reading options": None if reading == DEFAULT_READING else reading}
    refuse_options({**options, **charge.stated(), **read}, "--from reads no log and charges nothing")


def verified(release: Path, kind: Kind) -> Release:
    """Open a `.json` release, or a synthetic log with its measurements beside it, and verify it."""
    from ..outputs.guarantee_file import guarantee_path
    from ..verification.opened import open_release
    from ..verification.verify import verify

    with progress("verifying the release"):
        made = open_release(release)
        if made.mechanism.kind != kind:
            raise ParameterError(f"{release}: is not a {kind}; use the file of one", field="from")
        verify(guarantee_path(release), release)
    return made


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
