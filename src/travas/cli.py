"""The command line: it calls the library and adds nothing but words, colours and exit codes."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import typer

from .errors import EmptyLogError, LogError, OutputError, ParameterError, TravasError, VerificationError
from .logs.columns import Reading
from .mechanisms import mechanism as mechanism_by_name
from .mechanisms.selection import PartitionSelection
from .options import AsJson, Delta, Epsilon, Log, MechanismName, MinimumCases, with_reading
from .privacy import as_text, rounded_up
from .release import Frequencies, Release
from .terminal import bar, console, grid, panel, percent, print_json, progress, show_comparison
from .variants import Variants

app = typer.Typer(
    name="travas",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Release the trace variants of an event log under differential privacy, with a verified guarantee.",
    epilog="Start with: [bold]travas demo[/bold]",
)


@app.command()
@with_reading
def anonymize(
    log: Log,
    epsilon: Epsilon,
    delta: Delta,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to: .xes, .xes.gz, .csv, .parquet or .json.", metavar="OUT")
    ],
    mechanism: MechanismName = "optimal",
    minimum_cases: MinimumCases = "1",
    frequencies: Annotated[
        str, typer.Option(help="Counts that go into the event log.", metavar="|".join(get_args(Frequencies)))
    ] = "estimated",
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Turn an event log into a release and its guarantee file.

    Example: travas anonymize hospital.xes.gz --epsilon 1 --delta 1e-6 -o release.xes.gz
    """
    if frequencies not in get_args(Frequencies):
        raise ParameterError(f"frequencies is {frequencies!r}: take one of {', '.join(get_args(Frequencies))}")
    chosen = _mechanism(mechanism, epsilon, delta, minimum_cases)
    released, variants = _release(
        log, reading, chosen, cast(Frequencies, frequencies), output, "replace" if force else "fail"
    )
    if as_json:
        print_json(_facts(released, output) | {"private_notes": list(variants.notes)})
    else:
        _print_release(released, output, variants)


def _release(
    log: str,
    reading: Reading,
    chosen: PartitionSelection,
    frequencies: Frequencies,
    output: Path,
    existing: Literal["fail", "replace"],
) -> tuple[Release, Variants]:
    """What can be known to fail fails before the noise is drawn."""
    from .engines import read
    from .guarantee import guarantee_path
    from .logs.write import check_output

    check_output(output, existing)
    for target in (output, guarantee_path(output)):
        if target.exists() and Path(log).exists() and target.samefile(log):
            raise OutputError(f"{target}: is the log itself; give another output")
    if Path(log).is_dir() and output.resolve().is_relative_to(Path(log).resolve()):
        raise OutputError(f"{output}: lies in the folder of the log and would become part of it; give another output")
    with progress("building and verifying the noise table"):
        chosen.guarantee()
    with progress("reading the log") as watch:
        variants = read(log, reading, watch)
    check_output(output, existing, [*variants.alphabet, variants.columns])
    with progress("writing the release"):
        released = replace(chosen.release(variants), frequencies=frequencies)
        released.write(output, existing)
    return released, variants


