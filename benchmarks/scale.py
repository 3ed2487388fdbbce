"""Time and memory as logs grow, against a bare sort and group-by of the same files: `make bench-scale`.

Cases lie across files, files are ordered by time, the whole is not. The bare query of 100 M events takes up to 12 GB.
"""

from __future__ import annotations

from pathlib import Path

from core import BARE
from harness import SCRATCH, best, finish, measure, row

LOGS = SCRATCH / "scale"

GENERATE = """
import numpy as np, polars as pl
rng = np.random.default_rng(int(PART))
shape = np.random.default_rng(0)
cases, variants = int(CASES), 60_000
lengths = np.clip(shape.geometric(1 / 8, variants) + 3, 1, 60)
ends = np.cumsum(lengths)
activities = shape.integers(0, 40, ends[-1]).astype(np.uint8)
weights = 1 / np.arange(1, variants + 1) ** 1.1
names = pl.Series([f"activity {i:02d}" for i in range(40)])
pick = rng.choice(variants, cases, p=weights / weights.sum())
sizes = lengths[pick]
case = np.repeat(np.arange(cases), sizes)
step = np.arange(len(case)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
codes = activities[np.repeat(ends[pick] - sizes, sizes) + step]
moment = (np.repeat(rng.integers(0, 365 * 86400, cases), sizes) + step * 600) * 1_000_000 + rng.integers(0, 1000, len(case))
table = pl.DataFrame({
    "case:concept:name": "case-" + pl.Series(case + int(PART) * cases).cast(pl.String),
    "concept:name": names.gather(pl.Series(codes)),
    "time:timestamp": pl.Series(moment).cast(pl.Datetime("us", "UTC")), "step": step,
}).sort("time:timestamp")
table.filter(pl.col("step") < 4).drop("step").write_parquet(PATH + "-early.parquet")
table.filter(pl.col("step") >= 4).drop("step").write_parquet(PATH + "-late.parquet")
begin()
end()
"""
OURS = """
import numpy, polars, travas, travas.sources.frames, travas.outputs.write  # imports are counted on neither side
begin()
travas.anonymize(PATH, epsilon=1, delta="1e-6").write(OUT, existing="replace")
end()
"""
TOTALS = """
import numpy, polars, travas, travas.sources.frames
from travas.log import questions as q
from travas.log.questions import Details
variants = travas.read(PATH, travas.Reading(details=Details("read")))
shown = tuple(variants.alphabet)
pairs = tuple((one, other) for one in range(len(shown)) for other in range(len(shown)))
place = {"activities": shown, "zone": "Europe/Berlin", "contribution": 1_000_000}
begin()
variants.totals.sums(q.Durations(activities=shown, pairs=pairs, contribution=1_000_000))
variants.totals.sums(q.Throughput(activities=shown, contribution=1_000_000))
variants.totals.sums(q.StartBlocks(**place))
variants.totals.sums(q.StartWeeks(blocks=(0, 1, 2), **place))
for kind in (q.StartWeekdays, q.StartHours, q.EventWeekdays, q.EventHours):
    variants.totals.sums(kind(**place))
end()
"""
READ = """
import numpy, polars, travas, travas.sources.frames
begin()
travas.read(PATH)
end()
"""
SESSION = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession, functions as f
session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g").getOrCreate()
events = session.read.parquet(PATH)
events.limit(1000).groupBy("`concept:name`").count().toArrow()
"""
SPARK_BY_HAND = (
    SESSION
    + """
begin()
rows = f.collect_list(f.struct(f.col("`time:timestamp`").alias("time"), f.col("`concept:name`").alias("activity")))
cases = events.groupBy("`case:concept:name`").agg(f.sort_array(rows).alias("rows"))
cases.select(f.col("rows.activity").alias("trace")).groupBy("trace").count().select("count").toArrow()
end()
"""
)
SPARK_OURS = (
    SESSION
    + """
