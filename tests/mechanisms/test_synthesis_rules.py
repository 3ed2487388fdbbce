"""Public rules: every generated trace and time obeys them, and they exclude no cell of a case that does."""

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from silent_noise import without_noise

from conftest import Run
from timed_log import timed_frame
from travas import Log, LogError, ParameterError, Reading, Rules, Synthesis, Times, open_release, read
from travas.errors import MissingExtraError
from travas.log.rules import possible_cells
from travas.log.traces import Trace
from travas.mechanisms.mechanism import check_log, with_random_bytes
from travas.outputs.guarantee_file import file_digest, guarantee_path
from travas.releases.release import details_of
from travas.releases.synthetic_log import SyntheticRelease
from travas.settings.project import Project
from travas.synthesis.generation import generate
from travas.synthesis.randomness import generator
from travas.trusted.contributions import Transitions, cells
from travas.trusted.samplers import Seeded

NAMES = "abcde"
SIGNED = {"epsilon": "1", "delta": "1e-6", "mechanism": "synthesis"}


def obeys(trace: Trace, rules: Rules) -> bool:
    """Plain, from the reference. The activities are those that were measured."""
    pairs: dict[str, Any] = {
        name: [text.split(f" {sign} ") for text in getattr(rules, name)]
        for name, sign in (("before", "<"), ("follows", ">"))
    }
    return (
        (not rules.starts_with or trace[0] in rules.starts_with)
        and (not rules.ends_with or trace[-1] in rules.ends_with)
        and all(trace.count(once) <= 1 for once in rules.at_most_once)
        and all(second not in trace or first in trace[: trace.index(second)] for first, second in pairs["before"])
        and (not rules.follows or all(list(pair) in pairs["follows"] for pair in pairwise(trace)))
    )


def some(sign: str) -> st.SearchStrategy[list[str]]:
    two = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
    pairs = two if sign == ">" else two.filter(lambda pair: pair[0] != pair[1])
    return st.lists(pairs.map(f" {sign} ".join), max_size=3 if sign == "<" else 12, unique=True)


names = st.lists(st.sampled_from(NAMES), max_size=3, unique=True)
any_rules = st.builds(
    Rules, starts_with=names, ends_with=names, at_most_once=names, before=some("<"),
    follows=some(">").filter(lambda pairs: not pairs or len(pairs) > 5),
)  # fmt: skip
traces = st.lists(st.sampled_from(NAMES), min_size=1, max_size=7).map(tuple)


@given(rules=any_rules, trace=traces)
def test_no_cell_of_a_case_that_obeys_is_excluded(rules: Rules, trace: Trace) -> None:
    codes = np.array([NAMES.index(str(name)) for name in trace])
    made = Transitions.of(codes, np.array([len(trace)]), len(NAMES))
    allowed = possible_cells(tuple(NAMES), rules)
    assert not (allowed & ~cells(len(NAMES))).any()
    if obeys(trace, rules):
        assert allowed[made.state, made.symbol].all()


def random_log(seed: int = 4) -> dict[Trace, int]:
    random = generator(seed)
    return {tuple(random.choice(list(NAMES), random.integers(2, 8)).tolist()): 3 for _ in range(200)}


@given(rules=any_rules, seed=st.integers(0, 99))
@settings(max_examples=40)
def test_every_generated_trace_obeys_whatever_the_log_does(rules: Rules, seed: int) -> None:
    rule = with_random_bytes(Synthesis(4, "1e-6", alphabet=list(NAMES), rules=rules), Seeded(seed))
    for trace, origin, _ in generate(rule.measure(Log.from_mapping(random_log())), seed):
        assert origin == "released" or obeys(trace, rules)


KNOWN = Rules(starts_with=["a"], ends_with=["e"], at_most_once=["a", "b"], before=["b < c"])
ORDERED = attrs.evolve(KNOWN, before=["b < c", "never measured < d"])


def test_a_case_that_breaks_a_rule_adds_the_rest_of_itself_and_changes_no_other() -> None:
    """Lemma 14, on the sums themselves."""
    log, breaking = random_log(), tuple("cbaabe")
    free, ruled = (without_noise(Synthesis(1, "1e-6", alphabet=list(NAMES), rules=rules)) for rules in (None, ORDERED))
    before, after = (ruled.measure(Log.from_mapping(each)) for each in (log, log | {breaking: 1}))
    alone, allowed = free.measure(Log.from_mapping({breaking: 1})), possible_cells(tuple(NAMES), ORDERED)
    assert (after.transitions - before.transitions == np.where(allowed, alone.transitions, 0)).all()
    assert (after.lengths - before.lengths == alone.lengths).all()
    dropped = np.argwhere(~allowed & (alone.transitions > 0)).tolist()
    assert dropped == [[0, 4], [1, 1], [2, 3], [4, 8], [5, 2]]  # START -> c, all from or to an again, c -> b


