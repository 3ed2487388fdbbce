"""Writing pictures: the format by suffix, written like every other file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from ..errors import OutputError
from ..plots.figures import PictureFormat, draw_release
from ..releases.release import ReleasedLog
from .atomic import atomic_output

_FORMATS: dict[str, PictureFormat] = {f".{form}": form for form in get_args(PictureFormat)}


def picture_format(path: Path) -> PictureFormat:
    """Return the format of a picture; raises OutputError if its suffix is not known."""
    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise OutputError(f"{path}: unsupported picture format; use .png, .svg or .pdf", field="plot")
    return form


def write_picture(path: Path, draw: Callable[[PictureFormat], bytes]) -> Path:
    """Write a picture; one that exists is replaced."""
    form = picture_format(path)
    try:
        with atomic_output(path, "replace") as partial:
            partial.write_bytes(draw(form))
    except OutputError as error:
        raise OutputError(str(error), field="plot") from None
    return path


def write_release_picture(release: ReleasedLog, path: Path) -> Path:
    """Write a picture of a release: public. See `write_picture`."""
    return write_picture(path, lambda form: draw_release(release, form))
