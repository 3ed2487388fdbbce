"""Releases and guarantee files opened again: what they state, and everything that a file contains.

Nothing is executed, whatever is in a file: JSON is parsed strictly, XES without entities, and names are text.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from ..errors import LogError, ParameterError, VerificationError, plain_words, shown
from ..log.abstraction import FULL, Abstraction
from ..log.escaped_names import original_name
from ..log.plain import measurements_from_plain
from ..log.questions import LIFECYCLE
from ..log.traces import Origin, Trace, listed
from ..mechanisms import find_mechanism, from_description
from ..mechanisms.mechanism import Mechanism, with_random_bytes
from ..outputs.guarantee_file import FORMAT, VERSION, file_digest, guarantee_path, measurements_path
from ..releases.map_numbers import MapMeasurements
from ..releases.process_map import MapRelease
from ..releases.release import ORIGIN, RULE, STANDING, TIMES_MARK, Kind, Release, VariantRelease, kind_of
from ..releases.release import check_frequencies as checked_frequencies
from ..releases.synthetic_log import SyntheticRelease
from ..sources.files import XES_SUFFIXES, suffix_of, unopened
from ..sources.reading import ACTIVITY, CASE, TIMESTAMP, Reading
from ..sources.release_json import (
    is_activity_of,
    load_release_json,
    refusing_malformed,
    stated_columns,
    strict_json,
    texts_of,
    traces_of,
    whole_numbers,
)
from ..synthesis.measurements import Measurements
from ..trusted.guarantee import Standing
from ..trusted.samplers import Seeded

if TYPE_CHECKING:
    import polars as pl

    from ..mechanisms.gaussian import GaussianMechanism

Measured = TypeVar("Measured", Measurements, MapMeasurements)

_GUARANTEE = guarantee_path(Path("release")).name.removeprefix("release")
_LABELS = (TIMES_MARK, RULE, ORIGIN, STANDING)
_NO_ACTIVITY = (CASE, TIMESTAMP, *_LABELS)
_NO_RELEASE = "not a release of travas of this kind; use the .json file of one"


# ----------------------------------------------------------------------------------------------- guarantee files


def load(path: Path) -> dict[str, Any]:
    """Load a guarantee file, without verifying it."""
    try:
        stated = strict_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unopened(path, error) from None
    except (ValueError, RecursionError):
        raise LogError(f"{path}: not a guarantee file, it is not JSON; use OUT.guarantee.json") from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise LogError(f"{path}: not a guarantee file of travas; use OUT.guarantee.json")
    if (version := stated.get("version")) != VERSION or isinstance(version, bool):
        raise LogError(f"{path}: guarantee file of version {shown(version)}; supported: {VERSION}; update travas")
    return stated


def pair_of(one: Path, other: Path | None = None) -> tuple[Path, Path | None]:
    """Find which of two files is the guarantee, or the file beside the only one."""
    if other is None:
        if not is_guarantee(one):
            if not one.exists():
                raise LogError(f"{one}: no such file; check the path")
            if not guarantee_path(one).is_file():
                raise LogError(f"{one}: there is no {guarantee_path(one).name} beside it; also pass the guarantee file")
            return guarantee_path(one), one
        release = one.with_name(one.name.removesuffix(_GUARANTEE))
        return one, release if release != one and release.is_file() else None
    if is_guarantee(one) and is_guarantee(other):
        raise LogError(f"{one}, {other}: both are guarantee files; pass one of them with its release")
    return (other, one) if is_guarantee(other) else (one, other)


def is_guarantee(path: Path) -> bool:
    """Whether a file is a guarantee file, or is named like one and damaged."""
    if path.name.endswith(_GUARANTEE):
        return True
    try:
        return path.suffix == ".json" and load(path) is not None
    except LogError:
        return False


def stated_reading(stated: dict[str, Any], path: Path) -> Reading | None:
    """Return how the log was read, from a loaded guarantee file, without the query; None if it is not stated."""
    described = stated.get("reading")
    with _named(path):
        return None if described is None else Reading.from_description(described)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in which a value is wrong."""
    try:
        yield
    except (ParameterError, LogError) as error:
        raise LogError(f"{path}: {error}") from None


def check_digest(release: Path, guarantee: Path, stated: Mapping[str, Any]) -> Path | None:
    """Raise VerificationError unless a file is the release of a guarantee. Return the file that has all of the release.

    That is a `.json` release itself, or the measurements beside a synthetic log, whose digest is compared as well.
    """
    facts, source = stated.get("release"), measurements_path(release)
    is_beside = isinstance(facts, dict) and "measurements" in facts and source.is_file()
    for file, name in ((release, "sha256"), *([(source, "measurements")] if is_beside else [])):
        try:
            digest = file_digest(file)
        except OSError as error:
            raise unopened(file, error) from None
        if not isinstance(facts, dict) or facts.get(name) != digest:
            raise VerificationError(f"{file}: its SHA-256 does not match {guarantee}; it is not the release")
    return source if is_beside or source == release else None


