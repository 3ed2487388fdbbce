"""`travas verify FILE` and `travas report FILE` find the other file, in either order."""

from pathlib import Path

import pytest

from conftest import Run
from travas import anonymize
from travas.outputs.guarantee_file import guarantee_path

LOG = {("a", "b"): 500}


@pytest.mark.parametrize("suffix", [".json", ".xes.gz"])
def test_the_other_file_is_found(suffix: str, travas: Run, tmp_path: Path) -> None:
    release = anonymize(LOG, epsilon=1, delta="1e-6").write(tmp_path / f"r{suffix}")
    guarantee = guarantee_path(release)
    for files in ((release,), (guarantee,), (release, guarantee), (guarantee, release)):
        ran = travas("verify", *files, "--json")
        assert ran.code == 0 and '"digest_checked": true' in ran.out
        assert travas("report", *files, "-o", tmp_path / "r.html", "--force").code == 0
    elsewhere = guarantee.rename(tmp_path / "elsewhere.json")
    assert travas("verify", elsewhere, release).code == travas("verify", release, elsewhere).code == 0
    assert travas("verify", release).code == 2 and travas("report", release, "-o", tmp_path / "s.html").code == 2
    assert travas("verify", elsewhere, elsewhere).code == 2


def test_a_guarantee_alone_is_verified_without_its_release(travas: Run, tmp_path: Path) -> None:
    release = anonymize(LOG, epsilon=1, delta="1e-6").write(tmp_path / "r.csv")
    release.unlink()
    ran = travas("verify", guarantee_path(release), "--json")
    assert ran.code == 0 and '"digest_checked": false' in ran.out
    assert travas("report", guarantee_path(release), "-o", tmp_path / "r.html").code == 2
