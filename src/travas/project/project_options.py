"""The options of a release project. Each is a key of travas.toml, a flag of the command line and a variable TRAVAS_…"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Values = Mapping[str, str | tuple[str, ...]]
"""The values of options by name; numbers are exact text."""

FILE_NAME = "travas.toml"
"""The name of a project file."""


@dataclass(frozen=True)
class ProjectOption:
    """One option.

    Attributes:
        section: Its table in the file.
        name: Its key, unique in the file: the flag is `--name`, the variable `TRAVAS_NAME`.
        about: What it means, as a comment in the file and as the help of the flag.
        example: A value for the commented line of an option that is not set.
        is_list: Whether it is a list of text; in a variable, its items are separated by semicolons.
    """

    section: str
    name: str
    about: str
    example: str = ""
    is_list: bool = False

    @property
    def flag(self) -> str:
        """The flag of the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"TRAVAS_{self.name.upper()}"


SECTIONS = {
    "source": "Where the events are. Passwords never belong here: set PGPASSWORD, a service file, or TRAVAS_LOG.",
    "reading": "How events become traces. Choose it without looking at single cases: travas docs reading.",
    "unit": "Who is protected. Without a column: one case. With one: all cases of a person.",
    "privacy": "What is released and what it costs. Smaller ε and δ protect more and keep less: travas forecast.",
    "synthesis": "Times and case attributes of synthetic logs (mechanism synthesis). Public, not from the log.",
    "output": "What is written, and where.",
    "account": "Which account of the ledger is charged. Use one name for everything about the same people.",
    "period": "Which cases a release counts: those closed in its period. Different periods then cost once: travas docs periods.",
    "policy": "The rules of your organisation, and what they ask for.",
    "report": "What the report and the README say. Public text.",
}
"""The tables of the file, and what they are about."""

_option = ProjectOption  # short, so that an option is one line

OPTIONS = (
    _option("source", "log", "A file, folder, 'glob' or URL; a path is relative to this file.", "hospital.csv"),
    _option("source", "table", "The table of events in a database.", "public.events"),
    _option("source", "query", "Instead: a SELECT that works case by case.", "SELECT * FROM events"),
    _option("reading", "case", "The case column (in XES: trace attribute). Default: by its usual names.", "case_id"),
    _option("reading", "activity", "The activity columns. Default: by their usual names.", "activity", is_list=True),
    _option("reading", "timestamp", "The timestamp column. Default: by its usual names.", "timestamp"),
    _option("reading", "timestamp_format", "The format of timestamps. Default: ISO 8601.", "%d.%m.%Y %H:%M"),
    _option("reading", "order", "The order of the events of a case: file or time.", "time"),
    _option("reading", "ties", "The order of simultaneous events: file, activity or a column.", "activity"),
    _option("reading", "on_missing", "Events without case, activity or timestamp: fail or drop.", "fail"),
    _option("reading", "duplicate_cases", "XES traces with the same name: fail, separate or merge.", "fail"),
    _option("reading", "lifecycle", "Which events are read: all, complete or start.", "complete"),
    _option("reading", "where", "Only events with these values: COLUMN=VALUE.", "ward=A", is_list=True),
    _option("reading", "duplicate_events", "Events of a case with the same activity and time: keep or drop.", "keep"),
    _option("reading", "format", "The format of the log. Default: by the file extension.", "csv"),
    _option("reading", "sheet", "The sheet of an Excel workbook. Default: the only one.", "Events"),
    _option("reading", "delimiter", "The delimiter of CSV files, or tab. Default: from the header.", ";"),
    _option("reading", "quote", "The quote character of CSV files, or none. Default: from the header.", "none"),
    _option("reading", "encoding", "The encoding of CSV files. Default: byte order mark, else UTF-8.", "latin-1"),
    _option("reading", "abstraction", "A rule applied to every trace before counting.", "first | prefix:8"),
    _option("unit", "unit", "The column that identifies the person.", "patient"),
    _option("unit", "max_cases", "Maximum number of cases per person; chosen without looking at the log.", "3"),
    _option("privacy", "mechanism", "What is released: optimal, ladder, synthesis, map, …", "optimal"),
    _option("privacy", "epsilon", "ε of one release, exact.", "1"),
    _option("privacy", "delta", "δ of one release, exact; below 1/(10 × cases).", "1e-6"),
    _option("privacy", "share", "Instead of epsilon and delta: a share of the policy's limits per release.", "1/2"),
    _option("privacy", "minimum_cases", "Never release a variant with fewer cases.", "5"),
    _option("privacy", "ladder", "Generalise rare variants step by step: default, or rungs.", "default"),
    _option("privacy", "splits", "utravas: the number of runs. Default: computed from ε and δ.", "2"),
    _option("privacy", "max_length", "prefix-tree, sacofa: maximum number of activities per variant.", "20"),
    _option("privacy", "prune", "prefix-tree, sacofa: the threshold that noisy counts must exceed.", "10"),
    _option("privacy", "parts", "map: also measure durations, rework or throughput.", "durations", is_list=True),
    _option(
        "privacy", "alphabet", "A file of public activities, one per line: trees, synthesis, map.", "activities.txt"
    ),
    _option("synthesis", "without", "Leave out times. Default: released if the log has a time column.", "times"),
    _option(
        "synthesis", "attribute", "Case attributes to release: columns, or XES trace attributes.", "sex", is_list=True
    ),
    _option("synthesis", "bins", "Numeric case attributes with increasing edges.", "age=0,20,40,60,80", is_list=True),
    _option("synthesis", "zone", "The time zone of weeks, weekdays and hours. Default: UTC.", "Europe/Berlin"),
    _option("synthesis", "resolution", "What generated times are rounded to: second, minute or day.", "minute"),
    _option(
        "synthesis",
        "shares",
        "Parts of the budget; the rest is for the control flow. For a ladder: equal or adaptive.",
        "times=0.25,attributes=0.1",
    ),
    _option("output", "folder", "The folder of the releases; each period has a folder in it.", "releases"),
    _option("output", "file", "The release file: .xes, .xes.gz, .csv, .csv.gz, .parquet or .json.", "release.xes.gz"),
    _option("output", "frequencies", "Which counts an event log contains: estimated, spread or noisy.", "estimated"),
    _option("output", "profile", "For which program a table is laid out: travas or pm4py.", "pm4py"),
    _option("account", "dataset", "The name of the data set in the ledger.", "hospital"),
    _option("account", "ledger", "The ledger file. Default: TRAVAS_LEDGER, or that of the user.", "ledger.db"),
    _option("period", "every", "The length of a period: day, week, month, quarter or year.", "month"),
    _option("period", "end_activity", "The first of these activities closes a case.", "discharge", is_list=True),
    _option("period", "gap", "Instead: a case is closed when nothing happens in it for this long.", "30d"),
    _option("period", "grace", "How long after its end all events of a period are present, unchanged.", "7d"),
    _option("policy", "policy", "A policy file, or default. Default: TRAVAS_POLICY, or that of the user.", "default"),
    _option("policy", "reason", "Why these parameters are right here; printed in the report.", "Decided on 3 May."),
    _option("policy", "signed_off_by", "Who has signed off the releases of this project.", "Data protection officer"),
    _option("report", "stated_cases", "The approximate number of cases, if it is public; never counted.", "5000"),
    _option("report", "text", "What the README says about the data.", "Visits of the outpatient clinic."),
    _option("report", "recipients", "For whom the release is made.", "Research group A", is_list=True),
)
BY_NAME = {option.name: option for option in OPTIONS}
