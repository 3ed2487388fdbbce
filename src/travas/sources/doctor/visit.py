"""The doctor as a function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import ParameterError
from ..log_location import is_database, url_scheme, without_secrets
from ..reading import DEFAULT_READING, Reading
from .diagnosis import LogDiagnosis


def doctor(source: Any, reading: Reading = DEFAULT_READING) -> LogDiagnosis:
    """Examine a log: its form, columns, times, lifecycle, missing values, duplicates, order and spellings.

    The result is confidential. It proposes how the log is read, and nothing that decides about privacy.

    Args:
        source: A path, a folder or glob of files, a database, or a pandas or Polars `DataFrame`.
        reading: What is already known; it is not changed.

    Returns:
        All findings, and the command line and `[reading]` table that read this log.

    Raises:
        LogError: The log cannot be opened at all.
    """
    from .examination import Examination  # imports Polars, which `import travas` does not need

    examination = Examination(reading)
    if isinstance(source, str | Path):
        if isinstance(source, str) and (source == "-" or url_scheme(source) == "spark"):
            raise ParameterError(
                "the doctor reads files, databases and data frames, not Spark or standard input; set the columns "
                "yourself: travas docs engines",
                field="source",
            )
        table = examination.of_database(source) if is_database(source) else examination.of_files(Path(source))
    else:
        table = examination.of_frame(source)
    if table is not None:
        examination.of_table(table)
    name = without_secrets(str(source)) if isinstance(source, str | Path) else "LOG"
    return LogDiagnosis(name, tuple(examination.findings), examination.reading, tuple(examination.choices))
