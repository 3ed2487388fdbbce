"""The report as a file, written after everything in it was verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .. import explain
from ..budget.account import Account
from ..budget.policy import Policy
from ..errors import OutputError, ParameterError
from ..outputs.atomic import Existing, atomic_output, check_target
from ..outputs.inputs import check_not_same
from ..releases.release import Release
from .content import read_content
from .document import as_html
from .segments import segments_beside


def write_report(
    guarantee: str | Path,
    release: str | Path,
    output: str | Path,
    *,
    reason: str = "",
    account: Account | None = None,
    existing: Existing = "fail",
    stated_cases: int | None = None,
    policy: Policy | None = None,
    signed_off_by: str = "",
    decisions: Sequence[str] = (),
    looked_at: Sequence[str] = (),
    made: Release | None = None,
) -> Path:
    """Verify a release against its guarantee and write the report, one self-contained `.html` file.

    Args:
        guarantee: The guarantee file.
        release: The release of the guarantee.
        output: The `.html` file to write.
        reason: Why these parameters were chosen. A reason that the charge recorded is shown as well.
        account: The account of the data set, including this release.
        existing: Whether an existing report is replaced.
        stated_cases: The number of cases stated by the owner. If δ is large for that many cases, the report warns.
        policy: A policy; the report says of each rule whether the release keeps it.
        signed_off_by: Who has signed off the release. A sign-off that the charge recorded is shown as well.
        decisions: What was decided about handing it out, in words that begin with `approved` or `rejected`; the last holds.
        looked_at: What the owner looked at of the original log before the parameters were chosen, in words.
        made: The release as it was made, with the estimates and measurements that its file may not contain.

    Returns:
        The path of the report.

    Raises:
        OutputError: The report cannot be written there, or would overwrite the release or its guarantee.
        VerificationError: The guarantee is wrong or not established, so there is no report.
    """
    path = Path(output)
    check_report(path, existing, Path(guarantee), Path(release))
    explain.check_stated_cases(stated_cases)
    content = replace(
        read_content(Path(guarantee), Path(release), made),
        reason=reason,
        account=account,
        stated_cases=stated_cases,
        policy=policy,
        signed_off_by=signed_off_by,
        decisions=tuple(decisions),
        looked_at=tuple(looked_at),
    )
    if account is not None and content.charge is None:
        raise ParameterError(
            f"{account.label}: this release was not charged to this account; check the data set", field="dataset"
        )
    with atomic_output(path, existing) as partial:
        partial.write_text(
            as_html(content, segments_beside(Path(guarantee), Path(release))), encoding="utf-8", newline="\n"
        )
    return path


def check_report(path: Path, existing: Existing, guarantee: Path, release: Path) -> None:
    """Refuse a report that cannot be written or would overwrite what it is about, before any work is done for it."""
    if path.suffix.lower() != ".html":
        raise OutputError(f"{path}: unsupported file extension for a report; use .html", field="output")
    check_not_same([path], [release, guarantee], "the release or its guarantee")
    check_target(path, existing)
