"""The prefix trees: their counts against a slow twin, what one case changes, bounded work, noise around zero."""

import os
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from travas import Ledger, Log, Mechanism, ParameterError, Standing, anonymize
from travas.mechanisms import mechanism, prefix_tree
from travas.mechanisms.prefix_tree import PrefixTree, Trie, TwoSidedNoise
from travas.mechanisms.sacofa import SaCoFa, eventually_follows
from travas.releases.release import name_of
from travas.search.table_builders import laplace_table
from travas.trusted.numbers import ONE
from travas.trusted.samplers import uniform_below
from travas.trusted.tables import Noise

ALPHABET = ("a", "b", "c")
traces = st.lists(st.sampled_from([*ALPHABET, "x"]), min_size=1, max_size=5).map(tuple)
logs = st.dictionaries(traces, st.integers(1, 9), min_size=1, max_size=12)
PlainLog = dict[tuple[str, ...], int]


def counted(log: PlainLog, length: int) -> dict[tuple[str, ...], tuple[int, int]]:
    """The slow twin: for every sequence over the alphabet, how many cases are it and how many go on after it."""
    return {
        prefix: (
            log.get(prefix, 0),
            sum(count for trace, count in log.items() if trace[:length] == prefix and len(trace) > length),
        )
        for prefix in product(ALPHABET, repeat=length)
    }


def by_trie(log: PlainLog, length: int) -> dict[tuple[str, ...], tuple[int, int]]:
    trie = Trie(Log.from_mapping(log), 5, ALPHABET)
    prefixes: list[tuple[int, ...]] = [()]
    for _ in range(length):
        prefixes = trie.children(prefixes)
    pairs = zip(*(counts.tolist() for counts in trie.counts(prefixes)), strict=True)
    return dict(zip(map(trie.trace, prefixes), pairs, strict=True))  # type: ignore[arg-type]


@given(log=logs)
@settings(max_examples=60)
def test_the_trie_counts_what_the_slow_twin_counts(log: PlainLog) -> None:
    for length in range(1, 5):
        assert by_trie(log, length) == counted(log, length)


@given(log=logs, more=traces)
@settings(max_examples=60)
def test_one_case_more_changes_one_cell_of_a_level_by_one(log: PlainLog, more: tuple[str, ...]) -> None:
    """The lemma the guarantee stands on, activities outside of the alphabet included."""
    other = log | {more: log.get(more, 0) + 1}
    for length in range(1, 5):
        here, there = by_trie(log, length), by_trie(other, length)
        changes = [abs(a - b) for prefix in here for a, b in zip(here[prefix], there[prefix], strict=True)]
        assert sum(changes) <= 1


@given(log=logs, more=traces)
@settings(max_examples=60)
def test_one_case_more_changes_at_most_d_squared_cells_of_the_rules(log: PlainLog, more: tuple[str, ...]) -> None:
    matrices = []
    for mapping in (log, log | {more: log.get(more, 0) + 1}):
        variants = Log.from_mapping(mapping)
        matrices.append(eventually_follows(variants, ALPHABET, 3)[0])
    assert np.abs(matrices[0] - matrices[1]).sum() <= min(len(ALPHABET), 3) ** 2


@given(log=logs)
@settings(max_examples=60)
def test_rules_are_counted_as_by_hand(log: PlainLog) -> None:
    variants = Log.from_mapping(log)
    after, cases = eventually_follows(variants, ALPHABET, None)
    for place, a in enumerate(ALPHABET):
        assert cases[place] == sum(count for trace, count in log.items() if a in trace)
        for other, b in enumerate(ALPHABET):
            by_hand = sum(count for trace, count in log.items() if a in trace and b in trace[trace.index(a) + 1 :])
            assert after[place, other] == by_hand


def test_noise_around_zero_is_verified_and_symmetric() -> None:
    for epsilon, delta in (("0.08", "0.02"), ("2", "0.5"), ("1/25", "1e-6"), ("20", "0.99")):
        table = laplace_table(Fraction(epsilon), Fraction(delta))
        noise = Noise(table, Fraction(epsilon), Fraction(delta))
        assert Fraction(delta) / 2 <= noise.delta_spent <= Fraction(delta)
        middle = table.length // 2 + 1
        assert abs(table.cumulative(middle - 3) + table.cumulative(middle + 2) - ONE) <= 1
        assert table.centre() == middle


def test_an_interval_around_zero_holds_what_it_says() -> None:
    for noise in (TwoSidedNoise(Fraction(1, 10), Fraction(1, 100)), TwoSidedNoise(Fraction(1, 10), Fraction(0))):
        drawn = np.abs(noise.draw(200_000, os.urandom))
        assert np.mean(drawn <= noise.within(0.95)) > 0.94
        assert np.mean(drawn <= noise.within(0.95) - 2) < 0.95


