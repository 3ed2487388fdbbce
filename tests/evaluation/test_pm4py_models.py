"""`models` gives pm4py's numbers: compared with plain pm4py on tables of events with every case written out."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import DATA
from travas.evaluation import pm4py_models as models

PlainLog = dict[tuple[str, ...], int]

ODD_NAMES = ["a", "b", "c", "tau", "X( 'tau' )", "p_1", "source", "π\n\"'", " a", "None"]


def events(log: PlainLog) -> pd.DataFrame:
    """The table of events that pm4py reads."""
    cases = [variant for variant, count in log.items() for _ in range(count)]
    rows = [(f"{case:09d}", activity) for case, variant in enumerate(cases) for activity in variant]
    table = pd.DataFrame(rows, columns=["case:concept:name", "concept:name"])
    table["time:timestamp"] = pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(range(len(table)), unit="s")
    return table


def plain(original: PlainLog, released: PlainLog) -> tuple[float, float]:
    """The definition, by pm4py alone."""
    import pm4py

    net, initial, final = pm4py.discover_petri_net_inductive(events(released), noise_threshold=0.2)
    table = events(original)
    fitness = pm4py.fitness_token_based_replay(table, net, initial, final)["log_fitness"]
    return fitness, pm4py.precision_token_based_replay(table, net, initial, final)


@contextmanager
def shuffled_memory() -> Iterator[None]:
    """pm4py hashes the parts of a net by their addresses: here these are drawn afresh for every net."""
    from pm4py.objects.petri_net.obj import PetriNet

    def address(self: Any) -> int:
        return int(self.__dict__.setdefault("address", random.getrandbits(60)))

    parts = [PetriNet.Arc, PetriNet.Place, PetriNet.Transition]
    hashes = [part.__hash__ for part in parts]
    for part in parts:
        part.__hash__ = address
    try:
        yield
    finally:
        for part, original in zip(parts, hashes, strict=True):
            part.__hash__ = original


def agrees(original: PlainLog, released: PlainLog) -> bool:
    """Does pm4py give our numbers? If it has several for these logs, for they depend on addresses: one of them?"""
    ours = models.fitness_and_precision(original, released)
    if plain(original, released) == pytest.approx(ours, rel=0, abs=1e-9):
        return True
    with shuffled_memory():
        return any(plain(original, released) == pytest.approx(ours, rel=0, abs=1e-9) for _ in range(500))


def small_logs(names: list[str]) -> st.SearchStrategy[PlainLog]:
    traces = st.lists(st.sampled_from(names), min_size=1, max_size=8).map(tuple)
    return st.dictionaries(traces, st.integers(1, 20), min_size=1, max_size=8)


@settings(max_examples=20)
@given(small_logs(ODD_NAMES), small_logs(ODD_NAMES))
def test_odd_names(original: PlainLog, released: PlainLog) -> None:
    assert agrees(original, released)


def test_activities_that_are_not_in_the_model() -> None:
    original: PlainLog = {("a", "x", "b"): 3, ("x",): 2, ("b", "x", "x"): 1}
    released: PlainLog = {("a", "b"): 10}
    assert agrees(original, released)
    assert models.fitness({("x", "y"): 1}, released) < models.fitness({("a", "x", "b"): 1}, released) == 1


def test_long_rows_of_skips() -> None:
    """pm4py finds no invisible route of more than 51 transitions."""
    names = [f"{number:02d}" for number in range(60)]
    released = {(name,): 1 for name in names} | {tuple(names): 1}
    for skipped in range(48, 55):
        assert agrees({("00", names[skipped + 1]): 1}, released)


def test_invisible_routes_back_to_where_they_began() -> None:
    """A place that lacked a token at first can have one later: then pm4py takes its route to itself."""
    released = {"tmynoq": 4, "sgpotiw": 32, "kty": 7, "pstqxk": 27, "siptx": 30, "txnm": 1, "kpstq": 1}
    assert agrees({("t", "w"): 1}, {tuple(trace): count for trace, count in released.items()})


@pytest.mark.parametrize(
    ("file", "fitness", "precision"),
    [
        ("bpic2013-incidents.xes.gz", 0.9946449064573959, 0.8766741071428571),
        ("sepsis.xes.gz", 0.987238567573399, 0.45247625508819533),
    ],
)
def test_fitness_and_precision_of_public_logs(file: str, fitness: float, precision: float) -> None:
    log = read(file)
    assert models.fitness_and_precision(log, log) == pytest.approx((fitness, precision), rel=0, abs=1e-9)
    assert (models.fitness(log, log), models.precision(log, log)) == models.fitness_and_precision(log, log)


def read(file: str) -> PlainLog:
    if not (DATA / file).exists():
        pytest.skip(f"{file} is not here")
    from travas.sources.engine import read as read_variants

    return {tuple(map(str, trace)): count for trace, count in read_variants(DATA / file).items()}


def test_a_comma_is_part_of_a_name() -> None:
    """pm4py splits names at commas for the precision."""
    log, other = {("a,b", "c"): 3, ("c",): 1}, {("ab", "c"): 3, ("c",): 1}
    assert models.fitness_and_precision(log, log) == models.fitness_and_precision(other, other)
