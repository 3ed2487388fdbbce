"""A log without events is released by every mechanism and in every format: one case must not decide about an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from travas import Log, MapRelease, Reading, Standing, read, verify
from travas.mechanisms import MECHANISMS, mechanism
from travas.outputs.write import writers
from travas.releases.release import kind_of

TREES = ("prefix-tree", "sacofa", "sacofa-published")


@pytest.mark.parametrize("abstraction", ["full", "first | prefix:3", "fold"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_releases_a_log_without_events(name: str, abstraction: str, tmp_path: Path) -> None:
    options = {"max_length": 2, "prune": 60} if name in TREES else {}
    log = read(Log.from_mapping({}), Reading(abstraction=abstraction))
    chosen = mechanism(name, 1, "1e-6", **options)  # type: ignore[arg-type]
    release = chosen.release(log)
    if isinstance(release, MapRelease):
        assert not release.activities  # noise can make a pair of `other`, as of any log
    else:
        assert release.variants == () and release.counts == () and release.estimated_counts == ()
    for suffix in writers(kind_of(chosen)):
        path = release.write(tmp_path / f"release{suffix}")
        if release.guarantee.standing is not Standing.NOT_ESTABLISHED:
            assert verify(f"{path}.guarantee.json", path).digest_checked


@pytest.mark.parametrize("name", TREES)
def test_a_tree_over_a_public_alphabet_releases_a_log_without_events(name: str) -> None:
    chosen = mechanism(name, 1, "1e-6", max_length=2, prune=1000, alphabet=("a", "b"))
    assert chosen.release(Log.from_mapping({})).variants == ()