@app.command("inspect")
@with_reading
def inspect_log(
    log: Log,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Show size and shape of the true log. Private: it is not for publication.

    Example: travas inspect hospital.xes.gz
    """
    from .engines import read
    from .variants import summary

    with progress("reading the log") as watch:
        variants = read(log, reading, watch)
    facts = asdict(summary(variants))
    if as_json:
        print_json(facts | {"private": True, "notes": list(variants.notes)})
        return
    table = grid()
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), f"{value:.1%}" if isinstance(value, float) else f"{value:,}")
    panel(table, "PRIVATE: about the true log, do not publish", "yellow")
    _print_notes(variants)


@app.command()
def verify(
    guarantee: Annotated[Path | None, typer.Argument(metavar="[GUARANTEE]", help="OUT.guarantee.json")] = None,
    release: Annotated[Path | None, typer.Argument(metavar="[RELEASE]", help="The release it belongs to.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Instead of a file: ε.", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option(help="Instead of a file: δ.", metavar="NUMBER")] = None,
    mechanism: MechanismName = "optimal",
    minimum_cases: MinimumCases = "1",
    as_json: AsJson = False,
) -> None:
    """Rebuild the noise table, verify it in exact arithmetic, print what it spends and keeps.

    Exit code 1 if something does not hold.

    Examples: travas verify release.xes.gz.guarantee.json release.xes.gz · travas verify --epsilon 1 --delta 1e-6
    """
    from .guarantee import verify as verify_files

    if guarantee is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError("give either a guarantee file or --epsilon and --delta, not both")
        with progress("building and verifying the noise table"):
            outcome = verify_files(guarantee, release)
        chosen, digest_checked = outcome.mechanism, outcome.digest_checked
    elif epsilon is None or delta is None:
        raise ParameterError("nothing to verify: give a guarantee file, or --epsilon and --delta")
    else:
        chosen, digest_checked = _mechanism(mechanism, epsilon, delta, minimum_cases), False
        with progress("building and verifying the noise table"):
            chosen.guarantee()
    curve = [(cases, chosen.keep_probability(cases)) for cases in _curve_points(chosen)]
    spent = chosen.noise.delta_spent
    if as_json:
        print_json(
            {
                "verified": True,
                "mechanism": chosen.name,
                "epsilon": as_text(chosen.epsilon),
                "delta": as_text(chosen.delta),
                "delta_spent": rounded_up(spent),
                "parameters": chosen.parameters(),
                "digest_checked": digest_checked,
                "keep_probability": [{"cases": cases, "probability": float(kept)} for cases, kept in curve],
            }
        )
        return
    table = grid()
    table.add_row("mechanism", chosen.name)
    table.add_row("ε", as_text(chosen.epsilon))
    table.add_row("δ asked", as_text(chosen.delta))
    table.add_row("δ spent", f"{rounded_up(spent, 12)}  ({float(spent / chosen.delta):.1%} of what was asked)")
    table.add_row("table", f"{chosen.noise.table.length:,} entries of 128 bits, checked one by one in exact integers")
    if guarantee is not None:
        table.add_row(
            "release", "its digest is the one in the guarantee file" if digest_checked else "not given, not checked"
        )
    panel(table, "The guarantee holds", "green")
    table = grid()
    for cases, kept in curve:
        table.add_row(f"{cases:,} case{'s' if cases > 1 else ''}", bar(float(kept)), percent(float(kept)))
    panel(table, "How likely a variant is released, by the number of its cases", "cyan")


@app.command()
@with_reading
def compare(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The true log; the reading options are for it.")],
    private: Annotated[str, typer.Argument(metavar="PRIVATE", help="The private log, or a .json release.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Only this metric; may be given several times. See docs/metrics.md.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a picture: .png, .svg or .pdf.", metavar="FILE")] = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Measure how much of a log survived. Private: it reads the true log.

    Example: travas compare hospital.xes.gz release.xes.gz --plot what-survived.png
    """
    from .compare import DEFAULT_METRICS
    from .compare import compare as compare_logs
    from .engines import read

    with progress("reading the original log") as watch:
        true = read(original, reading, watch)
    with progress("reading the private log"):
        released = _read_private(private, reading)
    with progress("measuring"):
        comparison = compare_logs(true, released, metric or DEFAULT_METRICS)
    if plot is not None:
        from .report import draw_comparison

        draw_comparison(true, released, plot)
    if as_json:
        print_json(comparison.as_json() | {"private": True, "remarks": list(comparison.remarks)})
    else:
        show_comparison(comparison)
        if plot is not None:
            console().print(f"picture, private too: {plot}")


def _read_private(private: str, reading: Reading) -> Variants:
    """A release of ours has the usual column names; another tool's log may have those of the original."""
    from .engines import read
    from .logs.columns import released_columns

    ours = Reading(activities=released_columns(reading.activities) if reading.activities else ())
    try:
        return read(private, ours)
    except EmptyLogError:
        return Variants.from_mapping({})
    except LogError:
        if reading == ours:
            raise
    return read(private, reading)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for the files.", metavar="DIR")] = Path(
        "demo-release"
    ),
) -> None:
    """Make a synthetic hospital log, release it at ε = 1, δ = 1e-6, and draw a picture. No real data involved."""
    from .demo import write_hospital_log
    from .errors import MissingExtraError

    again = (output / "hospital.csv").exists()  # the demo's own: anything else of that name is refused
    log = write_hospital_log(output / "hospital.csv")
    target = output / "release.xes.gz"
    chosen = mechanism_by_name("optimal", "1", "1e-6")
    released, variants = _release(str(log), Reading(), chosen, "estimated", target, "replace" if again else "fail")
    _print_release(released, target, variants)
    try:
        picture = released.draw(output / "release.png")
        console().print(f"picture    {picture}")
    except MissingExtraError as error:
        console().print(f"no picture: {error}")
    console().print(f"check it   travas verify {target}.guarantee.json {target}")


