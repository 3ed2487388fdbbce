"""Result: the map of a release fills the page; its numbers, a panel beside it, the download, and who may have it."""

from __future__ import annotations

import asyncio
import getpass
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ..budget.account import now
from ..budget.policy import Policy
from ..errors import ParameterError
from ..report.view import covering
from ..sources.files import url_scheme
from .drafts import Draft
from .jobs import Job, JobWatch
from .releases import RELEASE, STATEMENTS, VIEW, Decision, Record, Verdict, account_of, finish
from .workbench import Workbench, go, known_as, page, workbench

PANELS = {
    "variants": "Variants", "times": "Times", "attributes": "Attributes", "compare": "Before and after", "details": "Details"
}  # fmt: skip
"""The panels beside the map, by address."""

_OF_OWNERS = ("record", "account", "said", "compared", "job", "seal")
_LONGEST = 500


async def show(request: Request) -> Response:
    """The page of a release, with a panel or without; a panel alone for HTMX."""
    bench, panel = workbench(request), request.path_params.get("panel", "")
    record = bench.archive.get(request.path_params["release"])
    if record is None or (panel and panel not in PANELS):
        raise HTTPException(404)
    if record.state != "released":
        words = f"{STATEMENTS[record.state]} {bench.said.get(record.id, '')}"
        return page("error.html", 404, words=f"{record.title}: {words}")
    folder, job = bench.archive.folder(record.id), _finishing(bench, record, again="again" in request.query_params)
    if not (folder / VIEW).is_file():
        return page("working.html", job=job, title=record.title)
    view = json.loads((folder / VIEW).read_text(encoding="utf-8"))
    compared, account = _last(bench, compared_with_log, record), await asyncio.to_thread(account_of, record)
    return view_page(
        request, view, f"/result/{record.id}", panel, record=record, account=account, job=job, compared=compared,
        said=bench.said.get(record.id, ""), can_compare=_draft_of(bench, record) is not None, needs_other=_needs_other(),
    )  # fmt: skip


def view_page(request: Request, view: Mapping[str, Any], base: str, panel: str, **values: Any) -> Response:
    """A release as its reader sees it; with a record, as its owner does."""
    shown = {name: view[name] for name in ("variants", "times", "attributes")}
    shown |= {"compare": "record" in values, "details": True}
    panels = {name: words for name, words in PANELS.items() if shown[name]}
    values = dict.fromkeys(_OF_OWNERS) | values | {"view": view, "base": base, "panels": panels}
    if panel == "variants" and view["variants"]:
        values |= {"variants": covering(view["variants"], request.query_params)}
    is_part = "hx-request" in request.headers and request.headers.get("hx-target") == "side"
    return page("side.html" if is_part else "result.html", panel=panel if panel in panels else "", **values)


# --------------------------------------------------------------------------------------------------- files and jobs


def _last(bench: Workbench, task: Callable[..., Any], record: Record) -> Job | None:
    """The last job of this kind for a release."""
    jobs = (job for job in reversed(bench.jobs.values()) if job.task is task and job.arguments[1].id == record.id)
    return next(jobs, None)


def _finishing(bench: Workbench, record: Record, again: bool) -> Job | None:
    """The job that writes what is missing of the files to hand over, which is started if needed; None if all is there."""
    folder, last = bench.archive.folder(record.id), _last(bench, finish, record)
    if (folder / record.bundle).is_file():
        return None
    if last is not None and (not last.done or (last.error is not None and not again)):
        return last
    return bench.start(Job(finish, folder, record, target=f"/result/{record.id}"))


async def download(request: Request) -> Response:
    """The zip for the recipient."""
    record, folder = _released(request)
    if not (folder / record.bundle).is_file():
        return go(request, f"/result/{record.id}")
    return FileResponse(folder / record.bundle, filename=record.bundle, media_type="application/zip")


def _released(request: Request) -> tuple[Record, Path]:
    """The release of an address, and its folder."""
    archive = workbench(request).archive
    record = archive.get(request.path_params["release"])
    if record is None or record.state != "released":
        raise HTTPException(404)
    return record, archive.folder(record.id)


# ------------------------------------------------------------------------------------------------ changes


async def decide(request: Request) -> Response:
    """Approve a release, for everybody or for some, or reject it."""
    record, _ = _released(request)
    form = await request.form()
    typed = {name: " ".join(str(form.get(name, "")).split())[:_LONGEST] for name in ("name", "recipients", "comment")}
    verdict: Verdict = "rejected" if form.get("verdict") == "rejected" else "approved"
    name, owner = typed["name"], _owner()
    if _needs_other() and name.casefold() in ("", owner.casefold()):
        raise ParameterError("the policy requires a sign-off: enter the name of another person than the owner")
    decision = Decision(verdict, name or owner, now(), typed["recipients"], typed["comment"])
    await asyncio.to_thread(workbench(request).archive.decide, record.id, decision)
    return go(request, f"/result/{record.id}")


def _owner() -> str:
    """The user of this machine."""
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return "the owner"  # who has no name on this machine


def _needs_other() -> bool:
    """Whether the policy of the organisation requires a sign-off."""
    policy = Policy.of_organisation()
    return policy is not None and any(rule.name == "sign_off" for rule in policy.rules)


async def delete(request: Request) -> Response:
    """Delete the files of a release."""
    record, _ = _released(request)
    await asyncio.to_thread(workbench(request).archive.delete, record.id)
    return go(request, "/")


# ------------------------------------------------------------------------------------- CONFIDENTIAL: before and after


def _draft_of(bench: Workbench, record: Record) -> Draft | None:
    """The draft that a release was made from, while its log is here."""
    draft = bench.drafts.of_release(record.id)
    is_here = draft is not None and (url_scheme(draft.source) or Path(draft.source).exists())
    return draft if is_here else None


async def compare(request: Request) -> Response:
    """Compare the release with the original log. The next release from this log says that it was looked at."""
    bench, (record, folder) = workbench(request), _released(request)
    target, draft = f"/result/{record.id}/compare", _draft_of(bench, record)
    last = _last(bench, compared_with_log, record)
    if draft is not None and (last is None or last.done):
        draft.looked_at = tuple(dict.fromkeys((*draft.looked_at, "the comparison of a release with the original log")))
        bench.start(Job(compared_with_log, draft.source, record, folder / RELEASE, target=target))
    return go(request, target)


def compared_with_log(log: str, record: Record, release: Path, watch: JobWatch) -> dict[str, Any]:
    """CONFIDENTIAL: in a process of its own."""
    from ..evaluation.compare import before_and_after
    from ..verification.opened import open_release

    with known_as({log: record.title}):
        return before_and_after(log, record.project.reading(), open_release(release), watch)


ROUTES = [
    Route("/result/{release}", show),
    Route("/result/{release}/download", download),
    Route("/result/{release}/decide", decide, methods=["POST"]),
    Route("/result/{release}/delete", delete, methods=["POST"]),
    Route("/result/{release}/compare", compare, methods=["POST"]),
    Route("/result/{release}/{panel}", show),
]
