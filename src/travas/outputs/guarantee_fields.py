"""The fields of a guarantee file and what they mean. The reference page is made from this table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GuaranteeField:
    """Fields that are explained together.

    Attributes:
        names: Their paths in the file, such as `unit.name`.
        meaning: What they mean, in Markdown with links between documents.
    """

    names: tuple[str, ...]
    meaning: str


FIELDS = (
    GuaranteeField(
        ("format", "version"),
        "`travas guarantee`, 2.",
    ),
    GuaranteeField(
        ("software",),
        "Name and version of what made it.",
    ),
    GuaranteeField(
        ("standing",),
        "`verified`, `proven` or `not established`: see [the promise](promise.md).",
    ),
    GuaranteeField(
        ("epsilon", "delta"),
        "The requested parameters.",
    ),
    GuaranteeField(
        ("delta_spent",),
        "What the sampled table really uses of δ: 20 significant digits, rounded up where that does not exceed "
        "`delta`.",
    ),
    GuaranteeField(
        ("unit",),
        "`name`: whom it protects, `case` or the column of a [person](unit.md); `max_cases`: the maximum number "
        "of cases counted per person.",
    ),
    GuaranteeField(
        ("unit.counted",),
        "Not for cases: `units` (each at most once per variant) or `cases`.",
    ),
    GuaranteeField(
        ("unit.step_epsilon", "unit.step_delta"),
        "Not for cases: ε and δ of one count that changes by one; on ladders and trees, over all rungs or levels.",
    ),
    GuaranteeField(
        ("unit.table", "unit.sigma", "unit.threshold"),
        "In place of the two above, where one table was made and verified for [all counts of a "
        "person](mechanisms/persons.md): `gaussian`, its σ, and the number of persons with which a variant is kept "
        "with probability 1/2.",
    ),
    GuaranteeField(
        ("neighbours",),
        "The relation under which it holds.",
    ),
    GuaranteeField(
        ("replace_one",),
        "`epsilon`, `delta` when one unit is replaced by another.",
    ),
    GuaranteeField(
        ("kind",),
        "What a release contains: `variants`, `synthetic log` or `process map`; without it, `variants`.",
    ),
    GuaranteeField(
        ("mechanism",),
        "`optimal`, `travas`, `utravas`, `prefix-tree`, `sacofa`, `ladder`, `synthesis` or `map`; "
        "`utravas-published` and `sacofa-published` are *not established*.",
    ),
    GuaranteeField(
        ("description",),
        "The mechanism with all of its options, defaults written out: what `Mechanism.describe()` returns and "
        "`travas.from_description()` reads.",
    ),
    GuaranteeField(
        ("description.person_table",),
        "Of `optimal` and `travas` for persons: the [table for all counts](mechanisms/persons.md), exactly; "
        "without it, each count has its part of (ε, δ).",
    ),
    GuaranteeField(
        ("reading",),
        "The rule from events to variants: `case`, `activities`, `timestamp`, `timestamp_format`, `order`, `ties`, "
        "`on_missing`, `duplicate_cases`, `unit`, `max_cases`, `counted`, `table`, `delimiter`, `quote`, "
        "`encoding`, `abstraction`; `null` where the setting was left to its default (of CSV: detected from "
        "the header).",
    ),
    GuaranteeField(
        ("reading.columns",),
        "The columns, or XES attributes, that were read: case, activities, timestamp, and with `lifecycle` the "
        "column that states it.",
    ),
    GuaranteeField(
        ("reading.recognised",),
        "The standard names by which a column is found where none was set; further names: [reading](reading.md).",
    ),
    GuaranteeField(
        ("reading.lifecycle", "reading.where", "reading.duplicate_events"),
        "Which events were read; files of earlier versions lack them, and all events were read.",
    ),
    GuaranteeField(
        ("reading.period",),
        "The period and the rule that closes cases, where only the cases of a [period](periods.md) were counted; "
        "absent otherwise.",
    ),
    GuaranteeField(
        ("reading.query",),
        "That a query was used; its text may name persons and stays with the data owner.",
    ),
    GuaranteeField(
        ("parameters.minimum_cases",),
        "The pre-threshold T: no variant of fewer cases (persons, where units are counted) is ever released; 1 "
        "means none.",
    ),
    GuaranteeField(
        ("parameters.table_length",),
        "L: N, the number of cases a variant needs, is drawn from T … T + L − 1.",
    ),
    GuaranteeField(
        ("parameters.table_bits",),
        "128: probabilities are whole multiples of 2^−128.",
    ),
    GuaranteeField(
        ("parameters.centre",),
        "C: a released count is n − N + c, so at least c.",
    ),
    GuaranteeField(
        ("parameters.threshold",),
        "K, for `travas` only.",
    ),
    GuaranteeField(
        ("parameters.splits",),
        "Number of runs of `utravas`; `parameters.run_…` are those of one run, `parameters.dropped_counts_as` the "
        "paper's E.",
    ),
    GuaranteeField(
        ("parameters.max_length", "parameters.prune"),
        "Of `prefix-tree` and `sacofa`.",
    ),
    GuaranteeField(
        ("parameters.alphabet",),
        "The activities that were given, or `null`: those of the log; the standing is then *not established*.",
    ),
    GuaranteeField(
        ("parameters.level_epsilon", "parameters.level_delta"),
        "What each level of a tree spends.",
    ),
    GuaranteeField(
        ("parameters.rules_epsilon",),
        "What the rules of `sacofa` cost.",
    ),
    GuaranteeField(
        ("parameters.most_prefixes",),
        "The bound on a tree's work.",
    ),
    GuaranteeField(
        ("parameters.rungs", "parameters.shares"),
        "For `ladder`: the abstractions from fine to coarse, each a list of steps; the part of each, or `adaptive` "
        "where one rung is chosen.",
    ),
    GuaranteeField(
        ("parameters.steps",),
        "For `ladder`: what is spent step by step, ε and δ adding up to the whole; `table_length`, `table_bits`, "
        "`centre` of each release.",
    ),
    GuaranteeField(
        ("parameters.noise", "parameters.standard_deviation", "parameters.gaussian_delta"),
        "For `synthesis`: the noise, its S, and the part of δ that it uses.",
    ),
    GuaranteeField(
        ("parameters.stages",),
        "For `synthesis`: for each measurement, `contribution`: what a case adds at most; where something is "
        "selected, also `threshold`, `delta` and `most_keys`, the maximum number of keys per case.",
    ),
    GuaranteeField(
        ("parameters.shares",),
        "For `synthesis` with times or attributes: the parts of control flow, times and attributes.",
    ),
    GuaranteeField(
        ("parameters.parts",),
        "For `map`: what was measured beyond counts: `durations`, `rework`, `throughput`.",
    ),
    GuaranteeField(
        ("assumed_public",),
        "What was assumed to be public.",
    ),
    GuaranteeField(
        ("timestamps",),
        "That they are artificial or generated, or that there are none.",
    ),
    GuaranteeField(
        ("release.format", "release.sha256"),
        "Suffix and digest of the release this guarantee is for.",
    ),
    GuaranteeField(
        ("release.profile",),
        "`pm4py` or `excel`, if a table was laid out for a [program](outputs.md). Absent otherwise.",
    ),
    GuaranteeField(
        ("release.abstractions",),
        "The [abstractions](abstractions.md) by which its traces were made, each a list of steps with all their "
        "rules; `[[]]` for full traces.",
    ),
    GuaranteeField(
        ("release.assumptions",),
        "What reading the log assumed, such as that a [query](reading.md) works case by case; also in "
        "`assumed_public`. Absent where there is none.",
    ),
    GuaranteeField(
        ("release.notices",),
        "For synthetic logs: `travas:synthetic`, that it is one; `travas:measurements`, the digest of the "
        "measurements, the same for all logs that were generated from them; `travas:regenerated`, where it was "
        "generated again.",
    ),
    GuaranteeField(
        ("release.frequencies",),
        "Which counts an event log holds: `estimated` or `noisy` (both are post-processing, at no cost).",
    ),
)
