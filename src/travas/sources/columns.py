"""The columns of a table: set in the reading, or recognised by their usual names; and the accepted types.

Types are decided by the schema alone (docs/reading.md, lemma 6). In a type whose values are converted together, such as
integers that become floats because one is missing, or decimals with the scale of the longest, one case can change another.
Such columns are refused, and the message names a conversion.

Columns are recognised by their names alone. The standard names come first and win. Other names are recognised only if
exactly one column has one of them: of two candidates none is chosen. Case, accents, spaces and punctuation do not matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ..errors import CONFIDENTIAL, LogError
from ..log.log import Roles
from ..log.questions import NO_DETAILS, DetailColumn, Details
from .messages import LONGEST_NAME, available_names
from .reading import STANDARD, TRACE_LEVEL, Reading, by_column

_NAMES = "text, whole numbers, true or false, categories, dates and timestamps"
_TIME = "timestamp, or text"


_FURTHER = {
    "case": """
        case number, case no, case key, case identifier, case name, trace, trace id, trace name, process instance,
        process instance id, instance id, ticket, ticket id, ticket number, documentkey, incident number, ObjectID, c_caseid,
        OpportunityId, ParentId,
        Fall, Fall-ID, Fallnummer, Fall-Nr, Fallkennung, Vorgang, Vorgangs-ID, Vorgangsnummer, Vorgangs-Nr, Prozessinstanz,
        cas, id cas, id du cas, identifiant du cas, numéro de cas, numéro du cas, dossier, id dossier, numéro de dossier,
        n° dossier,
        zaak, zaak-id, zaaknummer, zaakidentificatie, geval, dossiernummer, casusnummer, casus,
        caso, id caso, id del caso, número de caso, expediente, número de expediente,
        numero caso, pratica, numero pratica, id pratica, id do caso, número do caso, processo, número do processo""",
    "activity": """
        activity name, activity id, activity label, activity en, activity de, event, event name, task, task name, step, step name,
        action, operation, tcode, newvalue, stagename,
        Aktivität, Aktivitätsname, Tätigkeit, Ereignis, Schritt, Arbeitsschritt, Prozessschritt, Aufgabe, Maßnahme,
        activité, nom de l'activité, nom activité, événement, tâche, étape,
        activiteit, naam activiteit, activiteitnaam, gebeurtenis, taak, stap, handeling,
        actividad, nombre de la actividad, evento, tarea, paso, attività, nome attività, compito, fase, atividade,
        nome da atividade, tarefa, etapa, passo""",
    "timestamp": """
        time, date, datetime, event time, event timestamp, event date, complete timestamp, completion time, complete time,
        completed at, end, end time, end date, end timestamp, event end, start, start time, start date, start timestamp,
        started at, event start, udate, sys created on, sys updated on, created date, last modified date,
        Zeit, Zeitstempel, Zeitpunkt, Datum, Uhrzeit, Datum Uhrzeit, Ende, Endzeit, Endzeitpunkt, Beginn, Startzeit,
        Startzeitpunkt, Anfang,
        horodatage, date et heure, date heure, heure, date de fin, fin, date de début, début,
        tijdstip, tijd, tijdstempel, datum tijd, einde, eindtijd, begin, starttijd,
        fecha, hora, fecha y hora, fecha hora, marca de tiempo, fecha de fin, fecha de inicio,
        data, ora, data e ora, data ora, marca temporale, data fine, data inizio,
        data e hora, data hora, carimbo de data/hora, data de fim, data de início""",
    "lifecycle": """
        transition, lifecycle transition, life cycle, lifecycle state, Lebenszyklus, cycle de vie, levenscyclus, ciclo de vida,
        ciclo di vita""",
}  # fmt: skip
"""Further names of each role, in English and in other languages, and of programs such as Celonis, UiPath, SAP and Disco."""


def plain(name: str) -> str:
    """Return a column name without case, accents, spaces and punctuation.

    >>> plain("Aktivität"), plain("Datum / Uhrzeit"), plain("_CASE_KEY")
    ('aktivitat', 'datumuhrzeit', 'casekey')
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]", "", "".join(letter for letter in letters if not unicodedata.combining(letter)))


_PLAIN_STANDARD = {role: tuple(map(plain, names)) for role, names in STANDARD.items()}
_PLAIN_FURTHER = {role: frozenset(map(plain, names.split(","))) for role, names in _FURTHER.items()}


def candidates(role: str, present: Sequence[str]) -> list[str]:
    """Return the columns that may have a role, by their names alone: the recognised one, or several to choose from."""
    for usual in STANDARD[role]:
        if usual in present:
            return [usual]
    by_plain = {plain(name): name for name in reversed(present)}
    for usual in _PLAIN_STANDARD[role]:
        if usual in by_plain:
            return [by_plain[usual]]
    return [name for name in present if plain(name) in _PLAIN_FURTHER[role]]


def recognised(role: str, present: Sequence[str]) -> str | None:
    """Return the column of a role, recognised by its name; None if no column or several may have it."""
    possible = candidates(role, present)
    return possible[0] if len(possible) == 1 else None


