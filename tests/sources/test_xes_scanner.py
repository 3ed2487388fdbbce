"""Plain traces are read without the parser: what is read, and what is refused, is the same with it."""

import gzip
import random
from pathlib import Path

import pytest

from travas import Reading, TravasError, read
from travas.log.questions import DetailColumn, Details
from travas.sources import xes

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- header -->\n<log xes.version="1.0" xmlns="http://www.xes-standard.org/">\n'


def event(name: str, second: int) -> str:
    moment = f"2024-01-01T00:00:{second:02d}+00:00"
    return (
        f'<event>\n<string key="concept:name" value="{name}"/>\n<string key="org:resource" value="ä"/>\n'
        f'<date key="time:timestamp" value="{moment}"/>\n</event>\n'
    )


def trace(number: int, *names: str) -> str:
    body = "".join(event(name, 30 - step) for step, name in enumerate(names))
    own = f'<string key="concept:name" value="{number}"/>\n<string key="patient" value="p{number % 3}"/>\n'
    return f"<trace>\n{own}{body}</trace>\n"


TRACES = [trace(number, *random.Random(number).choices("abc", k=1 + number % 3)) for number in range(8)]
PLAIN = HEAD + "".join(TRACES) + "</log>\n"

READINGS = {
    "default": Reading(),
    "time": Reading(order="time"),
    "drop": Reading(on_missing="drop", duplicate_cases="merge"),
    "columns": Reading(activity=("concept:name", "org:resource"), duplicate_cases="separate"),
    "unit": Reading(unit="patient", max_cases=2),
    "lifecycle": Reading(lifecycle="complete", where=(("org:resource", "ä"),), order="time", ties="org:resource"),
    "where": Reading(where=(("case:patient", "p1"),)),
    "details": Reading(
        details=Details("read", (DetailColumn("patient"), DetailColumn("org:resource"))), on_missing="drop"
    ),
    "absent": Reading(activity=("nothing",), on_missing="drop"),
}


def outcome(path: Path, reading: Reading, scans: bool, monkeypatch: pytest.MonkeyPatch) -> object:
    """What a log is read as, or why it is refused."""
    with monkeypatch.context() as patch:
        if not scans:
            patch.setattr(xes, "is_scannable", lambda root, head: False)
        try:
            found = read(path, reading)
        except TravasError as error:
            return str(error)
        return dict(found.items()), found.notes


def is_read_alike(text: str | bytes, path: Path, monkeypatch: pytest.MonkeyPatch, *readings: Reading) -> None:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for reading in readings or READINGS.values():
        slow = outcome(path, reading, False, monkeypatch)
        assert outcome(path, reading, True, monkeypatch) == slow


def test_plain_traces_bypass_the_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.xes"
    is_read_alike(PLAIN, path, monkeypatch)
    fed: list[bytes] = []
    parse = xes._Document._parse

    def watched(self: xes._Document, piece: bytes) -> None:
        fed.append(piece)
        parse(self, piece)

    monkeypatch.setattr(xes._Document, "_parse", watched)
    assert sum(count for _, count in read(path).items()) == len(TRACES)
    assert b"".join(fed).count(b"<trace>") == 2  # the header and the first trace, then a piece that shows where it is


