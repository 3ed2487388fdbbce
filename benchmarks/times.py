"""Times and attributes of synthetic logs on sixteen public logs: `make bench-times`.

At ε = 1 and δ = 1e-6, 10 runs of every log: control flow alone, with times, and with times and attributes. Throughput is
the Wasserstein distance of log2(1 + seconds); medians is the share of the directly-follows mass whose median is within a
factor of two; weeks and hours are Kolmogorov-Smirnov distances of case starts; attributes have total variations, alone and
with the last activity. Two baselines are made in the same run: one duration distribution for all steps, and the artificial
times that a release without times has.

Every cell is kept in a journal, `benchmarks/data/times.jsonl`: a second run continues where the first one stopped.
`LOGS="sepsis bpic2012" RUNS=2 SIMILARITY=0 make bench-times` runs a part of it.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from statistics import mean
from typing import Any
from zlib import crc32

import numpy as np
from harness import DATA, SCRATCH, finish, publish, row
from sampled_metrics import Counts, sampled

from synthesis import LOGS
from travas import Attribute, Log, Reading, Synthesis, SyntheticRelease, Times, read
from travas.evaluation.details import TimeProfile, attribute_distance, released_cases
from travas.evaluation.metrics import relative_log_similarity as similarity
from travas.log.calendar import SECOND
from travas.log.questions import Details
from travas.log.traces import Trace
from travas.mechanisms.mechanism import with_random_bytes
from travas.sources.encoded_cases import EncodedCases, EncodedTotals
from travas.synthesis.arrivals import Arrivals
from travas.synthesis.durations import DurationShares, log_bounds
from travas.trusted.samplers import Seeded

JOURNAL = SCRATCH / "times.jsonl"
DELTA = "1e-6"
ZONE = "Europe/Amsterdam"
SECONDS = 2 * 60 * 60
AMOUNTS = (0, "0.1", "0.2", "0.5", *(digit * 10**power for power in range(8) for digit in (1, 2, 5)))
AGES = tuple(range(0, 130, 5))


def attributes(names: str = "", **bins: tuple[Any, ...]) -> tuple[Attribute, ...]:
    """Names separated by commas, then numbers with their bins."""
    return (*map(Attribute, filter(None, names.split(","))), *(Attribute(name, edges) for name, edges in bins.items()))


ATTRIBUTES = {
    "sepsis": attributes(
        "Diagnose,InfectionSuspected,SIRSCriteria2OrMore,Hypotensie,Oligurie,DisfuncOrg,DiagnosticXthorax,Infusion,"
        "DiagnosticBlood",
        Age=AGES,
    ),
    "bpic2012": attributes(AMOUNT_REQ=AMOUNTS),
    "receipt": attributes("department,channel,group,responsible"),
    "road-traffic-fines": attributes("vehicleClass,article,points,dismissal,notificationType", amount=AMOUNTS),
    "bpic2020-prepaid-travel-cost": (
        *attributes("OrganizationalEntity,Activity", RequestedAmount=AMOUNTS),
        Attribute("Permit RequestedBudget", AMOUNTS),
    ),
    "bpic2020-domestic-declarations": attributes(Amount=AMOUNTS),
    "bpic2020-request-for-payment": attributes("OrganizationalEntity,Project", RequestedAmount=AMOUNTS),
    "hospital-billing": attributes("casetype,speciality,diagnosis,closecode,blocked"),
    "bpic2015-1": attributes("caseStatus,last_phase,Responsible_actor,parts,requestComplete", SUMleges=AMOUNTS),
    "bpic2011-hospital": attributes("Diagnosis,Treatment code,Specialism code", Age=AGES),
    "bpic2013-incidents": attributes("impact,organization country,organization involved,product"),
}
DAYS = ("road-traffic-fines",)

KINDS = ("flow", "times", "attributes")
Job = tuple[str, str, int]
"""Log, what is measured, and run."""

BARS = {
    ("sepsis", "throughput"): (1.4, "≤"),
    ("receipt", "throughput"): (0.95, "≤"),
    ("bpic2013-incidents", "throughput"): (0.30, "≤"),
    ("bpic2012", "throughput"): (0.33, "≤"),
    ("hospital-billing", "throughput"): (0.22, "≤"),
    ("sepsis", "medians"): (0.58, "≥"),
    ("bpic2013-incidents", "medians"): (0.95, "≥"),
    ("bpic2012", "medians"): (0.92, "≥"),
}
ATTRIBUTE_BARS = {
    ("road-traffic-fines", "by_last"): 0.02,
    ("hospital-billing", "by_last"): 0.06,
    ("bpic2020-domestic-declarations", "by_last"): 0.055,
    ("bpic2012", "by_last"): 0.12,
    ("sepsis", "alone"): 0.13,
}


# ------------------------------------------------------------------------------------------------------- one cell


@lru_cache(maxsize=1)
def log_of(name: str) -> Log:
    columns = tuple(attribute.column("case") for attribute in ATTRIBUTES.get(name, ()))
    return read(next(DATA.glob(f"{name}.*")), Reading(details=Details("read", columns)))


@lru_cache(maxsize=1)
def profile_of(name: str) -> TimeProfile:
    return TimeProfile.of(cases_of(log_of(name)), ZONE)


@lru_cache(maxsize=1)
def sampled_log(name: str) -> Counts:
    return sampled(dict(log_of(name).items()))


def cases_of(log: Log) -> EncodedCases:
    if not isinstance(log.totals, EncodedTotals):
        raise SystemExit("the log was read without times")
    return log.totals.cases


def cell(job: Job) -> dict[str, Any]:
    """The journal's line for one run."""
    name, kind, run = job
    log = log_of(name)
    times = None if kind == "flow" else Times(ZONE, "day" if name in DAYS else "second")
    rule = Synthesis(1, DELTA, times=times, attributes=ATTRIBUTES[name] if kind == "attributes" else ())
    seed = crc32(f"{name} {run}".encode())
    started = time.perf_counter()
    release = with_random_bytes(rule, Seeded(seed)).release(log)
    if not isinstance(release, SyntheticRelease):
        raise SystemExit("not a synthetic log")
    traces = time.perf_counter()
    found: dict[str, Any] = {"log": name, "kind": kind, "run": run}
    if times is not None:
        released = released_cases(release)
        found["seconds"] = time.perf_counter() - started
        found["times_seconds"] = time.perf_counter() - traces
        contestants = {
            "": released,
            "global_": with_one_duration(release, released, seed),
            "artificial_": counted(released),
        }
        for prefix, cases in contestants.items():
            distance = profile_of(name).distance(TimeProfile.of(cases, ZONE))
            found |= {f"{prefix}{key}": value for key, value in vars(distance).items()}
        distances = [attribute_distance(cases_of(log), released, attribute) for attribute in rule.attributes]
        if distances:
            found |= {key: mean(getattr(part, key) for part in distances) for key in ("alone", "by_last", "kept")}
    if os.environ.get("SIMILARITY") != "0":
        traces_released: Counter[Trace] = Counter()
        for trace, count in zip(release.variants, release.counts, strict=True):
            traces_released[trace] += count
        found["similarity"] = similarity(sampled_log(name), sampled(traces_released)) if traces_released else 0.0
    return found


