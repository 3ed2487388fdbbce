"""The command `synthesize`: a synthetic log of full traces, and further ones from the measurements of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..budget.account import Approval
from ..budget.ledger import Ledger
from ..budget.policy import Policy
from ..errors import ParameterError
from ..model.release import check_profile
from ..pipeline import Request, run
from ..sources.reading import DEFAULT_READING, Reading
from .console import print_json, progress, stages
from .detail_flags import DEFAULT_DETAILS, with_details
from .mechanism_flags import Description, build
from .options import (
    AsJson,
    Dataset,
    Force,
    GuaranteeFile,
    LedgerFile,
    Output,
    OutputFormat,
    PolicyFile,
    Quiet,
    Reason,
    SignedOffBy,
    StatedCases,
    TableProfile,
    output_target,
    read_alphabet,
    whole_number,
)
from .reading_flags import with_reading
from .release_output import print_outcome

if TYPE_CHECKING:
    from ..model.release import Profile
    from ..outputs.atomic import Existing
    from ..outputs.standard_output import StandardOutput
    from ..synthesis.synthetic_release import SyntheticRelease


@with_reading
@with_details
def synthesize(
    output: Output,
    log: Annotated[
        str | None, typer.Argument(metavar="[LOG]", help="The event log, as for travas anonymize; or use --from.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="ε as an exact number: 1, 0.5 or 1/3.", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option(help="δ as an exact number: 1e-6.", metavar="NUMBER")] = None,
    alphabet: Annotated[
        Path | None,
        typer.Option(help="File of activities, one per line, if they are public. Not from the log.", metavar="FILE"),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Generate again from the measurements of this .json release: no log is read, nothing is charged.",
            metavar="RELEASE.json",
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
    output_format: OutputFormat = None,
    guarantee_file: GuaranteeFile = None,
    dataset: Dataset = None,
    ledger: LedgerFile = None,
    force: Force = False,
    policy: PolicyFile = None,
    reason: Reason = "",
    signed_off_by: SignedOffBy = "",
    stated_cases: StatedCases = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    details: Description,
    reading: Reading,
) -> None:
    """Write a synthetic log of full traces, generated from noisy measurements of a log, and its guarantee file.

    Traces may appear that are not in the log. Times are generated too if the log has a time column, and case attributes
    that are named, within the same (ε, δ). A .json release keeps the measurements: anyone can generate more from it.

    Examples: travas synthesize hospital.csv --epsilon 1 --delta 1e-6 -o synthetic.json ·
    travas synthesize hospital.csv --attribute sex --bins age=20,40,60,80 --zone Europe/Berlin … ·
    travas synthesize --from synthetic.json --cases 10000 --seed 1 -o more.xes.gz
    """
    existing: Existing = "replace" if force else "fail"
    chosen = check_profile(profile, "artificial")
    target = output_target(output, output_format, guarantee_file, as_json)
    if release is not None:
        _refuse_with_release(log, epsilon, delta, alphabet, dataset, ledger, details, reading)
        made = _generated_again(release, cases, seed)
        _write_again(made, release, target, existing, chosen)
        _print_again(made, target, stated_cases, as_json)
        return
    if log is None or epsilon is None or delta is None:
        raise ParameterError("a log with --epsilon and --delta is required, or a release with --from")
    if cases is not None or seed is not None:
        raise ParameterError("--cases and --seed require --from; write a .json release first, then generate from it")
    names = read_alphabet(alphabet)
    description = {"mechanism": "synthesis"} | details | ({} if names is None else {"alphabet": names})
    request = Request(
        source=log,
        mechanism=build(description, epsilon, delta, reading.privacy_unit),
        reading=reading,
        output=target,
        existing=existing,
        profile=chosen,
        ledger=Ledger(ledger) if ledger else Ledger.default(),
        dataset=dataset,
        policy=Policy.applying(policy),
        approval=Approval(reason, signed_off_by),
    )
    with stages() as watch:
        outcome = run(request, watch)
    print_outcome(outcome, target, stated_cases, as_json)


def _refuse_with_release(
    log: str | None,
    epsilon: str | None,
    delta: str | None,
    alphabet: Path | None,
    dataset: str | None,
    ledger: Path | None,
    details: Description,
    reading: Reading,
) -> None:
    """Refuse options that have no meaning where no log is read and nothing is charged."""
    options: dict[str, object] = {
        "LOG": log,
        "--epsilon": epsilon,
        "--delta": delta,
        "--alphabet": alphabet,
        "--dataset": dataset,
    }
    options |= {"--ledger": ledger, "the reading options": None if reading == DEFAULT_READING else reading}
    options |= {"the options of times and attributes": None if details == DEFAULT_DETAILS else details}
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"--from reads no log and charges nothing; remove {name}")


def _generated_again(release: Path, cases: str | None, seed: str | None) -> SyntheticRelease:
    """Verify a release and generate from its measurements."""
    from ..outputs.guarantee_file import guarantee_path
    from ..verification.synthetic_file import read_synthetic
    from ..verification.verify import verify

    number, chosen = whole_number("--cases", cases), whole_number("--seed", seed, digits=19)
    with progress("verifying the release"):
        source = read_synthetic(release)
        verify(guarantee_path(release), release)
    with progress("generating"):
        return source.regenerate(cases=number, seed=source.seed if chosen is None else chosen)


def _write_again(
    made: SyntheticRelease, release: Path, output: Path | StandardOutput, existing: Existing, profile: Profile
) -> None:
    from ..outputs.inputs import check_not_input
    from ..outputs.write import write_release

    check_not_input(output, [release], None)
    write_release(made, output, existing, profile)


def _print_again(
    made: SyntheticRelease, output: Path | StandardOutput, stated_cases: int | None, as_json: bool
) -> None:
    from .synthetic_output import show_synthetic, synthetic_facts

    if as_json:
        print_json(synthetic_facts(made, output, stated_cases) | {"ledger": None})
    else:
        show_synthetic(made, output, stated_cases)
