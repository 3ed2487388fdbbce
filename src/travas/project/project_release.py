"""The release of one period of a project: release, guarantee, report and README.txt in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..budget.account import Approval
from ..budget.ledger import Ledger
from ..errors import OutputError, ParameterError
from ..explain import check_stated_cases
from ..mechanisms.registry import times_rule
from ..outputs.readme_file import release_files
from ..pipeline import Outcome, Request, Watch, run
from ..releases.release import check_frequencies, check_profile
from ..report.report_file import check_report, write_report
from ..sources.period import Period, duration, latest_period
from .project_file import Project
from .project_options import Values

WHOLE_LOG = "whole-log"
"""The folder of a release without a period."""

REPORT = "report.html"
"""The name of the report in the folder of a release."""


@dataclass(frozen=True)
class ReleasedPeriod:
    """What was made: the outcome of the pipeline, and the files. `outcome.variants` is confidential."""

    outcome: Outcome
    folder: Path
    release: Path
    guarantee: Path
    report: Path
    readme: Path
    stated_cases: int | None


def project_period(project: Project, name: str | None, now: datetime | None = None) -> Period | None:
    """Return the period to release: as stated, or the last whose grace period has passed; None without a period rule."""
    if not has_closing_rule(project.values):
        if name is not None or project.text("every") or project.text("grace"):
            raise ParameterError(
                "the project has periods but no rule that closes a case; set end_activity or gap in [period], or remove every "
                "and grace to release the whole log",
                field="end_activity",
            )
        return None
    grace = duration("grace", project.text_or("grace", "0d"))
    every = project.text_or("every", "month")
    return project.period(name or latest_period(every, (now or datetime.now(UTC)) - grace))


def has_closing_rule(values: Values) -> bool:
    """Whether the values of a project say when a case is closed, and so to which period it belongs."""
    return bool(values.get("end_activity") or values.get("gap"))


def make_release(project: Project, period: Period | None, watch: Watch) -> ReleasedPeriod:
    """Make the release of a period; `add_report` adds its report."""
    reading = project.reading(period)
    mechanism = project.mechanism(reading.privacy_unit)
    folder = project.path(project.text_or("folder", "releases")) / (period.folder if period else WHOLE_LOG)
    output = folder / (project.text_or("file", "release.xes.gz"))
    profile = check_profile(project.text_or("profile", "travas"))
    stated_cases = check_stated_cases(project.whole("stated_cases"))
    readme, guarantee, _ = release_files(output)
    with _new_folder(folder):
        check_report(folder / REPORT, "fail", guarantee, output)
        request = Request(
            source=project.source,
            mechanism=mechanism,
            reading=reading,
            output=output,
            frequencies=check_frequencies(project.text_or("frequencies", "estimated")),
            profile=profile,
            times=times_rule(project.values),
            ledger=_ledger(project),
            dataset=project.text("dataset"),
            policy=project.policy(),
            approval=Approval(project.text_or("reason", ""), project.text_or("signed_off_by", "")),
            about=_about(project, period),
        )
        outcome = run(request, watch)
    return ReleasedPeriod(outcome, folder, output, guarantee, folder / REPORT, readme, stated_cases)


def add_report(project: Project, made: ReleasedPeriod) -> None:
    """Write the report on a release of a project. Whatever fails belongs into `made.outcome.after_release()`."""
    account = made.outcome.account
    write_report(
        made.guarantee,
        made.release,
        made.report,
        reason=project.text_or("reason", ""),
        account=account if account is not None and account.name else None,
        stated_cases=made.stated_cases,
        policy=made.outcome.policy,
        signed_off_by=project.text_or("signed_off_by", ""),
    )


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """Create the folder of a release; one that exists is a release that was made. A refused release leaves no folder."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        if not any(folder.glob("*.guarantee.json")):
            raise OutputError(
                f"{folder}: exists but contains no complete release; if an earlier run was stopped, its charge may stand "
                "(travas budget show); remove the folder to make the release"
            ) from None
        raise OutputError(
            f"{folder}: this period was released before, and its release is there; every release costs, so it is not made "
            "again; to make another one, move the folder away"
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror}); check folder in [output]") from None
    try:
        yield
    finally:
        with suppress(OSError):  # not empty: something was made
            folder.rmdir()


def _ledger(project: Project) -> Ledger:
    text = project.text("ledger")
    return Ledger.default() if text is None else Ledger(project.path(text))


def _about(project: Project, period: Period | None) -> tuple[str, ...]:
    """Return what README.txt says beyond the release itself: public facts only."""
    lines = [f"{REPORT}: its guarantee, for people."]
    lines += [text] if (text := project.text("text")) else []
    if period is None:
        lines.append("It counts the cases of the whole log.")
    else:
        rule = ", ".join(period.end_activities) if period.end_activities else f"a gap of {period.gap}"
        days = f"from {period.start:%Y-%m-%d} on and before {period.end:%Y-%m-%d} (UTC)"
        lines.append(f"It counts the cases of the period {period.name}: those that were closed {days}, by {rule}.")
        lines.append(f"It assumes that {period.assumption}.")
    if recipients := project.items("recipients"):
        lines.append(f"It was made for: {'; '.join(recipients)}.")
    if dataset := project.text("dataset"):
        lines.append(f"It was charged to the data set {dataset!r}.")
    return tuple(lines)