def with_one_duration(release: SyntheticRelease, released: EncodedCases, seed: int) -> EncodedCases:
    """The same cases with durations of all steps from one distribution: a baseline."""
    if release.measurements.times is None or released.times is None:
        raise SystemExit("times were not measured")
    random = np.random.default_rng(seed)
    measured, times = release.measurements, release.measurements.times
    shares = DurationShares.of(measured, times, Arrivals.of(measured, times)).rows[-1]
    bucket = random.choice(len(shares), len(released.codes), p=shares)
    low, high = log_bounds()
    seconds = np.where(bucket > 0, np.exp(low[bucket] + random.random(len(bucket)) * (high - low)[bucket]), 0.0)
    first = np.cumsum(released.lengths) - released.lengths
    seconds[first] = 0.0
    total = np.cumsum(seconds)
    since_start = total - np.repeat(total[first], released.lengths)
    starts = np.repeat(released.times[first], released.lengths)
    return replace(released, times=starts + (since_start * SECOND).astype(np.int64))


def counted(released: EncodedCases) -> EncodedCases:
    """The same cases with artificial times: one second per step from 1970."""
    first = np.cumsum(released.lengths) - released.lengths
    step = np.arange(len(released.codes)) - np.repeat(first, released.lengths)
    return replace(released, times=step * SECOND)


# ---------------------------------------------------------------------------------------------------- all of them


def jobs() -> Iterator[Job]:
    runs = int(os.environ.get("RUNS", "10"))
    for name in os.environ.get("LOGS", " ".join(LOGS)).split():
        for kind in os.environ.get("KINDS", " ".join(KINDS)).split():
            if kind != "attributes" or name in ATTRIBUTES:
                yield from ((name, kind, run) for run in range(runs))


