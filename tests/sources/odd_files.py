"""Twenty unusual logs as programs and people write them, each with a sentence that says what is unusual.

Every one contains the same four cases, so that every correct reader returns the same variants. `docs/doctor.md` shows
them: `python tests/sources/odd_files.py` prints the table.
"""

import gzip
import io
import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

START = datetime(2024, 2, 3, 13, 0, tzinfo=UTC)
CASES = {
    "1001": ("Aufnahme", "Röntgen", "Entlassung"),
    "1002": ("Aufnahme", "Entlassung"),
    "1003": ("Aufnahme", "Röntgen", "Entlassung"),
    "1004": ("Aufnahme", "Röntgen", "Röntgen", "Entlassung"),
}
EXPECTED = {CASES["1001"]: 2, CASES["1002"]: 1, CASES["1004"]: 1}
Row = tuple[str, str, datetime]


def events(day: int = 3) -> list[Row]:
    """Case, activity and time; the last event of a case is on another day. Rows are not in the order of time."""
    rows = []
    for number, (case, trace) in enumerate(CASES.items()):
        for step, activity in enumerate(trace):
            late = timedelta(days=20) if step == len(trace) - 1 else timedelta()
            start = START.replace(day=day)
            rows.append((case, activity, start + late + timedelta(hours=step, minutes=7 * number)))
    return rows[1::2] + rows[::2]


def table(
    form: str | Callable[[datetime], str] = "%Y-%m-%d %H:%M:%S",
    header: str = "case_id,activity,timestamp",
    delimiter: str = ",",
    rows: list[Row] | None = None,
    more: Callable[[int], str] = lambda _: "",
) -> str:
    """A text table; `more` adds cells to a row."""
    write = form if callable(form) else lambda when: when.strftime(form)
    lines = [header.replace(",", delimiter)]
    for number, (case, activity, when) in enumerate(rows or events()):
        lines.append(delimiter.join([case, activity, write(when)]) + more(number))
    return "\n".join(lines) + "\n"


