"""What every mechanism releases from a fixed seed: a change of behaviour that no other test sees changes a digest here.

If the change is intended, say so in CHANGELOG.md and take over the digest that the failure prints.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from travas import Log
from travas.log.plain import plain
from travas.mechanisms import MECHANISMS, mechanism
from travas.releases.process_map import MapRelease
from travas.trusted.samplers import Seeded

LOG = {
    ("register", "visit", "release"): 420,
    ("register", "release"): 130,
    ("register", "visit", "blood test", "visit", "release"): 75,
    ("register", "surgery", "release"): 24,
    ("visit",): 9,
    ("register", "surgery", "surgery", "release"): 1,
}
TREE = {"max_length": 4, "prune": 2, "alphabet": ["blood test", "register", "release", "surgery", "visit"]}
OPTIONS: dict[str, dict[str, Any]] = {
    "utravas": {"splits": 2}, "prefix-tree": TREE, "sacofa": TREE, "sacofa-published": TREE,
}  # fmt: skip
DIGESTS = {
    "optimal": "ee5d0e716ae6e1e9",
    "travas": "ee5d0e716ae6e1e9",
    "utravas": "bea1cc6a7f512824",
    "prefix-tree": "81ce61a180508cc1",
    "sacofa": "bc1fa4a898791215",
    "ladder": "1f3fc0b0fba4f7c6",
    "synthesis": "790c22db29f4c061",
    "map": "b28e37ba9433ab6a",
    "utravas-published": "bea1cc6a7f512824",
    "sacofa-published": "9d8cb3649872f5df",
}


@pytest.mark.parametrize("name", [*MECHANISMS, "utravas-published", "sacofa-published"])
def test_a_seed_gives_the_same_release_in_every_version(name: str) -> None:
    rule = mechanism(name, "1", "1e-3", **OPTIONS.get(name, {})).with_random_bytes(Seeded(20261116))
    release: Any = rule.release(Log.from_mapping(LOG))
    content = (
        plain(release.measurements)
        if isinstance(release, MapRelease)
        else [release.variants, list(getattr(release, "noisy", release.counts))]
    )
    text = json.dumps(content, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS.get(name), text[:300]
