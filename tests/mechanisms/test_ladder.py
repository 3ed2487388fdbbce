"""The ladder: its composition checked exhaustively and exactly on small cases, its accounting, its output."""

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exact_losses import growth_below
from travas import Log, ParameterError, Standing, read
from travas.log.abstraction import Abstraction, Grouped, parse_ladder
from travas.mechanisms import mechanism
from travas.mechanisms.ladder import CASES_SHARE, CHOICE_SHARE, Ladder
from travas.mechanisms.mechanism import parameters_of, tables_of, with_random_bytes
from travas.mechanisms.prefix_tree import TwoSidedNoise
from travas.releases.release import VariantRelease
from travas.trusted.guarantee import PrivacyUnit
from travas.trusted.samplers import Seeded
from travas.trusted.tables import Noise

PlainLog = dict[tuple[str, ...], int]
Distribution = defaultdict[Any, Fraction]


def ladder(epsilon: str = "1", delta: str = "1e-6", **options: Any) -> Ladder:
    rule = mechanism("ladder", epsilon, delta, **options)
    assert isinstance(rule, Ladder)
    return rule


# ------------------------------------------------------------------------------------- the composition, exhaustively


class Replay:
    """Runs a function once for every sequence of draws it can make, with the probability of each."""

    def __init__(self) -> None:
        self.script: list[int] = []
        self.made: list[list[Fraction]] = []
        self.place = 0

    def choose(self, weights: list[Fraction]) -> int:
        if self.place == len(self.script):
            self.script.append(0)
            self.made.append(weights)
        self.place += 1
        return self.script[self.place - 1]

    def outcomes(self, run: Callable[[], Any]) -> Iterator[tuple[Any, Fraction]]:
        while True:
            self.place = 0
            outcome, chance = run(), Fraction(1)
            for weights, chosen in zip(self.made, self.script, strict=True):
                chance *= weights[chosen]
            yield outcome, chance
            while self.script and self.script[-1] == len(self.made[-1]) - 1:
                self.script.pop()
                self.made.pop()
            if not self.script:
                return
            self.script[-1] += 1


def weights_of(noise: Noise) -> list[Fraction]:
    table = noise.table
    return [table.keep_probability(n) - table.keep_probability(n - 1) for n in range(1, table.length + 1)]


def distribution(rule: Ladder, log: PlainLog, monkeypatch: pytest.MonkeyPatch) -> Distribution:
    """Of the real release, but for the number of cases, whose noise is infinite: it is checked on its own."""
    replay = Replay()
    variants = Log.from_mapping(log) if log else Log.from_mapping({})

    def draw(noise: Noise, size: int, _: Any) -> Any:
        weights = weights_of(noise)
        return np.array([1 + replay.choose(weights) for _ in range(size)], dtype=np.int64)

    def run() -> Any:
        release = rule.release(variants)
        return release.variants, release.rungs, release.noisy

    found: Distribution = defaultdict(Fraction)
    with monkeypatch.context() as patch:
        patch.setattr(Noise, "draw", draw)
        patch.setattr(TwoSidedNoise, "draw", lambda *_: np.zeros(1, dtype=np.int64))
        for outcome, chance in replay.outcomes(run):
            found[outcome] += chance
    assert sum(found.values()) == 1
    return found


def beyond(one: Distribution, other: Distribution, epsilon: Fraction) -> Fraction:
    """The least δ with which one is (ε, δ)-close to the other; a bound below e^ε makes it too large, never too small."""
    growth = growth_below(epsilon)
    return sum((max(Fraction(0), chance - growth * other[o]) for o, chance in one.items()), Fraction(0))


def test_two_rungs_compose_on_every_small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every output of every pair of neighbours, in exact fractions: (Σε, Σδ) of the rungs, both ways."""
    rule = ladder("2", "0.4", rungs="full,prefix:1")
    spent = rule.epsilon * (1 - CASES_SHARE)
    found = {}
    for one in range(5):
        for two in range(4):
            log = {("a", "b"): one, ("a", "c"): two}
            found[one, two] = distribution(rule, {k: n for k, n in log.items() if n}, monkeypatch)
    worst = Fraction(0)
    for (one, two), here in found.items():
        for near in ((one + 1, two), (one, two + 1)):
            if near in found:
                worst = max(worst, beyond(here, found[near], spent), beyond(found[near], here, spent))
    assert worst <= rule.delta
    assert worst > max(
        Fraction(part) * rule.delta for part in ("1/2", "1/2")
    )  # not parallel: absence on earlier rungs also reveals something


def test_a_ladder_whose_next_rung_depends_on_true_counts_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: it rejects a ladder on which only variants of five cases or more go on."""
    rule = ladder("1", "0.1", rungs="full,prefix:1")
    right = Grouped.counts

    def wrong(self: Grouped, counts: Any) -> Any:
        return right(self, np.where(counts >= 5, counts, 0) if self.variants.abstraction.steps else counts)

    with monkeypatch.context() as patch:
        patch.setattr(Grouped, "counts", wrong)
        one, other = (distribution(rule, {("a", "b"): n}, monkeypatch) for n in (4, 5))
    spent = rule.epsilon * (1 - CASES_SHARE)
    assert max(beyond(one, other, spent), beyond(other, one, spent)) > rule.delta