def test_the_tree_finds_frequent_variants_and_says_what_it_assumes() -> None:
    log: dict[Any, int] = {("a", "b", "c"): 4000, ("a", "c"): 3000, ("b",) * 9: 500}
    tree = mechanism("prefix-tree", 2, 0, max_length=4, prune=200)
    with pytest.raises(ParameterError, match="not established"):
        anonymize(log, tree)
    release = anonymize(log, tree, guarantee="not required")
    assert set(release.variants) == {("a", "b", "c"), ("a", "c")}  # the long one is lost
    assert all(abs(count - log[trace]) < 200 for trace, count in zip(release.variants, release.noisy, strict=True))
    assert any("alphabet was read from the log" in text for text in release.guarantee.assumptions)
    assert release.guarantee.standing is Standing.NOT_ESTABLISHED
    assert release.guarantee.replace_one == (Fraction(4), Fraction(0))
    given_alphabet = anonymize(log, mechanism("prefix-tree", 2, 0, max_length=4, prune=200, alphabet=["a", "c", "z"]))
    assert set(given_alphabet.variants) == {("a", "c")} and given_alphabet.guarantee.assumptions == ()
    assert given_alphabet.guarantee.standing is Standing.PROVEN


def test_an_explosion_is_an_error_that_names_what_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_tree, "MAX_PREFIXES", 10_000)
    log = {(str(n),): 5 for n in range(30)}
    with pytest.raises(ParameterError, match=r"too large: [\d,]+ noisy prefixes at length \d+ of 12.*prune than 0"):
        anonymize(
            log, mechanism("prefix-tree", "0.1", "0.01", max_length=12, prune=0, alphabet=[str(n) for n in range(30)])
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_length": 3}, "needs prune"),
        ({"max_length": 0, "prune": 1}, "max_length is 0"),
        ({"max_length": 3, "prune": -1}, "prune is -1"),
        ({"max_length": 3, "prune": 1, "alphabet": []}, "alphabet"),
    ],
)
def test_public_inputs_are_needed_and_checked(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        mechanism("prefix-tree", 1, "0.01", **options)


def test_a_dead_tree_ends_early() -> None:
    for name in ("prefix-tree", "sacofa", "sacofa-published"):
        rule = mechanism(name, "20", 0, max_length=10**6, prune=10**9)
        rule.release(Log.from_mapping({("a", "b"): 5}))


@pytest.mark.parametrize(
    "rule",
    [
        mechanism("prefix-tree", 1, "0.01", max_length=3, prune=9, alphabet=["a"]),
        mechanism("synthesis", 1, "0.01", alphabet=["a"]),
        mechanism("map", 1, "0.01", alphabet=["a"]),
    ],
    ids=lambda rule: name_of(rule),
)
def test_an_alphabet_of_another_width_is_refused_and_costs_nothing(rule: Mechanism, tmp_path: Path) -> None:
    log, ledger = {(("a", "start"), ("a", "complete")): 50}, Ledger(tmp_path / "ledger.db")
    ledger.create_account("log")
    with pytest.raises(ParameterError, match="2 columns") as refused:
        anonymize(log, rule, ledger=ledger, dataset="log")
    assert ledger.history() == [] and refused.value.field == "alphabet" and refused.value.confidential


def test_sacofa_drops_what_never_follows_once_it_can_afford_to_know() -> None:
    log: PlainLog = {("a", "b"): 30_000, ("b",): 30_000}
    tree = SaCoFa(Fraction(20), Fraction(0), 2, 300)
    plain = PrefixTree(Fraction(20), Fraction(0), 2, 300)
    assert ("b", "a") not in tree.release(Log.from_mapping(log)).variants
    assert tree.guarantee().epsilon == plain.guarantee().epsilon
    assert tree.noise.epsilon == plain.noise.epsilon * Fraction(4, 5)
    rules = tree._allowed(Log.from_mapping(log), Trie(Log.from_mapping(log), 2, None))
    assert rules.tolist() == [[False, True], [False, False]]


# ------------------------------------------------------------------------------------------------- exact draws


def test_uniform_draws_reject_what_would_be_uneven() -> None:
    bound = 3 << 60  # of 2^63 values 2^63 mod 3·2^60 are rejected
    words = iter([(2**63 - 1) << 1, 5 << 1])

    def one_word(size: int) -> bytes:
        return next(words).to_bytes(8, "little") * (size // 8)

    assert uniform_below(np.array([bound]), one_word).tolist() == [5]
    assert next(words, None) is None