def test_times_happen_in_open_hours_and_steps_last_long_enough() -> None:
    rules = Rules(hours="Mon-Fri 09-12, Sat 10-11", at_least=["visit < test: 2h", "register < visit: 90m"])
    rule = Synthesis(1, "1e-6", times=Times("Europe/Berlin", "minute"), rules=rules)
    log = read(timed_frame(800), Reading(details=details_of(rule)))
    for seed in range(3):
        made = with_random_bytes(rule, Seeded(seed)).release(log)
        rows = made.to_polars().sort("case:concept:name", maintain_order=True).iter_rows(named=True)
        events = [(row["case:concept:name"], row["concept:name"], row["time:timestamp"]) for row in rows]
        assert len(events) > 1000
        for _, _, time in events:
            assert 9 <= time.hour < 12 if time.weekday() < 5 else (time.weekday(), time.hour) == (5, 10)
        for (case, first, start), (other, second, end) in pairwise(events):
            least = {("visit", "test"): 120, ("register", "visit"): 90}.get((first, second), 0)
            assert case != other or end - start >= timedelta(minutes=least)


def test_rules_survive_a_file_and_cannot_be_taken_out_of_it(travas: Run, tmp_path: Path) -> None:
    rule = Synthesis(1, "1e-6", alphabet=list(NAMES), rules=ORDERED)
    path = rule.release(Log.from_mapping(random_log())).write(tmp_path / "ruled.json")
    assert travas("verify", path).code == 0
    opened = open_release(path)
    assert isinstance(opened, SyntheticRelease) and opened.mechanism == rule
    assert all(obeys(trace, KNOWN) for trace in opened.regenerate(cases=500, seed=2).variants)
    text = path.read_text()
    path.write_text(text.replace('"at_most_once": ["a", "b"]', '"at_most_once": ["a"]', 1))
    assert path.read_text() != text and travas("verify", path).code == 1
    guarantee = guarantee_path(path)
    stated = json.loads(guarantee.read_text())
    stated["release"]["sha256"] = file_digest(path)
    guarantee.write_text(json.dumps(stated))
    with pytest.raises(LogError):
        open_release(path)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Rules(starts_with="a"), "starts_with"),
        (lambda: Rules(at_most_once=[""]), "at_most_once"),
        (lambda: Rules(before=["a > b"]), "before"),
        (lambda: Rules(before=["a < b < c"]), "before"),
        (lambda: Rules(before=["a < a"]), "before"),
        (lambda: Rules(follows=["a > "]), "follows"),
        (lambda: Rules(at_least=["a < b"]), "at_least"),
        (lambda: Rules(at_least=["a < b: soon"]), "at_least"),
        (lambda: Rules(hours="Fri-Mon 07-19"), "hours"),
        (lambda: Rules(hours="Mon 19-07"), "hours"),
        (lambda: Rules(hours=""), "hours"),
        (lambda: Synthesis(1, "1e-6", rules=Rules(hours="Mon 07-19")), "hours"),
        (lambda: Synthesis(1, "1e-6", rules={"never": ["a"]}), "rules"),
        (lambda: check_log(Synthesis(1, "1e-6", rules=ORDERED), Log.from_mapping({(("a", "x"),): 5})), "rules"),
        (lambda: Project().with_values(SIGNED | {"mechanism": "map", "before": "a < b"}).mechanism(), "before"),
    ],
)
def test_bad_rules_are_refused_in_one_line(make: Callable[[], object], field: str) -> None:
    with pytest.raises(ParameterError) as refused:
        make()
    assert refused.value.field == field and "\n" not in str(refused.value)


def test_a_reference_model_becomes_rules_and_an_alphabet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Petri net: a, then b and c in any order, any number of times, then d, which an invisible step may replace."""
    pm4py = pytest.importorskip("pm4py")
    tree = pm4py.parse_process_tree("->( 'a', *( +( 'b', 'c' ), tau ), X( 'd', tau ) )")
    pm4py.write_pnml(*pm4py.convert_to_petri_net(tree), str(tmp_path / "model.pnml"))
    pm4py.write_bpmn(pm4py.convert_to_bpmn(tree), str(tmp_path / "model.bpmn"), auto_layout=False)
    for name in ("model.pnml", "model.bpmn"):
        project = Project(home=tmp_path).with_values(SIGNED | {"reference_model": name, "ends_with": ("d",)})
        described = project.mechanism().describe()
        assert described["alphabet"] == list("abcd") and name not in str(described)
        rules = described["rules"]
        assert (rules["starts_with"], rules["ends_with"]) == (["a"], ["d"])
        assert rules["follows"] == [f"{x} > {y}" for x, y in ("ab", "ac", "bb", "bc", "bd", "cb", "cc", "cd")]
        with pytest.raises(ParameterError, match="name of a file"):
            Project(project.values, tmp_path, "refuse").mechanism()
    for name, why in (("missing.pnml", "cannot be read"), ("model.txt", "use a valid .bpmn, .pnml or .ptml")):
        with pytest.raises(ParameterError, match=why) as refused:
            Project(home=tmp_path).with_values(SIGNED | {"reference_model": name}).mechanism()
        assert refused.value.field == "reference_model"
    monkeypatch.setitem(sys.modules, "pm4py", None)
    with pytest.raises(MissingExtraError, match="models"):
        project.mechanism()
