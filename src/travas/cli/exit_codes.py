"""The exit codes of the command line: help and reference are made from this table."""

from __future__ import annotations

from typing import NamedTuple

INTERRUPTED = 130


class ExitCode(NamedTuple):
    """What a code means in a few words, and what to do."""

    meaning: str
    remedy: str = ""


CODES = {
    0: ExitCode("success"),
    1: ExitCode(
        "verification failed or claim contradicted", "Do not rely on the file; if the message says bug, report it."
    ),
    2: ExitCode("refused", "Nothing was charged: the message names the value and the remedy."),
    3: ExitCode("over budget", "Nothing was charged: do not try again."),
    4: ExitCode("failed after the charge", "The charge stands: read the message before another release."),
    INTERRUPTED: ExitCode("interrupted", "By Ctrl-C or SIGTERM: the message says whether the ledger was charged."),
}
EXIT_CODES = f"Exit codes: {', '.join(f'{code} {entry.meaning}' for code, entry in CODES.items())}."
"""All codes in one sentence, for `--help`."""
