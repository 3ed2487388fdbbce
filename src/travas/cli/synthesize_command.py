"""The command `synthesize`: a synthetic log of full traces, and further ones from the measurements of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ..errors import ParameterError
from ..mechanisms.registry import times_rule
from ..pipeline import Request
from ..releases.release import check_profile
from ..sources.reading import Reading
from ..trusted.numbers import typed_whole_number
from .charge_flags import Charge, with_charge
from .console import progress
from .detail_flags import with_details
from .mechanism_flags import StatedMechanism, build, flags_of
from .options import (
    Alphabet,
    AsJson,
    Confidential,
    Force,
    OptionalDelta,
    OptionalEpsilon,
    OptionalLog,
    Output,
    Quiet,
    StatedCases,
    TableProfile,
    stated_number,
)
from .reading_flags import with_reading
from .release_output import run_and_print
from .rewritten_release import print_again, refuse_log_options, verified, write_again

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..releases.synthetic_log import SyntheticRelease


@with_reading
@with_details
@with_charge
def synthesize(
    output: Output,
    log: OptionalLog = None,
    epsilon: OptionalEpsilon = None,
    delta: OptionalDelta = None,
    alphabet: Alphabet = None,
    release: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Generate again from the measurements of this synthetic log: no log is read, nothing is charged.",
            metavar="RELEASE",
        ),
    ] = None,
    cases: Annotated[
        str | None, typer.Option(help="With --from: number of cases. Default: as measured.", metavar="N")
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(help="With --from: seed of the generation. Default: that of the release.", metavar="NUMBER"),
    ] = None,
    profile: TableProfile = "travas",
    force: Force = False,
    stated_cases: StatedCases = None,
    confidential: Confidential = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    details: StatedMechanism,
    reading: Reading,
    charge: Charge,
) -> None:
    """Write a synthetic log of full traces, generated from noisy measurements of a log, and its guarantee file.

    Traces may appear that are not in the log. Times are also generated if the log has a time column, and so are the named
    case attributes, within the same (ε, δ). The measurements are written beside the log: anyone can generate more from them.

    Examples: travas synthesize hospital.csv --epsilon 1 --delta 1e-6 -o synthetic.json ·
    travas synthesize hospital.csv --attribute sex --bins age=20,40,60,80 --zone Europe/Berlin … ·
    travas synthesize --from synthetic.json --cases 10000 --seed 1 -o more.xes.gz
    """
    number = stated_number(stated_cases)
    existing: Existing = "replace" if force else "fail"
    checked_profile = check_profile(profile)
    if release is not None:
        options = {"LOG": log, "--epsilon": epsilon, "--delta": delta, "--alphabet": alphabet}
        refuse_log_options({**options, **flags_of(details)}, charge, reading)
        made = _generated_again(release, cases, seed)
        write_again(made, release, output, existing, checked_profile)
        print_again(made, output, number, as_json)
        return
    if log is None or epsilon is None or delta is None:
        raise ParameterError("a log with --epsilon and --delta is required, or a release with --from")
    if cases is not None or seed is not None:
        raise ParameterError("--cases and --seed require --from; make a release first, then generate from it")
    stated = {"mechanism": "synthesis", "alphabet": alphabet, **details}
    request = Request(
        source=log,
        mechanism=build(stated, epsilon, delta, reading.privacy_unit),
        reading=reading,
        output=output,
        existing=existing,
        profile=checked_profile,
        times=times_rule(details),
        ledger=charge.ledger(),
        dataset=charge.dataset,
        policy=charge.policy(),
        approval=charge.approval,
    )
    run_and_print(request, number, as_json, confidential)


def _generated_again(release: Path, cases: str | None, seed: str | None) -> SyntheticRelease:
    """Verify a release and generate from its measurements."""
    number, new_seed = typed_whole_number(cases, "cases"), typed_whole_number(seed, "seed")
    source = cast("SyntheticRelease", verified(release, "synthetic log"))
    with progress("generating"):
        return source.regenerate(cases=number, seed=source.seed if new_seed is None else new_seed)
