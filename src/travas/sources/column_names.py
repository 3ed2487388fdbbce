"""Names of columns that people use, by role: public lists, so that a column is recognised by the header alone.

The standard names come first and win. Other names are recognised only if exactly one column has one of them: of two
candidates none is chosen. Case, accents, spaces and punctuation do not matter. See docs/reading.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

STANDARD: dict[str, tuple[str, ...]] = {
    "case": ("case:concept:name", "case_id", "caseid", "case"),
    "activity": ("concept:name", "activity"),
    "timestamp": ("time:timestamp", "timestamp"),
    "lifecycle": ("lifecycle:transition", "lifecycle"),
}
"""The standard names of each role, the first one that is present wins."""

FURTHER: dict[str, dict[str, tuple[str, ...]]] = {
    "case": {
        "English": ("case number", "case no", "case key", "case identifier", "case name", "trace", "trace id", "trace name",
                    "process instance", "process instance id", "instance id", "ticket", "ticket id", "ticket number"),
        "German": ("Fall", "Fall-ID", "Fallnummer", "Fall-Nr", "Fallkennung", "Vorgang", "Vorgangs-ID", "Vorgangsnummer",
                   "Vorgangs-Nr", "Prozessinstanz"),
        "French": ("cas", "id cas", "id du cas", "identifiant du cas", "numéro de cas", "numéro du cas", "dossier",
                   "id dossier", "numéro de dossier", "n° dossier"),
        "Dutch": ("zaak", "zaak-id", "zaaknummer", "zaakidentificatie", "geval", "dossiernummer", "casusnummer", "casus"),
        "Spanish": ("caso", "id caso", "id del caso", "número de caso", "expediente", "número de expediente"),
        "Italian": ("id del caso", "numero caso", "pratica", "numero pratica", "id pratica"),
        "Portuguese": ("id do caso", "número do caso", "processo", "número do processo"),
        "Celonis": ("_CASE_KEY", "CASE_KEY"),
        "UiPath": ("Case_ID",),
        "SAP": ("c_caseid", "OBJECTID"),
        "ServiceNow": ("documentkey", "incident number"),
        "Salesforce": ("CaseId", "OpportunityId", "ParentId"),
    },
    "activity": {
        "English": ("activity name", "activity id", "activity label", "event", "event name", "task", "task name", "step",
                    "step name", "action", "operation"),
        "German": ("Aktivität", "Aktivitätsname", "Tätigkeit", "Ereignis", "Schritt", "Arbeitsschritt", "Prozessschritt",
                   "Aufgabe", "Maßnahme"),
        "French": ("activité", "nom de l'activité", "nom activité", "événement", "tâche", "étape", "action"),
        "Dutch": ("activiteit", "naam activiteit", "activiteitnaam", "gebeurtenis", "taak", "stap", "handeling"),
        "Spanish": ("actividad", "nombre de la actividad", "evento", "tarea", "paso"),
        "Italian": ("attività", "nome attività", "evento", "compito", "fase"),
        "Portuguese": ("atividade", "nome da atividade", "evento", "tarefa", "etapa", "passo"),
        "Celonis": ("ACTIVITY_EN", "ACTIVITY_DE"),
        "UiPath": ("Activity", "Event"),
        "SAP": ("event_name", "TCODE"),
        "ServiceNow": ("newvalue",),
        "Salesforce": ("NewValue", "StageName"),
    },
    "timestamp": {
        "English": ("time", "date", "datetime", "date time", "event time", "event timestamp", "event date", "time stamp",
                    "complete timestamp", "completion time", "complete time", "completed at", "end", "end time", "end date",
                    "end timestamp", "start", "start time", "start date", "start timestamp", "started at"),
        "German": ("Zeit", "Zeitstempel", "Zeitpunkt", "Datum", "Uhrzeit", "Datum Uhrzeit", "Datum/Uhrzeit", "Ende",
                   "Endzeit", "Endzeitpunkt", "Beginn", "Startzeit", "Startzeitpunkt", "Anfang"),
        "French": ("horodatage", "date et heure", "date heure", "heure", "date de fin", "fin", "date de début", "début"),
        "Dutch": ("tijdstip", "tijd", "tijdstempel", "datum", "datum tijd", "einde", "eindtijd", "begin", "starttijd"),
        "Spanish": ("fecha", "hora", "fecha y hora", "fecha hora", "marca de tiempo", "fecha de fin", "fecha de inicio"),
        "Italian": ("data", "ora", "data e ora", "data ora", "marca temporale", "data fine", "data inizio"),
        "Portuguese": ("data", "hora", "data e hora", "data hora", "carimbo de data/hora", "data de fim", "data de início"),
        "Celonis": ("EVENTTIME", "EVENT_TIME"),
        "Disco": ("Complete Timestamp", "Start Timestamp"),
        "UiPath": ("Event_end", "Event_start"),
        "SAP": ("end_time", "start_time", "UDATE"),
        "ServiceNow": ("sys_created_on", "sys_updated_on"),
        "Salesforce": ("CreatedDate", "LastModifiedDate"),
    },
    "lifecycle": {
        "English": ("transition", "lifecycle transition", "life cycle", "lifecycle state"),
        "German": ("Lebenszyklus",),
        "French": ("cycle de vie",),
        "Dutch": ("levenscyclus",),
        "Spanish": ("ciclo de vida",),
        "Italian": ("ciclo di vita",),
        "Portuguese": ("ciclo de vida",),
    },
}  # fmt: skip
"""Further names of each role, by the language or the program whose exports use them."""


def plain(name: str) -> str:
    """Return a column name without case, accents, spaces and punctuation.

    >>> plain("Aktivität"), plain("Datum / Uhrzeit"), plain("_CASE_KEY")
    ('aktivitat', 'datumuhrzeit', 'casekey')
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]", "", "".join(letter for letter in letters if not unicodedata.combining(letter)))


_PLAIN_STANDARD = {role: tuple(map(plain, names)) for role, names in STANDARD.items()}
_PLAIN_FURTHER = {
    role: frozenset(plain(name) for names in lists.values() for name in names) for role, lists in FURTHER.items()
}


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
