"""A small log, and the mechanism with parameters at which little of it is lost."""

from collections import Counter
from typing import Any

from travas import Log
from travas.log.traces import Trace
from travas.mechanisms import mechanism
from travas.mechanisms.synthesis import Synthesis
from travas.synthesis.measurements import Measurements

SMALL: dict[Trace, int] = {
    tuple("abc"): 40, tuple("abbc"): 9, tuple("acb"): 7, tuple("ad"): 5, tuple("abcabc"): 6, ("e",): 3, tuple("abeed"): 12,
}  # fmt: skip


def synthesis(epsilon: str = "2", delta: str = "0.1", **options: Any) -> Synthesis:
    rule = mechanism("synthesis", epsilon, delta, **options)
    assert isinstance(rule, Synthesis)
    return rule


def outputs_of(log: dict[Trace, int], rule: Synthesis) -> Measurements:
    return rule.measure(Log.from_mapping(log))


def norm_squared(vector: Counter[Any]) -> int:
    """The square of the norm of what a case adds."""
    return sum(value**2 for value in vector.values())
