"""The core's speed and memory, as ratios measured in one run: `make bench`.

Every measurement is a process of its own, so that peak memory is its own too; rivals alternate, the best of three
counts. The large log is generated: Zipf-like variants, time-ordered, text identifiers.
"""

from __future__ import annotations

import json
import os

from harness import DATA, SCRATCH, best, finish, measure, row

BIG = SCRATCH / "big.parquet"
MILLION = SCRATCH / "million.json"

GENERATE = """
import numpy as np, polars as pl
rng = np.random.default_rng(0)
cases, variants = 1_000_000, 60_000
lengths = np.clip(rng.geometric(1 / 8, variants) + 3, 1, 60)
traces = [rng.integers(0, 40, length) for length in lengths]
weights = 1 / np.arange(1, variants + 1) ** 1.1
pick = rng.choice(variants, cases, p=weights / weights.sum())
sizes = lengths[pick]
codes = np.concatenate([traces[i] for i in pick])
case = np.repeat(np.arange(cases), sizes)
step = np.arange(len(case)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
moment = (np.repeat(rng.integers(0, 365 * 86400, cases), sizes) + step * 600) * 1_000_000 + rng.integers(0, 1000, len(case))
names = pl.Series([f"activity {i:02d}" for i in range(40)])
pl.DataFrame({
    "case:concept:name": pl.Series(case).cast(pl.String), "concept:name": names.gather(pl.Series(codes)),
    "time:timestamp": pl.Series(moment).cast(pl.Datetime("us", "UTC")),
}).with_columns(("case-" + pl.col("case:concept:name")).alias("case:concept:name")).sort("time:timestamp").write_parquet(PATH)
"""

