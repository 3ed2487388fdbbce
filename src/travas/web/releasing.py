"""Making a release from a draft into the archive, and opening it again later."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING

from ..budget.account import Account, Approval
from ..budget.ledger import Ledger
from ..errors import ChargedError, TravasError
from ..pipeline import Request, account_before
from ..sources.reading import Reading
from ..verification.opened import open_release
from ..web import tasks
from .activity import ActivityKind, os_user, unrecorded
from .archive import RELEASE, Archive, ArchivedRelease, Signature, now
from .failures import in_words
from .jobs import Job
from .sessions import FinishedRelease, Session

if TYPE_CHECKING:
    from .page import Page


async def start_release(page: Page) -> None:
    """Start the release of the draft in a separate process, where the ledger is charged before the noise is drawn.

    Its folder in the archive is there before the charge, and the charge refers to it. The result is `session.released`.
    """
    session, recipe, archive = page.session, page.session.recipe, page.services.archive
    try:
        request, before = draft_request(page.ledger, session), _draft(session)
        await asyncio.to_thread(request.mechanism.guarantee)
        account = await asyncio.to_thread(account_before, request)
        if session.job is not None:
            return
        if _draft(session) != before:
            raise TravasError("the draft was changed in another tab in the meantime; check it, then release it again")
        archive.activity.check()
        asked = archive.begin(
            _asked(session), session.dataset, session.name, recipe, session.reason, page.ledger.path, _signed(session)
        )
    except TravasError as error:
        page.refuse(in_words(error))
        return
    approval = Approval(session.reason, session.steps.signed_off_by, reference=asked.id)
    job = Job(
        partial(tasks.draw, approval=approval), session.log, session.name, request.reading, recipe,
        page.ledger.path, session.dataset, session.origin,
        archive.folder(asked.id) / RELEASE, account="" if account is None else account.label,
    )  # fmt: skip
    keep = partial(_keep, session, archive, asked, request.reading)
    session.start(job, keep, partial(_ended, session, page.ledger, archive, asked))


def draft_request(ledger: Ledger, session: Session) -> Request:
    """Return the request of the release of a draft, as it is checked before it is asked for. It has no output yet."""
    if session.log is None:
        raise TravasError("no log is chosen; choose one (step Log)")
    approval = Approval(session.reason, session.steps.signed_off_by)
    reading = session.recipe.reading(session.reading)
    return tasks.release_request(
        session.log, reading, session.recipe, ledger, session.dataset, session.origin, approval
    )


def _draft(session: Session) -> tuple[object, ...]:
    """What a release is made of. Another tab can change it whenever this one waits."""
    return session.log, session.name, session.dataset, session.reading, session.recipe


def _asked(session: Session) -> Signature:
    return Signature(session.owner.name, os_user(), now())


def _signed(session: Session) -> tuple[Signature, ...]:
    """The sign-off that was typed before the release, if any."""
    name = session.steps.signed_off_by.strip()
    return (Signature(name, os_user(), now()),) if name else ()


def _keep(session: Session, archive: Archive, asked: ArchivedRelease, reading: Reading, drawn: tasks.Drawn) -> None:
    session.released = FinishedRelease(
        release=drawn.release,
        recipe=asked.recipe,
        folder=archive.folder(asked.id),
        reason=asked.reason,
        account=drawn.account,
        kept=drawn.kept,
        notes=drawn.notes,
        id=asked.id,
        reading=reading,
    )
    session.step = "result"


def _ended(session: Session, ledger: Ledger, archive: Archive, asked: ArchivedRelease, job: Job) -> str:
    """Record what became of a release, and return what could not be recorded. One that was not charged leaves nothing."""
    try:
        charged = job.charging and any(entry.approval.reference == asked.id for entry in ledger.history())
    except TravasError as error:  # it must not be removed, since it may have been charged
        archive.ended(asked.id)
        return f"what was made of the release is kept; whether it was charged is not known: {error}"
    if charged:
        archive.ended(asked.id)
        return _charged(session, asked, archive.has_release(asked.id), job)
    threading.Thread(target=_forget, args=(archive, asked.id, job), daemon=True).start()
    why = unrecorded(session, "cancellation", "before the charge", asked.id) if job.cancelled else ""
    return why and f"cancelled, and nothing was charged; not recorded in the activity log: {why}"


def _charged(session: Session, asked: ArchivedRelease, kept: bool, job: Job) -> str:
    """Record a charge and its sign-offs, and return what the page must say in addition to the error of the job."""
    lines: list[tuple[ActivityKind, str]] = [("charge", f"ε = {asked.recipe.epsilon}, δ = {asked.recipe.delta}")]
    lines += [("sign-off", signature.name) for signature in asked.sign_offs]
    lines += [] if kept else [("not finished", "")]
    whys = [why for kind, detail in lines if (why := unrecorded(session, kind, detail, asked.id))]
    complete = "" if isinstance(job.error, ChargedError) and job.error.completed else "the release itself is complete: "
    said = [f"{complete}open it under Releases"] if kept and job.error is not None else []
    if whys:
        said.append(f"{'the release is kept' if kept else 'the ledger has the charge'}, but {whys[0]}")
    return "; ".join(said)


def _forget(archive: Archive, release: str, job: Job) -> None:
    """Remove the folder when the process that might write to it has ended."""
    job.join()
    archive.forget(release)


# ------------------------------------------------------------------------------------------------------- opened again


def reopened(archive: Archive, ledger: Ledger, asked: ArchivedRelease) -> FinishedRelease:
    """Read a release from the archive, as it was when it was made, without what was confidential then."""
    path = archive.folder(asked.id) / RELEASE
    return FinishedRelease(
        release=open_release(path),
        recipe=asked.recipe,
        folder=path.parent,
        reason=asked.reason,
        account=_account(ledger, asked),
        kept="",
        notes=(),
        id=asked.id,
    )


def _account(ledger: Ledger, asked: ArchivedRelease) -> Account:
    """The account that was charged, as it is now."""
    for account in ledger.accounts():
        if any(entry.approval.reference == asked.id for entry in account.entries):
            return account
    return Account(asked.dataset or None, None, ())