def _stated_mechanism(stated: Mapping[str, Any]) -> Mechanism:
    """The described mechanism. Noise that has no established guarantee does not get one by being read."""
    mechanism = from_description(stated["description"])
    is_denied = stated["standing"] == Standing.NOT_ESTABLISHED
    if is_denied and mechanism.guarantee().standing != Standing.NOT_ESTABLISHED:
        return with_random_bytes(mechanism, Seeded(0))
    return mechanism


# ------------------------------------------------------------------------------------------------ .json releases


def open_release(path: str | Path) -> Release:
    """Open a release that was written as `.json`: `open_release("release.json").write("release.xes.gz")`.

    Args:
        path: A `.json` file that `Release.write` wrote, next to its guarantee file; or a synthetic log of any format, next
            to its measurements.

    Returns:
        The release as it was made, which may be a `SyntheticRelease` or a `MapRelease`. Its standing is not established
        if the guarantee file says so.

    Raises:
        LogError: One of the files cannot be read, or it is not a release.
        VerificationError: The release is not that of the guarantee beside it.
    """
    release_file = Path(path)
    guarantee = guarantee_path(release_file)
    stated = load(guarantee)
    source = check_digest(release_file, guarantee, stated)
    if source is None:
        raise LogError(
            f"{release_file}: only .json files, and synthetic logs with their measurements beside them, contain all of a "
            "release; use one, or read the event log with travas.read"
        )
    content = load_release_json(source, _NO_RELEASE)
    release = release_of(content, source, stated)
    if not str(release.guarantee.standing) == stated.get("standing") == content.get("standing"):
        raise LogError(f"{source}: its standing is not the one that its guarantee file states")
    return release


def release_of(content: dict[str, Any], source: Path, stated: dict[str, Any]) -> Release:
    """The release of a loaded `.json` file of any kind, with its guarantee file."""
    kind = stated.get("kind")
    if kind == "synthetic log":
        return _synthetic_of(content, source)
    if kind == "process map":
        return _map_of(content, source)
    with _fields_of("variants", content, source) as (mechanism, fields):
        frequencies = checked_frequencies(content["frequencies"])
        traces, noisy, rungs = traces_of(content), whole_numbers(content["noisy"]), whole_numbers(content["rungs"])
        cases = None if content["cases"] is None else whole_numbers([content["cases"]])[0]
        if not len(traces) == len(noisy) == len(rungs) or not set(rungs) <= set(range(len(fields["abstractions"]))):
            raise ValueError("the numbers are not those of the traces")
        columns, rules = fields.pop("columns"), fields.pop("abstractions")
        made = VariantRelease.of(mechanism, traces, noisy, columns, rules, rungs, cases)
        return replace(made, frequencies=frequencies, **fields)


def _measured_by(mechanism: Mechanism, content: dict[str, Any], kind: type[Measured]) -> Measured:
    """The measurements of a release: their constants are those of its mechanism."""
    measurements = measurements_from_plain(content["measurements"], kind)
    if measurements.contributions != cast("GaussianMechanism", mechanism).contributions:
        raise LogError("the measurements are inconsistent: their contributions are not those of the mechanism")
    return measurements


def _synthetic_of(content: dict[str, Any], source: Path) -> SyntheticRelease:
    with _fields_of("synthetic log", content, source) as (mechanism, stated):
        variants, counts = traces_of(content), whole_numbers(content["counts"])
        origins = texts_of(content["origins"])
        if not len(variants) == len(counts) == len(origins) or not set(origins) <= set(get_args(Origin)):
            raise ValueError
        measurements = _measured_by(mechanism, content, Measurements)
        if measurements.rules != getattr(mechanism, "rules", None):
            raise ValueError
        return SyntheticRelease(
            mechanism,
            variants=variants,
            numbers=counts,
            **stated,
            measurements=measurements,
            origins=cast("tuple[Origin, ...]", origins),
            seed=whole_numbers([content["seed"]])[0],
            generation="again" if content["generation"] == "again" else "first",
        )


def _map_of(content: dict[str, Any], source: Path) -> MapRelease:
    with _fields_of("process map", content, source) as (mechanism, stated):
        measurements = _measured_by(mechanism, content, MapMeasurements)
        if not all(is_activity_of(name, len(stated["columns"])) for name in measurements.activities):
            raise ValueError
        return MapRelease(mechanism, **stated, measurements=measurements)