BARE = """
import polars as pl
begin()
case, activity = "case:concept:name", "concept:name"
log = pl.scan_parquet(PATH).sort(case, "time:timestamp")
variants = log.group_by(case, maintain_order=True).agg(activity).group_by(activity).len().collect(engine="streaming")
end()
"""
SCAN = """
import polars as pl
begin()
pl.scan_parquet(PATH).select(pl.all().hash().sum()).collect(engine="streaming")
end()
"""
OURS = """
import polars, travas
begin()
travas.anonymize(PATH, epsilon=1, delta="1e-6").write(OUT, existing="replace")
end()
"""
MAP = """
import polars, travas
begin()
travas.process_map(PATH, epsilon=1, delta="1e-6", parts=["durations"]).write(OUT, existing="replace")
end()
"""
PM4PY = """
import pandas, pm4py
begin()
pm4py.get_variants(pandas.read_parquet(PATH))
end()
"""
READ_XES = """
import numpy, travas.sources.xes
from travas import read
begin()
read(PATH)
end()
"""
READ_XES_ALL = """
import travas
from travas.log.questions import DetailColumn, Details
reading = travas.Reading(details=Details("read", (DetailColumn("org:resource", of="event"),)))
begin()
travas.read(PATH, reading)
end()
"""
READ_R4PM = """
import r4pm
begin()
r4pm.df.import_xes(PATH)
end()
"""
WRITE_CSV = """
import polars as pl
begin()
pl.scan_parquet(PATH).head(10_000_000).sink_csv(OUT)
end()
"""
BARE_CSV = """
import polars as pl
begin()
case, activity = "case:concept:name", "concept:name"
log = pl.scan_csv(PATH, infer_schema=False).sort(case, "time:timestamp")
variants = log.group_by(case, maintain_order=True).agg(activity).group_by(activity).len().collect(engine="streaming")
end()
"""
READ = """
import polars, travas
begin()
travas.read(PATH)
end()
"""
DOCTOR = """
import polars, travas
begin()
travas.doctor(PATH)
end()
"""
WRITE_XES = """
import travas
from travas.mechanisms import mechanism
release = travas.VariantRelease.of(mechanism("optimal", 1, "1e-6"), *load(PATH))
begin()
release.write(OUT, existing="replace")
end()
"""
WRITE_PM4PY = """
import pm4py, travas
from travas.mechanisms import mechanism
release = travas.VariantRelease.of(mechanism("optimal", 1, "1e-6"), *load(PATH))
frame = release.to_pandas()
begin()
pm4py.write_xes(frame, OUT, variant_str=VARIANT)
end()
"""
NOISE = """
import os, numpy as np
from travas import Log
from travas.mechanisms import mechanism
counts = np.random.default_rng(0).geometric(0.05, 1_000_000)
begin()
rule = mechanism("optimal", 1, "1e-6")
rule.guarantee()
drawn = rule.noise.draw(len(counts), os.urandom)
noisy = (counts - drawn + rule.centre)[counts >= drawn]
end()
"""
GAUSSIAN = """
import os
from travas.trusted.samplers import discrete_gaussian
begin()
discrete_gaussian(1_000_000, os.urandom)
end()
"""
SYNTHESIZE = """
begin()
import travas
travas.synthesize(PATH, epsilon=1, delta="1e-6", times=None).write(OUT, existing="replace")
end()
"""
SYNTHESIZE_LARGE = """
import travas
log = travas.read(PATH)
begin()
travas.synthesize(log, epsilon=1, delta="1e-6", times=None).write(OUT, existing="replace")
end()
"""
SYNTHESIZE_TIMES = """
begin()
import travas
travas.synthesize(PATH, epsilon=1, delta="1e-6").write(OUT, existing="replace")
end()
"""
SYNTHESIZE_DISTINCT = """
import numpy as np, travas
rng = np.random.default_rng(0)
lengths = np.clip(rng.geometric(1 / 8, 1_000_000) + 3, 1, 60)
events = (rng.zipf(1.4, lengths.sum()) % 40).astype("uint32").tobytes()
ends = 4 * np.cumsum(lengths)
keys = [events[begin:end] for begin, end in zip((ends - 4 * lengths).tolist(), ends.tolist())]
log = travas.Log([f"activity {i}" for i in range(40)], keys, np.ones(len(keys), dtype=np.int64))
del events
begin()
travas.synthesize(log, epsilon=1, delta="1e-6", times=None).write(OUT, existing="replace")
end()
"""
NOISE_OPENDP = """
import numpy as np, opendp.prelude as dp
dp.enable_features("contrib")
space = dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int)), dp.l01inf_distance(dp.absolute_distance(T=int))
rule = dp.m.make_laplace_threshold(*space, scale=1.0, threshold=15)
counts = dict(enumerate(np.random.default_rng(0).geometric(0.05, 100_000).tolist()))
begin()
rule(counts)
end()
"""
IMPORTS = {
    "import polars": "begin()\nimport polars\nend()",
    "import travas": "begin()\nimport travas\nend()",
    "import polars, typer": "begin()\nimport polars, typer, rich\nend()",
    "travas --help": "begin()\nimport travas.cli.main, sys, io\nsys.argv = ['travas', '--help']\nsys.stdout = io.StringIO()\n"
    "try: travas.cli.main.main()\nexcept SystemExit: sys.stdout = sys.__stdout__\nend()",
}


