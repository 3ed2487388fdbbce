"""Synthetic logs in other people's measures: `make scorecard`. The table: docs/other-tools.md.

Runs in an environment of its own, .venv-scorecard, with tools that travas does not depend on; travas releases the logs in a
process of the project's environment, at ε = 1, δ = 1e-6 with times, by its own noise from a seed. Of logs with more than
8,000 cases a fixed sample of 3,000 is the log.

Every draw halves the log anew, into A and B. *Released* compares the log with a release of the log; the *floor* compares A
with B. For what learns, or attacks, the release is one of A: models are trained on it and tested on B, where the floor is
trained on A; Anonymeter attacks A, and the floor is the same attack on B, about which the release says nothing.

Every draw is kept in a journal, `benchmarks/data/scorecard.jsonl`: a second run continues where the first one stopped.
Delete it after a change of the mechanism. `LOGS="sepsis receipt" DRAWS=1 make scorecard` measures a part.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import ebi
import log_distance_measures.case_arrival_distribution as arrival
import log_distance_measures.circadian_event_distribution as circadian
import log_distance_measures.control_flow_log_distance as control_flow
import log_distance_measures.cycle_time_distribution as cycle_time
import log_distance_measures.n_gram_distribution as n_grams
import log_distance_measures.relative_event_distribution as relative
import numpy as np
import pandas as pd
import pm4py
from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator
from log_distance_measures.config import EventLogIDs
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("TRAVAS_DATA", HERE.parent.parent / "shared" / "data"))
JOURNAL, RESULTS = HERE / "data" / "scorecard.jsonl", HERE.parent / "docs" / "data" / "scorecard.csv"
LOGS = (
    "sepsis receipt bpic2013-incidents bpic2020-prepaid-travel-cost bpic2012 hospital-billing bpic2013-closed-problems "
    "bpic2020-domestic-declarations bpic2020-request-for-payment road-traffic-fines bpic2017-w bpic2015-1"
)
LARGE, SAMPLE = 8_000, 3_000  # cases
PAIRED = 500  # cases on either side of measures that take the square of their number
PREFIXES, ATTACKS = 15_000, 500
CASE, ACTIVITY, TIME = "case:concept:name", "concept:name", "time:timestamp"
IDS = EventLogIDs(CASE, ACTIVITY, TIME, TIME)
Numbers = dict[str, float]

RELEASE = """
import sys, travas
from travas.mechanisms.mechanism import with_random_bytes
from travas.releases.release import details_of
from travas.trusted.samplers import Seeded
rule = travas.Synthesis(1, "1e-6", times=travas.Times())
for number, path in enumerate(sys.argv[2:]):
    log = travas.read(path, travas.Reading(details=details_of(rule)))
    seed = Seeded(10 * int(sys.argv[1]) + number)
    with_random_bytes(rule, seed).release(log).to_polars().write_csv(path + ".synthetic")
"""


def read(path: Path | str) -> pd.DataFrame:
    """Cases, activities and times in UTC, every case in the order of its times."""
    if ".xes" in str(path):
        frame = pm4py.read_xes(str(path), show_progress_bar=False)
    else:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame = frame.rename(columns={"case_id": CASE, "activity": ACTIVITY, "timestamp": TIME})
    times = pd.to_datetime(frame[TIME], utc=True, format=None if ".xes" in str(path) else "ISO8601")
    frame = frame[[CASE, ACTIVITY]].astype(str).assign(**{TIME: times})
    in_order: pd.DataFrame = frame.sort_values([CASE, TIME], kind="stable", ignore_index=True)
    return in_order


def some(log: pd.DataFrame, cases: int, seed: int) -> pd.DataFrame:
    """A random sample of cases; the whole log if it has no more."""
    names = log[CASE].unique()
    chosen = np.random.default_rng(seed).permutation(names)[:cases]
    return log[log[CASE].isin(chosen)].reset_index(drop=True)


def halves(log: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two disjoint halves with equal numbers of cases."""
    names = np.random.default_rng(seed).permutation(log[CASE].unique())
    half = len(names) // 2
    parts = (log[log[CASE].isin(part)].reset_index(drop=True) for part in (names[:half], names[half : 2 * half]))
    return next(parts), next(parts)