@contextmanager
def _fields_of(kind: Kind, content: dict[str, Any], source: Path) -> Iterator[tuple[Mechanism, dict[str, Any]]]:
    """The mechanism and the fields that every release has; a mechanism that is not installed is named."""
    with refusing_malformed(source, _NO_RELEASE):
        name = content["description"]["mechanism"]
    with _named(source):
        find_mechanism(name)
    with refusing_malformed(source, _NO_RELEASE):
        mechanism = _stated_mechanism(content)
        if kind_of(mechanism) != kind or not listed(content["abstractions"]):
            raise ValueError
        if content["reading"] is not None:
            Reading.from_description(content["reading"])  # raises
        fields = {
            "columns": stated_columns(content),
            "abstractions": tuple(map(Abstraction.from_json, content["abstractions"])),
            "assumptions": texts_of(content["assumptions"]),
            "reading": content["reading"],
            "segment": texts_of([content["segment"]])[0],
        }
        yield mechanism, fields


# ------------------------------------------------------------------------------------------------------ event logs


@dataclass(frozen=True)
class Content:
    """The traces of a released event log, in canonical order. `rules` names the rule of each."""

    variants: tuple[Trace, ...]
    counts: tuple[int, ...]
    columns: tuple[str, ...]
    rules: tuple[str, ...]


def read_release(path: Path) -> Content:
    """Read the variants of an XES, CSV or Parquet file that `Release.write` wrote, with the names that they had."""
    import polars as pl

    with plain_words(f"{path}: cannot be read as a release of travas", "check that the file is complete"):
        is_parquet = path.suffix.lower() == ".parquet"
        if suffix_of(path, XES_SUFFIXES):
            frame = _xes_table(path)
        else:
            frame = pl.read_parquet(path, glob=False, hive_partitioning=False) if is_parquet else _read_csv(path)
        if CASE not in frame.columns or TIMESTAMP not in frame.columns:
            raise LogError(f"{path}: {_NO_RELEASE}")
        first = frame.columns.index(TIMESTAMP)
        columns = [name for name in frame.columns[:first] if name not in _NO_ACTIVITY]
        names = [CASE, *columns]
        is_text = columns and all(frame.schema[name] == pl.String for name in names)
        if not is_text or any(frame.select(names).null_count().row(0)):
            raise LogError(f"{path}: {_NO_RELEASE}")
        if LIFECYCLE in frame.columns[first:]:  # starts of events before their ends
            frame = frame.filter(pl.col(LIFECYCLE) != "start")
        rule = pl.col(RULE).cast(pl.String).first() if RULE in frame.columns else pl.lit(str(FULL)).alias(RULE)
        cases = frame.group_by(CASE, maintain_order=True).agg(*columns, rule)
    plain = str if is_parquet else original_name
    names_of = {name: plain(name) for column in columns for name in frame[column].unique()}
    parts = ([[names_of[name] for name in part] for part in row] for row in cases.select(columns).iter_rows())
    traces = (tuple(row[0]) if len(columns) == 1 else tuple(zip(*row, strict=True)) for row in parts)
    rows = sorted(Counter(zip(traces, cases[RULE].fill_null(""), strict=True)).items())
    return Content(
        tuple(trace for (trace, _), _ in rows),
        tuple(count for _, count in rows),
        tuple(map(plain, columns)),
        tuple(rule for (_, rule), _ in rows),
    )


def unpacked(path: Path) -> bytes:
    """The bytes of a file that travas wrote, without compression."""
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix.lower() == ".gz" else raw


def _read_csv(path: Path) -> pl.DataFrame:
    """The cells of a CSV file as text."""
    import polars as pl

    frame = pl.read_csv(unpacked(path), infer_schema=False)
    # Polars leaves quotes in the header doubled
    frame.columns = [name.replace('""', '"') for name in frame.columns]
    return frame


def _xes_table(path: Path) -> pl.DataFrame:
    """The events of an XES release; one without events has the attributes that its header names."""
    import polars as pl
    from lxml import etree

    from ..sources.xes import events_of

    table = events_of([path]).frame()
    if not table.is_empty():
        return table
    root = etree.fromstring(unpacked(path), etree.XMLParser(resolve_entities=False, no_network=True))
    keys = [key for key in root.xpath("*[local-name()='global'][@scope='event']/*/@key") if key != TIMESTAMP]
    return pl.DataFrame(schema=dict.fromkeys((CASE, *(keys or [ACTIVITY]), TIMESTAMP), pl.String))
