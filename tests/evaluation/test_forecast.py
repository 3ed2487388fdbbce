"""The forecast: expectations equal enumeration, intervals are those of a release, words for the person who signs."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Run
from travas import ParameterError
from travas.evaluation.forecast import LOOKING, forecast
from travas.log.abstraction import Abstraction
from travas.mechanisms.selection import Optimal

logs = st.dictionaries(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), st.integers(1, 12), min_size=1, max_size=5
)


def enumerated(rule: Optimal, log: dict[tuple[str, ...], int], abstraction: Abstraction) -> tuple[Fraction, ...]:
    """Over every set of keys that can be kept: the mean shares of cases and variants."""
    keys: dict[tuple[str, ...], int] = {}
    for trace, count in log.items():
        key: tuple[str, ...] = abstraction(trace)  # type: ignore[assignment]
        keys[key] = keys.get(key, 0) + count
    cases = variants = Fraction(0)
    for kept in product((False, True), repeat=len(keys)):
        chance, shown = Fraction(1), [0, 0]
        for count, there in zip(keys.values(), kept, strict=True):
            chance *= rule.keep_probability(count) if there else 1 - rule.keep_probability(count)
            if there:
                shown = [shown[0] + count, shown[1] + 1]
        cases, variants = cases + chance * shown[0], variants + chance * shown[1]
    return cases / sum(log.values()), variants / len(keys)


@given(log=logs, text=st.sampled_from(["full", "first", "prefix:1", "set"]), least=st.integers(1, 3))
@settings(max_examples=60)
def test_the_expectation_is_that_of_an_enumeration(log: dict[tuple[str, ...], int], text: str, least: int) -> None:
    rule = Optimal(Fraction(1), Fraction(1, 20), least)
    abstraction = Abstraction.parse(text)
    [cell] = forecast(log, [rule], text).cells
    assert (cell.cases, cell.variants) == enumerated(rule, log, abstraction)


@pytest.mark.parametrize("rules", [Optimal(1, "1e-6"), ["optimal"], []])
def test_what_is_no_list_of_mechanisms_is_refused(rules: Any) -> None:
    with pytest.raises(ParameterError, match="mechanisms is .*; use a list such as"):
        forecast({("a",): 1}, rules)


def test_the_command_line_without_a_log(travas: Run) -> None:
    ran = travas("forecast", "--epsilon", 1, "--delta", "1e-6")
    assert ran.code == 0 and "a variant needs 14 cases" in ran.out and "CONFIDENTIAL" not in ran.out
    for words in ((), ("--delta", 1e-6, "--abstractions", "full"), ("--delta", 1e-6, "--mechanism", "ladder")):
        assert travas("forecast", "--epsilon", 1, *words).code == 2
    assert travas("forecast", "--epsilon", "nan", "--delta", 1e-6).code == 2


def test_the_command_line_with_a_log_is_confidential(small_csv: Path, travas: Run) -> None:
    ran = travas("forecast", small_csv)
    assert ran.code == 0 and ran.out.startswith("CONFIDENTIAL") and LOOKING in ran.out
    facts = json.loads(travas("forecast", small_csv, "--delta", "0.01", "--abstractions", "full,set", "--json").out)
    assert "no forecast for ladder" in travas("forecast", small_csv, "--mechanism", "ladder").err
    assert facts["confidential"] is True and len(facts["expected"]) == 4 * 1 * 2 and facts["warning"] == LOOKING
