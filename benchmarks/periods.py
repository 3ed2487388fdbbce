"""A year of monthly releases on a real log: ε = 1 a month under periods, against ε/12 without (docs/every-month.md).

The log is released month by month as it grows: the release of a month sees only what was dated before its end and its
grace period. Everything printed is about public logs.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import polars as pl

from travas import BudgetError, Ledger, Log, Optimal, Period, Reading, Release, read
from travas.evaluation.metrics import relative_log_similarity
from travas.mechanisms.mechanism import Mechanism
from travas.pipeline import Request, run
from travas.trusted.numbers import as_text

DATA = Path(os.environ.get("TRAVAS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
DELTA = "1e-6"
RUNS = 5


@dataclass(frozen=True)
class Year:
    """A public log, the year to release, and the rule that closes its cases."""

    file: str
    months: tuple[str, ...]
    rule: Period

    def period(self, month: str) -> Period:
        return Period(month, self.rule.end_activity, self.rule.gap, self.rule.grace)


def months_of(year: int) -> tuple[str, ...]:
    return tuple(f"{year}-{month:02}" for month in range(1, 13))


YEARS = {
    "hospital billing": Year(
        "hospital-billing.csv.gz", months_of(2014), Period("2014-01", end_activity=("BILLED", "DELETE"), grace="14d")
    ),
    "BPIC 2017": Year("bpic2017-w.csv.gz", (*months_of(2016)[1:], "2017-01"), Period("2016-02", gap="30d", grace="7d")),
}


def main(names: list[str]) -> int:
    for name in names or YEARS:
        _year(name, YEARS[name])
    return 0


def _year(name: str, year: Year) -> None:
    events = _events(DATA / year.file)
    print(f"\n## {name}\n")
    closed = ", ".join(year.rule.end_activity) or f"a gap of {year.rule.gap}"
    print(
        f"{events.height:,} events; cases are closed by {closed}; grace period {year.rule.grace}; δ = {DELTA} a year.\n"
    )
    whole, share = Optimal(epsilon=1, delta=DELTA), Optimal(epsilon=Fraction(1, 12), delta=Fraction(DELTA) / 12)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.db")
        ledger.create_budget(name, epsilon=1, delta=DELTA)
        print("| month | cases closed | variants | kept, ε = 1 | kept, ε/12 | similarity, ε = 1 | similarity, ε/12 |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        rows = [_month(year, month, events, whole, share, ledger, name) for month in year.months]
        print(_row("mean", [statistics.mean(column) for column in zip(*rows, strict=True)]) + "\n")
        _show_ledger(ledger, name, year, events, whole)
    _enumerate(year, events)


def _month(
    year: Year, month: str, events: pl.DataFrame, whole: Mechanism, share: Mechanism, ledger: Ledger, name: str
) -> list[float]:
    period = year.period(month)
    log, reading = _grown(events, period), Reading(period=period, ties="activity")
    variants = read(log, reading)
    charged = run(Request(log, whole, reading, ledger=ledger, dataset=name)).release
    releases = [charged, *(whole.release(variants) for _ in range(RUNS - 1))]
    smaller = [share.release(variants) for _ in range(RUNS)]
    numbers = [float(variants.counts.sum()), float(len(variants))]
    numbers += [statistics.mean(len(release.variants) for release in made) for made in (releases, smaller)]
    numbers += [_similarity(variants, made) for made in (releases, smaller)]
    print(_row(month, numbers), flush=True)
    return numbers


def _similarity(variants: Log, releases: list[Release]) -> float:
    return statistics.mean(relative_log_similarity(variants, release) for release in releases)


def _row(name: str, numbers: list[float]) -> str:
    """Format four counts and two similarities."""
    shown = [f"{count:,.0f}" for count in numbers[:4]] + [f"{similarity:.3f}" for similarity in numbers[4:]]
    return f"| {name} | {' | '.join(shown)} |"


def _events(path: Path) -> pl.DataFrame:
    table = pl.read_csv(gzip.decompress(path.read_bytes()), infer_schema=False)
    return table.select("case_id", "activity", pl.col("timestamp").str.to_datetime(time_unit="us"))


def _grown(events: pl.DataFrame, period: Period) -> pl.DataFrame:
    """The log as it is when the period is released: nothing that is dated after the grace period."""
    return events.filter(pl.col("timestamp") < period.earliest_release.replace(tzinfo=None))


def _show_ledger(ledger: Ledger, name: str, year: Year, events: pl.DataFrame, whole: Mechanism) -> None:
    account = ledger.account(name)
    epsilon, delta = map(as_text, account.spent)
    print(f"The ledger: {len(account.entries)} releases at ε = 1; spent for one case: ε = {epsilon}, δ = {delta}.")
    again = year.period(year.months[0])
    try:
        run(Request(_grown(events, again), whole, Reading(period=again, ties="activity"), ledger=ledger, dataset=name))
    except BudgetError as error:
        print(f"A second release of {again.name}: {error}.\n")


def _enumerate(year: Year, events: pl.DataFrame) -> None:
    """Count the months to which every case contributes, by its identifier as a second part of every activity."""
    months: Counter[str] = Counter()
    naive: Counter[str] = Counter()
    for month in year.months:
        period = year.period(month)
        log = _grown(events, period)
        reading = Reading(activity=("activity", "case_id"), period=period, ties="activity")
        months.update(str(trace[0][1]) for trace, _ in read(log, reading).items())
        naive.update(_last_in(log, period))
    twice = sum(number > 1 for number in months.values())
    print(f"Enumeration: {len(months):,} cases contribute to a month, {twice} of them to more than one.")
    twice = sum(number > 1 for number in naive.values())
    print(
        f"By the month of the last event so far it would be {len(naive):,} cases, {twice:,} of them in more than one month."
    )


def _last_in(log: pl.DataFrame, period: Period) -> list[str]:
    start, end = (instant.replace(tzinfo=None) for instant in (period.start, period.end))
    last = log.group_by("case_id").agg(pl.col("timestamp").max())
    return last.filter(pl.col("timestamp").is_between(start, end, closed="left"))["case_id"].to_list()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