def parquet() -> None:
    out = SCRATCH / "out"
    found = best(
        3,
        scan=(SCAN, {"PATH": BIG}),
        bare=(BARE, {"PATH": BIG}),
        json=(OURS, {"PATH": BIG, "OUT": f"{out}.json"}),
        parquet=(OURS, {"PATH": BIG, "OUT": f"{out}.parquet"}),
        map=(MAP, {"PATH": BIG, "OUT": f"{out}-map.json"}),
    )
    pm4py = measure(PM4PY, PATH=BIG)
    bare, ours, events = found["bare"][0], found["json"], found["parquet"]
    note = f"[{ours[0]:.2f} s; bare sort and group-by {bare:.2f} s, bare scan {found['scan'][0]:.2f} s]"
    row("Parquet, 11 M events, to .json: time of a bare Polars sort and group-by", ours[0] / bare, 0.4, "≤", note=note)
    row("Parquet, 11 M events, to .parquet: the same", events[0] / bare, 2.5, "≤", note=f"[{events[0]:.2f} s]")
    row("Parquet, 11 M events: faster than pm4py.get_variants", pm4py[0] / ours[0], 15, "≥", note=f"[{pm4py[0]:.1f} s]")
    row("Parquet, 11 M events, to .json: peak memory", ours[1] / 1024, 0.8, "≤", "GB")
    row("Parquet, 11 M events, to .parquet: peak memory", events[1] / 1024, 1.5, "≤", "GB")
    drawn = found["map"]
    row(
        "Parquet, 11 M events, map with durations: time of `anonymize`",
        drawn[0] / ours[0],
        2,
        "≤",
        note=f"[{drawn[0]:.2f} s]",
    )
    row("Parquet, 11 M events, map with durations: peak memory", drawn[1] / 1024, 1.5, "≤", "GB")


def xes_out() -> None:
    content = json.loads((SCRATCH / "out.json").read_text())
    chosen, events = [], 0
    for trace, count in zip(content["variants"], content["counts"], strict=True):
        if events < 1_000_000:
            chosen.append((trace, count))
            events += len(trace) * count
    MILLION.write_text(json.dumps({"variants": [t for t, _ in chosen], "counts": [c for _, c in chosen]}))
    target = SCRATCH / "out.xes.gz"
    found = best(
        2,
        ours=(WRITE_XES, {"PATH": MILLION, "OUT": target}),
        pm4py=(WRITE_PM4PY, {"PATH": MILLION, "OUT": SCRATCH / "pm4py.xes.gz", "VARIANT": "line_by_line"}),
        r4pm=(WRITE_PM4PY, {"PATH": MILLION, "OUT": SCRATCH / "r4pm.xes.gz", "VARIANT": "r4pm"}),
    )
    ours = found["ours"]
    note = f"[{events:,} events in {ours[0]:.2f} s, {ours[1]:.0f} MB]"
    row("Writing .xes.gz: faster than pm4py's own writer", found["pm4py"][0] / ours[0], 3, "≥", note=note)
    row("Writing .xes.gz: faster than pm4py with r4pm", found["r4pm"][0] / ours[0], 3, "≥")


def xes_in() -> None:
    for name in ("bpic2012.xes.gz", "road-traffic-fines.xes.gz"):
        if not (DATA / name).exists():
            print(f"--  {name} is not here; set TRAVAS_DATA")
            continue
        found = best(3, ours=(READ_XES, {"PATH": DATA / name}), r4pm=(READ_R4PM, {"PATH": DATA / name}))
        ours = found["ours"]
        note = f"[{ours[0]:.2f} s; r4pm {found['r4pm'][1]:.0f} MB]"
        row(f"{name}: time of r4pm's reader", ours[0] / found["r4pm"][0], 1.0, "≤", note=note)
        row(f"{name}: peak memory", ours[1], 250, "≤", "MB")
        every = best(2, ours=(READ_XES_ALL, {"PATH": DATA / name}))["ours"][0]
        row(f"{name}, times and resources, too: time of r4pm's reader", every / found["r4pm"][0], 1.0, "≤")


def csv_in() -> None:
    path = SCRATCH / "big.csv"
    if not path.exists():
        measure(WRITE_CSV, PATH=BIG, OUT=path)
    found = best(2, bare=(BARE_CSV, {"PATH": path}), ours=(READ, {"PATH": path}), doctor=(DOCTOR, {"PATH": path}))
    ours, doctor = found["ours"], found["doctor"]
    note = f"[{ours[0]:.2f} s]"
    row(
        "CSV, 10 M events: time of a bare Polars scan, sort and group-by",
        ours[0] / found["bare"][0],
        1.3,
        "≤",
        note=note,
    )
    row("CSV, 10 M events: peak memory", ours[1] / 1024, 1.2, "≤", "GB")
    row("Doctor, CSV of 10 M events: time of a read", doctor[0] / ours[0], 1.5, "≤", note=f"[{doctor[1]:.0f} MB]")


