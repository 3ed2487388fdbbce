"""The command `anonymize`: the variants of an event log."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from ..errors import ParameterError
from ..pipeline import Request
from ..releases.release import Frequencies, Kind, check_frequencies, check_profile
from ..sources.reading import Reading
from .charge_flags import Charge, with_charge
from .mechanism_flags import StatedMechanism, build, with_mechanism
from .options import (
    AsJson,
    Confidential,
    Delta,
    Epsilon,
    Force,
    LogArgument,
    Output,
    Quiet,
    StatedCases,
    TableProfile,
    stated_number,
)
from .reading_flags import with_reading
from .release_output import run_and_print

_OTHER_COMMANDS: dict[Kind, str] = {
    "synthetic log": "generates a synthetic log: use travas synthesize",
    "process map": "releases a process map: use travas map",
}


@with_reading
@with_mechanism
@with_charge
def anonymize(
    log: LogArgument,
    epsilon: Epsilon,
    delta: Delta,
    output: Output,
    frequencies: Annotated[
        str,
        typer.Option(
            help="Counts in the file: each variant's own cases; spread (with a share of the cases not released, for "
            "similarity studies); or noisy.",
            metavar="|".join(get_args(Frequencies)),
        ),
    ] = "estimated",
    profile: TableProfile = "travas",
    force: Force = False,
    accept_no_guarantee: Annotated[
        bool,
        typer.Option(
            "--accept-no-guarantee",
            help="Accept a release without an established guarantee; the output is marked accordingly.",
        ),
    ] = False,
    stated_cases: StatedCases = None,
    confidential: Confidential = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    reading: Reading,
    charge: Charge,
    stated: StatedMechanism,
) -> None:
    """Write a differentially private release of the variants of an event log, and its guarantee file.

    For full traces of logs in which few cases are alike, see travas synthesize; for a process map, travas map.

    Example: travas anonymize hospital.xes.gz --epsilon 1 --delta 1e-6 -o release.xes.gz
    """
    mechanism = build(stated, epsilon, delta, reading.privacy_unit)
    if mechanism.kind in _OTHER_COMMANDS:
        raise ParameterError(f"{mechanism.name} {_OTHER_COMMANDS[mechanism.kind]}", field="mechanism")
    number = stated_number(stated_cases)
    request = Request(
        source=log,
        mechanism=mechanism,
        reading=reading,
        output=output,
        existing="replace" if force else "fail",
        frequencies=check_frequencies(frequencies),
        profile=check_profile(profile),
        ledger=charge.ledger(),
        dataset=charge.dataset,
        guarantee="not required" if accept_no_guarantee else "required",
        policy=charge.policy(),
        approval=charge.approval,
    )
    run_and_print(request, number, as_json, confidential)
