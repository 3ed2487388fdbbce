"""Releases as XES, with the privacy extension in the header. Escaped names: docs/outputs.md."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import quoteattr

from ..model.release import Release
from ..model.traces import Activity
from ..privacy.numbers import as_text
from ..sources.columns import TIMESTAMP
from .event_tables import START
from .guarantee_file import ARTIFICIAL
from .names import ESCAPED, escape


def _attribute(value: str) -> str:
    """Quote an XML attribute; white space is written as character references, because parsers normalise it."""
    return quoteattr(escape(value), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", "\x85": "&#133;", "\u2028": "&#8232;"})


def _string(key: str, value: str) -> str:
    return f"<string key={_attribute(key)} value={_attribute(value)}/>"


_EXTENSIONS = (("Concept", "concept"), ("Time", "time"), ("Lifecycle", "lifecycle"), ("Organizational", "org"))


def _xes_header(release: Release) -> str:
    """Return the header of the log: facts of the release, nothing from the header of the source."""
    guarantee = release.guarantee
    operation = "substitution" if release.mechanism.kind == "synthetic log" else "addition and suppression"
    privacy = {
        "privacy:operation type": operation + (" and generalization" if release.is_abstracted else ""),
        "privacy:level": guarantee.unit.name,
        "privacy:target": "trace variant",
        "privacy:mechanism": guarantee.mechanism,
        "privacy:epsilon": as_text(guarantee.epsilon),
        "privacy:delta": as_text(guarantee.delta),
        "privacy:standing": str(guarantee.standing),
        "privacy:frequencies": release.frequencies,
    }
    if not guarantee.unit.is_case:
        privacy["privacy:max cases"] = str(guarantee.unit.max_cases)
    used = [
        (n, p)
        for n, p in _EXTENSIONS
        if p in ("concept", "time") or any(c.startswith(p + ":") for c in release.columns)
    ]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<log xes.version="1.0" xes.features="nested-attributes">']
    for name, prefix in [*used, ("Privacy", "privacy")]:
        lines.append(f'<extension name="{name}" prefix="{prefix}" uri="http://www.xes-standard.org/{prefix}.xesext"/>')
    lines += ['<global scope="trace">', _string("concept:name", ""), "</global>"]
    lines += ['<global scope="event">', *(_string(column, "") for column in release.columns), _date(0), "</global>"]
    keys = " ".join(f"'{column}'" if " " in column else column for column in release.columns)
    lines.append(f'<classifier name="Activity" keys={_attribute(keys)}/>')
    lines += [_string("concept:name", release.title), _string("travas:timestamps", ARTIFICIAL)]
    lines += [_string(key, value) for key, value in release.notices.items()]
    if _has_escapes(release):
        lines.append(_string(ESCAPED, "escaped"))
    lines += ['<list key="privacy:anonymizations">', "<values>", '<list key="privacy:anonymizer1">', "<values>"]
    lines += [_string(key, value) for key, value in privacy.items()]
    lines += ["</values>", "</list>", "</values>", "</list>"]
    return "\n".join(lines) + "\n"


def _has_escapes(release: Release) -> bool:
    """Return whether any text of the release is escaped."""
    activities = {activity for trace in release.variants for activity in trace} | {release.columns}
    names = {name for activity in activities for name in ((activity,) if isinstance(activity, str) else activity)}
    names |= {release.guarantee.unit.name, *map(str, release.abstractions)}
    return any(escape(name) != name for name in names)


def _date(step: int) -> str:
    moment = (START + timedelta(seconds=step)).strftime("%Y-%m-%dT%H:%M:%S.000+00:00")
    return f'<date key="{TIMESTAMP}" value="{moment}"/>'


def _xes(release: Release) -> Iterator[bytes]:
    """Yield the document in pieces, one element per line; the events of a variant are rendered once and repeated."""
    yield _xes_header(release).encode()
    width = len(release.columns)
    rendered: dict[Activity, str] = {}
    dates: list[str] = []
    labels = [(column.removeprefix("case:"), values) for column, values in release.case_labels.items()]
    case = 0
    for index, (trace, count) in enumerate(zip(release.variants, release.counts, strict=True)):
        dates.extend(_date(step) + "\n</event>\n" for step in range(len(dates), len(trace)))
        parts: list[str] = []
        for activity, date in zip(trace, dates, strict=False):
            if activity not in rendered:
                values: Any = (activity,) if width == 1 else activity
                rendered[activity] = "\n".join(["<event>", *map(_string, release.columns, values), ""])
            parts += (rendered[activity], date)
        label = "".join(_string(key, values[index]) + "\n" for key, values in labels)
        body = ('"/>\n' + label + "".join(parts) + "</trace>\n").encode()
        for number in range(case + 1, case + count + 1):
            yield b'<trace>\n<string key="concept:name" value="%d' % number
            yield body
        case += count
    yield b"</log>\n"


def write_xes(release: Release, path: Path) -> None:
    with path.open("wb", buffering=1 << 20) as out:
        out.writelines(_xes(release))


def write_xes_gz(release: Release, path: Path) -> None:
    with path.open("wb") as raw:
        # level 3 is an eighth larger than level 6 and takes less than half the time
        packed: Any = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=3)
        with packed:
            _in_blocks(_xes(release), packed)


def _in_blocks(pieces: Iterable[bytes], out: IO[bytes]) -> None:
    """Buffer small writes, which are slow with gzip."""
    block, size = [], 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size > 1 << 18:
            out.write(b"".join(block))
            block, size = [], 0
    out.write(b"".join(block))