ODD = {
    "entity": trace(90, "a&amp;b"),
    "reference": trace(91, "&#65;"),
    "comment": trace(92, "a").replace("<event>", "<!-- <event> --><event>"),
    "comment of a trace": "<!-- " + trace(93, "a") + " -->",
    "end in a comment": trace(94, "a").replace("<event>", "<!-- </trace> --><event>"),
    "section": trace(95, "a").replace("<event>", "<![CDATA[</trace>]]><event>"),
    "instruction": trace(96, "a") + "<?x </trace> ?>",
    "nested attribute": trace(97, "a").replace(
        'value="a"/>', 'value="a"><string key="concept:name" value="z"/></string>'
    ),
    "two values": trace(98, "a").replace("<event>", '<event><string key="concept:name" value="first"/>'),
    "two values and none": trace(99, "a", "b")
    .replace('<string key="concept:name" value="a"/>', "")
    .replace('value="b"/>', 'value="b"/><string key="concept:name" value="c"/>'),
    "two names": trace(100, "a").replace("<trace>", '<trace><string key="concept:name" value="first"/>'),
    "no name": "<trace>" + event("a", 1) + "</trace>",
    "empty name": trace(101, ""),
    "empty trace": '<trace><string key="concept:name" value="102"/></trace>',
    "single quotes": trace(103, "a").replace('"', "'"),
    "other order": trace(104, "a").replace('key="concept:name" value="a"', 'value="a" key="concept:name"'),
    "spaces": trace(105, "a").replace('"/>', '"  />').replace("<string key", "<string  key"),
    "name after events": "<trace>" + event("a", 1) + '<string key="concept:name" value="106"/></trace>',
    "end with a space": trace(107, "a").replace("</trace>", "</trace >"),
    "end with a space before a comment": trace(108, "a").replace("</trace>", "</trace ><!-- </trace>"),
    "event in an attribute": trace(109, "a").replace('value="a"/>', 'value="a">' + event("b", 2) + "</string>"),
    "event of the log": event("a", 1),
    "attribute of the log": '<string key="x" value="y"/>',
    "value with a tag": trace(110, "a").replace('value="a"', 'value="<trace>"'),
    "trace in an attribute": '<string key="x" value="' + trace(111, "a") + '"/>',
    "trace in a trace": trace(112, "a").replace("<event>", trace(113, "b") + "<event>"),
    "trace in an element": "<list>" + trace(114, "a") + "</list>",
    "other namespace": trace(115, "a").replace("<event>", '<event xmlns="other">'),
    "trace of another namespace": trace(116, "a").replace("<trace>", '<trace xmlns="other">'),
    "control character": trace(117, "a\x01"),
    "tab": trace(118, "a\tb"),
    "not a character": trace(119, "a\ufffe"),
    "unknown kind": trace(120, "a").replace("<string", "<text"),
    "no key": trace(121, "a").replace('key="org:resource" ', ""),
    "text": trace(122, "a").replace("<event>", "text<event>"),
    "open": trace(123, "a").replace("</event>", ""),
    "no time": trace(124, "a").replace("date key", "date kez"),
    "duplicate name": trace(1, "a"),
    "many lines": trace(125, "a").replace("\n", "\n\n\n") + "<!-- -->\n<oops",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("place", [0, 5])
def test_odd_traces_are_read_or_refused_as_by_the_parser(
    odd: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + "".join([*TRACES[:place], odd, *TRACES[place:]]) + "</log>\n"
    is_read_alike(text, tmp_path / "log.xes", monkeypatch)
    is_read_alike(text.replace("\n", ""), tmp_path / "log.xes", monkeypatch, Reading())


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
        PLAIN.replace("UTF-8", "UTF-7").encode(),
        PLAIN.replace("UTF-8", "UTF-16").encode("utf-16"),
        PLAIN.encode("latin-1"),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.replace(' xmlns="http://www.xes-standard.org/"', ""),
        PLAIN.replace("<log", "<x:log").replace("</log", "</x:log").replace("xmlns=", "xmlns:x="),
        PLAIN.replace("<log", '<log xmlns:x="y"').replace("<trace>", "<x:trace>").replace("</trace>", "</x:trace>"),
        PLAIN.replace("<log", "<!-- " + trace(200, "a") + " --><log"),
        PLAIN.replace("<log", "<!-- " + trace(200, "a")),
        PLAIN.replace("</log>", "</log></log>"),
        PLAIN.replace("</log>", ""),
        PLAIN + TRACES[0],
        PLAIN.replace("<log", "<html"),
    ],
)
def test_other_documents_are_read_or_refused_as_by_the_parser(
    text: str | bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read_alike(text, tmp_path / "log.xes", monkeypatch)


def encoded(declaration: str, name: str, encoding: str) -> bytes:
    """A log of five traces with the same name."""
    traces = "".join(trace(number, name) for number in range(5)).replace("ä", "-")
    return f"{declaration}<log>{traces}</log>".encode(encoding)


def declared(encoding: str) -> str:
    return f'<?xml version="1.0" encoding="{encoding}"?>'


ENCODED = {
    "windows-1252": encoded(declared("windows-1252"), "CafÃ©", "windows-1252"),
    "iso-8859-1": encoded(declared("ISO-8859-1"), "Ã¼", "iso-8859-1"),
    "koi8-r": encoded(declared("KOI8-R"), "ц│", "koi8-r"),
    "utf-7": encoded(declared("UTF-7"), "é", "utf-7"),
    "utf-8 as ascii": encoded(declared("US-ASCII"), "é", "utf-8"),
    "utf-8 as ascii at the end": (declared("US-ASCII") + PLAIN[PLAIN.index("<log") :].replace("ä", "a"))
    .replace('value="7"', 'value="é"')
    .encode(),
    "utf-8 as latin": encoded(declared("ISO-8859-1"), "é", "utf-8"),
    "utf-8 as latin with a mark": encoded(declared("ISO-8859-1"), "é", "utf-8-sig"),
    "utf-16": encoded(declared("UTF-16"), "é", "utf-16"),
    "utf-16 without a mark": encoded(declared("UTF-16"), "é", "utf-16-le"),
    "utf-16 as utf-8": encoded(declared("UTF-8"), "é", "utf-16-be"),
    "utf-16 with tags in its bytes": encoded(declared("UTF-16"), b"</trace><trace> ".decode("utf-16-le"), "utf-16"),
    "utf-8 in single quotes": encoded(declared("utf-8").replace('"', "'"), "é", "utf-8"),
    "two declarations": encoded(
        "<?xml version='1.0' standalone='encoding=\"utf-8\"' encoding='latin1'?>", "é", "utf-8"
    ),
    "none": encoded("", "é", "utf-8"),
    "none and latin": encoded("", "é", "iso-8859-1"),
}


@pytest.mark.parametrize("text", ENCODED.values(), ids=ENCODED.keys())
def test_every_encoding_is_read_or_refused_as_by_the_parser(
    text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read_alike(text, tmp_path / "log.xes", monkeypatch, Reading(order="file"))
    monkeypatch.setattr(xes, "CHUNK", 1)
    is_read_alike(text, tmp_path / "log.xes", monkeypatch, Reading(order="file"))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_pieces_of_any_size_give_the_same_result(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.xes.gz"
    path.write_bytes(gzip.compress((HEAD + "".join([*TRACES, *ODD.values()][:14]) + "</log>").encode()))
    whole = outcome(path, Reading(duplicate_cases="separate"), False, monkeypatch)
    monkeypatch.setattr(xes, "CHUNK", size)
    assert outcome(path, Reading(duplicate_cases="separate"), True, monkeypatch) == whole


def test_a_long_trace_goes_to_the_parser_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("travas.sources.xes._LONGEST", 2000)
    text = HEAD + "".join([*TRACES, trace(50, *"abc" * 30), *(trace(60 + n, "b") for n in range(5))]) + "</log>"
    is_read_alike(text, tmp_path / "log.xes", monkeypatch)
