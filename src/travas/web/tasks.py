"""Tasks in separate processes: diagnosis, release and files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..budget.account import NO_APPROVAL, Account, Approval
from ..budget.ledger import Ledger
from ..errors import TravasError
from ..log.log import Log
from ..mechanisms import from_description
from ..pipeline import LogOrigin, Phase, Request, run
from ..releases.release import Release, ReleasedLog
from ..sources.reading import Reading
from .failures import known_as
from .jobs import JobWatch
from .recipe import Recipe

if TYPE_CHECKING:
    from ..evaluation.kinds import Coverage
    from ..sources.doctor.diagnosis import LogDiagnosis


@dataclass(frozen=True)
class Drawn:
    """A release, and the account that was charged; `kept` and `notes` are confidential."""

    release: Release
    account: Account
    kept: str
    notes: tuple[str, ...]


def examine(path: Path, name: str, watch: JobWatch) -> LogDiagnosis:
    """Let the doctor examine the original log. Confidential."""
    from ..sources.doctor.examination import doctor

    watch("examining the log", 0.0)
    with known_as({str(path): name}):
        diagnosis = doctor(path)
    findings = tuple(replace(each, text=each.text.replace(str(path), name)) for each in diagnosis.findings)
    return replace(diagnosis, source=name, findings=findings)


def forecast(path: Path, name: str, reading: Reading, delta: str, watch: JobWatch) -> Coverage:
    """Try every kind of release on the original log. Confidential; nothing is released and nothing is charged."""
    from ..evaluation.kinds import coverage

    watch("trying each kind of release on the log", 0.0)
    with known_as({str(path): name}):
        return coverage(
            path, delta, reading, watch=lambda share: watch("trying each kind of release on the log", share)
        )


def release_request(
    path: Path,
    reading: Reading,
    recipe: Recipe,
    ledger: Ledger,
    dataset: str,
    origin: LogOrigin,
    approval: Approval,
    output: Path | None = None,
) -> Request:
    """Return the request of a release, which is checked on the step before it and then run."""
    return Request(
        source=path,
        mechanism=recipe.build(),
        reading=reading,
        output=output,
        times="required" if {"zone", "resolution"} & set(dict(recipe.options)) else "if recorded",
        ledger=ledger,
        dataset=dataset or None,
        origin=origin,
        approval=approval,
    )


def draw(
    path: Path,
    name: str,
    reading: Reading,
    recipe: Recipe,
    ledger: Path,
    dataset: str,
    origin: LogOrigin,
    output: Path,
    watch: JobWatch,
    approval: Approval = NO_APPROVAL,
) -> Drawn:
    """Charge the ledger, draw the noise once and write the release, which then stays in the archive.

    The table is built and verified here, where it is sampled, before the log is opened.
    """
    watch(Phase.CHECKING, 0.0)
    request = release_request(path, reading, recipe, Ledger(ledger), dataset, origin, approval, output)
    with known_as({str(path): name}):
        outcome = run(request, _rarely(watch))
    if outcome.account is None:
        raise TravasError("the release was not charged; please report this")
    with outcome.after_release():
        kept = _kept(outcome.release, outcome.variants)
        return Drawn(without_tables(outcome.release), outcome.account, kept, outcome.variants.notes)


def without_tables(release: Release) -> Release:
    """Return the release as it is sent between processes: with its mechanism, whose tables are built again."""
    return replace(release, mechanism=from_description(release.mechanism.describe()))


def _kept(release: Release, variants: Log) -> str:
    total = f"{len(variants):,} variants, {int(variants.counts.sum()):,} counted cases"
    if release.mechanism.counted == "units" and not release.mechanism.unit.is_case:
        total += f" (each {release.mechanism.unit.noun} once per variant)"
    if not isinstance(release, ReleasedLog):
        return f"a process map, from a log of {total}"
    if release.mechanism.kind == "synthetic log":
        return f"{len(release.variants):,} traces generated, from a log of {total}"
    on_rungs = len(release.abstractions) > 1
    return f"{len(release.variants):,} traces{' on the rungs' if on_rungs else ''}, of a log of {total}"


def write(release: Release, path: Path, watch: JobWatch) -> None:
    """The release and its guarantee file."""
    watch("writing", 0.0)
    release.write(path, existing="replace")


def report(
    release: Release,
    path: Path,
    output: Path,
    reason: str,
    account: Account,
    recipe: Recipe,
    watch: JobWatch,
    signed_off_by: str = "",
) -> None:
    """The report on a release that was written; its traces and intervals are those of the release itself."""
    from ..outputs.guarantee_file import guarantee_path
    from ..report.report_file import write_report

    watch("verifying", 0.0)
    write_report(
        guarantee_path(path),
        path,
        output,
        reason=reason,
        account=account,
        existing="replace",
        stated_cases=recipe.cases,
        signed_off_by=signed_off_by,
        looked_at=recipe.looked_at,
        made=release,
    )


def read_log(path: Path, name: str, reading: Reading, watch: JobWatch) -> Log:
    """Read the original log. Confidential."""
    from ..sources.engine import read

    progress = _rarely(watch)
    with known_as({str(path): name}):
        watch(Phase.READING, 0.0)
        return read(path, reading, lambda share: progress(Phase.READING, share))


def _rarely(watch: JobWatch) -> JobWatch:
    """The same, but called only when a phase begins or another hundredth of it is done."""
    seen: tuple[str, float] = "", 0.0

    def rarely(phase: str, share: float) -> None:
        nonlocal seen
        if phase != seen[0] or share - seen[1] >= 0.01:
            seen = phase, share
            watch(phase, share)

    return rarely
