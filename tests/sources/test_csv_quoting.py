"""Strict quoting of CSV: what is accepted is read as Python's strict `csv` reads it, everything else is refused."""

import csv
import gzip
import io
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from travas import LogError, Reading, read
from travas.sources.csv_files import first_fault

BY_FILE = Reading(order="file")
HEAD = "case_id,activity,note\n"


def variants(source: Path, reading: Reading = BY_FILE) -> dict[object, int]:
    return dict(read(source, reading).items())


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.csv"


@given(
    st.lists(st.sampled_from([b'"', b'"', b",", b"\n", b"\r\n", b"\r", b"x", b"\0", b'""', b"y" * 63]), max_size=40),
    st.integers(1, 80),
)
def test_a_fault_is_the_same_in_blocks_of_any_size(pieces: list[bytes], size: int) -> None:
    text = b"".join(pieces)
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    assert first_fault(blocks, ",", '"') == first_fault([text], ",", '"')


def test_two_stray_quotes_do_not_make_one_cell_of_all_rows_between(path: Path) -> None:
    """One case more would change what is counted of 999 others."""
    rows = [f"c{number},a,ok\n" for number in range(1000)]
    assert variants(write(path, HEAD + "".join(rows))) == {("a",): 1000}
    rows.insert(3, 'x1,a,"disk 5""\n')
    rows.insert(900, 'x1,b,"disk 7""\n')
    with pytest.raises(LogError, match=r"log.csv, line 902: the quote '\"' .*the quote before it is on line 5"):
        variants(write(path, HEAD + "".join(rows)))


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('1,a,5" pipe\n', 2),
        ('1,a,ok\n2,b, "x"\n', 3),
        ('1,a,"x" \n', 2),
        ('1,a,"x"y"\n', 2),
        ('1,"a\n2,b,x\n', 2),
        ('1,a,"x\ny"z\n', 3),
        ('1,a,x"', 2),
        ('1,a,"', 2),
        ('1,a,"""\n', 2),
        ("1,a,x\ry\n", 2),
        ("1,a,x\r\r\n", 2),
        ("1,a,x\r", 2),
        ("1,a,x\n\r2,b,y\n", 3),
        ('1,a,"x"\r2,b,y\n', 2),
        ("1,a,x\n2,b,\0\n", 3),
        ('1,a,"\0"\n', 2),
    ],
)
@pytest.mark.parametrize("form", ["csv", "csv.gz", "utf-16", "folder"])
def test_what_is_not_strict_is_refused_with_its_line(tmp_path: Path, rows: str, line: int, form: str) -> None:
    source = path = tmp_path / "log.csv"
    reading = BY_FILE
    if form == "csv.gz":
        source = path = tmp_path / "log.csv.gz"
        path.write_bytes(gzip.compress((HEAD + rows).encode()))
    elif form == "folder":
        source = tmp_path / "logs"
        source.mkdir()
        write(source / "a.csv", HEAD + "9,a,x\n")
        path = write(source / "b.csv", HEAD + rows)
    else:
        write(path, HEAD + rows, form.replace("csv", "utf-8"))
    with pytest.raises(LogError) as error:
        variants(source, reading)
    message = str(error.value)
    assert message.startswith(f"{path}, line {line}: ")
    assert message.endswith("[confidential: about the original log]")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('case_id,activity\n1,"a ""b"" c"\n', 'a "b" c'),
        ('case_id,activity\n1,""""\n', '"'),
        ('case_id,activity\n1,"a\nb"\n', "a\nb"),
        ('case_id,activity\r\n1,"a\rb"\r\n', "a\rb"),
        ('case_id,activity\r\n1,"a\r\nb"', "a\r\nb"),
        ('"case_id","activity"\n"1","a"', "a"),
        ('\ufeff"case_id","activity"\n"1","a"', "a"),
        ('case_id,activity\n1,"\ufeffa"', "\ufeffa"),
        ("case_id,activity\n1,a\x0bb\x85c\u2028d", "a\x0bb\x85c\u2028d"),
        ("case_id,activity\r\n1,a\r\n", "a"),
        ("case_id,activity\n1,a\r\n", "a"),
        ("case_id,activity\n1,it's\n", "it's"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_is_strict_is_read_as_it_stands(path: Path, text: str, expected: str, encoding: str) -> None:
    if encoding == "utf-16":
        text = text.removeprefix("\ufeff")
    assert variants(write(path, text, encoding)) == {(expected,): 1}


def test_one_cell_too_many_is_also_refused_in_the_last_line(path: Path) -> None:
    for end in ("", "\n"):
        with pytest.raises(LogError, match="row 2 .* has 3 cells, the header 2"):
            variants(write(path, f"case_id,activity\n1,a\n2,b,{end}"))
        assert variants(write(path, f"case_id,activity,note\n1,a\n2,b,{end}")) == {("a",): 1, ("b",): 1}


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_the_header_is_the_first_line(path: Path, break_: str) -> None:
    with pytest.raises(LogError, match="line 1: is empty but must be the header"):
        variants(write(path, f"{break_}case_id,activity{break_}1,a{break_}"))


def test_the_dialect_comes_from_the_header_and_not_from_the_rows(path: Path) -> None:
    with pytest.raises(LogError, match="line 2: the quote "):
        variants(write(path, "'case_id','activity'\n1,it's\n"))
    assert variants(write(path, "case_id,activity\n'1,x'\n")) == {("x'",): 1}
    assert variants(write(path, 'case_id;activity\n1;"a,b"\n2;c,d,e,f\n')) == {("a,b",): 1, ("c,d,e,f",): 1}


@pytest.mark.parametrize("magic", [b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda"])
def test_what_polars_would_decompress_by_itself_is_refused(path: Path, magic: bytes) -> None:
    """Text behind the first bytes of a format: zlib is not read at all, Zstandard strictly."""
    path.write_bytes(magic + b"case_id,activity\n1,a\n")
    with pytest.raises(LogError, match="compressed data|the zstd file is damaged"):
        variants(path)


def hostile(rng: random.Random, delimiter: str, quote: str) -> str:
    """A table as a program writes it, often with one or two characters too many or too few; or any characters."""
    characters = ["a", "b", " ", "é", "\n", "\r", "\r\n", delimiter, quote, quote * 2, "'", "\x0b", "\u2028", "\ufeff"]
    header = delimiter.join(["case", "activity", "note"])
    if rng.random() < 0.3:
        return f"{header}\n{''.join(rng.choices(characters, k=rng.randrange(40)))}"
    rows = [[rng.choice("12"), *("".join(rng.choices(characters, k=rng.randrange(4))) for _ in "ab")] for _ in range(5)]
    ragged = [row[: rng.choice([3, 3, 3, 2, 1, 0])] for row in rows]
    out = io.StringIO(newline="")
    style = {"delimiter": delimiter, "quotechar": quote, "lineterminator": rng.choice(["\n", "\r\n"])}
    csv.writer(out, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), **style).writerows(ragged)  # type: ignore[arg-type]
    text = f"{header}\n{out.getvalue()}"
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.randrange(len(header) + 1, len(text) + 1)
        text = text[:at] + rng.choice(["", quote, delimiter, "\n", "\r", "x"]) + text[at + rng.randrange(2) :]
    return text.rstrip("\r\n") if rng.random() < 0.3 else text


def expected_variants(text: str, delimiter: str, quote: str) -> dict[object, int]:
    """By Python's own strict reader; csv.Error where it refuses."""
    traces = defaultdict(list)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True)
    next(rows)
    for case, activity, *_ in (row + [""] * 3 for row in rows):
        if case and activity:
            traces[case].append(activity)
    return dict(Counter(map(tuple, traces.values())))


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("delimiter", [",", "\t", " "])
def test_whatever_is_accepted_is_read_as_pythons_strict_csv_reads_it(path: Path, delimiter: str, quote: str) -> None:
    rng = random.Random(f"{delimiter}{quote}")
    outcomes = Counter[str]()
    for _ in range(500):
        text = hostile(rng, delimiter, quote)
        reading = Reading(order="file", on_missing="drop", delimiter=delimiter, quote=quote)
        try:
            found = variants(write(path, text), reading)
        except LogError:
            outcomes["refused"] += 1
            continue
        outcomes["accepted"] += 1
        assert found == expected_variants(text, delimiter, quote), repr(text)
    assert outcomes["accepted"] > 100
    assert outcomes["refused"] > 100


def test_quoted_line_breaks_across_the_blocks_of_a_large_file(path: Path) -> None:
    """Polars parses a file in parts, which must not begin inside a cell."""
    rng = random.Random(1)
    cells = ["\n".join(rng.choices(["1,2,3", "a", '"', ""], k=rng.randrange(60))) for _ in range(40_000)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["case_id", "activity", "note"], *([n, n % 7, cell] for n, cell in enumerate(cells))]
        )
    assert path.stat().st_size > 2_000_000
    assert variants(path) == {(str(n),): len(range(n, 40_000, 7)) for n in range(7)}


