"""Times and attributes of a synthetic log in words, for the command line and the report. All of it is public."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .attribute_measurements import OTHER

if TYPE_CHECKING:
    from .quality import Quality

_UNITS = ((365.25 * 86_400, "year"), (86_400, "day"), (3_600, "hour"), (60, "minute"))
_SHOWN_VALUES = 5


def duration_in_words(seconds: float) -> str:
    """A duration in its largest unit.

    >>> duration_in_words(5400), duration_in_words(20), duration_in_words(86400)
    ('1.5 hours', '20 seconds', '1 day')
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "second"))
    number = f"{seconds / size:.2g}" if seconds / size < 100 else f"{seconds / size:,.0f}"
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def details_in_words(quality: Quality) -> list[tuple[str, str]]:
    """What the measurements say about times and attributes.

    Args:
        quality: What the measurements show.

    Returns:
        Names and sentences; empty without times and attributes.
    """
    facts = []
    for row in quality.throughput:
        if row.quantile == 0.5:
            low, high = (duration_in_words(end) for end in (row.seconds.low, row.seconds.high))
            facts.append(("throughput", f"the median case lasts {low} to {high} (95 %)"))
    if quality.durations:
        own = sum(not row.backoff for row in quality.durations)
        facts.append(
            (
                "durations",
                f"{own:,} of {len(quality.durations):,} measured pairs have their own durations; the others have those of "
                "all steps to their second activity",
            )
        )
    for attribute in dict.fromkeys(row.attribute for row in quality.attributes):
        facts.append((f"attribute {attribute}", _values(quality, attribute)))
    return facts


def _values(quality: Quality, attribute: str) -> str:
    every = [row for row in quality.attributes if row.attribute == attribute]
    if {row.value for row in every} <= {OTHER, None}:
        missing = [row.cases for row in every if row.value is None and row.cases.low > 0]
        without = "".join(f"; missing in {cases.low:,.0f} to {cases.high:,.0f} cases (95 %)" for cases in missing)
        return "no value was released: too few cases have the same one" + without
    rows = [row for row in every if row.cases.low > 0]
    rows.sort(key=lambda row: -row.cases.value)
    shown = [
        f"{'missing' if row.value is None else row.value}: {row.cases.low:,.0f} to {row.cases.high:,.0f}"
        for row in rows[:_SHOWN_VALUES]
    ]
    if not shown:
        return "no value stands out from the noise"
    more = len(rows) - len(shown)
    return "cases (95 %): " + ", ".join(shown) + (f", and {more:,} more values" if more else "")
