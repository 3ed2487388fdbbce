"""The releases of the archive joined with the charges of the ledger: every charge has a release, or a statement."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from ..budget.account import Entry
from ..budget.ledger import Ledger
from .archive import Archive, ArchivedRelease

ReleaseState = Literal["released", "being finished", "not finished", "deleted", "not here"]

STATEMENTS: dict[ReleaseState, str] = {
    "released": "",
    "being finished": "Charged; the release is being finished.",
    "not finished": "Charged, but the release could not be finished. The charge stands, because noise may have been drawn.",
    "deleted": "Deleted. The charge stands.",
    "not here": "Charged by a web app with another archive, or its folder was removed. The charge stands.",
}
"""What the page says about a charge without a release that can be opened."""

_AGE_OF_LEFTOVERS = timedelta(hours=1)


@dataclass(frozen=True)
class ListedRelease:
    """A release of the web app: its record in the archive and its charge in the ledger. At least one of them is there."""

    id: str
    state: ReleaseState
    record: ArchivedRelease | None
    entry: Entry | None

    @property
    def time(self) -> str:
        """When it was charged, or asked for if the ledger does not contain it."""
        return self.entry.time if self.entry else self.record.asked.time if self.record else ""

    @property
    def dataset(self) -> str:
        """The name of the data set, if it has one."""
        return (self.entry.dataset if self.entry else None) or (self.record.dataset if self.record else "")


def listed(archive: Archive, ledger: Ledger) -> list[ListedRelease]:
    """Return every release that was charged through the web app, and every one that is in the archive."""
    charges = {entry.approval.reference: entry for entry in ledger.history() if entry.approval.reference}
    releases = []
    for record in archive.records():
        entry = charges.pop(record.id, None)
        state = _state(archive, record, entry)
        if state is not None:
            releases.append(ListedRelease(record.id, state, record, entry))
    releases += [ListedRelease(reference, "not here", None, entry) for reference, entry in charges.items()]
    return sorted(releases, key=lambda one: (one.time, one.entry.number if one.entry else 0), reverse=True)


def _state(archive: Archive, record: ArchivedRelease, entry: Entry | None) -> ReleaseState | None:
    """The state of a record; None if it was not charged."""
    if record.deleted is not None:
        return "deleted"
    if archive.has_release(record.id):
        return "released"
    if entry is None:
        return None
    return "being finished" if archive.is_running(record.id) else "not finished"


def reconcile(archive: Archive, ledger: Ledger) -> None:
    """Remove what a killed server left: folders of releases that were never charged to this ledger, and deleted files."""
    charges = {entry.approval.reference for entry in ledger.history()}
    recent = (datetime.now(UTC) - _AGE_OF_LEFTOVERS).isoformat(timespec="seconds")
    for record in archive.records():
        if record.deleted is not None:
            with suppress(OSError):
                archive.clear(record.id)
        is_ours = record.ledger == str(ledger.path.resolve())
        never_charged = is_ours and record.id not in charges and _state(archive, record, None) is None
        if never_charged and record.asked.time < recent and not archive.is_running(record.id):
            archive.forget(record.id)