import travas, travas.sources.spark  # imports are counted on neither side
begin()
travas.read(events).counts
end()
"""
)
SINGLETONS = """
import polars as pl
for part in range(10):
    cases = pl.DataFrame({"number": pl.int_range(part * 1_000_000, (part + 1) * 1_000_000, eager=True)})
    steps = pl.DataFrame({"step": range(10)})
    digit = (pl.col("number") // 10 ** (pl.col("step") % 7)) % 10
    cases.join(steps, how="cross").select(
        ("case-" + pl.col("number").cast(pl.String)).alias("case:concept:name"),
        ("an activity with a name of some length, " + digit.cast(pl.String)).alias("concept:name"),
        (pl.col("step").cast(pl.Int64) * 60_000_000).cast(pl.Datetime("us", "UTC")).alias("time:timestamp"),
    ).write_parquet(f"{PATH}-{part}.parquet")
begin()
end()
"""
SPARK_SINGLETONS = (
    SESSION
    + """
import travas
begin()
variants = travas.read(events)
assert len(variants) == 10_000_000, len(variants)
print(len(travas.Optimal(epsilon=1, delta="1e-6").release(variants).variants), "kept")
end()
"""
)


def generate() -> None:
    LOGS.mkdir(exist_ok=True)
    parts = [("small", 0, 90_000), *((f"part-{part}", part, 1_000_000) for part in range(9))]
    for name, part, cases in parts:
        if not (LOGS / f"{name}-late.parquet").exists():
            print(f"generating {name} …", flush=True)
            measure(GENERATE, PATH=LOGS / name, PART=part, CASES=cases)
    if not (LOGS / "singletons-9.parquet").exists():
        print("generating singletons …", flush=True)
        measure(SINGLETONS, PATH=LOGS / "singletons")


def files() -> None:
    out = SCRATCH / "scale.json"
    found: dict[int, dict[str, tuple[float, float]]] = {}
    for millions, pattern, runs in ((1, "small-*", 5), (10, "part-0-*", 3), (100, "part-*", 1)):
        path: Path = LOGS / f"{pattern}.parquet"
        contestants = {"bare": (BARE, {"PATH": path}), "ours": (OURS, {"PATH": path, "OUT": out})}
        found[millions] = best(runs, **contestants)
        bare, ours = found[millions]["bare"], found[millions]["ours"]
        note = f"[{ours[0]:.2f} s, {ours[1] / 1024:.2f} GB; bare {bare[0]:.2f} s, {bare[1] / 1024:.2f} GB]"
        row(f"{millions} M events: time of a bare sort and group-by", ours[0] / bare[0], 1.5, "≤", note=note)
    for less, more in ((1, 10), (10, 100)):
        slower, growth = (found[more][name][0] / found[less][name][0] for name in ("bare", "ours"))
        row(
            f"Growth from {less} M to {more} M: that of the bare query",
            growth / slower,
            1,
            "≤",
            note=f"[{growth:.1f}; {slower:.1f}]",
        )
    row("100 M events: peak memory", found[100]["ours"][1] / 1024, 4.3, "≤", "GB")


def totals() -> None:
    path = LOGS / "part-0-*.parquet"
    found = best(3, read=(READ, {"PATH": path}), totals=(TOTALS, {"PATH": path}))
    read, sums = found["read"][0], found["totals"][0]
    row(
        "10 M events: totals of all times, time of reading the variants",
        sums / read,
        1,
        "≤",
        note=f"[{sums:.2f} s; {read:.2f} s]",
    )


def spark() -> None:
    path = LOGS / "part-0-*.parquet"
    found = best(3, hand=(SPARK_BY_HAND, {"PATH": path}), ours=(SPARK_OURS, {"PATH": path}))
    hand, ours = found["hand"][0], found["ours"][0]
    row(
        "Spark, 11 M events: time of a query by hand",
        ours / hand,
        0.8,
        "≤",
        note=f"[{ours:.1f} s; by hand {hand:.1f} s]",
    )


def singletons() -> None:
    """Ten million variants of one case each: what is held of each by the Python process that draws the noise."""
    seconds, memory = measure(SPARK_SINGLETONS, PATH=LOGS / "singletons-*.parquet")
    _, idle = measure(SESSION + "begin()\nend()\n", PATH=LOGS / "small-*.parquet")
    share = (memory - idle) * 2**20 / 10_000_000
    row("Spark, 10 M variants: memory of the driver per variant", share, 200, "≤", "bytes", f"[{seconds:.0f} s]")


def main() -> None:
    generate()
    files()
    totals()
    spark()
    singletons()
    finish()


if __name__ == "__main__":
    main()
