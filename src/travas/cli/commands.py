"""The commands `verify`, `report` and `serve`."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ParameterError, VerificationError
from ..model.explain import weak_protection
from ..model.mechanism import Mechanism
from ..privacy.guarantee import ONE_CASE, Standing
from ..privacy.numbers import as_text, rounded_up
from .console import bar, console, panel, percent, print_json, progress
from .console import grid as facts_grid
from .diagnostics import share_of
from .options import AsJson, Description, LedgerFile, PolicyFile, SignedOffBy, StatedCases, build, with_mechanism

if TYPE_CHECKING:
    from ..verification.privacy_curve import Point
    from ..web.entrance import Entrance


@with_mechanism
def verify(
    guarantee: Annotated[Path | None, typer.Argument(metavar="[GUARANTEE]", help="OUT.guarantee.json")] = None,
    release: Annotated[
        Path | None, typer.Argument(metavar="[RELEASE]", help="The release that the guarantee file is about.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="ε, instead of a guarantee file.", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option(help="δ, instead of a guarantee file.", metavar="NUMBER")] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also compute the exact privacy curve: the worst-case δ at other ε.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the privacy curve: .png, .svg or .pdf.", metavar="FILE")
    ] = None,
    stated_cases: StatedCases = None,
    as_json: AsJson = False,
    *,
    description: Description,
) -> None:
    """Rebuild the noise tables of a guarantee, verify them in exact arithmetic and print the result.

    The exit code is 1 if the verification fails.

    Examples: travas verify release.xes.gz.guarantee.json release.xes.gz · travas verify --epsilon 1 --delta 1e-6 --curve
    """
    from ..outputs.guarantee_file import describe_unit
    from ..verification.verify import verify as verify_files

    notes: tuple[str, ...] = ()
    if guarantee is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError("a guarantee file cannot be combined with --epsilon and --delta; use one or the other")
        with progress("building and verifying the noise table"):
            outcome = verify_files(guarantee, release)
        mechanism, digest_checked, notes = outcome.mechanism, outcome.digest_checked, outcome.notes
    elif epsilon is None or delta is None:
        raise ParameterError("nothing to verify; pass a guarantee file, or set --epsilon and --delta")
    else:
        mechanism, digest_checked = build(description, epsilon, delta, ONE_CASE), False
        with progress("building and verifying the noise table"):
            mechanism.guarantee()
    facts = mechanism.guarantee()
    if facts.standing is Standing.NOT_ESTABLISHED:
        reasons = "; ".join(facts.assumptions)
        raise VerificationError(f"the guarantee of {mechanism.name} is not established: {reasons}")
    keeps = _keep_curve(mechanism)
    losses = _privacy_curve(mechanism, plot) if curve or plot is not None else ()
    weak = weak_protection(facts.epsilon, facts.delta, stated_cases)
    if as_json:
        print_json(
            {
                "verified": True,
                "standing": str(facts.standing),
                "mechanism": mechanism.name,
                "epsilon": as_text(mechanism.epsilon),
                "delta": as_text(mechanism.delta),
                "delta_spent": rounded_up(facts.delta_spent),
                "unit": describe_unit(mechanism),
                "parameters": mechanism.parameters(),
                "digest_checked": digest_checked,
                "notes": list(notes),
                "warnings": list(weak),
                "keep_probability": [{"cases": cases, "probability": kept} for cases, kept in keeps],
            }
            | ({"curve": [point.as_json() for point in losses]} if losses else {})
        )
        return
    table = facts_grid()
    table.add_row("mechanism", mechanism.name)
    table.add_row("standing", str(facts.standing))
    table.add_row("protects", facts.protects)
    if not mechanism.unit.is_case:
        table.add_row("counted", share_of(mechanism.unit, mechanism.counted))
    table.add_row("ε", as_text(mechanism.epsilon))
    table.add_row("δ requested", as_text(mechanism.delta))
    share = f"  ({float(facts.delta_spent / mechanism.delta):.1%} of δ)" if mechanism.delta else ""
    table.add_row("δ spent", f"{rounded_up(facts.delta_spent, 12)}{share}")
    for step in mechanism.parameters().get("steps", []):
        table.add_row("step", f"{step['step']}: ε = {step['epsilon']}, δ = {step['delta']}")
    for line in mechanism.noise_in_words():
        table.add_row("noise", line)
    if guarantee is not None:
        table.add_row(
            "release",
            "its digest matches the guarantee file" if digest_checked else "not passed, so its digest was not checked",
        )
    for reason in weak:
        table.add_row("warning", reason)
    for note in notes:
        table.add_row("note", note)
    panel(
        table,
        "The guarantee holds, but the protection is weak" if weak else "The guarantee holds",
        "yellow" if weak else "green",
    )
    if keeps:
        noun = mechanism.noun
        table = facts_grid()
        for cases, kept in keeps:
            unit = "" if noun != "cases" else " case" if cases == 1 else " cases"
            table.add_row(f"{cases:,}{unit}", bar(kept), percent(kept))
        panel(table, f"Probability that a variant is released, by its number of {noun}", "cyan")
    if losses:
        _show_privacy_curve(losses)
    if plot is not None:
        console().print(f"figure: {plot}")


def _privacy_curve(mechanism: Mechanism, plot: Path | None) -> tuple[Point, ...]:
    """Compute the privacy curve, and draw it if wanted."""
    from ..verification.curve_picture import draw_curve
    from ..verification.privacy_curve import points

    with progress("computing the privacy curve"):
        found = points(mechanism)
    if plot is not None:
        draw_curve(mechanism, found, plot)
    return found


def _show_privacy_curve(points: tuple[Point, ...]) -> None:
    table = facts_grid()
    for point in points:
        shown = point.as_json()
        table.add_row(
            f"ε' = {shown['epsilon']}",
            f"δ at most {shown['at_most']}",
            "exact" if point.is_exact else f"at least {shown['reached']}",
        )
    panel(table, "Worst-case δ at other ε, from what is sampled", "cyan")


def _keep_curve(mechanism: Mechanism) -> list[tuple[int, float]]:
    """Return the keep probability at a dozen case counts; empty if it depends on more than the case count."""
    curve = mechanism.keep_curve()
    if curve is None or curve.rungs:
        return []
    return [(cases, float(curve.probability(cases))) for cases in curve.numbers_of_cases()]


def report(
    guarantee: Annotated[Path, typer.Argument(metavar="GUARANTEE", help="OUT.guarantee.json")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The release that the guarantee file is about.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.", metavar="REPORT.html")],
    reason: Annotated[str, typer.Option(help="Why these parameters; printed in the report.", metavar="TEXT")] = "",
    dataset: Annotated[
        str | None, typer.Option(help="Name of the data set in the ledger; adds its history.", metavar="NAME")
    ] = None,
    ledger: LedgerFile = None,
    policy: PolicyFile = None,
    signed_off_by: SignedOffBy = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing report.")] = False,
    stated_cases: StatedCases = None,
) -> None:
    """Verify a release and write the report for the data protection officer: one printable, public HTML file.

    Example: travas report release.json.guarantee.json release.json -o report.html --reason "Decided on 3 May"
    """
    from ..budget.policy import Policy
    from ..report.report_file import write_report
    from .budget_command import existing_ledger

    if ledger is not None and dataset is None:
        raise ParameterError("--ledger requires --dataset; also set --dataset NAME")
    account = None if dataset is None else existing_ledger(ledger).account(dataset)
    with progress("verifying the release"):
        path = write_report(
            guarantee, release, output, reason, account, "replace" if force else "fail", stated_cases,
            Policy.load(policy) if policy else Policy.found(), signed_off_by,
        )  # fmt: skip
    console().print(f"report     {path}")


def serve(
    port: Annotated[int, typer.Option(help="Port of the web app; 0 uses any free port.", metavar="NUMBER")] = 8080,
    host: Annotated[str, typer.Option(help="Address to bind; the network can reach all but loopback.")] = "127.0.0.1",
    folder: Annotated[list[Path] | None, typer.Option(help="Folder with logs that may be opened; repeatable.")] = None,
    upload_limit: Annotated[float, typer.Option(help="Largest upload, in GB.", metavar="NUMBER")] = 8,
    minutes_kept: Annotated[
        float, typer.Option(help="How long uploads are kept after the page is closed.", metavar="NUMBER")
    ] = 15,
    ledger: LedgerFile = None,
    max_sessions: Annotated[
        int, typer.Option(help="Maximum number of concurrent browser sessions.", metavar="NUMBER")
    ] = 20,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link instead of opening a browser.")] = False,
) -> None:
    """Start the local web app. It works offline; stop it with Ctrl-C.

    Example: travas serve --folder /data/logs
    """
    from ..budget.ledger import Ledger
    from ..web.server import serve as serve_page
    from ..web.settings import GIGABYTE, Settings, listening

    limit = int(upload_limit * GIGABYTE) if math.isfinite(upload_limit) else 0
    host = "127.0.0.1" if host == "localhost" else host  # a browser might ask the other localhost, which is IPv6
    book = Ledger(ledger) if ledger else Ledger.default()
    with listening(host, port) as listener:
        used = listener.getsockname()[1]
        settings = Settings(host, used, tuple(folder or ()), limit, minutes_kept, max_sessions)
        no_open = no_open or not _has_browser()
        serve_page(settings, listener, book, partial(_ready, no_open), partial(_renewed, no_open))


def _has_browser() -> bool:
    """Whether there is a browser with windows. Those of a terminal have no scripts, and the web app needs them."""
    import os
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    return "BROWSER" in os.environ or type(found) is not webbrowser.GenericBrowser


def _ready(no_open: bool, entrance: Entrance) -> None:
    """Print the link and open a browser. Other users can see command lines, so the browser opens a private file."""
    where = entrance.link if no_open else entrance.address
    console().print(f"travas is running at {where} (press Ctrl-C to stop)", soft_wrap=True)
    if not no_open:
        import threading
        import webbrowser

        address = entrance.file.as_uri()
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some wait until it is closed
        console().print(f"If no browser opens, open {entrance.file} in a browser, or use --no-open.", soft_wrap=True)


def _renewed(no_open: bool, entrance: Entrance) -> None:
    if no_open:
        console().print(f"The link has been used. For another browser: {entrance.link}", soft_wrap=True)