@pytest.mark.parametrize("row", ["1,a,2024-01-01,x", "\n1,,2024-01-02,x"], ids=["complete", "a missing activity"])
def test_a_header_in_another_encoding_is_refused_whatever_the_rows_are(row: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"case,activity,timestamp,café\n{row}\n", encoding="cp1252")
    with pytest.raises(LogError, match="not encoded as utf-8 on line 1"):
        read(path)


@pytest.mark.parametrize("end", [b"\xff\n1,a,2024-01-01\n", b"\xc3"], ids=["a wrong byte", "half a character"])
def test_a_header_longer_than_a_block_is_checked_to_its_end(end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"case,activity,timestamp," + "xé".encode() * 2_000_000 + end)
    with pytest.raises(LogError, match="not encoded as utf-8 on line 1"):
        read(path)
    path.write_bytes(b"case,activity,timestamp," + "xé".encode() * 2_000_000 + b"\n1,a,2024-01-01,\n")
    assert variants(path) == {("a",): 1}


@pytest.mark.parametrize("quote", ['"', "'"])
def test_doubled_quotes_in_the_header_are_undone(tmp_path: Path, quote: str) -> None:
    path, name = tmp_path / "log.csv", f"act {quote}x{quote}"
    with path.open("w", newline="") as stream:
        csv.writer(stream, quotechar=quote, quoting=csv.QUOTE_ALL).writerows([["case_id", name], ["1", "a"]])
    assert dict(read(path, Reading(activity=(name,), order="file")).items()) == {("a",): 1}
