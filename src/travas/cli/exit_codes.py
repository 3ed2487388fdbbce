"""The exit codes of the command line: help and reference are made from this table."""

from __future__ import annotations

from dataclasses import dataclass


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
        "A verification failed, or an audit contradicts a claim.",
        "Do not rely on the file.",
    ),
    ExitCode(2, "refused", "Refused; nothing was charged.", "Read the message: it names the value and the remedy."),
    ExitCode(3, "over budget", "Over budget; nothing was charged.", "Do not try again."),
    ExitCode(
        4,
        "failed after the charge",
        "Failed after the charge, which stands.",
        "Read the message before another release.",
    ),
    ExitCode(5, "out of memory", "Out of memory.", "Use more memory, or an engine that needs less."),
    ExitCode(
        6,
        "result not printed",
        "The result could not be printed; files that were written remain, and so does a charge, which the message names.",
    ),
    ExitCode(70, "bug", "A bug in travas.", "Report it, without the log."),
    ExitCode(130, "interrupted", "Interrupted; the message says whether the ledger was charged."),
    ExitCode(141, "broken pipe", "The output was closed, as by `| head`. After a charge, a message names it."),
    ExitCode(143, "terminated", "Terminated by SIGTERM; the message says whether the ledger was charged."),
)
EXIT_CODES = f"Exit codes: {', '.join(f'{entry.code} {entry.short}' for entry in CODES)}."
"""All codes in one sentence, for `--help`."""
