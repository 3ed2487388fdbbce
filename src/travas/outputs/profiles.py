"""Tables for certain programs: what pm4py and Excel expect of a CSV file or, for pm4py, of a Parquet file."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import OutputError
from ..log.escaped_names import escape_name
from ..releases.release import EVENT_LOGS, Kind, Profile, ReleasedLog
from ..sources.reading import TIMESTAMP
from .event_tables import TIME_FORMAT, marked_events, notices, packed_csv

if TYPE_CHECKING:
    import polars as pl

MISSING = "(missing)"
"""What a cell without a value contains, where a profile leaves no text cell empty."""

TIME_FORMATS: dict[Profile, str] = {"travas": TIME_FORMAT, "pm4py": TIME_FORMAT, "excel": "%Y-%m-%d %H:%M:%S"}
"""How times are written in CSV."""

_FORMULA = re.compile("[=+@\\-\t\r]")


def escape_for_excel(name: str) -> str:
    r"""Escape a name as in any CSV file, and also a first character that would make it a formula.

    >>> print(escape_for_excel("=1+2"), escape_for_excel("a=b"))
    \u{3D}1+2 a=b
    """
    written = escape_name(name)
    return f"\\u{{{ord(written[0]):X}}}{written[1:]}" if _FORMULA.match(written) else written


def profile_events(release: ReleasedLog, profile: Profile, written: Callable[[str], str] = str) -> pl.LazyFrame:
    """The events of a release as a profile has them.

    Args:
        release: The release.
        profile: The profile. For pm4py, times are in UTC and no text is missing; for Excel, no cell is empty.
        written: How the format writes a name.

    Returns:
        The events.
    """
    import polars as pl

    table = marked_events(release, written)
    if profile == "travas":
        return table
    if profile == "pm4py":
        moments = pl.col(TIMESTAMP).dt.convert_time_zone("UTC")
        return table.with_columns(moments, pl.col(pl.String).fill_null(MISSING))
    texts = [pl.col(written(column.column)) for column in release.case_columns]
    return table.with_columns(text.cast(pl.String).fill_null(MISSING) for text in texts)


def _write_excel(release: ReleasedLog, path: Path) -> None:
    """UTF-16 with a byte order mark and tabs, which Excel opens in columns whatever the language of the system is."""
    table = profile_events(release, "excel", escape_for_excel).collect()
    with path.open("wb") as raw:
        raw.write(codecs.BOM_UTF16_LE)
        form = TIME_FORMATS["excel"]
        out: Any = _Utf16(raw)
        table.write_csv(out, separator="\t", line_terminator="\r\n", datetime_format=form)


class _Utf16:
    """Writes UTF-8 as UTF-16 to a file."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def write(self, text: bytes) -> int:
        """Write the next bytes."""
        self._out.write(self._decoder.decode(bytes(text)).encode("utf-16-le"))
        return len(text)


def _write_pm4py(suffix: str, release: ReleasedLog, path: Path) -> None:
    if suffix == ".parquet":
        profile_events(release, "pm4py").sink_parquet(path, metadata=notices(release))
    elif suffix == ".csv.gz":
        packed_csv(profile_events(release, "pm4py", escape_name), path)
    else:
        profile_events(release, "pm4py", escape_name).sink_csv(path, datetime_format=TIME_FORMAT)


Writer = Callable[[Any, Path], None]

PROFILE_WRITERS: dict[Profile, dict[str, Writer]] = {
    "pm4py": {suffix: partial(_write_pm4py, suffix) for suffix in (".csv", ".csv.gz", ".parquet")},
    "excel": {".csv": _write_excel},
}
"""The writers of each profile, by suffix."""


def check_profile_format(profile: Profile, suffix: str, kind: Kind) -> None:
    """Raise OutputError if a profile has no such format.

    Args:
        profile: The profile.
        suffix: The format.
        kind: The kind of release.
    """
    known: Any = PROFILE_WRITERS.get(profile)
    if known is not None and (suffix not in known or kind not in EVENT_LOGS):
        raise OutputError(
            f"profile is {profile!r} but the release is a {suffix} file; use an event log in one of {', '.join(known)}",
            field="profile",
        )
