"""Releases of a project: each has a folder with release, guarantee, report and README, and is made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from ..errors import OutputError, ParameterError
from ..log.calendar import duration
from ..outputs.guarantee_file import guarantee_path
from ..pipeline import Outcome, Watch, run
from ..report.report_file import check_report, write_report
from ..sources.period import Calendar, Period, latest_period
from .project import Project

WHOLE_LOG = "whole-log"
"""The folder of a release without a period."""

REPORT = "report.html"
"""The name of the report in the folder of a release."""


@dataclass(frozen=True)
class ProjectRelease:
    """What was made: the outcome of the pipeline, the folder, and a report for each segment or for the release.

    `outcome.variants` is confidential.
    """

    outcome: Outcome
    period: str | None
    folder: Path
    reports: tuple[Path, ...]


def with_period(project: Project, now: datetime | None = None) -> Project:
    """Return a project with the period to release: as set, or the last whose grace period has passed."""
    if not (project.values.get("end_activity") or project.values.get("gap")):
        if {"period", "every", "grace"} & set(project.values):
            raise ParameterError(
                "the project has periods but no rule that closes a case; set end_activity or gap in [period], or remove "
                "period, every and grace to release the whole log",
                field="end_activity",
            )
        return project
    if "period" in project.values:
        return project
    grace = duration("grace", project.stated("grace", "0d"))
    every = cast(Calendar, project.stated("every", "month"))
    return project.with_values({"period": latest_period(every, (now or datetime.now(UTC)) - grace)})


def make_release(project: Project, watch: Watch, caution: Callable[[str], None] = lambda _: None) -> ProjectRelease:
    """Make the release of a project, or of its period, with a report for the data protection officer."""
    project = with_period(project).with_values({"output": project.stated("output", "release.xes.gz")})
    request, period, stated_cases = project.request(), project.reading().period, project.stated_cases
    folder = project.path(project.stated("folder", "releases")) / (period.folder if period else WHOLE_LOG)
    output = folder / project.path(project.required("output")).name
    about = about_release(project, period, REPORT if "by" not in project.values else f"*.{REPORT}")
    with _new_folder(folder):
        check_report(folder / REPORT, "fail", guarantee_path(output), output)
        outcome = run(replace(request, output=output, about=about), watch, caution)
    with outcome.after_release():
        names = [f"{each.name}.{REPORT}" for each in outcome.outputs] if outcome.release.segment else [REPORT]
        reports = tuple(folder / name for name in names)
        for release, report in zip(outcome.outputs, reports, strict=True):
            write_report(
                guarantee_path(release),
                release,
                report,
                reason=project.stated("reason"),
                account=outcome.account if outcome.account is not None and outcome.account.dataset else None,
                stated_cases=stated_cases,
                policy=outcome.policy,
                signed_off_by=project.stated("signed_off_by"),
            )
    return ProjectRelease(outcome, period.name if period else None, folder, reports)


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
            f"{folder}: there is a release already; every release costs, so it is not made again; to make another one, move "
            "the folder away, or set folder in [output]"
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror}); check folder in [output]") from None
    try:
        yield
    finally:
        with suppress(OSError):  # not empty: something was made
            folder.rmdir()


def about_release(project: Project, period: Period | None, report: str) -> tuple[str, ...]:
    """Return what README.txt says beyond the release itself: public facts only."""
    lines = [f"{report}: its guarantee, for people."]
    if period is None:
        lines.append("It counts the cases of the whole log.")
    else:
        rule = ", ".join(period.end_activity) if period.end_activity else f"a gap of {period.gap}"
        days = f"from {period.start:%Y-%m-%d} on and before {period.end:%Y-%m-%d} (UTC)"
        lines.append(f"It counts the cases of the period {period.name}: those that were closed {days}, by {rule}.")
        lines.append(f"It assumes that {period.assumption}.")
    if dataset := project.stated("dataset"):
        lines.append(f"It was charged to the data set {dataset!r}.")
    return (*lines, *project.about)
