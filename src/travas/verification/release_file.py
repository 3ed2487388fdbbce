"""Reading release files: variants, counts, rules and, if the format has them, noisy counts."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LogError
from ..mechanisms import from_description
from ..model.abstraction import FULL, Abstraction
from ..model.escaped_names import ESCAPED, unescape_name
from ..model.mechanism import Mechanism
from ..model.release import COMPLETENESS, ORIGIN, RULE, TIMES_MARK, Frequencies, VariantRelease
from ..model.traces import Activity, Trace, listed
from ..outputs.write import WRITERS
from ..sources.engine import read
from ..sources.formats import XES_SUFFIXES, suffix_of
from ..sources.reading import ACTIVITY, CASE, TIMESTAMP, Reading
from ..sources.release_json import (
    is_process_map,
    load_release_json,
    refusing_malformed,
    stated_columns,
    traces_of,
    whole_numbers,
)
from ..sources.unpacking import chunks
from ..sources.unpacking import content as unpacked_content
from ..trusted.guarantee import Standing
from ..trusted.samplers import Seeded

if TYPE_CHECKING:
    import polars as pl

_STATED_KEYS = ("mechanism", "epsilon", "delta", "standing", "frequencies")
_NO_ACTIVITY = (CASE, TIMESTAMP, RULE, COMPLETENESS, ORIGIN, "privacy:standing")
_OWN_NOTICES = (TIMES_MARK, ESCAPED)
_RULE_OF_TRACE = RULE.removeprefix("case:")
NO_JSON_RELEASE = "not a release of travas; use a .json release"


@dataclass(frozen=True)
class Content:
    """The content of a release file, in canonical order. `rules` has the name of the rule of each variant.

    Fields that the format does not have are None or empty: `noisy`, the rules themselves with the index of the rule of
    each variant, and the noisy number of cases.
    """

    variants: tuple[Trace, ...]
    counts: tuple[int, ...]
    rules: tuple[str, ...]
    columns: tuple[str, ...]
    noisy: tuple[int, ...] | None = None
    abstractions: tuple[Abstraction, ...] = ()
    rungs: tuple[int, ...] = ()
    cases: int | None = None

    def release(self, mechanism: Mechanism, frequencies: Frequencies) -> VariantRelease | None:
        """Return the complete release; None if the file does not contain all of it."""
        if self.noisy is None or not self.abstractions:
            return None
        made = VariantRelease.of(
            mechanism, self.variants, self.noisy, self.columns, self.abstractions, self.rungs, self.cases
        )
        return replace(made, frequencies=frequencies)


def stated_by(path: Path, content: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what a release states about itself, by the keys of the guarantee file. Tables state only their format.

    Args:
        path: The release.
        content: The content of a `.json` file.

    Returns:
        The values by key.
    """
    form = suffix_of(path, tuple(WRITERS))
    stated: dict[str, Any] = {} if form is None else {"format": form.removeprefix(".")}
    if content is not None:
        return stated | {name: content.get(name) for name in _STATED_KEYS}
    if form in XES_SUFFIXES:
        with closing(chunks(path, lambda _: None)) as pieces:
            head = next(pieces, b"").decode(errors="replace")
        head = head.partition("<trace>")[0]
        header = dict(re.findall(r'<string key="privacy:(\w+)" value="([^"]*)"/>', head))
        notices = dict(re.findall(r'<string key="(travas:\w+)" value="([^"]*)"/>', head))
        notices = {name: text for name, text in notices.items() if name not in _OWN_NOTICES}
        return stated | {name: header.get(name) for name in _STATED_KEYS} | {"notices": notices or None}
    return stated


def is_map(path: Path) -> bool:
    """Whether a file is a `.json` release that says that it is a process map."""
    return bool(suffix_of(path, (".json",))) and is_process_map(load_release_json(path, NO_JSON_RELEASE))


