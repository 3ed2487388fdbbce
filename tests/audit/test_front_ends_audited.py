"""The samplers of the command line and of the web app can be asked again and again."""

from __future__ import annotations

from pathlib import Path

import pytest
from front_ends_audited import FILE_PAIRS, NAMES, Entry, samplers
from make_audit import Share, Target, audited_losses, noticed_losses
from planted_faults import FAULTS


@pytest.mark.parametrize("entry", ["command line", "web app"])
def test_a_sampler_releases_again(entry: Entry, tmp_path: Path) -> None:
    one, other = samplers(entry, NAMES[0], FILE_PAIRS[0], tmp_path)
    views = [sampler() for sampler in (one, one, other, other)]
    assert all(len(view) == len(views[0]) for view in views)


@pytest.mark.parametrize("entry", ["Python", "command line"])
def test_a_target_is_run_as_often_as_asked_or_as_there_is_time(entry: Entry) -> None:
    target = Target(entry, "optimal", FILE_PAIRS[0])
    assert audited_losses(target, 6, Share(1e12, 1.0)).runs == 6
    assert audited_losses(target, 1000, Share(0, 1.0)).runs == 4


def test_the_time_that_quick_targets_leave_is_used_by_the_others() -> None:
    assert Share(110, 0.5).seconds(100) == 5.0 and Share(110, 0.5).seconds(120) == 0


def test_a_gross_fault_is_noticed_in_its_own_process() -> None:
    assert noticed_losses("delta ignored", 60).delta > 0.05 and "delta ignored" in FAULTS