def journal() -> dict[Job, dict[str, Any]]:
    lines = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    entries = [json.loads(line) for line in lines]
    return {(entry["log"], entry["kind"], entry["run"]): entry for entry in entries}


def measure(wanted: list[Job]) -> dict[Job, dict[str, Any]]:
    """What the journal has of the wanted cells, and the rest measured now, until time is up."""
    done = journal()
    missing = [job for job in wanted if job not in done]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} cells are in {JOURNAL}", flush=True)
    stop = time.monotonic() + SECONDS
    with JOURNAL.open("a") as out:
        for job in missing:
            done[job] = cell(job)
            out.write(json.dumps(done[job]) + "\n")
            out.flush()
            if time.monotonic() > stop:
                print("two hours are over: run it again to continue", flush=True)
                break
    return {job: done[job] for job in wanted if job in done}


def averages(done: dict[Job, dict[str, Any]]) -> dict[tuple[str, str], dict[str, float]]:
    values: defaultdict[tuple[str, str], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (name, kind, _), entry in done.items():
        for key, value in entry.items():
            if isinstance(value, float):
                values[name, kind][key].append(value)
    return {key: {name: mean(numbers) for name, numbers in found.items()} for key, found in values.items()}


TABLES = {
    "times": ("throughput", "global_throughput", "artificial_throughput", "medians", "global_medians",
              "artificial_medians", "weeks", "hours", "similarity", "seconds"),
    "attributes": ("alone", "by_last", "kept", "throughput", "medians", "weeks", "hours", "similarity", "seconds"),
    "flow": ("similarity",),
}  # fmt: skip
"""What is printed of each kind of run."""


def main() -> None:
    found = averages(measure(list(jobs())))
    for kind, columns in TABLES.items():
        rows = [
            (name, *(f"{of[column]:.3f}" if column in of else "" for column in columns))
            for (name, measured), of in sorted(found.items())
            if measured == kind
        ]
        head = ("log", *(name.replace("_", " ") for name in columns))
        print("", *map(" | ".join, (head, *rows)), sep="\n")
        if len(rows) == len(ATTRIBUTES if kind == "attributes" else LOGS):
            publish(f"synthesis-{kind}", head, rows)
    print()
    bars(found)
    finish("times-bars")


def bars(found: dict[tuple[str, str], dict[str, float]]) -> None:
    timed = {name: of for (name, kind), of in found.items() if kind == "times"}
    for (name, key), (bar, sign) in BARS.items():
        if name in timed:
            row(f"{key} of {name}", timed[name][key], bar, sign, "")
    for name, of in timed.items():
        row(f"hours of {name}", of["hours"], 0.11, "≤", "")
        large = sum(read_counts(name)) >= 6000
        row(f"weeks of {name}", of["weeks"], 0.05 if large else 0.21, "≤", "")
        row(f"{name} against one distribution, throughput", of["throughput"] / of["global_throughput"], 1.0, "≤", "x")
    if set(timed) == set(LOGS):
        row("throughput, mean of all logs", mean(of["throughput"] for of in timed.values()), 0.80, "≤", "")
        row("medians, mean of all logs", mean(of["medians"] for of in timed.values()), 0.68, "≥", "")
    if "bpic2012" in timed:
        row("seconds to measure and generate bpic2012 with times", timed["bpic2012"]["seconds"], 20.0, "≤", "s")
    for (name, key), bar in ATTRIBUTE_BARS.items():
        if (name, "attributes") in found:
            row(f"attributes {key.replace('_', ' ')} of {name}", found[name, "attributes"][key], bar, "≤", "")
    similar = {key: of["similarity"] for key, of in found.items() if "similarity" in of}
    for (name, kind), bar in (
        (("sepsis", "times"), 0.72),
        (("sepsis", "attributes"), 0.69),
        (("bpic2012", "times"), 0.855),
    ):
        if (name, kind) in similar:
            row(f"similarity of {name} with {kind}", similar[name, kind], bar, "≥", "")
    both = [name for name, kind in similar if kind == "times" and (name, "flow") in similar]
    if len(both) == len(LOGS):
        loss = mean(similar[name, "flow"] - similar[name, "times"] for name in both)
        row("mean loss of similarity with times", loss, 0.015, "≤", "")


@lru_cache
def read_counts(name: str) -> tuple[int, ...]:
    return tuple(log_of(name).counts.tolist())


if __name__ == "__main__":
    main()
