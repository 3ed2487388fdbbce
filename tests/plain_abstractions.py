"""Plain twins of all abstractions, on events as pairs of an activity and anything else."""

from collections.abc import Callable, Sequence
from typing import Any

from travas import Abstraction

Event = tuple[Any, Any]


def _folded(events: list[Event]) -> list[Event]:
    return [event for place, event in enumerate(events) if not place or event[0] != events[place - 1][0]]


def _firsts(events: list[Event]) -> list[Event]:
    return [event for place, event in enumerate(events) if event[0] not in {name for name, _ in events[:place]}]


def _without_loops(events: list[Event]) -> list[Event]:
    left: list[Event] = []
    for event in events:
        left.append(event)
        names = [name for name, _ in left]
        sizes = range(1, len(left) // 2 + 1)
        size = next((size for size in sizes if names[-size:] == names[-2 * size : -size]), 0)
        del left[len(left) - size :]
    return left


GROUPS = {"a": "é", "b": "group", "B": "group"}
STEPS: dict[str, tuple[Any, Callable[[list[Event]], list[Event]]]] = {
    "fold": ("fold", _folded),
    "loops": ("loops", _without_loops),
    "first": ("first", _firsts),
    "prefix": ("prefix:2", lambda events: events[:2]),
    "suffix": ("suffix:3", lambda events: events[-3:]),
    "set": ("set", lambda events: sorted(_firsts(events), key=lambda event: event[0])),
    "only": ({"only": ["a", "b"]}, lambda events: [event for event in events if event[0] in "ab"]),
    "without": ({"without": ["a", "b"]}, lambda events: [event for event in events if event[0] not in "ab"]),
    "group": (
        {"group": [list(pair) for pair in GROUPS.items()]},
        lambda events: [(GROUPS.get(name, name), other) for name, other in events],
    ),
}
LONG = (("group", "fold", "suffix"), ("without", "set", "prefix"), ("only", "first"), ("suffix", "set", "prefix"))
CHAINS = [(), *((name,) for name in STEPS), *LONG]


def generalised(chain: Sequence[str], events: list[Event]) -> list[Event]:
    for name in chain:
        events = STEPS[name][1](events)
    return events


def abstraction_of(chain: Sequence[str]) -> Abstraction:
    return Abstraction.from_json([STEPS[name][0] for name in chain])
