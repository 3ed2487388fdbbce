"""Who may use the app, and what its pages may load."""

# ruff: noqa: F401, F811

import os
import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_client import access, bench, browser, stranger

from travas.errors import ParameterError
from travas.web.drafts import Drafts
from travas.web.security import WORKER, Access, listener, own_name

SCREENS = ("/", "/words", "/check", "/release/x", "/result/x", "/jobs/x", "/preview.json", "/nowhere", "/thumbnail/x")
CHANGES = ("/drafts", "/release/x", "/release/x/run", "/jobs/x/cancel", "/check")


def test_without_the_link_there_is_nothing(stranger: TestClient) -> None:
    pages = {stranger.get(path).text for path in SCREENS}
    assert len(pages) == 1 and "Not signed in" in pages.pop()
    assert all(stranger.get(path).status_code == 401 for path in SCREENS)
    assert all(stranger.post(path).status_code == 403 for path in CHANGES)
    assert stranger.get("/health").status_code == 200 and stranger.get("/static/app.css").status_code == 200


def test_the_link_works_once(stranger: TestClient, access: Access) -> None:
    links: list[str] = []
    access.renewed = lambda: links.append(access.link)
    code = access.code
    assert (
        stranger.get("/open?code=guess").status_code == 403 and stranger.head(f"/open?code={code}").status_code == 401
    )
    answer = stranger.get(f"/open?code={code}")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "domain" not in cookie
    assert code not in cookie and links == [access.link] and code not in access.link
    assert stranger.get("/").status_code == 200
    stranger.cookies.clear()
    assert stranger.get(f"/open?code={code}").status_code == 403 and stranger.get("/").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:8080"},
        {"Host": "127.0.0.1:8080"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_names_and_pages_of_others_are_refused(
    browser: TestClient, headers: dict[str, str], access: Access
) -> None:
    for path in (*SCREENS, "/static/app.js"):
        answer = browser.get(path, headers=headers)
        assert answer.status_code == 403 and access.host not in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://travas-test.localhost:8081", "", None])
def test_only_pages_of_the_app_change_anything(browser: TestClient, origin: str | None) -> None:
    del browser.headers["Origin"]
    for path in CHANGES:
        assert browser.post(path, headers={} if origin is None else {"Origin": origin}).status_code == 403


def test_no_page_allows_anything_unsafe(browser: TestClient, stranger: TestClient) -> None:
    for path in (*SCREENS, "/open", "/health", "/static/app.js", "/static/map.js"):
        answer = browser.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "*" not in policy and "http" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert path.startswith("/static/") or answer.headers["Cache-Control"] == "no-store"
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert "<style" not in answer.text and " style=" not in answer.text and " onclick" not in answer.text
    assert "'wasm-unsafe-eval'" in browser.get(WORKER).headers["Content-Security-Policy"]


def test_the_app_is_for_this_machine() -> None:
    for host in ("0.0.0.0", "192.168.1.1", "::", "example.org"):
        with pytest.raises(ParameterError, match="ssh -L"):
            listener(host, 0)
    with listener("127.0.0.1", 0) as opened, pytest.raises(ParameterError, match="another port"):
        listener("127.0.0.1", opened.getsockname()[1])


def test_uploads_are_for_the_owner_and_deleted(tmp_path: Path) -> None:
    root = tmp_path / f"travas-web-{os.getuid()}"
    left = root / "left"
    left.mkdir(parents=True)
    (left / "log.csv").write_text("CANARY")
    first = Drafts(tmp_path)
    assert not left.exists() and stat.S_IMODE(root.stat().st_mode) == 0o700 == stat.S_IMODE(first.path.stat().st_mode)
    second = Drafts(tmp_path)
    assert first.path.is_dir() and second.path != first.path  # a running server keeps its own
    second.close()
    first.close()
    assert not list(root.iterdir())
