"""Start: a card for each data set with what is left of its budget and its releases, and the place to drop a log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ..errors import TravasError
from ..sources.files import suffix_of
from .drafts import LOG_SUFFIXES
from .release import KINDS, Ring, ring_of
from .releases import PICTURE, Record
from .workbench import Workbench, go, in_words, page, workbench

_MOST_FILES = 200


def first_page(bench: Workbench, error: str = "", status: int = 200) -> Response:
    """The first screen."""
    cards, folder = list[tuple[str, Ring, list[Record]]](), bench.archive.folder
    try:
        records = bench.archive.records()
        for account in bench.ledger.accounts():
            own = [each for each in records if each.dataset == account.label and each.state != "deleted"]
            cards.append((account.label, ring_of(account), own))
    except (TravasError, OSError) as problem:
        error = error or in_words(problem)
    cards.sort(key=lambda card: card[2][0].asked if card[2] else "", reverse=True)
    shown = [each for _, _, own in cards for each in own]
    return page(
        "start.html", status, error=error, cards=cards, kinds=KINDS, drafts=bench.drafts.open,
        waiting=[each for each in shown if each.state == "released" and not each.decisions],
        thumbnails={each.id for each in shown if (folder(each.id) / PICTURE).is_file()},
        files=list(_files(bench.folders)), suffixes=",".join((*LOG_SUFFIXES, ".toml")),
    )  # fmt: skip


def _files(folders: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """The logs in the folders that may be opened: the path, and its name below the folder."""
    paths = ((path, folder) for folder in folders for path in sorted(folder.rglob("*")))
    logs = ((path, folder) for path, folder in paths if path.is_file() and suffix_of(path, LOG_SUFFIXES))
    for path, folder in islice(logs, _MOST_FILES):
        yield str(path), str(path.relative_to(folder))


async def start(request: Request) -> Response:
    """The first screen."""
    return first_page(workbench(request))


async def create(request: Request) -> Response:
    """Make a draft from an upload, a file of an allowed folder or a project file, or give a draft another log."""
    bench = workbench(request)
    async with request.form() as form:
        known = bench.drafts.get(str(form.get("draft", "")))
        draft, upload, path = known or bench.drafts.new(), form.get("log"), str(form.get("path", "")).strip()
        try:
            if upload is not None and not isinstance(upload, str) and upload.filename:
                await asyncio.to_thread(bench.drafts.keep_upload, draft, upload.filename, upload.file)
            elif path:
                await asyncio.to_thread(bench.drafts.open_local, draft, path, bench.folders)
        except TravasError as error:
            return first_page(bench, in_words(error), 422)
    return go(request, f"/release/{draft.id}")


async def thumbnail(request: Request) -> Response:
    """The small picture of a release."""
    bench, release = workbench(request), request.path_params["release"]
    path = bench.archive.folder(release) / PICTURE
    if bench.archive.get(release) is None or not path.is_file():
        return Response(status_code=404)
    return FileResponse(path, media_type="image/svg+xml")


async def words(request: Request) -> Response:
    """The glossary."""
    return page("words.html")


ROUTES = [
    Route("/", start),
    Route("/drafts", create, methods=["POST"]),
    Route("/words", words),
    Route("/thumbnail/{release}", thumbnail),
]
