"""`travas docs`: the packaged documentation."""

from pathlib import Path

import pytest

from conftest import Run
from travas.cli import tools


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    for name in ("index", "unit", "mechanisms/optimal", "decisions/index"):
        file = folder / f"{name}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setattr(tools, "FOLDERS", ((folder, ".html"), *tools.FOLDERS[1:]))
    return folder


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("index", "index.html"),
        ("unit.md", "unit.html"),
        ("mechanisms/optimal", "mechanisms/optimal.html"),
        ("decisions", "decisions/index.html"),
    ],
)
def test_a_page_is_found(page: str, file: str, travas: Run, site: Path) -> None:
    ran = travas("docs", page, "--path")
    assert (ran.code, ran.out.strip()) == (0, str(site / file))


def test_an_unknown_page_is_refused(travas: Run, site: Path) -> None:
    ran = travas("docs", "units", "--path")
    assert ran.code == 2 and "there is no page 'units'" in ran.err
    ran = travas("docs", "../../../etc/passwd", "--path")
    assert ran.code == 2 and ran.out == ""


def test_without_the_site_pages_are_shown_as_text(travas: Run, site: Path) -> None:
    (site / "index.html").unlink()
    ran = travas("docs", "unit")
    assert ran.code == 0 and ran.out.startswith("# One person, many cases")
    ran = travas("docs", "reference/settings")  # which is made from the code
    assert ran.code == 2 and "make docs" in ran.err and "--help-all" in ran.err
