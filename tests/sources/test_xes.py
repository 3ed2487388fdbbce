from pathlib import Path

import pytest

from travas import LogError, Reading, read


def log_of(*traces: str, head: str = "", namespace: str = "") -> str:
    body = "".join(f"<trace>{trace}</trace>" for trace in traces)
    return f'<?xml version="1.0"?><log{namespace}>{head}{body}</log>'


def named(name: str, *activities: str, rest: str = "") -> str:
    events = "".join(f'<event><string key="concept:name" value="{a}"/></event>' for a in activities)
    return f'<string key="concept:name" value="{name}"/>{events}{rest}'


def timed(name: str, *events: tuple[str, str, str]) -> str:
    body = "".join(
        f'<event><string key="concept:name" value="{a}"/><date key="time:timestamp" value="{t}"/>'
        f'<int key="step" value="{tie}"/></event>'
        for a, t, tie in events
    )
    return f'<string key="concept:name" value="{name}"/>{body}'


def variants(path: Path, text: str | bytes, reading: Reading = Reading()) -> dict[object, int]:  # noqa: B008
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return dict(read(path, reading).items())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.xes"


def test_traces_become_variants(path: Path) -> None:
    text = log_of(named("1", "a", "b"), named("NA", "a", "b"), named("3", "b"))
    assert variants(path, text) == {("a", "b"): 2, ("b",): 1}


def test_a_namespace_a_byte_order_mark_utf16_and_comments(path: Path) -> None:
    text = log_of(named("1", "ä", "𝄞"), namespace=' xmlns="http://www.xes-standard.org/"', head="<!-- c -->")
    assert variants(path, b"\xef\xbb\xbf" + text.encode()) == {("ä", "𝄞"): 1}
    assert variants(path, text.replace('"1.0"?', '"1.0" encoding="UTF-16"?').encode("utf-16")) == {("ä", "𝄞"): 1}


@pytest.mark.parametrize(
    "encoding", ["cp1252", "ISO-8859-1", "Shift_JIS", "EUC-JP", "GB18030", "UTF-16LE", "ISO-10646-UCS-2"]
)
def test_encodings_without_a_state_are_read(encoding: str, path: Path) -> None:
    name = "東" if encoding in ("Shift_JIS", "EUC-JP", "GB18030") else "ä"
    text = log_of(named("1", name)).replace('"1.0"?', f'"1.0" encoding="{encoding}"?')
    assert variants(path, text.encode("utf-16" if "UCS" in encoding else encoding)) == {(name,): 1}


@pytest.mark.parametrize("encoding", ["ISO-2022-JP", "ISO-2022-KR", "ISO-2022-CN", "UTF-7", "HZ", "UCS-4"])
@pytest.mark.parametrize("quote", ["'", '"'])
def test_an_encoding_in_which_a_case_can_change_how_others_are_read_is_refused(
    encoding: str, quote: str, path: Path
) -> None:
    text = log_of(named("1", "A"), named("2", "B~C")).replace('"1.0"?', f'"1.0" encoding={quote}{encoding}{quote}?')
    content = text.encode("utf-32-be" if encoding == "UCS-4" else "ascii").replace(b'"A"', b'"A\x1b(J"')
    with pytest.raises(LogError, match="not supported; convert the file to UTF-8|malformed XML"):
        variants(path, content)


def test_the_encoding_is_that_of_the_parser(path: Path) -> None:
    """Which finds it however the declaration is written, and whatever else it contains."""
    for space in (" ", "\n", " " * 5000):
        text = log_of(named("1", "A")).replace('"1.0"?', f'"1.0"{space}encoding = "ISO-2022-JP"?')
        with pytest.raises(LogError, match="'ISO-2022-JP' is not supported"):
            variants(path, text)


@pytest.mark.parametrize("encoding", ["cp037", "cp500", "cp1047"])
def test_ebcdic_is_refused(encoding: str, path: Path) -> None:
    text = log_of(named("1", "A")).replace('"1.0"?', f'"1.0" encoding="{encoding}"?')
    try:
        content = text.encode(encoding)
    except LookupError:  # Python does not know it, libxml2 does
        content = text.encode("cp037")
    with pytest.raises(LogError, match="convert the file to UTF-8"):
        variants(path, content)


def test_nested_attributes_and_globals_are_not_events(path: Path) -> None:
    head = '<global scope="event"><string key="concept:name" value="UNKNOWN"/></global>'
    inner = '<string key="x" value="1"><string key="concept:name" value="inner"/></string>'
    nested = f'<event>{inner}<string key="concept:name" value="a"/></event>'
    assert variants(path, log_of('<string key="concept:name" value="1"/>' + nested, head=head)) == {("a",): 1}


def test_time_orders_and_ties_are_broken_as_stated(path: Path) -> None:
    text = log_of(
        timed(
            "1",
            ("late", "2020-01-01T10:00:00+02:00", "1"),
            ("b", "2020-01-01T07:00:00Z", "10"),
            ("a", "2020-01-01T07:00:00", "9"),
        )
    )
    assert variants(path, text) == {("late", "b", "a"): 1}
    assert variants(path, text, Reading(order="time")) == {("b", "a", "late"): 1}
    assert variants(path, text, Reading(order="time", ties="activity")) == {("a", "b", "late"): 1}
    assert variants(path, text, Reading(order="time", ties="step")) == {("a", "b", "late"): 1}
    assert variants(path, text, Reading(ties="activity")) == {("a", "b", "late"): 1}
    assert variants(path, text, Reading(timestamp="time:timestamp")) == {("b", "a", "late"): 1}
    [note] = read(path, Reading(ties="stpe")).notes
    assert "'stpe'" in note and "'step'" in note
    with pytest.raises(LogError, match="no event has the attribute"):
        variants(path, text, Reading(activity=("a\x01",)))