def _version(wanted: bool) -> None:
    if wanted:
        from . import __version__

        typer.echo(f"travas {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


# ------------------------------------------------------------------------------------------------- words and colours


def _mechanism(name: str, epsilon: str, delta: str, minimum_cases: str) -> PartitionSelection:
    if not re.fullmatch(r"-?[0-9]{1,12}", minimum_cases, re.ASCII):
        raise ParameterError(f"minimum_cases is {minimum_cases!r}: it must be a whole number from 1")
    return mechanism_by_name(name, epsilon, delta, int(minimum_cases))


def _facts(released: Release, output: Path) -> dict[str, Any]:
    from .guarantee import guarantee_path

    guarantee = released.guarantee
    return {
        "release": str(output),
        "guarantee": str(guarantee_path(output)),
        "variants": len(released.variants),
        "cases": sum(released.counts),
        "frequencies": released.frequencies,
        "mechanism": guarantee.mechanism,
        "epsilon": as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "delta_spent": rounded_up(guarantee.delta_spent),
        "standing": str(guarantee.standing),
    }


def _print_release(released: Release, output: Path, variants: Variants) -> None:
    from .variants import summary

    facts = _facts(released, output)
    table = grid()
    table.add_row("release", facts["release"])
    table.add_row("guarantee", facts["guarantee"])
    table.add_row("variants", f"{facts['variants']:,}")
    table.add_row("cases", f"{facts['cases']:,}  ({released.frequencies})")
    estimate = released.estimate
    if estimate.missing_cases is not None and estimate.missing_cases_interval is not None:
        low, high = estimate.missing_cases_interval
        believed = f"about {estimate.missing_cases:,.0f} cases ({low:,.0f} to {high:,.0f}) have variants not released"
        table.add_row("believed", believed)
    table.add_row(
        "promise", f"ε = {facts['epsilon']}, δ = {facts['delta']} for one case more or less: {facts['standing']}"
    )
    table.add_row("mechanism", facts["mechanism"])
    panel(table, "Released", "green")
    true = summary(variants)
    table = grid()
    table.add_row("read", f"{true.cases:,} cases, {true.variants:,} variants, {true.events:,} events")
    table.add_row("kept", f"{len(released.variants) / true.variants:.1%} of the variants")
    panel(table, "PRIVATE: about the true log, do not publish", "yellow")
    _print_notes(variants)


def _print_notes(variants: Variants) -> None:
    for note in variants.notes:
        console().print(f"[private] {note}")


def _curve_points(chosen: PartitionSelection) -> list[int]:
    """Around a dozen numbers of cases from the first that can be kept to the first that surely is."""
    first, last = chosen.minimum_cases, chosen.minimum_cases - 1 + chosen.noise.table.length
    return sorted({first + round((last - first) * step / 14) for step in range(15)})


def main() -> None:
    """Run the command line. A user's mistake is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no ε gets a question mark
    try:
        code = app(standalone_mode=False)
        if code == 130:  # typer's answer to an interrupt
            raise KeyboardInterrupt
    except VerificationError as error:
        code = _fail(str(error), 1)
    except TravasError as error:
        code = _fail(str(error), 2)
    except typer.TyperException as error:
        code = _fail(error.format_message() + " (see travas --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        code = _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:
        sys.stderr.close()
        code = 141
    except OSError as error:
        code = _fail(f"the system refused: {error.strerror or type(error).__name__}", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> int:
    from .engines import without_secrets

    one_line = " ".join(without_secrets(message).splitlines())
    typer.echo(f"travas: {one_line}", err=True)
    return code
