"""Reading any source: selects the engine that turns it into variants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ..model.mechanism import Progress
from ..model.release import Release
from ..model.totals import check_details
from ..model.variants import Variants
from .columns import DEFAULT_READING, Reading
from .files import merged, no_unit


class Engine(Protocol):
    """Reads one kind of source."""

    def variants(self, source: Any, reading: Reading) -> Variants:
        """Return the variants of a log and their counts. Confidential."""


def _silent(_: float) -> None:
    """Ignore the progress."""


def read(source: Any, reading: Reading = DEFAULT_READING, progress: Progress = _silent) -> Variants:
    """Read the variants of a log. They are confidential.

    Args:
        source: A path, a folder or glob of tables, a URL of a database, a pandas, Polars or Spark DataFrame, an Ibis
            table, a mapping of tuples to counts, `Variants` or a `Release`.
        reading: The rule from events to variants.
        progress: Called with the share of the work that is done, from 0 to 1.

    Returns:
        The variants and the number of cases of each.
    """
    variants = _read(source, reading, progress)
    check_details(variants.totals, reading.details)
    return reading.abstraction.of(variants)


def _read(source: Any, reading: Reading, progress: Progress) -> Variants:
    if isinstance(source, Variants):
        if reading.unit is not None and (source.unit, source.counted) != (reading.privacy_unit, reading.counts_of):
            raise no_unit(reading, "variants")
        return source
    if isinstance(source, Release | Mapping) and reading.unit is not None:
        raise no_unit(reading, "a release" if isinstance(source, Release) else "a mapping")
    if isinstance(source, Release):
        return Variants.from_mapping(merged(source.variants, source.counts), source.columns)
    if isinstance(source, Mapping):
        return Variants.from_mapping(source, reading.activities)
    return _engine(source, progress).variants(source, reading)


def _engine(source: Any, progress: Progress) -> Engine:
    """Select the engine by URL scheme or library; anything else is a file or a data frame."""
    if isinstance(source, str) and (scheme := re.match(r"([a-z][a-z0-9+.-]+):(//)?", source, re.IGNORECASE)):
        if scheme[1].lower() == "spark":
            from .spark import Spark

            return Spark()
        if scheme[2]:
            from .databases import by_scheme

            return by_scheme(scheme[1].lower())
    if isinstance(source, str | Path):
        from .files import Files

        return Files(progress)
    library = type(source).__module__.partition(".")[0]
    if library == "pyspark":
        from .spark import Spark

        return Spark()
    if library == "ibis":
        from .databases import Database

        return Database("ibis")
    from .files import Frames

    return Frames()


def without_secrets(message: str) -> str:
    """Remove possible passwords from a message: text before the host of a URL, or after `password=`."""
    message = re.sub(r"://\S*@", "://…@", message)
    return re.sub(r"(?i)(password|token|secret)=[^\s&]*", r"\1=…", message)