@dataclass(frozen=True)
class Columns:
    """The columns that are read of a table.

    Attributes:
        case: The case.
        activities: The parts of an activity.
        timestamp: The time; None if it is not read.
        ties: What orders simultaneous events, if it is a column.
        unit: The person.
        by_time: Whether events are ordered by time.
        details: What is read in addition to the variants.
        lifecycle: The transition, if only some are read.
        where: The accepted values by column, for the rows that are read.
        stated: The columns for the guarantee, where they differ from those of the table.
        attribute_columns: The columns of case attributes, where they differ from their names.
    """

    case: str
    activities: tuple[str, ...]
    timestamp: str | None = None
    ties: str | None = None
    unit: str | None = None
    by_time: bool = False
    details: Details = NO_DETAILS
    lifecycle: str | None = None
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stated: Roles | None = None
    attribute_columns: tuple[str, ...] = ()

    @property
    def roles(self) -> Roles:
        """The columns as stated in the guarantee file and the ledger."""
        return self.stated or Roles(self.case, self.activities, self.timestamp, self.lifecycle)

    @property
    def identifiers(self) -> list[str]:
        """The names of the columns that are read as names or times."""
        single = (self.case, *self.activities, self.timestamp, self.ties, self.unit, self.lifecycle)
        return [name for name in (*single, *self.where) if name is not None]

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read, each once."""
        return [*dict.fromkeys((*self.identifiers, *(column for *_, column in self.attributes)))]

    @property
    def parts(self) -> list[str]:
        """What the parts of an activity are called where the columns do not matter any more."""
        return [f"activity_{index}" for index in range(len(self.activities))]

    @property
    def named_parts(self) -> list[tuple[str, str]]:
        """These names, and the columns of the parts."""
        return [*zip(self.parts, self.activities, strict=True)]

    @property
    def attributes(self) -> list[tuple[DetailColumn, str, str]]:
        """The attributes, what they are called there, and their columns."""
        columns = self.attribute_columns or [attribute.name for attribute in self.details.columns]
        roles = [f"attribute {index}" for index in range(len(columns))]
        return [*zip(self.details.columns, roles, columns, strict=True)]

    @classmethod
    def of(cls, reading: Reading, schema: Iterable[str], where: str) -> Columns:
        """Map the reading onto the columns of a table. All columns that are missing are named in one error."""
        present = list(schema)
        problems: dict[str, str] = {}  # and the parameter of each
        unknown: list[str] = []

        def column(name_set: str | None, role: str, field: str = "", or_else: str = "") -> str:
            name = name_set if name_set is not None else recognised(role, present)
            if name is not None and name in present:
                return name
            if name_set is not None:
                problem = f"no column {name_set!r} for the {role}"
                unknown.append(name_set)
            elif several := candidates(role, present):
                shown_names = " or ".join(repr(name[:LONGEST_NAME]) for name in several[:4])
                problem = f"the {role} column may be {shown_names}; set {role}"
            else:
                problem = f"no {role} column recognised; set {role}"
            problems[problem + or_else] = field or role
            return ""

        case = column(reading.case, "case")
        activities = tuple(column(name, "activity") for name in reading.activity or (None,))
        timestamp: str | None = None
        times = reading.timestamp or recognised("timestamp", present)
        # numbers order events, but are not times
        has_times = times in present and (not isinstance(schema, Mapping) or is_time(schema[times]))
        details = reading.details.settled("recorded" if has_times else "not recorded")
        if reading.by_time() or details.times == "read":
            timestamp = column(reading.timestamp, "timestamp")
        elif reading.order is None:
            or_else = ", or set order to 'file' if the rows of every case are in order"
            timestamp = column(None, "timestamp", "order", or_else)
        ties = None if (tie := reading.tie_column()) is None else column(tie, "ties")
        unit = None if reading.unit is None else column(_spelled(reading.unit, present), "unit")
        for attribute in details.columns:
            field = "attributes" if attribute.of == "case" else "event_attributes"
            column(attribute.name, "attribute", field)
        lifecycle = None if reading.lifecycle == "all" else column(None, "lifecycle")
        selected = {column(name, "where"): values for name, values in by_column(reading.where).items()}
        if problems:
            field, *others = dict.fromkeys(problems.values())
            if len(present) == 1 and any(mark in present[0] for mark in ",;\t|"):
                problems = {"the header has only one cell: set delimiter if it is another one": "", **problems}
                field, others = "delimiter", [field, *others]
            hint = available_names(present, 30, *unknown[:1])
            raise LogError(f"{where}: {'; '.join(problems)}; {hint}", field=field, other_fields=tuple(others))
        by_time = timestamp is not None and reading.order != "file"
        return cls(case, activities, timestamp, ties, unit, by_time, details, lifecycle, selected)


def _spelled(unit: str, present: Sequence[str]) -> str:
    """Return the column of a unit, which is the same attribute of a trace with and without `case:`, as in XES."""
    other = unit.removeprefix(TRACE_LEVEL) if unit.startswith(TRACE_LEVEL) else TRACE_LEVEL + unit
    return other if unit not in present and other in present else unit


def columns_of(reading: Reading, schema: Mapping[str, pl.DataType], where: str) -> Columns:
    """Map the reading onto the columns of a table, and check their types."""
    columns = Columns.of(reading, schema, where)
    for name in columns.names:
        if f"{name}_duplicated_0" in schema:
            raise LogError(f"{where}: two columns are named {name!r}; rename one {CONFIDENTIAL}")
    _check_types(columns, schema, where, is_dated=reading.period is not None)
    return columns


_PERSON = re.compile(
    "(?:id|no?|num|nr|numero(?:de|del|di)?|id(?:de|del|du)|identifiant(?:du)?|identificador(?:de|del)?|codice|codigo)?"
    "(?:patient(?:en|in)?|kunden?|customer|client|klant(?:en)?|cliente|paciente|paziente|utente|person(?:en)?|subject|insured|"
    "versicherten|versicherter|assure|mitarbeiter|employee|benutzer|member|mitglieds?|student|citizen|burger|resident|bewohner|"
    "debitor|beneficiary|(?:user|pat)(?=.))"
    "(?:id|nr|no|num|nummer|number|code|key|kennung|schlussel|ref|identifier|pseudonym)?"
    "|mrn|pid|kvnr|svnr|ahvnr|bsn|ssn|nhs(?:number|no|nr)|ipp|nir|cpf|dni|codicefiscale|matrikeln(?:umme)?r|personaln(?:umme)?r|"
    "personnummer|sozialversicherungsnummer|medicalrecordnumber|accountid|contactid"
)
"""Names of columns that identify a person, in several languages, as `plain` writes them."""


def person_columns(present: Iterable[str]) -> list[str]:
    """Return the columns whose names suggest that they identify a person, such as `Pat.-Nr.` or `customer_id`."""
    return [name for name in present if _PERSON.fullmatch(plain(name.removeprefix(TRACE_LEVEL)))]


def cautions(reading: Reading, present: Sequence[str]) -> tuple[str, ...]:
    """Return what seems to be wrong before anything is charged, by the names of the columns of a log alone."""
    found = []
    people = [name for name in person_columns(present) if name not in (reading.case, *reading.activity)]
    if reading.unit is None and people:
        found.append(
            f"single cases are protected, and the column {people[0][:LONGEST_NAME]!r} may identify a person; to protect "
            "persons, set unit to it, and max_cases to a number chosen without looking at the log"
        )
    column = recognised("lifecycle", present)
    selected = reading.lifecycle != "all" or any(name == column for name, _ in reading.where)
    if column is not None and not selected and column not in reading.activity:
        found.append(
            f"the log has the lifecycle column {column[:LONGEST_NAME]!r} and all its events are read; if an activity has a "
            "start and a complete event, set lifecycle to 'complete' or, for service times, 'pairs'"
        )
    return tuple(found)


def _check_types(columns: Columns, schema: Mapping[str, pl.DataType], where: str, is_dated: bool) -> None:
    """Raise LogError if the type of a column is not accepted for its role."""
    names: list[str | None] = [columns.case, columns.unit, *columns.activities, columns.lifecycle, *columns.where]
    numbers: list[str | None] = []
    for attribute in columns.details.columns:
        (names if attribute.values == "name" else numbers).append(attribute.name)
    times = [columns.timestamp] if is_dated or columns.details.times == "read" else []
    needed: list[tuple[Callable[[pl.DataType], bool], Sequence[str | None], str]] = [
        (is_name_type, names, f"whose values are not exact names; convert it to one of {_NAMES}"),
        (is_ordered, [columns.timestamp, columns.ties], f"which cannot order events; convert it to a {_TIME}"),
        (_is_number, numbers, "whose values are not numbers; convert it to numbers"),
        (is_time, times, f"whose values are not dates or timestamps; convert it to a {_TIME}"),
    ]
    for fits, having, what in needed:
        for name in having:
            if name is not None and not fits(schema[name]):
                raise LogError(f"{where}: column {name!r} has type {schema[name]}, {what} {CONFIDENTIAL}")


def _is_number(kind: pl.DataType) -> bool:
    return is_text(kind) or kind.is_numeric() or isinstance(kind, pl.Null)


def is_time(kind: pl.DataType) -> bool:
    """Return whether values of a type are instants, or texts that can be."""
    return is_text(kind) or isinstance(kind, pl.Datetime | pl.Date | pl.Null)


def is_name_type(kind: pl.DataType) -> bool:
    """Return whether the text of a value depends on that value and the type alone."""
    if isinstance(kind, pl.Decimal):
        return kind.scale == 0
    other = pl.Boolean | pl.Binary | pl.Date | pl.Datetime | pl.Null
    return is_text(kind) or kind.is_integer() or isinstance(kind, other)


def is_ordered(kind: pl.DataType) -> bool:
    """Return whether values of a type have an order."""
    return is_text(kind) or kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Null)


def is_text(kind: pl.DataType) -> bool:
    """Return whether values of a type are text."""
    return isinstance(kind, pl.String | pl.Categorical | pl.Enum)
