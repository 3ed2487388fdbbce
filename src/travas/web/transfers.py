"""Uploads streamed to disk, files of allowed folders, and downloads created on demand."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from ..errors import TravasError
from ..outputs.guarantee_file import guarantee_path
from ..releases.release import Release, ReleasedLog
from ..sources.files import suffix_of
from ..web import tasks
from .access import KEY_HEADER
from .archive import Archive, ArchivedRelease
from .browsers import Browser, Browsers
from .failures import in_words, known_as
from .jobs import Job
from .preview import SUFFIXES, preview
from .result.handover import BUNDLE, bundled, contents, pack
from .sessions import FinishedRelease, Session
from .settings import Settings
from .tickets import Tickets

FORMATS = {
    ".xes.gz": "XES, compressed",
    ".xes": "XES",
    ".csv": "CSV",
    ".parquet": "Parquet",
    ".json": "JSON, with noisy counts and intervals",
}
MAP_FORMATS = {
    ".json": "JSON, with all measurements",
    ".html": "a page with the map, for any browser",
    ".svg": "SVG, a picture",
    ".csv": "CSV, the pairs",
    ".dot": "DOT, for Graphviz",
}
_MOST_FILES, _MOST_SEEN = 2000, 100_000
MOST_CHECKED = 2
"""The number of files of a check: a release and its guarantee."""


def add_routes(app: Any, settings: Settings, browsers: Browsers, tickets: Tickets) -> None:
    """`POST /upload?draft=…&name=…`, `POST /verify?number=…&name=…` and `GET /download/TICKET/NAME`.

    A file is the body, and the key a header. A path of its own for each, because a page replaces all routes of its path.
    """

    @app.post("/upload")  # type: ignore[untyped-decorator]
    async def upload(request: Request) -> Response:
        browser = browsers.get(request.headers.get(KEY_HEADER, ""))
        session = None if browser is None else browser.drafts.get(request.query_params.get("draft", ""))
        if session is None:
            return PlainTextResponse("travas: the draft has ended; start another one\n", 403)
        return await _upload(request, session, settings)

    @app.post("/verify")  # type: ignore[untyped-decorator]
    async def check(request: Request) -> Response:
        browser = browsers.get(request.headers.get(KEY_HEADER, ""))
        if browser is None:
            return PlainTextResponse("travas: the session has ended; load the page again\n", 403)
        return await _check(request, browser, settings)

    @app.get("/download/{ticket}/{name}")  # type: ignore[untyped-decorator]
    async def download(ticket: str, name: str) -> Response:
        path = tickets.redeem(ticket)
        if path is None or not path.is_file():
            return PlainTextResponse("travas: this download has expired; start it again on the page\n", 404)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")


# ----------------------------------------------------------------------------------------------------------- logs in


async def _upload(request: Request, session: Session, settings: Settings) -> Response:
    """Stream the body to disk. Only the suffix of the name is used for the file."""
    name = request.query_params.get("name", "").replace("\\", "/").rsplit("/", 1)[-1][:200] or "log"
    suffix = suffix_of(Path(name), SUFFIXES)
    if suffix is None:
        return _refused(session, f"{name}: unsupported file extension; supported: {', '.join(SUFFIXES)}", 415)
    announced = request.headers.get("content-length", "0")
    size = int(announced)  # well-formed: the guard has checked it
    if size > settings.upload_limit:
        return _refused(session, f"{name}: over the limit of {_gigabytes(settings.upload_limit)}", 413)
    if size > shutil.disk_usage(session.folder).free:
        return _refused(session, f"{name}: the disk of the server has no room for it", 507)
    # not by outputs.atomic: a stream of the event loop, to a folder of the owner's alone, under a name that is new
    partial = session.folder / f".{os.urandom(6).hex()}.partial"
    try:
        received = await _stream(request, session, partial, settings.upload_limit)
        if received is None:
            return _refused(session, f"{name}: over the limit of {_gigabytes(settings.upload_limit)}", 413)
        if received == 0:
            return _refused(session, f"{name}: the file is empty; check that it is the right file", 422)
        target = session.folder / f"log-{os.urandom(4).hex()}{suffix}"
        partial.rename(target)
        return await open_log(session, target, name, settings)
    except ClientDisconnect:
        return PlainTextResponse("", 499)
    except OSError as error:
        return _refused(session, f"{name}: cannot be stored on the server ({error.strerror})", 507)
    finally:
        partial.unlink(missing_ok=True)


async def _check(request: Request, browser: Browser, settings: Settings) -> Response:
    """Stream a file to the folder of a check. Only the suffixes of its name are used."""
    number, name = request.query_params.get("number", ""), request.query_params.get("name", "")
    folder = browser.folder / f"check-{number}"
    if not re.fullmatch("[0-9a-f]{16}", number, re.ASCII) or not folder.is_dir():
        return PlainTextResponse("travas: this check has ended; start it again\n", 404)
    if len(list(folder.iterdir())) >= MOST_CHECKED:
        return PlainTextResponse(f"travas: at most {MOST_CHECKED} files are checked at once\n", 413)
    suffixes = re.search(r"(\.[a-z0-9]{1,12}){0,3}$", name.lower(), re.ASCII)
    target = folder / f"{os.urandom(4).hex()}{suffixes[0] if suffixes else ''}"
    try:
        received = await _stream(request, browser, target, settings.upload_limit)
    except (ClientDisconnect, OSError):
        received = None
    if received is None:
        target.unlink(missing_ok=True)
        return PlainTextResponse("travas: the file is too large, or could not be received\n", 413)
    return PlainTextResponse(target.name)


async def _stream(request: Request, session: Session | Browser, target: Path, limit: int) -> int | None:
    """Return the number of bytes written; None if there are too many."""
    received = 0
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        async for piece in request.stream():
            received += len(piece)
            if received > limit:
                return None
            out.write(piece)
            session.touch()
    return received


async def open_log(session: Session, path: Path, name: str, settings: Settings) -> Response:
    """Preview the file; if it is a log, it becomes the log of the session."""
    try:
        session.take(path, name, await preview(path, name))
    except TravasError as error:
        if path.parent == session.folder and path != session.log:
            path.unlink(missing_ok=True)
        return _refused(session, in_words(error), 422)
    return PlainTextResponse("ok\n")


def _refused(session: Session, message: str, code: int) -> Response:
    session.error = message
    session.version += 1
    return PlainTextResponse(f"travas: {message}\n", code)


def _gigabytes(size: int) -> str:
    return f"{size / (1 << 30):.3g} GB"


def folder_logs(settings: Settings) -> dict[str, Path]:
    """Return the logs in the allowed folders by display name, without links that lead out of them."""
    logs: dict[str, Path] = {}
    seen = 0
    labels = _labels(settings.folders)
    for folder in settings.folders:
        for directory, _, names in os.walk(folder):
            seen += len(names)
            if seen > _MOST_SEEN:
                return logs
            for name in sorted(names):
                path = Path(directory, name)
                if suffix_of(path, SUFFIXES) and _is_inside(path, folder):
                    logs[f"{labels[folder]}/{path.relative_to(folder)}"] = path.resolve()
                    if len(logs) >= _MOST_FILES:
                        return logs
    return logs


def _labels(folders: tuple[Path, ...]) -> dict[Path, str]:
    """Return the name of each folder; those of folders with the same name are numbered from the second one on."""
    labels: dict[Path, str] = {}
    for folder in dict.fromkeys(folders):
        same = sum(other.name == folder.name for other in labels)
        labels[folder] = f"{folder.name} ({same + 1})" if same else folder.name
    return labels


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether it is a file in the folder, not a link out of it or a symlink loop, and its name is text."""
    try:
        str(path).encode()
        return path.resolve().is_relative_to(folder) and path.is_file()
    except (UnicodeEncodeError, OSError, RuntimeError):  # RuntimeError: a symlink loop
        return False


