"""The command `map`: a process map with numbers of cases, intervals and, if asked for, durations and rework."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ..budget.account import Approval
from ..budget.ledger import Ledger
from ..budget.policy import Policy
from ..errors import ChargedError, ParameterError
from ..outputs.inputs import check_not_input
from ..pipeline import Request, run
from ..sources.reading import DEFAULT_READING, Reading
from .console import console, print_json, progress, stages
from .mechanism_flags import build
from .options import (
    AsJson,
    Dataset,
    Force,
    LedgerFile,
    PolicyFile,
    Quiet,
    Reason,
    SignedOffBy,
    StatedCases,
    read_alphabet,
)
from .reading_flags import with_reading
from .release_output import print_outcome

if TYPE_CHECKING:
    from ..maps.map_release import MapRelease
    from ..outputs.atomic import Existing

MapOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file to write: .json (everything), .csv, .graphml, .dot, .html, .svg, .png or .pdf.",
        metavar="OUT",
    ),
]


@with_reading
def process_map(
    output: MapOutput,
    log: Annotated[
        str | None, typer.Argument(metavar="[LOG]", help="The event log, as for travas anonymize; or use --from.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="ε as an exact number: 1, 0.5 or 1/3.", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option(help="δ as an exact number: 1e-6.", metavar="NUMBER")] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="What to measure beyond counts, separated by commas: durations, rework, throughput.",
            metavar="PARTS",
        ),
    ] = None,
    alphabet: Annotated[
        Path | None,
        typer.Option(help="File of activities, one per line, if they are public. Not from the log.", metavar="FILE"),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Write this .json process map in another format: no log is read, nothing is charged.",
            metavar="RELEASE.json",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Also discover a model with pm4py's inductive miner and write it next to OUT. Needs travas[models].",
            metavar="bpmn|pnml|ptml",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="With --from: also draw a figure with 95 % intervals: .svg, .png or .pdf.", metavar="FILE"),
    ] = None,
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
    reading: Reading,
) -> None:
    """Write a process map: in how many cases each activity directly follows another, with 95 % intervals.

    Activities that are too rare become one node, other. Logs with hundreds of activities: group them first, by
    --abstraction 'group:RULES.csv' or 'only:LIST.txt'. A .json map can be written in any other format later, with --from.

    Examples: travas map hospital.csv --epsilon 1 --delta 1e-6 --with durations -o map.json ·
    travas map --from map.json -o map.html
    """
    existing: Existing = "replace" if force else "fail"
    target = _check_model(model, output, existing)
    if release is not None:
        _refuse_with_release(log, epsilon, delta, parts, alphabet, dataset, ledger, reading)
        made = _verified(release)
        _write_again(made, release, output, existing)
        if plot is not None:
            check_not_input(plot, [release, output], None)
            made.draw(plot, "shown")
        _print_again(made, output, stated_cases, as_json)
        _write_model(made, target, existing, as_json)
        return
    if plot is not None:
        raise ParameterError("--plot draws a map that is released: use it with --from")
    if log is None or epsilon is None or delta is None:
        raise ParameterError("a log with --epsilon and --delta is required, or a release with --from")
    description: dict[str, Any] = {"mechanism": "map"}
    names = read_alphabet(alphabet)
    description |= {} if names is None else {"alphabet": names}
    description |= {} if parts is None else {"parts": [part.strip() for part in parts.split(",")]}
    request = Request(
        source=log,
        mechanism=build(description, epsilon, delta, reading.privacy_unit),
        reading=reading,
        output=output,
        existing=existing,
        ledger=Ledger(ledger) if ledger else Ledger.default(),
        dataset=dataset,
        policy=Policy.applying(policy),
        approval=Approval(reason, signed_off_by),
    )
    with stages() as watch:
        outcome = run(request, watch)
    print_outcome(outcome, output, stated_cases, as_json)
    from ..maps.map_release import map_release

    try:
        _write_model(map_release(outcome.release), target, existing, as_json)
    except (Exception, KeyboardInterrupt) as error:
        if outcome.account is None:
            raise
        raise ChargedError.from_cause(error, outcome.account.label) from error


def _refuse_with_release(
    log: str | None,
    epsilon: str | None,
    delta: str | None,
    parts: str | None,
    alphabet: Path | None,
    dataset: str | None,
    ledger: Path | None,
    reading: Reading,
) -> None:
    """Refuse options that have no meaning where no log is read and nothing is charged."""
    options: dict[str, object] = {
        "LOG": log,
        "--epsilon": epsilon,
        "--delta": delta,
        "--with": parts,
        "--alphabet": alphabet,
        "--dataset": dataset,
        "--ledger": ledger,
        "the reading options": None if reading == DEFAULT_READING else reading,
    }
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"--from reads no log and charges nothing; remove {name}")


def _check_model(model: str | None, output: Path, existing: Existing) -> Path | None:
    """Where the model goes; refuses a format or a missing extra before anything is read."""
    if model is None:
        return None
    from ..evaluation.pm4py_models import check_model
    from ..maps.map_release import ModelFormat

    if model not in get_args(ModelFormat):
        raise ParameterError(f"model is {model!r}; use one of {', '.join(get_args(ModelFormat))}", field="model")
    target = output.with_suffix(f".{model}")
    check_model(target, existing)
    return target


def _write_model(made: MapRelease, target: Path | None, existing: Existing, as_json: bool) -> None:
    if target is None:
        return
    if not made.pairs:  # which the warnings say, too
        if not as_json:
            console().print("model      none: the map has no pairs")
        return
    with progress("discovering the model"):
        made.model(target, existing)
    if not as_json:
        console().print(f"model      {target}")


def _verified(release: Path) -> MapRelease:
    """Verify a release and read it."""
    from ..outputs.guarantee_file import guarantee_path
    from ..verification.map_file import read_map
    from ..verification.verify import verify

    with progress("verifying the release"):
        made = read_map(release)
        verify(guarantee_path(release), release)
    return made


def _write_again(made: MapRelease, release: Path, output: Path, existing: Existing) -> None:
    check_not_input(output, [release], None)
    made.write(output, existing)


def _print_again(made: MapRelease, output: Path, stated_cases: int | None, as_json: bool) -> None:
    from .map_output import map_facts, show_map

    if as_json:
        print_json(map_facts(made, output, stated_cases) | {"ledger": None})
    else:
        show_map(made, output, stated_cases)
