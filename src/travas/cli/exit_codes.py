"""The exit codes of the command line: help and reference are made from this table."""

from __future__ import annotations

from dataclasses import dataclass

INTERRUPTED = 130


@dataclass(frozen=True)
class ExitCode:
    """One exit code.

    Attributes:
        code: The number.
        short: Its meaning in a few words, for `--help`.
        meaning: What happened.
        remedy: What to do.
    """

    code: int
    short: str
    meaning: str
    remedy: str = ""


CODES = (
    ExitCode(0, "success", "Success."),
    ExitCode(
        1,
        "verification failed or claim contradicted",
        "A verification failed, an audit contradicts a claim, or travas has a bug: the message says which.",
        "Do not rely on the file. Report a bug, without the log.",
    ),
    ExitCode(2, "refused", "Refused; nothing was charged.", "Read the message: it names the value and the remedy."),
    ExitCode(3, "over budget", "Over budget; nothing was charged.", "Do not try again."),
    ExitCode(
        4,
        "failed after the charge",
        "Failed after the charge, which stands.",
        "Read the message before another release.",
    ),
    ExitCode(
        INTERRUPTED, "interrupted", "Interrupted by Ctrl-C or SIGTERM; the message says whether the ledger was charged."
    ),
)
EXIT_CODES = f"Exit codes: {', '.join(f'{entry.code} {entry.short}' for entry in CODES)}."
"""All codes in one sentence, for `--help`."""
