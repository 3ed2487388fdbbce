"""Long traces: where they are divided, what is refused and which attribute counts depend on the trace alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from travas import LogError, Reading, read
from travas.model.escaped_names import ESCAPED, escape_name
from travas.sources.doctor.xes_events import xes_table
from travas.sources.xes import xes_reader
from travas.sources.xes.trace_parts import MAX_ELEMENT_SIZE, MAX_TAG_BYTES, PART_SIZE, size_of
from travas.sources.xes.xes_reader import XesDocument

SEPARATE = Reading(order="file", duplicate_cases="separate")


def attribute(key: str, value: str) -> str:
    return f'<string key="{key}" value="{value}"/>'


def event(*more: str) -> str:
    return f"<event>{attribute('concept:name', 'a')}{''.join(more)}</event>"


def trace(*content: str) -> str:
    return f"<trace>{''.join(content)}</trace>"


def small_limits(patch: pytest.MonkeyPatch, chunk: int = 256) -> None:
    patch.setattr("travas.sources.xes.trace_parts.PART_SIZE", 4000)
    patch.setattr("travas.sources.xes.trace_parts.MAX_ELEMENT_SIZE", 16_000)
    patch.setattr("travas.sources.xes.xes_scanner._LONGEST", 4000)
    patch.setattr(xes_reader, "CHUNK", chunk)


OTHERS = (
    "",
    trace(event()),
    trace(event()) * 5,
    *(trace(event(attribute("pad", "y" * length))) for length in (237, 3900, 9000)),
    trace(attribute("concept:name", "a&amp;b"), event()) * 3,
    attribute("between", "z" * 3000),
)

DOCUMENTS = {
    "scanned": ("<log>", "</log>", "utf-8"),
    "a declaration": ('<?xml version="1.0" encoding="UTF-8"?>\n<log xmlns="urn:x">', "</log>", "utf-8"),
    "a prefix": ('<x:log xmlns:x="urn:x">', "</x:log>", "utf-8"),
    "another encoding": ('<?xml version="1.0" encoding="UTF-16"?><log>', "</log>", "utf-16"),
}


def documents(case: str, *names: str) -> Iterator[bytes]:
    """Logs with this trace, alone, before and after others; in the documents of these names, or in all of them."""
    forms = [DOCUMENTS[name] for name in names or DOCUMENTS]
    for (head, end, encoding), other, turned in product(forms, OTHERS, (False, True)):
        body = case + other if turned else other + case
        if ":log" in head:
            for tag in ("trace", "event", "string"):
                body = body.replace(f"<{tag}", f"<x:{tag}").replace(f"</{tag}", f"</x:{tag}")
        yield f"{head}{body}{end}".encode(encoding)


def is_refused(path: Path, text: bytes, reading: Reading = SEPARATE) -> bool:
    path.write_bytes(text)
    try:
        read(path, reading)
    except LogError as error:
        assert "an element is larger than" in str(error)
        return True
    return False


def element_of(size: int, kind: str) -> str:
    """An element of that size: an event, an attribute of the trace, or text."""
    values = (size - 100) // 210
    body = "".join(f'<i k="{"z" * 195}" />' for _ in range(values))  # 204 or 205 each
    head = {"event": '<event a="">', "attribute": '<list key="x">'}[kind]
    end = {"event": "</event>", "attribute": "</list>"}[kind]
    missing = size - size_of(etree.fromstring(head + body + end))
    return f"{head}{body}{'t' * missing}{end}"


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("kind", ["event", "attribute"])
def test_no_other_case_decides_whether_an_element_is_refused(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by being there, nor by its place and length, nor by being read without the parser."""
    small_limits(monkeypatch)
    lenient = Reading(order="file", duplicate_cases="separate", on_missing="drop")
    for size, position in product((15_999, 16_000, 16_001, 20_100), (0, 1, 77)):
        long = element_of(size, kind)
        assert size_of(etree.fromstring(long)) == size
        case = trace(event() * position, long, event() * 30)
        found = {is_refused(tmp_path / "log.xes", text, lenient) for text in documents(case, name)}
        assert found == {size > 16_000}, (size, position)


