"""The wording of messages and notes that several readers share."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ..errors import CONFIDENTIAL, number_of

LONGEST_NAME = 60
"""How much of a name is shown."""

NO_EVENTS = "the log has no events; check that it is the right one"
"""A note rather than an error, because whether a log is empty may depend on one case."""

EXPORT_AGAIN = "fix the log, or export it again"
"""The remedy for a malformed log."""

UNTIMED = "events without a timestamp"
"""What is missing where times are read."""

WITHOUT_TIMES = ", or release a synthetic log without times (times=None)"
"""The end of a remedy for missing timestamps, where nothing but the times of a release needs them."""


def available_names(present: Sequence[str], most: int, missing: str = "") -> str:
    """Return the end of a message about a missing name: the closest match and the available names."""
    names = [name[:LONGEST_NAME] for name in present]  # without a header, a name can be a whole row or more
    near = get_close_matches(missing, names, n=1)
    hint = f"did you mean {near[0]!r}? Available:" if near else "available:"
    return f"{hint} {', '.join(map(repr, names[:most]))}{', …' if len(names) > most else ''} {CONFIDENTIAL}"


def left_out_note(number: int, what: str) -> str:
    """Return a note about what was left out of the variants."""
    return f"{number_of(number, what)} {'was' if number == 1 else 'were'} left out"


def no_numbers(name: str) -> str:
    """Return what seems to be wrong with a numeric attribute of which most values are no numbers."""
    return (
        f"most values of the attribute {name!r} are not numbers such as 1234.5, and count as missing; for numbers such as "
        "1.234,50 set decimal to ','"
    )
