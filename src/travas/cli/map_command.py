"""The command `map`: a process map with numbers of cases, intervals and, if asked for, durations and rework."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from ..errors import ParameterError
from ..pipeline import Request
from ..sources.reading import Reading
from .charge_flags import Charge, with_charge
from .console import console, progress
from .mechanism_flags import build
from .options import (
    Alphabet,
    AsJson,
    Confidential,
    Force,
    OptionalDelta,
    OptionalEpsilon,
    OptionalLog,
    Quiet,
    StatedCases,
    stated_number,
)
from .reading_flags import with_reading
from .release_output import run_and_print
from .rewritten_release import print_again, refuse_log_options, verified, write_again

if TYPE_CHECKING:
    from ..outputs.atomic import Existing
    from ..releases.process_map import MapRelease

MapOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file to write: .json (everything), .csv, .dot, .html or .svg.",
        metavar="OUT",
    ),
]


@with_reading
@with_charge
def process_map(
    output: MapOutput,
    log: OptionalLog = None,
    epsilon: OptionalEpsilon = None,
    delta: OptionalDelta = None,
    parts: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="What to measure beyond counts, separated by commas: durations, rework, throughput.",
            metavar="PARTS",
        ),
    ] = None,
    alphabet: Alphabet = None,
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
            help=r"Also discover a model with pm4py's inductive miner and write it next to OUT. Needs travas\[models].",
            metavar="bpmn|pnml|ptml",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="With --from: also draw a figure with 95 % intervals: .svg.", metavar="FILE"),
    ] = None,
    force: Force = False,
    stated_cases: StatedCases = None,
    confidential: Confidential = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    reading: Reading,
    charge: Charge,
) -> None:
    """Write a process map: in how many cases each activity directly follows another, with 95 % intervals.

    Activities that are too rare become one node, other. Logs with hundreds of activities: group them first, by
    --abstraction 'group:RULES.csv' or 'only:LIST.txt'. A .json map can be written in any other format later, with --from.

    Examples: travas map hospital.csv --epsilon 1 --delta 1e-6 --with durations -o map.json ·
    travas map --from map.json -o map.html
    """
    from ..releases.process_map import map_release

    number = stated_number(stated_cases)
    existing: Existing = "replace" if force else "fail"
    target = _check_model(model, output, existing)
    if release is not None:
        options = {"LOG": log, "--epsilon": epsilon, "--delta": delta, "--with": parts, "--alphabet": alphabet}
        refuse_log_options(options, charge, reading)
        made = _written_again(release, output, plot, existing)
        print_again(made, output, number, as_json)
        _write_model(made, target, existing, as_json)
        return
    if plot is not None:
        raise ParameterError("--plot draws a map that is released: use it with --from")
    if log is None or epsilon is None or delta is None:
        raise ParameterError("a log with --epsilon and --delta is required, or a release with --from")
    named = None if parts is None else [part.strip() for part in parts.split(",")]
    stated = {"mechanism": "map", "alphabet": alphabet, "parts": named}
    request = Request(
        source=log,
        mechanism=build(stated, epsilon, delta, reading.privacy_unit),
        reading=reading,
        output=output,
        existing=existing,
        ledger=charge.ledger(),
        dataset=charge.dataset,
        policy=charge.policy(),
        approval=charge.approval,
    )
    outcome = run_and_print(request, number, as_json, confidential)
    with outcome.after_release():
        _write_model(map_release(outcome.release), target, existing, as_json)


def _written_again(release: Path, output: Path, plot: Path | None, existing: Existing) -> MapRelease:
    """Verify a map, write it in the format of the output, and draw a figure of it if one is wanted."""
    from ..releases.process_map import map_release

    made = map_release(verified(release, "process map"))
    if plot is not None:
        _check_plot(plot, release, output)
    write_again(made, release, output, existing)
    if plot is not None:
        made.draw(plot, "shown")
    return made


def _check_plot(plot: Path, release: Path, output: Path) -> None:
    """Refuse a picture that cannot be drawn, or would replace a file of a release, before anything is written."""
    from ..outputs.inputs import check_not_same
    from ..outputs.pictures import check_map_picture
    from ..outputs.readme_file import release_files

    files = (*release_files(release), *release_files(output))
    check_not_same([plot], files, "release that is read or written, or one of its files", field="plot")
    check_map_picture(plot)


def _check_model(model: str | None, output: Path, existing: Existing) -> Path | None:
    """Where the model goes; refuses a format or a missing extra before anything is read."""
    if model is None:
        return None
    from ..evaluation.pm4py_models import check_model
    from ..releases.process_map import ModelFormat

    if model not in get_args(ModelFormat):
        raise ParameterError(f"model is {model!r}; use one of {', '.join(get_args(ModelFormat))}", field="model")
    target = output.with_suffix(f".{model}")
    check_model(target, existing)
    return target


def _write_model(made: MapRelease, target: Path | None, existing: Existing, as_json: bool) -> None:
    if target is None:
        return
    if not made.pairs:  # which the warnings also say
        if not as_json:
            console().print("model      none: the map has no pairs")
        return
    with progress("discovering the model"):
        made.model(target, existing)
    if not as_json:
        console().print(f"model      {target}")