def read_release(path: Path) -> Content:
    """Read any file written by `Release.write`. An empty release has no variants."""
    if suffix_of(path, (".json",)):
        return content_of_json(load_release_json(path, NO_JSON_RELEASE), path)
    if suffix_of(path, XES_SUFFIXES):
        columns, is_abstracted, is_escaped = _xes_header(path)
        # the log reader has no keys that are not printable
        is_plain = not is_abstracted and all(map(str.isprintable, columns))
        by_rule = _xes_plain(path, columns) if is_plain else _xes_by_rule(path, columns)
        if is_escaped and not is_plain:  # `read` has done it for plain ones
            by_rule = Counter(
                {(_unescaped(trace), unescape_name(rule)): count for (trace, rule), count in by_rule.items()}
            )
        columns = tuple(map(unescape_name, columns)) if is_escaped else columns
    else:
        columns, by_rule = _table_by_rule(path)
    rows = sorted((trace, rule, count) for (trace, rule), count in by_rule.items())
    return Content(tuple(row[0] for row in rows), tuple(row[2] for row in rows), tuple(row[1] for row in rows), columns)


def content_of_json(content: Mapping[str, Any], path: Path) -> Content:
    """Return the traces of a loaded `.json` release that is an event log, or raise LogError."""
    with refusing_malformed(path, NO_JSON_RELEASE):
        return content_of(content)


def content_of(content: Mapping[str, Any]) -> Content:
    """Return the traces of a `.json` release that is an event log.

    Args:
        content: The content of the file.

    Returns:
        Everything that `Content` has.

    Raises:
        LogError, ParameterError, KeyError, TypeError, ValueError: A field is missing or malformed.
    """
    traces, columns = traces_of(content), stated_columns(content)
    counts, noisy = whole_numbers(content["counts"]), whole_numbers(content.get("noisy", content["counts"]))
    abstractions = tuple(map(Abstraction.from_json, listed(content.get("abstractions", [[]]))))
    rungs = whole_numbers(content.get("rungs", [0] * len(traces)))
    cases = None if content.get("cases") is None else whole_numbers([content["cases"]])[0]
    if (
        not abstractions
        or not len(traces) == len(counts) == len(noisy) == len(rungs)
        or not all(0 <= rung < len(abstractions) for rung in rungs)
    ):
        raise ValueError("the numbers are not those of the traces")
    rules = tuple(str(abstractions[rung]) for rung in rungs)
    return Content(traces, counts, rules, columns, noisy, abstractions, rungs, cases)


def refuse_damaged(path: Path, why: str | None) -> None:
    """Raise LogError if there is a reason why no mechanism has released what a file contains."""
    if why is not None:
        raise LogError(f"{path}: is damaged: {why}; write it again, or download it again")