def doctor_xes() -> None:
    path = DATA / "road-traffic-fines.xes.gz"
    if not path.exists():
        print(f"--  {path.name} is not here; set TRAVAS_DATA")
        return
    found = best(2, ours=(READ, {"PATH": path}), doctor=(DOCTOR, {"PATH": path}))
    row(f"Doctor, {path.name}: time of a read", found["doctor"][0] / found["ours"][0], 1.5, "≤")


def noise() -> None:
    found = best(3, ours=(NOISE, {}), opendp=(NOISE_OPENDP, {}))
    row("Noise on 1 M variants, table and verification included", found["ours"][0], 0.5, "≤", "s")
    per_variant = (found["opendp"][0] / 100_000) / (found["ours"][0] / 1_000_000)
    row("Noise per variant: faster than OpenDP's make_laplace_threshold", per_variant, 20, "≥")
    gaussian = best(3, ours=(GAUSSIAN, {}))["ours"][0]
    row("Exact discrete Gaussian noise, a draw of 1 M", gaussian, 3, "≤", "µs")


def synthetic_logs() -> None:
    for name, bar in (("sepsis", 5), ("bpic2012", 15)):
        if (path := DATA / f"{name}.xes.gz").exists():
            seconds, _ = best(3, ours=(SYNTHESIZE, {"PATH": path, "OUT": SCRATCH / "synthetic.xes.gz"}))["ours"]
            row(f"Synthetic log of {name}, from file to file", seconds, bar, "≤", "s")
    if (path := DATA / "bpic2012.xes.gz").exists():
        seconds, _ = best(3, ours=(SYNTHESIZE_TIMES, {"PATH": path, "OUT": SCRATCH / "timed.xes.gz"}))["ours"]
        row("Synthetic log of bpic2012 with times, from file to file", seconds, 20, "≤", "s")
    seconds, memory = measure(SYNTHESIZE_TIMES, PATH=BIG, OUT=SCRATCH / "timed.parquet")
    note = f"[peak memory {memory / 1024:.1f} GB]"
    row("Synthetic log of 1 M cases with times, from file to file", seconds, 300, "≤", "s", note)
    for what, script in (("1 M cases", SYNTHESIZE_LARGE), ("1 M cases, all different", SYNTHESIZE_DISTINCT)):
        seconds, memory = measure(script, PATH=BIG, OUT=SCRATCH / "synthetic.parquet")
        row(f"Synthetic log of {what}, 11 M events, after reading", seconds, 180, "≤", "s")
        row(f"Synthetic log of {what}, 11 M events: peak memory", memory / 1024, 3, "≤", "GB")


def imports() -> None:
    found = best(5, **{name: (script, {}) for name, script in IMPORTS.items()})
    row("import travas: time of import polars", found["import travas"][0] / found["import polars"][0], 1.3, "≤")
    ratio = found["travas --help"][0] / found["import polars, typer"][0]
    row("travas --help: time of import polars, typer", ratio, 1.3, "≤")


PARTS = (parquet, xes_out, xes_in, csv_in, doctor_xes, noise, synthetic_logs, imports)
"""`PARTS="parquet noise" make bench` runs some of them."""


def main() -> None:
    if not BIG.exists():
        print("generating 1 M cases, 11 M events …", flush=True)
        measure("begin()\n" + GENERATE + "\nend()", PATH=BIG)
    parts = {part.__name__: part for part in PARTS}
    for name in os.environ.get("PARTS", " ".join(parts)).split():
        parts[name]()
    finish()


if __name__ == "__main__":
    main()