def test_traces_of_one_name(path: Path) -> None:
    text = log_of(named("1", "a"), named("2", "c"), named("1", "b"))
    with pytest.raises(LogError, match="have the same name"):
        variants(path, text)
    assert variants(path, text, Reading(duplicate_cases="separate")) == {("a",): 1, ("b",): 1, ("c",): 1}
    assert variants(path, text, Reading(duplicate_cases="merge")) == {("a", "b"): 1, ("c",): 1}
    text = log_of(timed("1", ("b", "2020-01-02", "1")), timed("1", ("a", "2020-01-01", "1")))
    assert variants(path, text, Reading(duplicate_cases="merge", order="time")) == {("a", "b"): 1}


def test_what_is_missing_is_counted(path: Path) -> None:
    bare = "<event/>"
    text = log_of(named("1", "a"), named("2", "a", rest=bare + bare), named("3", "a", ""))
    with pytest.raises(LogError, match=r"3 events without an activity;.*set on_missing to 'drop'"):
        variants(path, text)
    assert variants(path, text, Reading(on_missing="drop")) == {("a",): 3}
    late = timed("1", ("a", "2020-01-01", "1")) + "<event><string key='concept:name' value='b'/></event>"
    with pytest.raises(LogError, match="1 event without a timestamp"):
        variants(path, log_of(late), Reading(order="time"))
    with pytest.raises(LogError, match="1 event outside any trace"):
        variants(path, log_of(named("1", "a")).replace("</log>", bare + "</log>"))
    nameless = log_of(named("1", "a"), "<event><string key='concept:name' value='a'/></event>")
    with pytest.raises(LogError, match="1 trace without a name.*set duplicate_cases to 'separate'"):
        variants(path, nameless)
    assert variants(path, nameless, Reading(on_missing="drop")) == {("a",): 1}
    assert variants(path, nameless, Reading(duplicate_cases="separate")) == {("a",): 2}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<log><trace></log>", "malformed XML at line 1, column"),
        ("<log>\n<trace>\n", "malformed XML at line 3"),
        ("not xml at all", "malformed XML at line 1, column 1"),
        ("<html></html>", "root element is not <log>"),
        ('<!DOCTYPE log [<!ENTITY a "b">]><log></log>', "DOCTYPE"),
        ('<?xml version="1.0"?><!DOCTYPE log SYSTEM "file:///etc/passwd"><log></log>', "DOCTYPE"),
        ("<log><trace><trace></trace></trace></log>", "is not directly in <log>"),
        ("<log>&undefined;</log>", "malformed XML"),
        ('<log><x:trace xmlns:x="a}b"/></log>', "<trace> is not directly in <log>"),
        ('<log><trace><x:y xmlns:x="a}b"/><x/></trace></log>', "<y> in trace 1 is neither"),
    ],
)
def test_what_is_not_xes_is_refused_in_one_line(path: Path, text: str, why: str) -> None:
    with pytest.raises(LogError, match=why) as error:
        variants(path, text)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    assert error.value.confidential or "malformed" not in why  # a line and a column are about the log


def test_a_doctype_in_utf16_is_refused(path: Path) -> None:
    with pytest.raises(LogError, match="DOCTYPE"):
        variants(path, '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE log><log></log>'.encode("utf-16"))


def test_invalid_timestamps_are_quoted_and_marked_confidential(path: Path) -> None:
    with pytest.raises(LogError, match=r"'soon' is not a timestamp.*\[confidential"):
        variants(path, log_of(timed("1", ("a", "soon", "1"))), Reading(order="time"))
    text = log_of(timed("1", ("b", "02.01.2020", "1"), ("a", "01.01.2020", "1")))
    assert variants(path, text, Reading(order="time", timestamp_format="%d.%m.%Y")) == {("a", "b"): 1}


def test_large_elements_of_a_well_formed_log_are_read(path: Path) -> None:
    """A public log whose list of attributes has 20 MB was refused."""
    head = (
        "<list>" + '<string key="x" value="y"/>' * 400_000 + "</list>" + f'<string key="z" value="{"v" * 12_000_000}"/>'
    )
    long = named("1", "a", "b" * 10_500_000)
    assert variants(path, log_of(long, named("2", *"c" * 180_000), head=head)) == {
        ("a", "b" * 10_500_000): 1,
        ("c",) * 180_000: 1,
    }


def test_with_drop_a_wrong_name_is_a_note(path: Path) -> None:
    """One case that has the attribute must not decide between a release and an error."""
    path.write_text(log_of(named("1", "a")))
    for wrong in ({"activity": ("nope",)}, {"timestamp": "no"}, {"case": "nope"}, {"unit": "word", "max_cases": 2}):
        with pytest.raises(LogError):
            read(path, Reading(**wrong))
        found = read(path, Reading(on_missing="drop", **wrong))
        assert not len(found) and any("has the attribute" in note for note in found.notes)


@pytest.mark.parametrize("text", ["<log></log>", "<log/>", log_of(named("1")), log_of(named("1"), named("2"))])
def test_a_log_without_events_is_read(path: Path, text: str) -> None:
    path.write_text(text)
    found = read(path)
    assert not len(found) and "the log has no events; check that it is the right one" in found.notes
    unit = Reading(unit="patient", max_cases=2)
    assert not len(read(path, unit))