# ------------------------------------------------------------------------------------------------------ releases out


def formats_of(release: Release) -> dict[str, str]:
    """Return the formats in which a release can be downloaded, by suffix."""
    return FORMATS if isinstance(release, ReleasedLog) else MAP_FORMATS


async def prepare(session: Session, archive: Archive, name: str) -> Path:
    """Write a file of the release of a session when it is first requested."""
    released = session.released
    wanted = name.removesuffix(".guarantee.json").removesuffix(".report.html")
    if released is None or (
        name != BUNDLE and wanted not in {f"release{suffix}" for suffix in formats_of(released.release)}
    ):
        raise TravasError(f"{name}: there is no such file in this session")
    before = _record(archive, released)
    with known_as({f"{released.folder}/": ""}):
        path = await _made(session, released, before.signed_off_by, name)
    if _record(archive, released) != before:
        archive.remove_reports(released.id)
        raise TravasError(f"{name}: the release was signed off in the meantime; download it again")
    return path


def _record(archive: Archive, released: FinishedRelease) -> ArchivedRelease:
    """Return the record of a release as it is now. If it was deleted, what another tab has written since is also deleted."""
    record = archive.get(released.id)
    if record is not None and record.deleted is None and archive.has_release(released.id):
        return record
    if record is not None and record.deleted is not None:
        with suppress(OSError):
            archive.clear(released.id)
    raise TravasError("this release was deleted, or its files were removed; the charge stands")


async def _made(session: Session, released: FinishedRelease, signed_off_by: str, name: str) -> Path:
    """Write a file, and what it needs, unless it is there."""
    folder, release = released.folder, tasks.without_tables(released.release)
    if name == BUNDLE:
        wanted = folder / bundled(released.release)
        await _made(session, released, signed_off_by, f"{wanted.name}.report.html")
        await _once(session, folder / BUNDLE, Job(pack, contents(wanted), folder / BUNDLE))
        return folder / BUNDLE
    path = folder / name.removesuffix(".guarantee.json").removesuffix(".report.html")
    await _once(session, path, Job(tasks.write, release, path))
    if name.endswith(".report.html"):
        work = partial(tasks.report, signed_off_by=signed_off_by)
        await _once(
            session, folder / name,
            Job(work, release, path, folder / name, released.reason, released.account, released.recipe),
        )  # fmt: skip
    return guarantee_path(path) if name.endswith(".guarantee.json") else folder / name


async def _once(session: Session, path: Path, job: Job) -> None:
    """Create a file once; concurrent requests share the work."""
    key = str(path)
    if key not in session.files:
        if path.exists():
            return
        job.start()  # first: a job that could not be started must not be waited for
        session.files[key] = job
    try:
        await session.files[key].wait()
    finally:
        session.files.pop(key, None)