def released(logs: list[pd.DataFrame], seed: int) -> list[pd.DataFrame]:
    """Synthetic logs of these logs, made by travas in the project's environment."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{number}.csv" for number in range(len(logs))]
        for path, log in zip(paths, logs, strict=True):
            log.to_csv(path, index=False, date_format="%Y-%m-%dT%H:%M:%S.%f%z")
        python = HERE.parent / ".venv" / "bin" / "python"
        subprocess.run([python, "-c", RELEASE, str(seed), *paths], check=True)
        return [read(f"{path}.synthetic") for path in paths]


def language(log: pd.DataFrame) -> str:
    """A log in ebi's format of a finite stochastic language."""
    variants = Counter(log.groupby(CASE)[ACTIVITY].agg(tuple))
    lines = ["finite stochastic language", f"{len(variants)}"]
    for trace, cases in variants.items():
        lines += [f"{cases}/{variants.total()}", str(len(trace)), *(name.replace("\n", " ") for name in trace)]
    return "\n".join(lines) + "\n"


def compared(one: pd.DataFrame, other: pd.DataFrame, seed: int) -> Numbers:
    """Distances of two logs, in the units of log-distance-measures: hours for times."""
    few, few_others = some(one, PAIRED, seed), some(other, PAIRED, seed)
    both = (one, IDS, other, IDS)
    measures: dict[str, Callable[[], float]] = {
        "earth movers": lambda: 1 - ebi.conformance_earth_movers(language(few), language(few_others))[0],
        "control flow": lambda: control_flow.control_flow_log_distance(few, IDS, few_others, IDS, parallel=False),
        "2-grams": lambda: n_grams.n_gram_distribution_distance(*both, n=2),
        "3-grams": lambda: n_grams.n_gram_distribution_distance(*both, n=3),
        "circadian h": lambda: circadian.circadian_event_distribution_distance(*both),
        "relative h": lambda: relative.relative_event_distribution_distance(*both),
        "cycle time h": lambda: cycle_time.cycle_time_distribution_distance(*both, bin_size=timedelta(hours=1)),
        "arrival h": lambda: arrival.case_arrival_distribution_distance(*both),
    }
    wide = len({*few[ACTIVITY], *few_others[ACTIVITY]}) > 100  # control flow codes an activity as one of 100 characters
    return {name: float(measure()) for name, measure in measures.items() if not (wide and name == "control flow")}


def hours(durations: Any) -> Any:
    return durations.dt.total_seconds() / 3600


def prefixes(log: pd.DataFrame, activities: list[str], seed: int) -> tuple[pd.DataFrame, Any, Any]:
    """Every event with what is known of its case by then; the next activity, and the days that remain."""
    cases = log.groupby(CASE)
    elapsed = hours(log[TIME] - cases[TIME].transform("first"))
    known = pd.DataFrame({"position": cases.cumcount(), "elapsed": elapsed, "step": elapsed.groupby(log[CASE]).diff()})
    happened = pd.get_dummies(log[ACTIVITY]).reindex(columns=activities, fill_value=False).astype(np.int32)
    known = known.fillna(0).join(happened.add_prefix("last ")).join(happened.groupby(log[CASE]).cumsum())
    following = cases[ACTIVITY].shift(-1).fillna("the end")
    remaining = hours(cases[TIME].transform("last") - log[TIME]) / 24
    chosen = np.random.default_rng(seed).permutation(len(log))[:PREFIXES]
    return known.iloc[chosen], following.iloc[chosen], remaining.iloc[chosen]


