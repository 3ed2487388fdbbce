"""Release: three questions on the left, and on the right a picture of a made-up process with the noise that is chosen."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, cast

import attrs
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import explain, pipeline
from ..budget.account import Account, Budget
from ..budget.ledger import Ledger
from ..errors import ParameterError, TravasError
from ..mechanisms import MECHANISMS
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.registry import options_of
from ..pipeline import LogOrigin, Outcome, Phase
from ..releases.release import Kind, kind_of
from ..settings.project import OF_TIMES, OFFERED, Project
from ..settings.table import BY_NAME, SETTINGS, Setting
from ..trusted.numbers import as_text, exact, exact_epsilon
from .drafts import COLUMNS, FILES, NOT_HERE, Draft
from .jobs import Job, JobWatch
from .releases import RELEASE, Record, finish
from .workbench import Workbench, go, in_words, known_as, page, workbench

KINDS: Mapping[Kind, tuple[str, str]] = {
    "synthetic log": ("Data for tools", "synthetic log"),
    "process map": ("A picture", "map"),
    "variants": ("The main ways", "variants"),
}
"""What a release is for, and what it is called."""

_MAIN = (*COLUMNS, "unit", "max_cases", "epsilon", "dataset", "stated_cases")
EXPERT = tuple(each for each in SETTINGS if each.name not in (*_MAIN, *FILES, *NOT_HERE, "every"))
"""The settings in the drawer."""

_SHOWN = tuple(each for each in SETTINGS if each in EXPERT or each.name in _MAIN)
ERRORS = (*(each.name for each in _SHOWN), "log", "budget", "go")
"""Where a page shows errors: the names of settings, and three more places."""

VALUES = "the first rows of the log and the doctor's findings"
"""What was looked at, in the words of the report."""

_DELTA_OF_NEW = Fraction(1, 10**5)


# ------------------------------------------------------------------------------------------------ what a draft says


@attrs.frozen
class Ring:
    """The budget as a ring: what was spent and what this release costs in percent, and what is in the middle."""

    spent: float = 0
    cost: float = 0
    number: str = "–"
    words: str = ""


@attrs.frozen
class Facts:
    """What follows from the settings of a draft and the ledger, and from nothing in the log."""

    keeps: Mapping[Kind, str]
    recommended: Kind
    privacy: str
    cautions: tuple[str, ...]
    ring: Ring
    is_new: bool
    errors: Mapping[str, str]


def chosen_kind(project: Project) -> Kind:
    """What is released."""
    made = MECHANISMS.get(project.stated("mechanism"))
    return kind_of(made) if made else "variants"


def facts_of(bench: Workbench, draft: Draft) -> Facts:
    """Work out what a page shows besides the settings themselves."""
    project, errors = draft.project, dict(draft.errors)
    cases, ring, is_new, privacy, cautions = None, Ring(), False, "", tuple[str, ...]()
    with _told(errors, "" if draft.examined else "log"):
        if draft.error is not None:
            raise draft.error
    with _told(errors, "stated_cases"):
        cases = project.stated_cases
    with _told(errors):
        release = project.mechanism()
        noun = release.unit.noun
        privacy = explain.promise(release.epsilon, release.delta, noun)
        cautions = explain.weak_protection(release.epsilon, release.delta, cases, noun)
        if project.stated("dataset"):
            ring, is_new = _budget(bench.ledger, draft, release, errors)
        project.reading()
        release.guarantee()
    return Facts(*_outlook(project, cases), privacy, cautions, ring, is_new, errors)


@contextmanager
def _told(errors: dict[str, str], place: str = "") -> Iterator[None]:
    """Tell an error at a place of the page, or at that of the setting that it is about."""
    try:
        yield
    except (TravasError, OSError) as error:
        own = getattr(error, "field", "")
        errors.setdefault(place or (own if own in ERRORS else "go"), in_words(error))


def _outlook(project: Project, cases: int | None) -> tuple[Mapping[Any, str], Kind]:
    """What each kind of release would keep, and which one is recommended."""
    from ..evaluation.forecast import in_short

    with suppress(TravasError):
        return in_short(project.required("epsilon"), project.required("delta"), project.unit, cases)
    return dict.fromkeys(KINDS, ""), "synthetic log"


def ring_of(account: Account, release: Mechanism | None = None) -> Ring:
    """What is left of a budget: ε, or how many more releases like this one."""
    budget, left = account.budget, account.left
    if budget is None:
        return Ring(0, 0, as_text(account.spent[0]), "ε spent")
    if left is None:
        return Ring(float(100 * (account.delta_used or 0) / budget.delta), 0, "≈", "ε left")
    spent = float(100 - 100 * left[0] / budget.epsilon)
    if release is None:
        return Ring(spent, 0, as_text(left[0]), "ε left")
    possible = min(have // cost for have, cost in zip(left, (release.epsilon, release.delta), strict=True) if cost)
    next_one = float(100 * release.epsilon / budget.epsilon) if possible else 0
    return Ring(spent, next_one, f"{max(possible - 1, 0):,}", "more such\nreleases")


def _budget(ledger: Ledger, draft: Draft, release: Mechanism, errors: dict[str, str]) -> tuple[Ring, bool]:
    """The ring of a data set, and whether it would be created with this release. If it does not fit, what would fit."""
    dataset = draft.project.stated("dataset")
    account = next((each for each in ledger.accounts() if each.dataset == dataset), None)
    is_new = account is None
    with _told(errors, "budget"):
        account = account or Account(dataset, new_budget(draft, release), ())
    if account is None:
        return Ring(), is_new
    place, words = ("budget", "raise the budget, or ") if is_new else ("dataset", "the budget does not allow this: ")
    for name, have, cost in zip("εδ", account.left or (), (release.epsilon, release.delta), strict=False):
        if have < cost:
            fitting = f"choose {name} at most {as_text(have)}" if have else "nothing is left of it"
            errors.setdefault(place, words + fitting)
    return ring_of(account, release), is_new


def new_budget(draft: Draft, release: Mechanism) -> Budget:
    """The budget of a data set that is created with this release: its δ allows as many releases as its ε."""
    epsilon = exact(draft.budget, "budget")
    return Budget(epsilon, max(_DELTA_OF_NEW, release.delta * max(1, math.ceil(epsilon / release.epsilon))))


# ------------------------------------------------------------------------------------------------- what a form says


def take(draft: Draft, form: FormData) -> None:
    """Take over the fields of a form; what is wrong keeps its old value, with an error."""
    draft.errors = {}
    if draft.examined is not None:
        draft.error = None
    draft.budget = str(form.get("budget", draft.budget)).strip()
    for kind, offered in OFFERED.items():
        if kind == form.get("kind") != chosen_kind(draft.project):
            _release_by(draft, offered[0])
    mechanism = str(form.get("mechanism", ""))  # of the kind before, if another kind was chosen
    if mechanism in OFFERED[chosen_kind(draft.project)] and mechanism != draft.project.stated("mechanism"):
        _release_by(draft, mechanism)
    for each in _SHOWN:
        before = shown_value(draft, each)
        text = str(form.get(each.name, before)).strip()
        if each.name == "mechanism" or text == before.strip() or not _has(draft, each):
            continue
        with _told(draft.errors, each.name):
            draft.set(each.name, (text.splitlines() if "list" in each.kind else text) if text else None)
            draft.changed(each.name)
    if not draft.project.stated("unit"):
        draft.set("max_cases", None)


def _release_by(draft: Draft, mechanism: str) -> None:
    """Change the mechanism, and remove what only the one before has."""
    draft.set("mechanism", mechanism)
    for each in EXPERT:
        if not _has(draft, each):
            draft.set(each.name, None)


def _has(draft: Draft, setting: Setting) -> bool:
    """Whether the mechanism of a draft has a setting."""
    if setting.name == "frequencies":
        return chosen_kind(draft.project) == "variants"
    made = MECHANISMS.get(draft.project.stated("mechanism"))
    if made is None or setting.section not in ("mechanism", "rules") or setting.name == "mechanism":
        return True
    option = "rules" if setting.section == "rules" else "times" if setting.name in OF_TIMES else setting.name
    return option in options_of(made)


def shown_value(draft: Draft, setting: Setting) -> str:
    """The text of a field."""
    if setting.name in COLUMNS:
        return draft.column(setting.name)
    return "\n".join(draft.project.items(setting.name))


# ------------------------------------------------------------------------------------------------------- the release


def draw(
    project: Project, source: str, title: str, origin: LogOrigin, reference: str, output: Path, watch: JobWatch
) -> Outcome:
    """Charge the ledger, draw the noise once and write the release. The charge refers to the record in the archive."""
    watch(Phase.CHECKING, 0.0)
    request = project.with_values({"log": source, "output": str(output)}).request()
    approval = attrs.evolve(request.approval, reference=reference)
    with known_as({source: title}):
        return pipeline.run(replace(request, origin=origin, approval=approval), watch)


def make(project: Project, source: str, origin: LogOrigin, record: Record, folder: Path, watch: JobWatch) -> None:
    """Make a release and everything that belongs to it, in its folder. Runs in the process of a job."""
    outcome = draw(project, source, record.title, origin, record.id, folder / RELEASE, watch)
    with outcome.after_release():
        finish(folder, record)


def begin(bench: Workbench, draft: Draft) -> None:
    """Start the release of a draft. Its folder is there before the charge, and a new data set before it is charged."""
    project, dataset = draft.project, draft.project.required("dataset")
    if not any(account.dataset == dataset for account in bench.ledger.accounts()):
        budget = new_budget(draft, project.mechanism())
        bench.ledger.create_budget(dataset, epsilon=budget.epsilon, delta=budget.delta)
    record = bench.archive.begin(project, draft.title, bench.ledger.path, draft.looked_at)

    def ended(job: Job) -> None:
        references = [entry.approval.reference for entry in bench.ledger.history()] if job.charging else []
        if record.id not in references:
            bench.archive.forget(record.id)
            draft.error = job.error
            return
        bench.archive.ended(record.id)
        draft.released.append(record.id)
        draft.turn += 1
        job.target = f"/result/{record.id}"
        if job.error is not None:
            bench.said[record.id] = in_words(job.error)

    charged = project.with_values({"ledger": str(bench.ledger.path)})
    task = partial(make, charged, draft.source, draft.origin, record, bench.archive.folder(record.id))
    draft.releasing = bench.start(Job(task, target=f"/release/{draft.id}", account=dataset, ended=ended))


# ----------------------------------------------------------------------------------------------------- the addresses


async def show(request: Request) -> Response:
    """The page of a draft. A log that was not examined yet is examined."""
    bench, draft = _find(request)
    if draft.is_unread and not _running(draft.examining):
        draft.examining = bench.start(draft.examination())
    return await _page(bench, draft, "release.html")


async def change(request: Request) -> Response:
    """Take over changed fields, take back what the doctor has set, or show the values, which is recorded."""
    bench, draft = _find(request)
    form, before = await request.form(), draft.project.stated("mechanism")
    take(draft, form)
    if (name := str(form.get("undo", ""))) in draft.applied:
        draft.take_back(name)
    if "look" in form:
        draft.looked_at = tuple(dict.fromkeys((*draft.looked_at, VALUES)))
    return await _answer(request, bench, draft, before)


async def start_release(request: Request) -> Response:
    """Take over the fields and start the release, once: a second press finds it running, or the draft in its next turn."""
    bench, draft = _find(request)
    form = await request.form()
    async with draft.lock:
        if not _running(draft.releasing):
            take(draft, form)
            with _told(draft.errors):
                _check(draft, str(form.get("turn", "")), await asyncio.to_thread(facts_of, bench, draft))
                await asyncio.to_thread(begin, bench, draft)
    return await _answer(request, bench, draft)


def _check(draft: Draft, turn: str, facts: Facts) -> None:
    """Refuse a release whose page is not about the present draft, or that lacks something."""
    if turn != str(draft.turn):
        raise ParameterError("released or changed in another tab; check the page, then release again", field="go")
    if draft.examined is None:
        raise ParameterError("choose a log that can be read", field="log")
    for name in draft.open_choices():
        raise ParameterError("choose one of these", field=name)
    for name, words in facts.errors.items():
        raise ParameterError(words, field=name)


async def save(request: Request) -> Response:
    """The settings as a project file, for the command line and for the next time."""
    _, draft = _find(request)
    name = draft.source if draft.origin == "original" else draft.title
    project = draft.project.with_values({"log": name or None})
    return Response(project.text(), media_type="application/toml")


def _find(request: Request) -> tuple[Workbench, Draft]:
    bench = workbench(request)
    draft = bench.drafts.get(request.path_params["draft"])
    if draft is None:
        raise HTTPException(303, headers={"Location": "/"})
    return bench, draft


def _running(job: Job | None) -> Job | None:
    return job if job is not None and not job.done else None


async def _answer(request: Request, bench: Workbench, draft: Draft, before: str = "") -> Response:
    """What has changed, for HTMX, of a page with this mechanism. A log in another form needs the whole page."""
    if "hx-request" not in request.headers or draft.is_unread:
        return go(request, f"/release/{draft.id}")
    return await _page(bench, draft, "facts.html", before)


async def _page(bench: Workbench, draft: Draft, template: str, before: str = "") -> Response:
    left_open = draft.open_choices()
    return page(
        template, draft=draft, facts=await asyncio.to_thread(facts_of, bench, draft), kind=chosen_kind(draft.project),
        kinds=KINDS, expert=[each for each in EXPERT if each.name not in left_open and _has(draft, each)],
        value=partial(shown_value, draft), settings=BY_NAME, swap=template == "facts.html", places=ERRORS,
        looked=VALUES in draft.looked_at, releasing=_running(draft.releasing), examining=_running(draft.examining),
        renewed=before not in ("", draft.project.stated("mechanism")),
        datasets=[account.dataset for account in bench.ledger.accounts() if account.dataset],
        mechanisms=OFFERED[chosen_kind(draft.project)],
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- jobs


async def progress(request: Request) -> Response:
    """The progress of a job; when it has ended, the browser goes on to its target."""
    job = workbench(request).jobs.get(request.path_params["job"])
    if job is None or job.done:
        return go(request, job.target if job else "/")
    return page("progress.html", job=job)


async def cancel(request: Request) -> Response:
    """Kill a job, unless it charges the ledger or has done so."""
    job = workbench(request).jobs.get(request.path_params["job"])
    if job is not None and job.cancel():
        await asyncio.to_thread(job.join)
    return await progress(request)


# ------------------------------------------------------------------------------------------------ the made-up picture


def made_up(kind: Kind, epsilon: str, watch: JobWatch) -> dict[str, Any]:
    """The map of a release of the example log that comes with travas: nothing of a user's log is in it."""
    from ..mechanisms import mechanism
    from ..plots.map_graph import release_graph
    from ..sources.example_log import ExampleLog

    rule = mechanism(OFFERED[kind][0], epsilon, "1e-6")
    return release_graph(pipeline.run(pipeline.Request(source=ExampleLog(), mechanism=rule)).release).model()


async def preview(request: Request) -> Response:
    """The made-up picture of a kind at an ε, drawn once by a job and kept; nothing yet while it is drawn."""
    bench, kind = workbench(request), cast("Kind", request.query_params.get("kind"))
    epsilon = str(exact_epsilon(request.query_params.get("epsilon", "")))
    if (kind, epsilon) not in bench.pictures:
        bench.pictures[kind, epsilon] = bench.start(Job(made_up, kind, epsilon))
    job = bench.pictures[kind, epsilon]
    return JSONResponse(job.result, 200 if job.result else 404 if job.done else 202)


ROUTES = [
    Route("/preview.json", preview),
    Route("/release/{draft}", show),
    Route("/release/{draft}", change, methods=["POST"]),
    Route("/release/{draft}/run", start_release, methods=["POST"]),
    Route("/release/{draft}/travas.toml", save),
    Route("/jobs/{job}", progress),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]
