"""Abstractions: every step against a slow plain twin, on one trace and on whole logs."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_abstractions import CHAINS, abstraction_of, generalised
from travas import Log, LogError, ParameterError
from travas.log.abstraction import Abstraction

Trace = tuple[str, ...]
traces = st.lists(st.sampled_from(["b", "a", "c,d", "e→f"]), min_size=1, max_size=14).map(tuple)
logs = st.dictionaries(traces, st.integers(1, 50), max_size=20)


@pytest.mark.parametrize("chain", CHAINS, ids=" | ".join)
@given(log=logs)
@settings(max_examples=60)
def test_a_trace_and_a_log_under_a_rule_are_those_of_the_twin(chain: Sequence[str], log: dict[Trace, int]) -> None:
    rule, expected = abstraction_of(chain), Counter[Trace]()
    for trace, count in log.items():
        twin = tuple(name for name, _ in generalised(chain, [(name, None) for name in trace]))
        assert rule(trace) == twin
        expected[twin] += count
    lost = expected.pop((), 0)
    found = rule.of(Log.from_mapping(log))
    assert dict(found.items()) == expected and rule(()) == ()
    assert found.notes == ((f"{lost} cases with an empty trace under {rule} were left out",) if lost else ())
    assert Abstraction.from_json(json.loads(json.dumps(rule.as_json()))) == rule
    if chain and all(isinstance(step, str) for step in rule.as_json()):
        assert Abstraction.parse(" | ".join(rule.as_json())) == rule == Abstraction.parse(str(rule))


def test_a_hierarchy_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "groups.csv").write_text('"take, blood",laboratory\nX-ray,imaging\nCT,imaging\n', encoding="utf-8")
    rule = Abstraction.parse(f"group:{tmp_path}/groups.csv | fold")
    assert rule(("X-ray", "CT", "take, blood", "visit")) == ("imaging", "laboratory", "visit")
    assert rule.as_json()[0] == {"group": [["CT", "imaging"], ["X-ray", "imaging"], ["take, blood", "laboratory"]]}
    assert str(tmp_path) not in str(rule) and str(rule).startswith("group:sha256-")


@pytest.mark.parametrize(
    "text",
    ["", "firs", "first:3", "prefix", "prefix:0", "prefix:-1", "prefix:٣", "full | fold", "only:", "only:/nowhere"],
)
def test_a_bad_abstraction_is_refused(text: str) -> None:
    with pytest.raises((ParameterError, LogError)):
        Abstraction.parse(text)


@pytest.mark.parametrize(
    "content", [{}, "fold", ["only:/etc/passwd"], [{"only": []}], [{"only": [1]}], [{"group": [["a"]]}], [7]]
)
def test_a_bad_rule_in_a_guarantee_opens_no_file(content: object) -> None:
    with pytest.raises((ParameterError, LogError)):
        Abstraction.from_json(content)


def test_activities_of_several_columns() -> None:
    log = Log.from_mapping({(("a", "start"), ("a", "end"), ("a", "end")): 4})
    assert dict(Abstraction.parse("fold").of(log).items()) == {(("a", "start"), ("a", "end")): 4}
    with pytest.raises(ParameterError, match="one activity column but the log has 2"):
        Abstraction.from_json([{"only": ["a"]}]).of(log)
