"""The table of settings: one row for everything that a user can set about a release.

Flags of the command line, keys of `travas.toml`, fields of the web app and the reference are made from these rows, and
keyword arguments in Python and the fields of errors have the same names. What an option of a mechanism may be, and its
default, is decided by the class of the mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Literal

import attrs

from ..errors import ParameterError, shown
from ..trusted.numbers import exact, typed_whole_number

Section = Literal["log", "reading", "privacy", "mechanism", "rules", "output", "account", "period"]
Kind = Literal["text", "number", "whole number", "choice", "list", "file", "list or file"]
"""What a value is. A number is exact, and stays the text that was typed; a list is one of texts; text may be a file with one."""

Value = str | int | tuple[str, ...]
"""The value of a setting: a tuple for a list, an int for a whole number, else text."""

SECTIONS: Mapping[Section, str] = {
    "log": "Where the events are. Passwords never belong here: set PGPASSWORD, or use a service file.",
    "reading": "How events become traces, and who is protected: travas docs reading, travas docs unit.",
    "privacy": "What a release costs. Smaller values protect more and keep less: travas forecast.",
    "mechanism": "What is released, and how. Public, and not chosen by looking at the log.",
    "rules": "synthesis: what every generated case obeys: travas docs synthesis. Public, never found by looking at the log.",
    "output": "What is written, and what the README says.",
    "account": "What is charged, under which rules, and why. Use one data set for everything about the same people.",
    "period": "Which cases a release counts: those closed in its period. Different periods cost once: travas docs every-month.",
}
"""The tables of travas.toml, and what they are about."""


@attrs.frozen
class Setting:
    """One setting.

    Attributes:
        section: Its table in `travas.toml`.
        name: Its key, its keyword argument, and, as `--name`, its flag.
        kind: What its value is.
        example: A value.
        help: One sentence, with the default.
        choices: The possible values, if they are few.
        use: Whether it is shown first, or only when asked for.
    """

    section: Section
    name: str
    kind: Kind
    example: str
    help: str
    choices: tuple[str, ...] = ()
    use: Literal["common", "rare"] = "rare"

    @property
    def by_looking(self) -> bool:
        """Whether it may be chosen by looking at the log. The values of others decide about privacy."""
        from ..sources.doctor.diagnosis import PROPOSED

        return self.name in ("log", *PROPOSED)

    @property
    def flag(self) -> str:
        """The flag of the command line."""
        return "--" + self.name.replace("_", "-")

    def parse(self, value: object) -> Value:
        """Return the value of a flag, of a key of a file or of a field of a form.

        Args:
            value: Text, a whole number, or a list of text.

        Returns:
            The value.

        Raises:
            ParameterError: It is not a value of this setting.
        """
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if self.kind == "list" or (self.kind == "list or file" and not isinstance(value, str)):
            return self._list(value)
        if not isinstance(value, str):
            raise ParameterError(f"{self.name} is {shown(value)}; it must be text or a number", field=self.name)
        if not value:
            raise ParameterError(f"{self.name} is empty; set a value, or remove {self.name}", field=self.name)
        if self.kind == "whole number":
            return typed_whole_number(value, self.name)
        if self.kind == "number":
            exact(value, self.name)
        if self.kind == "choice" and value not in self.choices:
            raise ParameterError(
                f"{self.name} is {shown(value)}; use one of {', '.join(self.choices)}", field=self.name
            )
        return value

    def _list(self, value: object) -> tuple[str, ...]:
        items = (value,) if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ParameterError(f"{self.name} is {shown(value)}; it must be a list of text", field=self.name)
        if "" in items:
            raise ParameterError(f"{self.name} has empty text; set a value, or remove it", field=self.name)
        return tuple(items)


# fmt: off
SETTINGS = (
    Setting("log", "log", "file", "hospital.csv", "A file, folder, 'glob' or URL; a path is relative to this file.",
            use="common"),
    Setting("log", "table", "text", "public.events", "Database: the table of events."),
    Setting("log", "query", "text", "SELECT * FROM events", "Database: instead of a table, a SELECT that works case by case."),
    Setting("log", "format", "choice", "csv", "Format of the log. Default: by the file extension; standard input needs it.",
            ("xes", "csv", "parquet", "arrow", "xlsx")),
    Setting("log", "sheet", "text", "Events", "Sheet of an Excel workbook. Default: the only one."),
    Setting("log", "delimiter", "text", ";", "Delimiter of CSV files, or tab. Default: from the header."),
    Setting("log", "quote", "text", "none", "Quote character of CSV files, or none. Default: from the header."),
    Setting("log", "encoding", "text", "cp1252", "Encoding of CSV files. Default: from the byte order mark, else UTF-8."),
    Setting("reading", "case", "text", "case_id", "Case column (in XES: trace attribute). Default: by its usual names.",
            use="common"),
    Setting("reading", "activity", "list", "activity", "Activity column, or several. Default: by its usual names.",
            use="common"),
    Setting("reading", "timestamp", "text", "timestamp", "Timestamp column. Default: by its usual names.",
            use="common"),
    Setting("reading", "timestamp_format", "text", "%d.%m.%Y %H:%M", "Format of timestamps. Default: ISO 8601."),
    Setting("reading", "order", "choice", "time", "Order of the events of a case. Default: file for XES, time for tables.",
            ("file", "time")),
    Setting("reading", "ties", "text", "activity",
            "Order of simultaneous events of a case: file, activity (by name; default for databases) or a column."),
    Setting("reading", "on_missing", "choice", "drop",
            "How to handle events without case, activity or timestamp, and cases without a unit. Default: fail.",
            ("fail", "drop")),
    Setting("reading", "duplicate_cases", "choice", "merge", "How to handle XES traces with the same name. Default: fail.",
            ("fail", "separate", "merge")),
    Setting("reading", "lifecycle", "choice", "complete", "Which events are read, by the lifecycle column; pairs: complete "
            "events with the times of their starts. Default: all.", ("all", "complete", "start", "pairs")),
    Setting("reading", "where", "list", "ward=A",
            "Read only events with this value in this column; several values of one column are alternatives. In XES, "
            "case:NAME is a trace attribute."),
    Setting("reading", "decimal", "choice", ",", "Sign of decimals in numbers that are text, such as 1.234,50. Default: plain "
            "numbers such as 1234.50 only.", (",", ".")),
    Setting("reading", "duplicate_events", "choice", "drop",
            "How to handle events of a case with the same activity and timestamp. Default: keep.", ("keep", "drop")),
    Setting("reading", "abstraction", "text", "first | prefix:8",
            "Rule applied to every trace before counting: travas docs abstractions. Default: full."),
    Setting("reading", "unit", "text", "patient", "Column that identifies the person. Default: one case is protected.",
            use="common"),
    Setting("reading", "max_cases", "whole number", "3",
            "Maximum number of cases counted per person, 1 to 1000; chosen without looking at the log.", use="common"),
    Setting("reading", "by", "text", "ward", "Case attribute: one release for each of its values, together at the cost of one."),
    Setting("reading", "segments", "list", "A",
            "by: its values, a public list; other is every other value. Not chosen by looking at the log."),
    Setting("privacy", "epsilon", "number", "1", "ε as an exact number: 1, 0.5 or 1/3. At most 20.", use="common"),
    Setting("privacy", "delta", "number", "1e-6", "δ as an exact number; below 1/(10 × cases). 0 only for prefix trees.",
            use="common"),
    Setting("privacy", "stated_cases", "whole number", "5000",
            "Approximate number of cases, if it is public, to warn if δ is too large. Never counted."),
    Setting("privacy", "guarantee", "choice", "not required",
            "Whether a release whose guarantee is not established is refused. Default: required.", ("required", "not required")),
    Setting("mechanism", "mechanism", "text", "optimal",
            "optimal, travas, utravas, prefix-tree, sacofa, ladder, synthesis, map; or an entry point or module:Class of "
            "another package. Default: optimal, synthesis or map, by the command.", use="common"),
    Setting("mechanism", "minimum_cases", "whole number", "5",
            "optimal, travas, ladder: never release a variant with fewer cases (persons, with a unit). Default: 1."),
    Setting("mechanism", "splits", "whole number", "2", "utravas: number of runs. Default: computed from ε and δ."),
    Setting("mechanism", "max_length", "whole number", "20",
            "prefix-tree, sacofa: maximum number of activities per variant."),
    Setting("mechanism", "prune", "whole number", "10", "prefix-tree, sacofa: threshold that noisy counts must exceed."),
    Setting("mechanism", "rungs", "text", "full,first,prefix:6",
            "ladder: generalise rare variants step by step, by abstractions from fine to coarse. Default: default."),
    Setting("mechanism", "shares", "text", "times=0.25,attributes=0.1",
            "synthesis: parts of the budget, the rest is for the control flow. ladder: equal or adaptive."),
    Setting("mechanism", "alphabet", "list or file", "activities.txt",
            "prefix-tree, sacofa (required), synthesis, map: public activities, a list or a file with one per line."),
    Setting("mechanism", "parts", "list", "durations",
            "map: what to measure beyond counts: durations, rework, throughput, service."),
    Setting("mechanism", "times", "choice", "none",
            "synthesis: times are released if the log has a time column (the default), or not.", ("if recorded", "none")),
    Setting("mechanism", "attributes", "list", "age=0,20,40,60,80",
            "synthesis: case attributes to release; of numbers with increasing edges, such as age=0,20,40,60,80; values that "
            "are public may be listed, such as sex=f|m."),
    Setting("mechanism", "event_attributes", "list", "org:role",
            "synthesis: attributes of events to release, with edges or public values as for attributes."),
    Setting("mechanism", "zone", "text", "Europe/Berlin", "synthesis: time zone of weeks, weekdays and hours. Default: UTC."),
    Setting("mechanism", "resolution", "choice", "minute", "synthesis: precision of generated times. Default: second.",
            ("second", "minute", "day")),
    Setting("mechanism", "recorded", "text", "2024-01-01/2025-12-31",
            "synthesis: first and last day on which cases started, if they are public."),
    Setting("mechanism", "longest_case", "whole number", "365",
            "synthesis: number of days that no case takes longer than, if it is public."),
    Setting("rules", "starts_with", "list", "register", "Every case starts with one of these. Not found by looking at the log."),
    Setting("rules", "ends_with", "list", "release", "Every case ends with one of these. Not found by looking at the log."),
    Setting("rules", "at_most_once", "list", "register",
            "Activities that occur at most once in a case. Not found by looking at the log."),
    Setting("rules", "before", "list", "register < release",
            "A < B: B never occurs before A has occurred. Not found by looking at the log."),
    Setting("rules", "follows", "list", "register > triage",
            "A > B: only listed pairs directly follow one another. Not found by looking at the log."),
    Setting("rules", "at_least", "list", "triage < treatment: 10m",
            "A < B: TIME: the least time from A to a directly following B. Not found by looking at the log."),
    Setting("rules", "hours", "text", "Mon-Fri 07-19, Sat 08-12",
            "When events happen, by days and hours in the time zone. Not found by looking at the log."),
    Setting("rules", "reference_model", "file", "process.bpmn",
            "A .bpmn, .pnml or .ptml file that sets starts_with, ends_with, follows and alphabet. Not discovered from the log."),
    Setting("output", "output", "file", "release.xes.gz", "The file to write: its extension is the format.", use="common"),
    Setting("output", "folder", "file", "releases", "travas release: the folder of the releases, one folder for each."),
    Setting("output", "frequencies", "choice", "noisy",
            "Counts in an event log: each variant's own cases (estimated, the default), with a share of the cases not "
            "released (spread), or noisy.", ("estimated", "spread", "noisy")),
    Setting("output", "profile", "choice", "pm4py", "For which program a table is laid out. Default: travas.",
            ("travas", "pm4py")),
    Setting("output", "about", "text", "Visits of the outpatient clinic.", "What the README says about the data: public text."),
    Setting("output", "recipients", "list", "Research group A", "For whom the release is made, as the README says."),
    Setting("account", "dataset", "text", "hospital", "Name of the data set in the ledger. Default: the account of this file.",
            use="common"),
    Setting("account", "reason", "text", "Decided on 3 May.", "Why the release is made with these parameters; recorded.",
            use="common"),
    Setting("account", "signed_off_by", "text", "A. Officer", "Who has signed off the release; recorded."),
    Setting("account", "ledger", "file", "ledger.db", "The ledger file. Default: TRAVAS_LEDGER, or that of the user."),
    Setting("account", "policy", "file", "default",
            "A policy file, or default; adds to the rules of TRAVAS_POLICY, or of the user's policy.toml."),
    Setting("period", "period", "text", "2026-02", "Count only cases closed in this period: 2026-02, 2026-Q1, 2026-W07, 2026."),
    Setting("period", "every", "choice", "month", "travas release: the length of a period. Default: month.",
            ("day", "week", "month", "quarter", "year")),
    Setting("period", "end_activity", "list", "discharge", "The first such activity closes a case."),
    Setting("period", "gap", "text", "30d", "Instead: a case is closed after this long without events."),
    Setting("period", "grace", "text", "7d", "How long after its end all events of a period are present. Default: 0d."),
)
# fmt: on
"""All settings, in the order of `travas.toml`."""

BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


def setting(name: str) -> Setting:
    """Return the setting of this name; ParameterError with a suggestion if there is none."""
    name = name.replace("-", "_")
    if name in BY_NAME:
        return BY_NAME[name]
    near = get_close_matches(name, BY_NAME, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "all settings: travas anonymize --help-all"
    raise ParameterError(f"there is no setting {shown(name)}; {hint}", field="set")