def chosen(rule: Ladder, log: PlainLog, cases: int, monkeypatch: pytest.MonkeyPatch, sharper: int = 1) -> Distribution:
    """Of the rung that is chosen; discrete Laplace noise cut at ±6."""
    ratio = growth_below(rule._testing.epsilon * sharper) ** -1
    plain = [ratio ** abs(x) for x in range(-6, 7)]
    weights = [weight / sum(plain) for weight in plain]
    replay = Replay()
    found: Distribution = defaultdict(Fraction)
    with monkeypatch.context() as patch:
        patch.setattr(
            TwoSidedNoise, "draw", lambda _, size, __: np.array([replay.choose(weights) - 6 for _ in range(size)])
        )
        variants = Log.from_mapping(log)
        for place, chance in replay.outcomes(lambda: rule._choice(variants, cases)):
            found[place] += chance
    return found


def test_the_choice_of_the_rung_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, for a given noisy number of cases; noise four times as sharp is found out."""
    rule = ladder("20", "0.4", rungs="full,prefix:2,prefix:1")
    epsilon = rule.epsilon * CHOICE_SHARE
    cut = Fraction(1, 200)  # a bit more than three draws lose beyond ±6
    sharp = Fraction(0)
    near = [
        ({("a", "b", "c"): 3, ("a", "b"): 2}, {("a", "b", "c"): 4, ("a", "b"): 2}),
        ({("a", "b", "c"): 3, ("a", "c"): 2}, {("a", "b", "c"): 3, ("a", "c"): 2, ("b",): 1}),
    ]
    for logs in near:
        one, other = (chosen(rule, log, 20, monkeypatch) for log in logs)
        assert max(beyond(one, other, epsilon), beyond(other, one, epsilon)) <= cut
        one, other = (chosen(rule, log, 20, monkeypatch, 4) for log in logs)
        sharp = max(sharp, beyond(one, other, epsilon), beyond(other, one, epsilon))
    assert sharp > 10 * cut


# -------------------------------------------------------------------------------------------------- the accounting


@pytest.mark.parametrize("options", [{}, {"rungs": "full,first,prefix:2", "shares": "equal"}, {"rungs": "set"}])
def test_the_steps_add_up_to_what_was_asked(options: dict[str, str]) -> None:
    rule = ladder("1/3", "1e-6", **options)
    steps = parameters_of(rule)["steps"]
    assert sum(Fraction(step["epsilon"]) for step in steps) == rule.epsilon
    assert sum(Fraction(step["delta"]) for step in steps) == rule.delta
    guarantee = rule.guarantee()
    assert guarantee.standing is Standing.PROVEN and 0 < guarantee.delta_spent <= rule.delta
    assert guarantee.delta_spent == sum(noise.delta_spent for noise in tables_of(rule))
    assert with_random_bytes(rule, Seeded(1)).guarantee().standing is Standing.NOT_ESTABLISHED


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rungs": "full,full"}, "different rungs"),
        ({"rungs": "full,first", "shares": "1/2,1/2"}, "shares is '1/2,1/2'"),
        ({"minimum_cases": 0}, "minimum_cases"),
        ({"epsilon": "21"}, "epsilon is 21"),
        ({"delta": "1e-20", "rungs": "full,first"}, "delta"),
        ({"epsilon": "0.1234567890123456789"}, "fewer digits"),
    ],
)
def test_a_bad_ladder_is_one_clear_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ladder(**options)


# ------------------------------------------------------------------------------------------------------ the release


LOG: PlainLog = {
    ("a", "b", "c"): 400,
    ("a", "b", "b"): 5,
    **{("a", "b", "c", "d", *["e"] * n): 3 for n in range(60)},
    **{("x", "y", str(n)): 1 for n in range(60)},
}


def test_cases_that_are_not_covered_go_on_and_none_counts_twice() -> None:
    rule = ladder("4", "1e-4", rungs="full,fold,prefix:2")
    release = with_random_bytes(rule, Seeded(3)).release(Log.from_mapping(LOG))
    found = dict(zip(zip(release.variants, release.rungs, strict=True), release.noisy, strict=True))
    assert set(found) == {(("a", "b", "c"), 0), (("a", "b", "c", "d", "e"), 1), (("x", "y"), 2)}
    assert abs(found[("a", "b", "c"), 0] - 400) < 20 and abs(found[("a", "b", "c", "d", "e"), 1] - 177) < 20
    assert abs(sum(release.estimate.spread) - sum(LOG.values())) < 25
    assert release.cases is not None and abs(release.cases - sum(LOG.values())) < 60


def test_the_ladder_stops_where_full_variants_are_enough() -> None:
    few = Log.from_mapping({("a", str(n)): 500 for n in range(10)})
    many = Log.from_mapping({("a", "b", "c", "d", *map(str, range(n))): 1 for n in range(1, 3000, 2)})
    rule = ladder("2", "1e-6", rungs="full,prefix:4")
    assert set(rule.release(few).rungs) == {0}  # chance of a false alarm below e^-40
    assert set(rule.release(many).rungs) == {1}
    assert rule.release(Log.from_mapping({})).variants == ()


def test_missing_cases_go_to_the_last_rung_only() -> None:
    rule = ladder("1", "1e-6", rungs="full,prefix:1")
    release = VariantRelease.of(
        rule, (("a", "b"), ("a",)), (500, 300), abstractions=rule.rungs, rungs=(0, 1), cases=1000
    )
    release = dataclasses.replace(release, frequencies="spread")
    assert sum(dataclasses.replace(release, frequencies="estimated").counts) == pytest.approx(800, abs=3)
    counts = dict(zip(release.rungs, release.counts, strict=True))
    assert counts[0] == 500 and counts[1] == 500
    assert release.estimate.missing_cases == pytest.approx(200, abs=3)
    low, high = release.estimate.missing_cases_interval or (0, 0)
    assert low < 200 < high
    assert dataclasses.replace(release, frequencies="noisy").counts == release.noisy
    assert dataclasses.replace(release, variants=(), noisy=(), rungs=()).estimate.missing_cases is None


def test_a_pre_threshold_holds_on_every_rung() -> None:
    rule = ladder("4", "0.5", rungs="full,prefix:1", minimum_cases=9)
    log = {("a", str(n)): 8 for n in range(9)} | {("b",): 8}
    for _ in range(20):
        release = rule.release(Log.from_mapping(log))
        assert set(release.variants) <= {("a",)} and all(count >= 9 for count in release.noisy)


def test_an_abstraction_of_the_log_comes_first(small_csv: Path) -> None:
    log = parse_ladder("prefix:2")[0].of(read(small_csv))
    release = ladder("4", "0.1", rungs="full,suffix:1").release(log)
    assert list(map(str, release.abstractions)) == ["prefix:2", "prefix:2 | suffix:1"]


# ------------------------------------------------------------------------------------------------ persons


def test_a_ladder_for_persons_draws_with_the_step_of_a_group() -> None:
    unit = PrivacyUnit("patient", 3)
    rule = Ladder("3", "1e-4", rungs="full,prefix:1", unit=unit)
    step = rule._step
    assert step.epsilon == 1 and step.delta < Fraction("1e-4") / 3
    steps = parameters_of(rule)["steps"]
    assert sum(Fraction(part["epsilon"]) for part in steps) == rule.epsilon
    assert sum(Fraction(part["delta"]) for part in steps) == rule.delta
    given = rule._selection.delta * len(rule.rungs)
    assert (
        step.delta < given < Fraction("1e-4") / 3
    )  # a rung's own ε is smaller, and so is what M steps of it add up to
    assert rule.guarantee().delta_spent > rule.delta * Fraction(99, 100)
    assert rule.guarantee().delta_spent <= rule.delta and rule.guarantee().unit == unit
    with pytest.raises(ParameterError, match="counted for the unit"):
        rule.release(Log.from_mapping(LOG))
    counted = dataclasses.replace(Log.from_mapping(LOG), unit=unit, counted="cases")
    assert rule.release(counted).guarantee.unit == unit


def test_an_abstraction_of_persons_counted_once_per_variant_is_refused() -> None:
    variants = dataclasses.replace(Log.from_mapping(LOG), unit=PrivacyUnit("patient", 3), counted="units")
    with pytest.raises(ParameterError, match="would count it several times; use a ladder"):
        Abstraction.parse("prefix:1").of(variants)
    assert Abstraction.parse("full").of(variants) is variants
