"""Start: a card for each data set with what is left of its budget and its releases, and the place to drop a log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import attrs
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ..errors import TravasError
from ..sources.files import suffix_of
from .drafts import LOG_SUFFIXES
from .release import KINDS, Ring, ring_of
from .releases import Record
from .workbench import Workbench, go, in_words, page, workbench

THUMBNAIL = "map.svg"
_MOST_FILES = 200


@attrs.frozen
class Card:
    """A data set with its releases, the newest first."""

    name: str
    ring: Ring
    records: tuple[Record, ...]


def first_page(bench: Workbench, error: str = "", status: int = 200) -> Response:
    """The first screen."""
    try:
        cards = tuple(_cards(bench))
    except (TravasError, OSError) as problem:
        cards, error = (), error or in_words(problem)
    waiting = [each for card in cards for each in card.records if each.state == "released" and not each.decisions]
    thumbnails = {
        each.id for card in cards for each in card.records if (bench.archive.folder(each.id) / THUMBNAIL).is_file()
    }
    return page(
        "start.html", status, error=error, cards=cards, waiting=waiting, thumbnails=thumbnails, kinds=KINDS,
        drafts=bench.drafts.open, files=list(_files(bench.folders)), suffixes=",".join((*LOG_SUFFIXES, ".toml")),
    )  # fmt: skip


def _cards(bench: Workbench) -> Iterator[Card]:
    """All accounts: those with the newest releases first."""
    records = bench.archive.records()
    cards = [
        Card(account.label, ring_of(account), tuple(each for each in records if each.dataset == account.label))
        for account in bench.ledger.accounts()
    ]
    yield from sorted(cards, key=lambda card: card.records[0].asked if card.records else "", reverse=True)


def _files(folders: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """The logs in the folders that may be opened: the path, and its name below the folder."""
    count = 0
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and suffix_of(path, LOG_SUFFIXES) and count < _MOST_FILES:
                count += 1
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
    path = bench.archive.folder(release) / THUMBNAIL
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