@pytest.mark.parametrize("size", [15_999, 16_000, 16_001, 20_200])
def test_no_case_decides_whether_an_element_between_traces_is_refused(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_limits(monkeypatch)
    long = element_of(size, "attribute")
    found = {is_refused(tmp_path / "log.xes", text) for text in documents(long)}
    assert found == {size > 16_000}


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("number", [7, 9])
def test_blanks_have_their_size_wherever_they_are_in_the_file(
    number: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that removes them keeps those in which a block of the file ends."""
    small_limits(monkeypatch)
    lenient = Reading(order="file", duplicate_cases="separate", on_missing="drop")
    case = trace(event(), "<event>" + ("<i/>" + " " * 2000) * number + "</event>")
    found = {is_refused(tmp_path / "log.xes", text, lenient) for text in documents(case, name)}
    assert found == {number > 7}


@pytest.mark.parametrize("pad", [1, 9000])
@pytest.mark.parametrize("close", ["</trace>", "</trace >"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_mark_behind_a_trace_does_not_say_that_names_are_escaped(
    name: str, close: str, pad: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the parser has read it with the first trace depends on the length of that trace."""
    small_limits(monkeypatch)
    escaped = f"<trace><event>{attribute('concept:name', escape_name(chr(1)))}</event></trace>"
    body = trace(event(attribute("pad", "y" * pad))) + attribute(ESCAPED, "true") + escaped
    head, end, encoding = DOCUMENTS[name]
    if ":log" in head:
        body = body.replace("<", "<x:").replace("<x:/", "</x:")
    path = tmp_path / "log.xes"
    path.write_bytes(f"{head}{body}{end}".replace("</trace>", close).encode(encoding))
    assert dict(read(path, SEPARATE).items()) == {("a",): 1, (escape_name(chr(1)),): 1}


@pytest.mark.parametrize("pad", [1, 9000])
def test_an_event_with_a_key_does_not_hide_elements_that_are_not_events(
    pad: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_limits(monkeypatch)
    path = tmp_path / "log.xes"
    keyed = event().replace("<event>", '<event key="z">')
    path.write_text(f"<log>{trace(keyed, attribute('pad', 'y' * pad), '<foo/>')}</log>")
    with pytest.raises(LogError, match="<foo> in trace 1 is neither an <event> nor an attribute"):
        read(path, SEPARATE)


@pytest.mark.parametrize("chunk", [1, 100, 4096, 1 << 20])
def test_blocks_of_the_file_do_not_decide_either(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch, chunk)
    path = tmp_path / "log.xes"
    for size in (16_000, 16_001):
        case = trace(event() * 30, element_of(size, "attribute"), event() * 30)
        texts = [f"<log>{other}{case}</log>".encode() for other in OTHERS[:4]]
        assert {is_refused(path, text) for text in texts} == {size > 16_000}


def parts_read(path: Path, text: bytes, patch: pytest.MonkeyPatch) -> list[list[str]]:
    """The keys of the children of each part of the trace that has marked children."""
    parts: list[list[str]] = []
    take = XesDocument._take

    def watched(self: XesDocument, piece: Any) -> None:
        if keys := [key for child in piece if (key := child.get("key", "")).startswith("mark")]:
            parts.append(keys)
        take(self, piece)

    path.write_bytes(text)
    with patch.context() as inner:
        inner.setattr(XesDocument, "_take", watched)
        read(path, SEPARATE)
    return parts


def test_a_long_trace_is_divided_in_the_same_way_in_every_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch)
    marks = [attribute(f"mark{number}", "z" * (number * 37 % 1500)) for number in range(60)]
    case = trace("<!-- -->", *(mark + event() for mark in marks))
    found = {str(parts_read(tmp_path / "log.xes", text, monkeypatch)) for text in documents(case)}
    assert len(found) == 1 and found.pop().count("[") > 6


VALUES = {"empty": '<string key="KEY" value=""/>', "absent": '<string key="KEY"/>', "first": attribute("KEY", "A")}
READINGS = {
    "case": Reading(order="file", case="KEY", on_missing="drop"),
    "unit": Reading(order="file", unit="KEY", max_cases=1, on_missing="drop"),
    "where": Reading(order="file", where=(("case:KEY", "A"),), duplicate_cases="separate"),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", READINGS)
def test_the_first_of_two_attributes_counts_in_a_trace_of_any_length(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_limits(monkeypatch)
    path, found = tmp_path / "log.xes", set()
    others = [trace(attribute("concept:name", key), attribute("KEY", key), event(), event()) for key in "CD"]
    for number, comment in product((1, 60, 200), ("", "<!-- -->")):  # with a comment it goes to the parser
        pad = [attribute(f"pad{index}", "y" * 50) for index in range(number)]
        case = trace(attribute("concept:name", "1"), VALUES[value], event(), *pad, comment, attribute("KEY", "A"))
        for size in range(3):
            path.write_text(f"<log>{''.join(others[:size])}{case}</log>")
            found.add(dict(read(path, READINGS[name]).items()).get(("a",), 0))
    assert found == {1 if value == "first" else 0}


def test_attributes_of_a_trace_are_read_from_all_of_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch)
    path = tmp_path / "log.xes"
    case = trace(
        event() * 200, attribute("patient", "A"), event() * 200, *map(attribute, ("patient", "concept:name"), "B1")
    )
    path.write_text(f"<log>{trace(*map(attribute, ('concept:name', 'patient'), '2A'), event())}{case}</log>")
    reading = Reading(order="file", unit="patient", max_cases=1)
    assert sum(count for _, count in read(path, reading).items()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "<a/>",
        "<a k=''/>",
        '<a k="v" l="w"><b>text</b>tail</a>',
        "<a>&lt;&amp;&#65;<![CDATA[<>]]></a>",
        '<x:a xmlns:x="urn:a:long:namespace" x:k="é"><x:b/></x:a>',
        "<a\n\tk  =  '>'\n>\r\n</a>",
        "<a><!-- comment --><?instruction?></a>",
        '<event><string key="concept:name" value="Ärztin"/></event>',
    ],
)
def test_an_element_is_never_larger_than_its_bytes(text: str) -> None:
    parser = etree.XMLParser(remove_comments=True, remove_pis=True)
    for encoding in ("utf-8", "utf-16"):
        data = text.encode(encoding)
        assert 4 <= size_of(etree.fromstring(data, parser)) <= len(data)


def test_the_doctor_reads_the_first_of_two_persons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.xes"
    two = trace(attribute("patient", "first"), event(), attribute("patient", "second"), event() * 50)
    for number in (0, 3):
        path.write_text(f"<log>{trace(attribute('patient', 'other'), event()) * number}{two}</log>")
        for limits in (False, True):
            if limits:
                small_limits(monkeypatch)
            table, _, _ = xes_table([path])
            assert table["case:patient"].to_list() == ["other"] * number + ["first"] * 51


def tag_of(size: int, kind: str) -> str:
    """A tag with a given number of bytes up to the next one."""
    empty = attribute("x", "")
    filling = size - len(empty)
    return {"value": attribute("x", "y" * filling), "space": empty + "\n" * filling}[kind]


@pytest.mark.parametrize("kind", ["value", "space"])
@pytest.mark.parametrize("size", [4999, 5000, 5001, 5300])
def test_no_other_case_decides_whether_a_tag_is_refused(
    size: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_limits(monkeypatch)
    monkeypatch.setattr("travas.sources.xes.trace_parts.MAX_TAG_BYTES", 5000)
    path, case = tmp_path / "log.xes", trace(event(), tag_of(size, kind), event())
    for other, after in product([other for other in OTHERS if len(other) < 5000], repeat=2):
        path.write_text(f"<log>{other}{case}{after}</log>")
        assert has_long_tag(path) == (size > 5000)


def has_long_tag(path: Path) -> bool:
    try:
        read(path, SEPARATE)
    except LogError as error:
        assert "a value is over" in str(error)
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 1])
def test_the_limit_of_a_tag_is_the_same_in_every_log_at_its_real_size(more: int, tmp_path: Path) -> None:
    """The parser refuses some tags with fewer than 10,000,000 bytes, depending on what it has read before."""
    path, case = tmp_path / "log.xes", trace(event(), tag_of(MAX_TAG_BYTES + more, "value"), event())
    for length in (0, 1000, 130_000, 260_000):
        path.write_text(f"<log>{trace(event(attribute('pad', 'y' * length)))}{case}</log>")
        assert has_long_tag(path) == bool(more)


def test_other_encodings_have_a_smaller_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Because the parser counts the bytes of UTF-8, of which a character can have more."""
    small_limits(monkeypatch)
    monkeypatch.setattr("travas.sources.xes.trace_parts.MAX_TAG_BYTES", 6000)
    path = tmp_path / "log.xes"
    for size in (2000, 2001):
        text = f"<log>{trace(event(), tag_of(size, 'value'), event())}</log>"
        path.write_bytes(f'<?xml version="1.0" encoding="ISO-8859-1"?>{text}'.encode("latin-1"))
        assert has_long_tag(path) == (size > 2000)
        path.write_text(text)
        assert not has_long_tag(path)
    path.write_bytes(f'<?xml version="1.0" encoding="ISO-8859-1"?>{text}'.encode("latin-1"))
    with pytest.raises(LogError, match="a value is over 0.0 MB; save the file as UTF-8, or export it again"):
        read(path, SEPARATE)


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 1])
def test_the_limit_is_the_same_in_every_log_at_its_real_size(more: int, tmp_path: Path) -> None:
    long = element_of(MAX_ELEMENT_SIZE + more, "attribute").replace(" />", "/>")
    case = trace(event() * 20_000, long, event() * 20_000)
    assert len(event() * 20_000) < PART_SIZE
    others = ("", trace(event()), trace(event()) * 5, trace(event(attribute("pad", "y" * 150_000))))
    texts = [f"<log>{other}{case}{after}</log>".encode() for other in others for after in ("", trace(event()))]
    assert {is_refused(tmp_path / "log.xes", text) for text in texts} == {bool(more)}
