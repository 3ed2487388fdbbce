"""The documentation site: `make docs`, and the pages in a browser, opened from the disk."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import browsing

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_site_builds_and_its_search_works_from_the_disk_without_requests(tmp_path: Path) -> None:
    site = tmp_path / "site"
    words = [sys.executable, str(ROOT / "docs" / "site" / "build_site.py"), str(tmp_path / "build"), str(site)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    requests: list[str] = []
    with browsing() as browser:
        tab = browser.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto((site / "index.html").as_uri())
        tab.get_by_role("heading", name="Where to start").wait_for()
        tab.get_by_role("button", name="Search").click()
        tab.get_by_role("combobox", name="Search").fill("ladder")
        tab.get_by_text(re.compile(r"[1-9]\d* results")).wait_for()
    assert len(requests) > 5
    assert [address for address in requests if not address.startswith(("file:", "data:"))] == []