def stated_mechanism(stated: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism that a guarantee file or a `.json` release describes.

    Args:
        stated: The content of the file.

    Returns:
        The mechanism. Noise that has no established guarantee does not get one by being read.
    """
    mechanism = from_description(stated["description"])
    is_denied = stated["standing"] == Standing.NOT_ESTABLISHED
    if is_denied and mechanism.guarantee().standing != Standing.NOT_ESTABLISHED:
        return mechanism.with_random_bytes(Seeded(0))
    return mechanism


# ------------------------------------------------------------------------------------------------------- event logs


def _xes_plain(path: Path, columns: tuple[str, ...]) -> Counter[tuple[Trace, str]]:
    """Cases by trace of an XES release that was not generalised."""
    variants = read(path, Reading(activities=columns, order="file", duplicate_cases="fail"))
    return Counter({(trace, str(FULL)): count for trace, count in variants.items()})


def read_table(path: Path) -> pl.DataFrame:
    """The events of a CSV or Parquet release as they are in the file; in CSV everything is text."""
    import polars as pl

    from ..sources.parquet import polars_faults, scan_parquet

    with polars_faults(str(path), "a release of travas"):
        frame = scan_parquet([path]).collect() if path.suffix.lower() == ".parquet" else _read_csv(path)
    if CASE not in frame.columns or not {TIMESTAMP, TIMES_MARK} & set(frame.columns):
        raise _no_release(path)
    own = [name for name in _NO_ACTIVITY if name in frame.columns]
    if any(frame.schema[name] != pl.String for name in own if name != TIMESTAMP):
        raise _no_release(path)
    written = (*_before_times(frame), *own)
    if any(frame.select(*dict.fromkeys(written)).null_count().row(0)):
        raise _no_release(path)
    return frame


def _read_csv(path: Path) -> pl.DataFrame:
    """The cells of a CSV file as text; the profile `excel` is recognised by its byte order mark."""
    import polars as pl

    text = unpacked_content(path, lambda _: None)
    separator = ","
    if text.startswith(codecs.BOM_UTF16_LE):
        text, separator = text.decode("utf-16").encode(), "\t"
    frame = pl.read_csv(text, infer_schema=False, separator=separator)
    # Polars leaves quotes in the header doubled
    frame.columns = [name.replace('""', '"') for name in frame.columns]
    return frame


def _before_times(frame: pl.DataFrame) -> list[str]:
    """The columns of cases and activities: those before the times or, without times, their mark."""
    return frame.columns[: frame.columns.index(TIMESTAMP if TIMESTAMP in frame.columns else TIMES_MARK)]


def _table_by_rule(path: Path) -> tuple[tuple[str, ...], Counter[tuple[Trace, str]]]:
    """Return the activity columns, and the number of cases by trace and rule; every row states the rule of its case."""
    import polars as pl

    frame = read_table(path)
    columns = tuple(name for name in _before_times(frame) if name not in _NO_ACTIVITY) or (ACTIVITY,)
    if any(frame.schema.get(name) != pl.String for name in (CASE, *columns)):
        raise _no_release(path)
    rule = pl.col(RULE).first() if RULE in frame.columns else pl.lit(str(FULL)).alias(RULE)
    cases = frame.group_by(CASE, maintain_order=True).agg(*columns, rule)
    by_rule: Counter[tuple[Trace, str]] = Counter()
    for *parts, name in cases.select(*columns, RULE).iter_rows():
        by_rule[tuple(parts[0]) if len(columns) == 1 else tuple(zip(*parts, strict=True)), name] += 1
    if path.suffix.lower() == ".parquet":
        return columns, by_rule
    return tuple(map(unescape_name, columns)), Counter(
        {(_unescaped(trace), name): n for (trace, name), n in by_rule.items()}
    )


def _no_release(path: Path) -> LogError:
    return LogError(f"{path}: not a release of travas; use the file of a release")


def _unescaped(trace: Trace) -> Trace:
    return tuple(unescape_name(a) if isinstance(a, str) else tuple(map(unescape_name, a)) for a in trace)


def _xes_header(path: Path) -> tuple[tuple[str, ...], bool, bool]:
    """Return the keys of events without the timestamp, whether traces were generalised, and whether names are escaped."""
    from lxml import etree

    columns: tuple[str, ...] = (ACTIVITY,)
    is_abstracted = is_escaped = False
    try:
        for element in _elements(path, ("global", "string", "trace")):
            if etree.QName(element).localname == "trace":
                break
            if element.get("scope") == "event":
                keys = (child.get("key") for child in element)
                columns = tuple(key for key in keys if key and key != TIMESTAMP) or columns
            if element.get("key") == "privacy:operation type":
                is_abstracted = "generalization" in (element.get("value") or "")
            is_escaped = is_escaped or element.get("key") == ESCAPED
    except etree.XMLSyntaxError:
        pass
    return columns, is_abstracted, is_escaped


def _xes_by_rule(path: Path, columns: tuple[str, ...]) -> Counter[tuple[Trace, str]]:
    """Count cases by trace and rule; in XES, the rule is a trace attribute, which the log reader ignores."""
    from lxml import etree

    by_rule: Counter[tuple[Trace, str]] = Counter()
    try:
        for element in _elements(path, ("trace",)):
            trace: list[Activity] = []
            rule = str(FULL)
            for child in element.iterchildren(etree.Element):  # without comments
                if etree.QName(child).localname == "event":
                    values = {part.get("key"): part.get("value") for part in child if part.get("value") is not None}
                    trace.append(values[columns[0]] if len(columns) == 1 else tuple(values[key] for key in columns))
                elif child.get("key") == _RULE_OF_TRACE:
                    rule = child.get("value") or rule
            by_rule[tuple(trace), rule] += 1
            element.clear()
            while element.getprevious() is not None:  # frees what was read
                del element.getparent()[0]
    except (etree.XMLSyntaxError, KeyError):
        raise _no_release(path) from None
    return by_rule


def _elements(path: Path, names: tuple[str, ...]) -> Any:
    """Yield the elements with these names as they end."""
    from lxml import etree

    tags = tuple(f"{{*}}{name}" for name in names)
    parser: Any = etree.XMLPullParser(events=("end",), tag=tags, resolve_entities=False, no_network=True)
    for chunk in chunks(path, lambda _: None, 1 << 16):
        parser.feed(chunk)
        for _, element in parser.read_events():
            yield element
