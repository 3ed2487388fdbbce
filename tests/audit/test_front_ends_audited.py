"""The samplers of the command line and of the web app can be asked again and again."""

from __future__ import annotations

import pytest
from front_ends_audited import Entry, samplers


@pytest.mark.parametrize("entry", ["cli", "web"])
def test_a_sampler_releases_again(entry: Entry) -> None:
    with samplers(entry, most_pairs=1) as found:
        assert len({name for name, *_ in found}) == len(found) >= 2
        _, _, one, other = found[0]
        views = [sampler() for sampler in (one, one, other, other)]
    assert all(len(view) == len(views[0]) for view in views)
