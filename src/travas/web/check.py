"""Check: a release that was received is verified in a process of its own, and shown as its reader sees it.

What was sent is deleted right afterwards; the result is kept in memory while the server runs.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import LogError, VerificationError, plain_words
from .jobs import Job, JobWatch
from .result import view_page
from .workbench import go, known_as, page, workbench

MOST_FILES, MOST_BYTES = 40, 4 << 30
"""What a zip may contain: it comes from somebody else."""


async def form(request: Request) -> Response:
    """The page on which files are dropped."""
    return page("check.html", error="")


async def check(request: Request) -> Response:
    """Take the files and start the check."""
    bench = workbench(request)
    async with request.form(max_files=MOST_FILES) as sent:
        uploads = [file for file in sent.getlist("files") if isinstance(file, UploadFile) and file.filename]
        if not uploads:
            return page("check.html", 400, error="no file was sent; choose the zip, or a release and its guarantee")
        folder = Path(tempfile.mkdtemp(dir=bench.drafts.path))
        for upload in uploads:
            with (folder / _stored(str(upload.filename))).open("wb") as out:
                shutil.copyfileobj(upload.file, out, 1 << 20)
    title = uploads[0].filename if len(uploads) == 1 else f"{len(uploads)} files"
    job = bench.start(Job(verified, folder, title, ended=lambda job: shutil.rmtree(folder, ignore_errors=True)))
    job.target = f"/check/{job.number}"
    return go(request, job.target)


async def show(request: Request) -> Response:
    """The seal, and the release as its reader sees it."""
    panel, job = request.path_params.get("panel", ""), workbench(request).jobs.get(request.path_params["number"])
    if job is None or job.task is not verified:
        return go(request, "/check")
    title = str(job.arguments[1])
    if not job.done:
        return page("working.html", job=job, title=title)
    if job.error is not None:
        is_wrong = isinstance(job.error, VerificationError)
        return page("check.html", error=job.problem, refused=is_wrong, title=title)
    if job.result["view"] is None:
        return page("check.html", error="", seal=job.result, title=title)
    return view_page(request, job.result["view"], job.target, panel, seal=job.result, title=title)


def _stored(name: str) -> str:
    """The name under which a file is stored: without folders and odd characters, as its suffix matters."""
    return re.sub(r"[^\w.-]", "_", name.replace("\\", "/").rpartition("/")[2]).lstrip(".")[-150:] or "file"


# ------------------------------------------------------------------------------------- in a process of its own


def verified(folder: Path, title: str, watch: JobWatch) -> dict[str, Any]:
    """Verify every guarantee among the files, with its release, and return what there is to see."""
    from ..outputs.guarantee_file import guarantee_path, measurements_path
    from ..report.view import view_of
    from ..verification.opened import is_guarantee, open_release
    from ..verification.verify import verify

    watch("building and verifying the noise", 0.0)
    with known_as({f"{folder}/": "", f"{folder}\\": ""}):
        for path in [path for path in folder.iterdir() if path.suffix == ".zip"]:
            _unpack(path, folder)
        found = sorted(folder.iterdir())
        guarantees = [path for path in found if is_guarantee(path)]
        if not guarantees:
            raise LogError("there is no guarantee among the files; use the zip, or a release with its …guarantee.json")
        releases = [_release_of(path, found, guarantees) for path in guarantees]
        checked = [verify(*pair) for pair in zip(guarantees, releases, strict=True)]
        notes = {note for one in checked for note in one.notes}
        # without its measurements, an event log cannot be shown
        complete = (
            path for path in releases if path and measurements_path(path).is_file() and guarantee_path(path).is_file()
        )
        view = next((view_of(open_release(path)) for path in complete), None)
    return {"has_release": None not in releases, "notes": sorted(notes), "view": view}


def _unpack(path: Path, folder: Path) -> None:
    """Write the files of a zip into the folder, without the folders that it names."""
    with plain_words(f"{path}: cannot be unpacked", "check that the file is complete"), zipfile.ZipFile(path) as packed:
        files = [one for one in packed.infolist() if not one.is_dir()]
        if len(files) > MOST_FILES or sum(one.file_size for one in files) > MOST_BYTES:
            raise LogError(f"{path}: larger than any zip of a release; unpack it, and check its files")
        for one in files:
            with packed.open(one) as content, (folder / _stored(one.filename)).open("xb") as out:
                shutil.copyfileobj(content, out, 1 << 20)
    path.unlink()


def _release_of(guarantee: Path, files: list[Path], guarantees: list[Path]) -> Path | None:
    """The release of a guarantee: the file beside it by its name, or the only other one."""
    from ..verification.opened import pair_of

    others = [path for path in files if path not in guarantees]
    return pair_of(guarantee)[1] or (others[0] if len(guarantees) == len(others) == 1 else None)


ROUTES = [
    Route("/check", form),
    Route("/check", check, methods=["POST"]),
    Route("/check/{number}", show),
    Route("/check/{number}/{panel}", show),
]
