"""Speed and memory of the metrics, as ratios measured in one run: `make bench-metrics`."""

from __future__ import annotations

from harness import DATA, best, finish, measure, row

PREPARE = """
import numpy as np, travas
from travas import read
from travas.evaluation.metrics import absolute_log_difference, relative_log_similarity, _edit_distances
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
import ot
log = read(PATH)
release = travas.Optimal(EPSILON, DELTA).release(log)
true, private = dict(log.items()), dict(zip(release.variants, release.counts))
left, right = list(true), list(private)
"""
BLOCKS = PREPARE + "begin()\n_edit_distances(left, right)\nend()"
LOOP = PREPARE + "begin()\nfor a in left:\n    for b in right:\n        Levenshtein.distance(a, b)\nend()"
SIMILARITY = PREPARE + "begin()\nrelative_log_similarity(true, private)\nend()"
BY_HAND = (
    PREPARE
    + """
letters = {}
spell = lambda trace: "".join(chr(letters.setdefault(a, len(letters))) for a in trace)
left, right = [spell(t) for t in left], [spell(t) for t in right]
lengths = np.maximum.outer([len(t) for t in left], [len(t) for t in right])
masses = [np.array(list(log.values()), float) / sum(log.values()) for log in (true, private)]
begin()
ot.emd2(*masses, cdist(left, right, scorer=Levenshtein.distance, workers=-1) / lengths, numItermax=10**7)
end()
"""
)
BOTH = PREPARE + "begin()\nrelative_log_similarity(true, private)\nabsolute_log_difference(true, private)\nend()"
LARGE = (
    PREPARE.replace("release = ", "mechanism = ")
    .replace(".release(log)", "")
    .replace(
        "true, private = dict(log.items()), dict(zip(release.variants, release.counts))",
        "release = mechanism.release(log)\nprivate = dict(list(zip(release.variants, release.counts))[:3000])\n"
        "assert len(private) == 3000\ntrue = dict(log.items())",
    )
    + "begin()\nrelative_log_similarity(true, private)\nabsolute_log_difference(true, private)\nend()"
)


def distances() -> None:
    cell = {"PATH": DATA / "bpic2013-incidents.xes.gz", "EPSILON": "0.1", "DELTA": "0.1"}
    found = best(
        3, blocks=(BLOCKS, cell), loop=(LOOP, cell), similarity=(SIMILARITY, cell), hand=(BY_HAND, cell)
    )  # fmt: skip
    row("BPIC13, distance matrix: faster than single calls", found["loop"][0] / found["blocks"][0], 20, "≥")
    note = f"[{found['similarity'][0]:.3f} s]"
    row(
        "BPIC13, similarity: time of cdist + emd2 by hand",
        found["similarity"][0] / found["hand"][0],
        1.3,
        "≤",
        note=note,
    )
    for epsilon in ("2", "1", "0.1", "0.01", "0.001"):
        seconds, _ = measure(BOTH, **(cell | {"EPSILON": epsilon, "DELTA": "0.5"}))
        row(f"BPIC13, both metrics at ε = {epsilon}, δ = 0.5", seconds, 1, "≤", "s")


def large() -> None:
    cell = {"PATH": DATA / "bpic2014-filtered.xes.gz", "EPSILON": "1", "DELTA": "0.15"}
    seconds, memory = measure(LARGE, **cell)
    row("BPIC14, 14,948 against 3,000 variants, both metrics", seconds, 120, "≤", "s")
    row("BPIC14, 14,948 against 3,000 variants: peak memory", memory / 1024, 3, "≤", "GB")


MODELS = """
import dataclasses, travas
from travas import read
from travas.evaluation.pm4py_models import fitness_and_precision
from travas.mechanisms.mechanism import with_random_bytes
from travas.trusted.samplers import Seeded
log = read(PATH)
true = dict(log.items())
rule = travas.Optimal(EPSILON, DELTA)
def private(seed):
    release = with_random_bytes(rule, Seeded(seed)).release(log)
    return dict(zip(release.variants, release.counts))
releases = [private(seed) for seed in range(int(RELEASES))]
fitness_and_precision({("a",): 1}, {("a",): 1})
"""
OURS = MODELS + "begin()\nfor release in releases:\n    fitness_and_precision(true, release)\nend()"
PLAIN = (
    MODELS
    + """
import pm4py
def events(log):
    return dataclasses.replace(travas.VariantRelease.of(rule, log, log.values()), frequencies="noisy").to_pandas()
table, tables = events(true), [events(release) for release in releases]
begin()
for private in tables:
    net = pm4py.discover_petri_net_inductive(private, noise_threshold=0.2)
    pm4py.fitness_token_based_replay(table, *net)
    pm4py.precision_token_based_replay(table, *net)
end()
"""
)


def models() -> None:
    """pm4py is asked for a few of the releases only: its time is the same for each."""
    for file, releases, plain, bar in (("bpic2013-incidents.xes.gz", 100, 5, 10), ("sepsis.xes.gz", 10, 3, 5)):
        cell = {"PATH": DATA / file, "EPSILON": "1", "DELTA": "0.1"}
        ours, _ = measure(OURS, **cell, RELEASES=releases)
        theirs, _ = measure(PLAIN, **cell, RELEASES=plain)
        note = f"[{ours / releases:.3f} s a release, pm4py {theirs / plain:.2f} s]"
        what = f"{file}, fitness and precision of {releases} releases: faster than pm4py"
        row(what, (theirs / plain) / (ours / releases), bar, "≥", note=note)


def main() -> None:
    distances()
    large()
    models()
    finish()


if __name__ == "__main__":
    main()