def predicted(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Numbers:
    """The accuracy of the next activity, and the mean error of the remaining time in days."""
    activities = sorted({*train[ACTIVITY], *test[ACTIVITY]})
    known, following, remaining = prefixes(train, activities, seed)
    asked, true_following, true_remaining = prefixes(test, activities, seed)
    options: dict[str, Any] = {"n_estimators": 50, "min_samples_leaf": 5, "random_state": seed}
    classifier = RandomForestClassifier(**options).fit(known, following)
    regressor = RandomForestRegressor(**options, max_features=0.3).fit(known, remaining)
    return {
        "next activity": float(classifier.score(asked, true_following)),
        "remaining time d": float(np.abs(regressor.predict(asked) - true_remaining).mean()),
    }


def described(log: pd.DataFrame) -> pd.DataFrame:
    """One row per case, for the attacks: what an attacker may know of it."""
    cases = log.groupby(CASE)
    start = cases[TIME].first()
    return pd.DataFrame(
        {
            "first": cases[ACTIVITY].first(),
            "last": cases[ACTIVITY].last(),
            "events": cases.size(),
            "activities": cases[ACTIVITY].nunique(),
            "hours": hours(cases[TIME].last() - start).round(),
            "day": (start - pd.Timestamp("1970-01-01", tz="UTC")).dt.days,
            "hour": start.dt.hour,
        }
    ).reset_index(drop=True)


def attacked(one: pd.DataFrame, synthetic: pd.DataFrame, other: pd.DataFrame, seed: int) -> tuple[Numbers, Numbers]:
    """How often the attacks of Anonymeter succeed on A, whose release they know, and on B."""
    real, made, control = described(one), described(synthetic), described(other)
    attacks = min(ATTACKS, len(control))
    know = (["first", "last", "events", "activities"], ["hours", "day", "hour"])
    np.random.seed(seed)  # LinkabilityEvaluator takes none
    evaluators = {
        "singling out": SinglingOutEvaluator(real, made, attacks, 4, control, 100_000, seed=seed),
        "linkability": LinkabilityEvaluator(real, made, know, attacks, 10, control),
    }
    found: tuple[Numbers, Numbers] = {}, {}
    for name, evaluator in evaluators.items():
        outcome = evaluator.evaluate().results()
        found[0][name], found[1][name] = float(outcome.attack_rate.value), float(outcome.control_rate.value)
    return found


def draw(name: str, number: int) -> dict[str, Any]:
    """The journal's line of one draw."""
    log = read(next(DATA.glob(f"{name}.*")))
    if log[CASE].nunique() > LARGE:
        log = some(log, SAMPLE, 0)
    seed = crc32(f"{name} {number}".encode()) // 10
    one, other = halves(log, seed)
    whole, of_one = released([log, one], seed)
    risk, floor_of_risk = attacked(one, of_one, other, seed % 2**31)
    found = compared(log, whole, seed) | predicted(of_one, other, number) | risk
    floor = compared(one, other, seed) | predicted(one, other, number) | floor_of_risk
    return {"log": name, "draw": number, "cases": log[CASE].nunique(), "released": found, "floor": floor}


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    JOURNAL.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in JOURNAL.read_text().splitlines()] if JOURNAL.exists() else []
    done = {(line["log"], line["draw"]): line for line in lines}
    names = os.environ.get("LOGS", LOGS).split()
    for number in range(int(os.environ.get("DRAWS", "3"))):
        for name in names:
            if (name, number) in done:
                continue
            done[name, number] = draw(name, number)
            with JOURNAL.open("a") as out:
                out.write(json.dumps(done[name, number]) + "\n")
    rows = [
        {"log": name, "cases": line["cases"], "measure": measure, "released": value, "floor": line["floor"][measure]}
        for (name, _), line in sorted(done.items(), key=lambda entry: LOGS.index(entry[0][0]))
        for measure, value in line["released"].items()
    ]
    draws = pd.DataFrame(rows).groupby(["log", "cases", "measure"], sort=False)
    table = (
        draws.released.agg(["mean", "min", "max"]).assign(floor=draws.floor.mean(), draws=draws.size()).reset_index()
    )
    table.round(4).to_csv(RESULTS, index=False)
    table["both"] = [
        f"{released:.2g} / {floor:.2g}" for released, floor in zip(table["mean"], table.floor, strict=True)
    ]
    print(table.pivot(index="log", columns="measure", values="both").to_csv(sep="|"))


if __name__ == "__main__":
    main()
