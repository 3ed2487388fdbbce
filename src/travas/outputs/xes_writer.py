"""Releases as XES, with the privacy extension in the header. Escaped names: docs/outputs.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO
from xml.sax.saxutils import quoteattr

from ..log.escaped_names import ESCAPED, escape_name
from ..log.options import CASE_PREFIX
from ..log.questions import LIFECYCLE
from ..releases.release import START_TIMESTAMP, TIMES_MARK, ReleasedLog, about_timestamps, frequencies_of
from ..sources.reading import CASE, TIMESTAMP
from ..trusted.numbers import as_text
from .event_tables import events

if TYPE_CHECKING:
    import polars as pl


def _attribute(value: str) -> str:
    """Quote an XML attribute; white space is written as character references, because parsers normalise it."""
    return quoteattr(
        escape_name(value), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", "\x85": "&#133;", "\u2028": "&#8232;"}
    )


def xes_string(key: str, value: str) -> str:
    """Return an attribute of XES that is text, with escaped names."""
    return f"<string key={_attribute(key)} value={_attribute(value)}/>"


_LOG = '<log xes.version="1849.2023" xes.features="nested-attributes" xmlns="http://www.xes-standard.org/">'
"""IEEE 1849-2023; the schema of XES requires a decimal number as version."""

_TAGS = {"text": "string", "whole number": "int", "number": "float"}

_EXTENSIONS = {
    "Concept": "concept",
    "Time": "time",
    "Lifecycle": "lifecycle",
    "Organizational": "org",
    "Privacy": "privacy",
}

_SLICE = 1 << 14  # events that are text at the same time


def xes_header(release: ReleasedLog) -> str:
    """Return the header of the log: facts of the release, nothing from the header of the source."""
    guarantee = release.guarantee
    privacy = {
        "privacy:operation type": release.operation + (" and generalization" if release.is_abstracted else ""),
        "privacy:level": guarantee.unit.name,
        "privacy:target": "trace variant",
        "privacy:mechanism": guarantee.mechanism,
        "privacy:epsilon": as_text(guarantee.epsilon),
        "privacy:delta": as_text(guarantee.delta),
        "privacy:standing": str(guarantee.standing),
        "privacy:frequencies": frequencies_of(release),
    }
    if not guarantee.unit.is_case:
        privacy["privacy:max cases"] = str(guarantee.unit.max_cases)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', _LOG]
    for name, prefix in _EXTENSIONS.items():
        lines.append(f'<extension name="{name}" prefix="{prefix}" uri="http://www.xes-standard.org/{prefix}.xesext"/>')
    lines += ['<global scope="trace">', xes_string("concept:name", ""), "</global>"]
    lines += ['<global scope="event">', *(xes_string(column, "") for column in release.columns)]
    lines += [f'<date key="{TIMESTAMP}" value="1970-01-01T00:00:00.000+00:00"/>', "</global>"]
    names = " ".join(f"'{column}'" if " " in column else column for column in release.columns)
    lines.append(f'<classifier name="Activity" keys={_attribute(names)}/>')
    lines += [xes_string("concept:name", release.title), xes_string(TIMES_MARK, about_timestamps(release.mechanism))]
    lines += [xes_string(key, value) for key, value in release.notices.items()]
    lines.append(xes_string(ESCAPED, "escaped"))
    lines += ['<list key="privacy:anonymizations">', "<values>", '<list key="privacy:anonymizer1">', "<values>"]
    lines += [xes_string(key, value) for key, value in privacy.items()]
    lines += ["</values>", "</list>", "</values>", "</list>"]
    return "\n".join(lines) + "\n"


def write_xes(release: ReleasedLog, out: BinaryIO) -> None:
    import polars as pl

    out.write(xes_header(release).encode())
    text = pl.concat_str(_parts(release), ignore_nulls=True).str.join()
    for part in _rows(release).iter_slices(_SLICE):
        out.write(part.select(text).item().encode())
    out.write(b"</log>\n")


def _rows(release: ReleasedLog) -> pl.DataFrame:
    """The events with quoted texts, each start as an event of its own, and whether they begin or end a case.

    Of simultaneous ones, an event ends before the next one starts.
    """
    import polars as pl

    rows, case = events(release, _attribute).with_row_index("place"), pl.col(CASE)
    if release.event_starts is not None:
        starts = rows.drop(_attribute(column.attribute) for column in release.event_columns).with_columns(
            pl.col(START_TIMESTAMP).alias(TIMESTAMP), pl.lit('"start"').alias(LIFECYCLE)
        )
        ends = rows.with_columns(pl.lit('"complete"').alias(LIFECYCLE))
        both = pl.concat([starts.drop_nulls(TIMESTAMP), ends], how="diagonal")
        rows = both.sort(CASE, TIMESTAMP, "place", maintain_order=True)
    return rows.with_columns(begins=case.ne_missing(case.shift()), ends=case.ne_missing(case.shift(-1)))


def _parts(release: ReleasedLog) -> list[pl.Expr]:
    """The text of a row, from what begins its case to what ends it; null where there is nothing to write."""
    import polars as pl

    moment = pl.col(TIMESTAMP).dt.convert_time_zone("UTC").dt.strftime("%Y-%m-%dT%H:%M:%S.000%:z")
    of_case = [
        pl.format('<trace>\n<string key="concept:name" value="{}"/>\n', CASE),
        *(_element(each.attribute, _attribute(each.column), each.kind) for each in release.case_columns),
        *(_element(label, label) for label in release.case_labels),
    ]
    return [
        pl.when("begins").then(pl.concat_str(of_case, ignore_nulls=True)),
        pl.lit("<event>\n"),
        *(_element(column, _attribute(column)) for column in release.columns),
        pl.format(f'<date key="{TIMESTAMP}" value="{{}}"/>\n', moment),
        *([] if release.event_starts is None else [_element(LIFECYCLE, LIFECYCLE)]),
        *(_element(each.attribute, _attribute(each.attribute), each.kind) for each in release.event_columns),
        pl.lit("</event>\n"),
        pl.when("ends").then(pl.lit("</trace>\n")),
    ]


def _element(key: str, column: str, kind: str = "text") -> pl.Expr:
    """A column as an attribute of XES; null where it has no value."""
    import polars as pl

    value = pl.col(column) if kind == "text" else pl.format('"{}"', column)
    begin = f"<{_TAGS[kind]} key={_attribute(key.removeprefix(CASE_PREFIX))} value="
    return pl.concat_str(pl.lit(begin), value, pl.lit("/>\n"))
