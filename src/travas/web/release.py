"""Release: three questions on the left, and on the right a picture of a made-up process with the noise that is chosen."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import explain, pipeline
from ..budget.account import Budget
from ..budget.ledger import Ledger
from ..errors import ParameterError, TravasError
from ..mechanisms import MECHANISMS
from ..mechanisms.mechanism import Mechanism
from ..pipeline import LogOrigin, Outcome, Phase
from ..releases.estimate import keep_curve_of
from ..releases.release import Kind, kind_of
from ..settings.project import OFFERED, Project
from ..settings.table import BY_NAME, SETTINGS, Setting
from ..trusted.numbers import exact, exact_epsilon
from .drafts import COLUMNS, FILES, NOT_HERE, Draft
from .jobs import Job, JobWatch
from .releases import RELEASE, Record, finish
from .workbench import Workbench, go, in_words, known_as, page, workbench

if TYPE_CHECKING:
    from starlette.datastructures import FormData

KINDS: Mapping[Kind, tuple[str, str]] = {
    "synthetic log": ("Data for tools", "synthetic log"),
    "process map": ("A picture", "map"),
    "variants": ("The main ways", "variants"),
}
"""What a release is for, and what it is called."""

_MAIN = (*COLUMNS, "unit", "max_cases", "epsilon", "dataset", "stated_cases")
EXPERT = tuple(each for each in SETTINGS if each.name not in (*_MAIN, *FILES, *NOT_HERE, "profile", "every"))
"""The settings in the drawer."""

_SHOWN = tuple(each for each in SETTINGS if each in EXPERT or each.name in _MAIN)
ERRORS = (*(each.name for each in _SHOWN), "log", "budget", "go")
"""Where a page shows errors: the names of settings, and three more places."""

VALUES = "the first rows of the log and the doctor's findings"
"""What was looked at, in the words of the report."""

_PROPOSED_CASES = "3"
"""What a page proposes as the most cases of a person, whatever is in the log."""

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
    errors = dict(draft.errors)
    if draft.error is not None:
        errors.setdefault(_place(draft.error, "go") if draft.examined else "log", in_words(draft.error))
    mechanism: Mechanism | None = None
    try:
        mechanism = draft.project.mechanism()
        draft.project.reading()
        mechanism.guarantee()
    except TravasError as error:
        errors.setdefault(_place(error, "go"), in_words(error))
    cases = None
    try:
        cases = draft.project.stated_cases
    except TravasError as error:
        errors.setdefault("stated_cases", in_words(error))
    keeps, recommended = _outlook(draft.project, cases)
    ring, is_new = _budget(bench.ledger, draft, mechanism, errors)
    privacy, cautions = "", tuple[str, ...]()
    if mechanism is not None:
        noun = mechanism.unit.noun
        share = explain.in_percent(explain.best_guess(mechanism.epsilon, mechanism.delta))
        privacy = f"At best {share} right instead of 50 % when guessing whether a given {noun} was in your log."
        cautions = explain.weak_protection(mechanism.epsilon, mechanism.delta, cases, noun)
    return Facts(keeps, recommended, privacy, cautions, ring, is_new, errors)


def _place(error: TravasError, otherwise: str) -> str:
    return error.field if error.field in ERRORS else otherwise


def _outlook(project: Project, cases: int | None) -> tuple[dict[Kind, str], Kind]:
    """What each kind of release would keep, by ε, δ and the stated number of cases alone, and which one is recommended."""
    from ..evaluation.forecast import DISTINCT_PAIRS, enough_cases, mechanisms
    from ..releases.map_numbers import PAIRS

    words: dict[Kind, str] = dict.fromkeys(KINDS, "")
    try:
        made: Any = mechanisms(project.required("epsilon"), project.required("delta"), project.unit)
        enough = enough_cases(made["synthetic log"])
        noise = 2 * made["process map"].noise.stage(PAIRS).deviation * math.sqrt(DISTINCT_PAIRS)
        curve = keep_curve_of(made["variants"])
        half = curve.first_above(explain.HALF) if curve else 0
    except TravasError:
        return words, "synthetic log"
    of = "" if cases is None else f" of {cases:,}"
    words["process map"] = f"numbers ± {noise:,.0f}{of} cases"
    words["variants"] = f"those of {half:,} cases or more"
    if cases is None:
        words["synthetic log"] = f"good from {enough:,} cases"
        return words, "synthetic log"
    words["synthetic log"] = f"{'good' if cases >= enough else 'weak'} for {cases:,} cases"
    return words, "synthetic log" if cases >= enough else "process map"


def _budget(ledger: Ledger, draft: Draft, mechanism: Mechanism | None, errors: dict[str, str]) -> tuple[Ring, bool]:
    """The ring of the data set, and whether it would be created with this release."""
    dataset = draft.project.stated("dataset")
    account = next((each for each in ledger.accounts() if each.name == dataset), None)
    if not dataset or mechanism is None:
        return Ring(), account is None
    is_new = account is None
    try:
        budget = new_budget(draft, mechanism) if account is None else account.budget
    except TravasError as error:
        errors.setdefault("budget", in_words(error))
        return Ring(), is_new
    if budget is None:
        return Ring(0, 0, "∞", "no limit"), is_new
    left = (budget.epsilon, budget.delta) if account is None else account.left
    if left is None:
        used = (account.delta_used if account else None) or Fraction(0)
        return Ring(float(100 * used / budget.delta), 0, "≈", "composed exactly"), is_new
    possible = min(have // cost for have, cost in zip(left, (mechanism.epsilon, mechanism.delta), strict=True) if cost)
    spent, cost = (float(100 * part / budget.epsilon) for part in (budget.epsilon - left[0], mechanism.epsilon))
    if possible < 1:
        errors.setdefault("dataset", f"the budget does not allow this: {account.remainder if account else budget} left")
        return Ring(min(spent, 100), 0, "0", "such releases\nleft"), is_new
    return Ring(spent, cost, f"{possible - 1:,}", "such releases\nleft"), is_new


def new_budget(draft: Draft, mechanism: Mechanism) -> Budget:
    """The budget of a data set that is created with this release: its δ allows as many releases as its ε."""
    try:
        epsilon = exact(draft.budget, "budget")
    except ParameterError as error:
        error.field = "budget"
        raise
    return Budget(epsilon, max(_DELTA_OF_NEW, mechanism.delta * max(1, math.ceil(epsilon / mechanism.epsilon))))


# ------------------------------------------------------------------------------------------------- what a form says


def take(draft: Draft, form: FormData) -> None:
    """Take over the fields of a form; what is wrong keeps its old value, with an error."""
    draft.errors = {}
    if draft.examined is not None:
        draft.error = None
    draft.budget = str(form.get("budget", draft.budget)).strip()
    for kind, offered in OFFERED.items():
        if kind == form.get("kind") != chosen_kind(draft.project):
            draft.set("mechanism", offered[0])
    for each in _SHOWN:
        text = str(form.get(each.name, "")).strip()
        if each.name not in form or text == shown_value(draft, each):
            continue
        if each.name == "mechanism" and text not in OFFERED[chosen_kind(draft.project)]:
            continue  # of the kind before
        try:
            draft.set(each.name, _stated(each, text))
            draft.changed(each.name)
        except TravasError as error:
            draft.errors[each.name] = in_words(error)
    if not draft.project.stated("unit"):
        draft.set("max_cases", None)


def _stated(setting: Setting, text: str) -> object:
    if not text:
        return None
    return text.splitlines() if setting.kind in ("list", "list or file") else text


def shown_value(draft: Draft, setting: Setting) -> str:
    """The text of a field."""
    if setting.name in COLUMNS:
        return draft.column(setting.name)
    if setting.name == "max_cases" and not draft.project.stated("unit"):
        return _PROPOSED_CASES
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


def make(
    project: Project, source: str, title: str, origin: LogOrigin, record: Record, folder: Path, watch: JobWatch
) -> None:
    """Make a release and everything that belongs to it, in its folder. Runs in the process of a job."""
    outcome = draw(project, source, title, origin, record.id, folder / RELEASE, watch)
    with outcome.after_release():
        finish(folder, record)


def begin(bench: Workbench, draft: Draft) -> None:
    """Start the release of a draft. Its folder is there before the charge, and a new data set before it is charged."""
    project = draft.project
    mechanism, dataset = project.mechanism(), project.required("dataset")
    if not any(account.name == dataset for account in bench.ledger.accounts()):
        budget = new_budget(draft, mechanism)
        bench.ledger.create_budget(dataset, epsilon=budget.epsilon, delta=budget.delta)
    record = bench.archive.begin(
        project.values, draft.title, dataset, kind_of(mechanism), bench.ledger.path, draft.looked_at
    )

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
    task = partial(make, charged, draft.source, draft.title, draft.origin, record, bench.archive.folder(record.id))
    draft.releasing = bench.start(Job(task, target=f"/release/{draft.id}", account=dataset, ended=ended))


# ----------------------------------------------------------------------------------------------------- the addresses


async def show(request: Request) -> Response:
    """The page of a draft. A log that was not examined yet is examined."""
    bench, draft = _find(request)
    if draft.is_unread and not bench.is_running(draft.examining):
        draft.examining = bench.start(draft.examination())
    return await _page(bench, draft, "release.html")


async def change(request: Request) -> Response:
    """Take over changed fields, take back what the doctor has set, or show the values, which is recorded."""
    bench, draft = _find(request)
    form = await request.form()
    take(draft, form)
    if (name := str(form.get("undo", ""))) in draft.applied:
        draft.take_back(name)
    if "look" in form:
        draft.looked_at = tuple(dict.fromkeys((*draft.looked_at, VALUES)))
    return await _answer(request, bench, draft)


async def start_release(request: Request) -> Response:
    """Take over the fields and start the release, once: a second press finds it running, or the draft in its next turn."""
    bench, draft = _find(request)
    form = await request.form()
    async with draft.lock:
        if not bench.is_running(draft.releasing):
            take(draft, form)
            try:
                _check(draft, str(form.get("turn", "")), await asyncio.to_thread(facts_of, bench, draft))
                await asyncio.to_thread(begin, bench, draft)
            except (TravasError, OSError) as error:
                place = _place(error, "go") if isinstance(error, TravasError) else "go"
                draft.errors.setdefault(place, in_words(error))
    return await _answer(request, bench, draft)


def _check(draft: Draft, turn: str, facts: Facts) -> None:
    """Refuse a release whose page is not about the present draft, or that lacks something."""
    if turn != str(draft.turn):
        raise ParameterError("released or changed in another tab; check the page, then release again", field="go")
    if draft.examined is None:
        raise ParameterError("choose a log that can be read", field="log")
    for choice in draft.open_choices():
        raise ParameterError("choose one of these", field=choice.name)
    for name, words in facts.errors.items():
        raise ParameterError(words, field=name)


async def save(request: Request) -> Response:
    """The settings as a project file, for the command line and for the next time."""
    _, draft = _find(request)
    name = draft.source if draft.origin == "original" else draft.title
    project = draft.project.with_values({"log": name or None})
    headers = {"Content-Disposition": 'attachment; filename="travas.toml"'}
    return Response(project.text(), media_type="application/toml", headers=headers)


def _find(request: Request) -> tuple[Workbench, Draft]:
    bench = workbench(request)
    draft = bench.drafts.get(request.path_params["draft"])
    if draft is None:
        raise HTTPException(303, headers={"Location": "/"})
    return bench, draft


async def _answer(request: Request, bench: Workbench, draft: Draft) -> Response:
    """What has changed, for HTMX. A log that is to be read in another form needs the whole page."""
    if "hx-request" in request.headers and not draft.is_unread:
        return await _page(bench, draft, "facts.html")
    return go(request, f"/release/{draft.id}")


async def _page(bench: Workbench, draft: Draft, template: str) -> Response:
    left_open = {choice.name for choice in draft.open_choices()}
    return page(
        template, draft=draft, facts=await asyncio.to_thread(facts_of, bench, draft), kind=chosen_kind(draft.project),
        kinds=KINDS, expert=[each for each in EXPERT if each.name not in left_open], value=partial(shown_value, draft),
        settings=BY_NAME, swap=template == "facts.html", places=ERRORS, jobs=bench.jobs, looked=VALUES in draft.looked_at,
        releasing=bench.is_running(draft.releasing) and draft.releasing,
        examining=bench.is_running(draft.examining) and draft.examining,
        datasets=[account.name for account in bench.ledger.accounts() if account.name],
        mechanisms=OFFERED[chosen_kind(draft.project)],
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- jobs


async def progress(request: Request) -> Response:
    """The progress of a job; when it has ended, the browser goes on to its target."""
    number = request.path_params["job"]
    job = workbench(request).jobs.get(number)
    if job is None or job.done:
        return go(request, "/" if job is None else job.target)
    return page("progress.html", job=job, number=number)


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
    bench, kind = workbench(request), next((each for each in KINDS if each == request.query_params.get("kind")), None)
    try:
        epsilon = str(exact_epsilon(request.query_params.get("epsilon", "")))
    except ParameterError:
        kind = None
    if kind is None:
        raise HTTPException(404)
    if (kind, epsilon) not in bench.pictures:
        bench.pictures[kind, epsilon] = bench.start(Job(made_up, kind, epsilon))
    job = bench.jobs[bench.pictures[kind, epsilon]]
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