def xes(*, lifecycle: bool = False, names: Callable[[str], str] = str) -> str:
    """XES with the events of every case in order."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<log xmlns="http://www.xes-standard.org/">']
    for case, trace in CASES.items():
        lines.append(f'<trace><string key="concept:name" value={quoteattr(names(case))}/>')
        for step, activity in enumerate(trace):
            for transition in ("start", "complete") if lifecycle else ("complete",):
                when = (START + timedelta(hours=step, minutes=transition == "complete")).isoformat()
                lines.append(f"<event><string key='concept:name' value={quoteattr(activity)}/>")
                lines.append(f"<date key='time:timestamp' value='{when}'/>")
                lines.append(f"<string key='lifecycle:transition' value='{transition}'/></event>")
        lines.append("</trace>")
    return "\n".join([*lines, "</log>"])


def excel(path: Path, sheets: dict[str, list[list[Any]]]) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def cells(time: Callable[[datetime], Any], header: list[str]) -> list[list[Any]]:
    return [header, *([int(case), activity, time(when)] for case, activity, when in events())]


def without_zone(when: datetime) -> datetime:
    return when.replace(tzinfo=None)


def excel_days(when: datetime) -> float:
    return (without_zone(when) - datetime(1899, 12, 30)) / timedelta(days=1)


def pairs() -> str:
    """Every activity has a row when it starts and one when it is complete."""
    lines = ["case_id,activity,timestamp,lifecycle:transition"]
    for case, activity, when in events():
        lines.append(f"{case},{activity},{(when - timedelta(minutes=3)).isoformat()},START")
        lines.append(f"{case},{activity},{when.isoformat()},COMPLETE")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class OddFile:
    """A file: its name, what is unusual, how it is made, and what the doctor must mention.

    `extra` are options that the doctor names in words but does not propose by itself, because they drop something.
    """

    name: str
    odd: str
    make: Callable[[Path], object]
    says: tuple[str, ...]
    extra: tuple[tuple[str, str], ...] = ()
    readings: int = 1


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content.encode(encoding))


GERMAN = "Fall-ID;Tätigkeit;Zeitpunkt"
ODD_FILES = (
    OddFile("hospital.csv", "German names, semicolons, German dates, and Windows encoding.",
            text(table("%d.%m.%Y %H:%M", GERMAN.replace(";", ","), ";"), "cp1252"), ("cp1252", "%d.%m.%Y %H:%M", "semicolon")),
    OddFile("us.csv", "American dates on a 12-hour clock.",
            text(table("%m/%d/%Y %I:%M %p", "Case ID,Activity,Complete Timestamp")), ("%m/%d/%Y %I:%M %p",)),
    OddFile("ambiguous.csv", "All days are below 13, so that 03/02/2024 has two readings.",
            text(table("%d/%m/%Y %H:%M", rows=[(c, a, w.replace(month=2 + w.day // 13, day=3)) for c, a, w in events()])),
            ("ambiguous", "3 February 2024", "2 March 2024"), readings=2),
    OddFile("epoch.csv", "Times are seconds since 1970.",
            text(table(lambda when: str(int(when.timestamp())))), ("epoch-seconds",)),
    OddFile("millis.csv", "Times are milliseconds since 1970.",
            text(table(lambda when: str(int(when.timestamp() * 1000)))), ("epoch-milliseconds",)),
    OddFile("serial.csv", "Times are Excel's serial days with a decimal comma.",
            text(table(lambda when: f"{excel_days(when):.6f}".replace(".", ","), delimiter=";")), ("'excel'", "semicolon")),
    OddFile("utf16.csv", "UTF-16 without a byte order mark.",
            text(table(), "utf-16-le"), ("utf-16-le",)),
    OddFile("export.dat", "An extension that says nothing.", text(table()), ("csv", "does not say so")),
    OddFile("inches.csv", "A lone quote in a cell, because nothing is quoted.",
            text(table(header="case_id,activity,timestamp,note", more=lambda n: ',5" pipe' if n == 2 else ",x")),
            ("nothing is quoted",)),
    OddFile("disco.csv", "Start and complete times in two columns.",
            text(table(header="Case ID,Activity,Complete Timestamp,Start Timestamp",
                       more=lambda n: f",2024-02-01 00:{n:02}:00")), ("'Complete Timestamp'", "could also be 'Start Timestamp'")),
    OddFile("celonis.csv", "The column names of Celonis.",
            text(table(header="_CASE_KEY,ACTIVITY_EN,EVENTTIME")), ("'_CASE_KEY'", "'EVENTTIME'")),
    OddFile("french.csv", "French names.",
            text(table("%d/%m/%Y %H:%M:%S", header="Numéro de dossier,Étape,Horodatage")), ("'Étape'", "%d/%m/%Y")),
    OddFile("unknown.csv", "Names that say nothing, in another order.",
            text("\n".join(",".join(line.split(",")[n] for n in (2, 1, 0)) for line in
                           table(header="a,b,c").splitlines()) + "\n"), ("column 'a'", "column 'b'", "column 'c'")),
    OddFile("pairs.csv", "Every activity has a row when it starts and one when it ends.",
            text(pairs()), ("lifecycle", "START 12", "COMPLETE 12")),
    OddFile("twice.csv", "The export contains every row twice.",
            text(table() + "\n".join(table().splitlines()[1:]) + "\n"), ("12 events", "duplicate_events to 'drop'"),
            extra=(("duplicate_events", "drop"),)),
    OddFile("holes.csv", "Rows without a case or an activity.",
            text(table() + ",Röntgen,2024-02-03 10:00:00\n1001,,2024-02-03 10:00:00\n"),
            ("1 cell missing", "on_missing to 'drop'")),
    OddFile("pairs.xes.gz", "XES with start and complete events.",
            lambda path: path.write_bytes(gzip.compress(xes(lifecycle=True).encode())), ("start 12", "complete 12")),
    OddFile("sheets.xlsx", "A workbook whose log is on the second sheet, with real dates.",
            lambda path: excel(path, {"Info": [["Export", "of today"]],
                                      "Ereignisse": cells(without_zone, ["Fall", "Aktivität", "Zeit"])}),
            ("'Ereignisse'", "'Info'")),
    OddFile("serial.xlsx", "A workbook whose times are numbers.",
            lambda path: excel(path, {"log": cells(excel_days, ["Case ID", "Activity", "Timestamp"])}), ("'excel'",)),
)  # fmt: skip


def main(out: io.TextIOBase | Any = sys.stdout) -> None:
    """Print the table of docs/doctor.md."""
    from travas import doctor
    from travas.settings.table import BY_NAME

    print("| file | what is unusual | options that the doctor proposes |\n|---|---|---|", file=out)
    with tempfile.TemporaryDirectory() as folder:
        for odd in ODD_FILES:
            path = Path(folder) / odd.name
            odd.make(path)
            found = doctor(path)
            flags = [
                shlex.join(part for name, value in {**found.settings, **chosen}.items()
                           for each in ((value,) if isinstance(value, str) else value) for part in (BY_NAME[name].flag, each))
                for chosen in [{name: value} for name, values in found.choices.items() for value in values] or [{}]
            ]  # fmt: skip
            options = " or ".join(f"`{line}`" if line else "none needed" for line in flags)
            more = "".join(f"; named in words: `{name} = {value}`" for name, value in odd.extra)
            print(f"| `{odd.name}` | {odd.odd} | {options.replace('|', chr(92) + '|')}{more} |", file=out)


if __name__ == "__main__":
    main()
