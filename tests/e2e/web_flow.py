"""What a user does in the web app: the steps that its browser tests, the screenshots and the benchmark share.

Every step waits for what the next one needs: for an element, a value or an address, never for a time.
"""

from typing import Any

from browser import Server
from playwright.sync_api import expect

PATIENCE = 60_000
"""Milliseconds until a test fails, so that a busy machine is slow and not broken."""
expect.set_options(timeout=PATIENCE)


WORDS = """() => {
  const left_out = "svg, option, script, .hidden-words, .skip, .travas-map", words = [];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let one = nodes.nextNode(); one; one = nodes.nextNode()) {
    const place = one.parentElement;
    if (place.checkVisibility() && !place.closest(left_out)) words.push(...one.data.match(/\\S*\\p{L}\\S*/gu) ?? []);
  }
  return words;
}"""
"""The words that can be read on a page, without those of its map."""


def watched(context: Any, server: Server) -> Any:
    """A tab that has signed in. It lists what it fetched from elsewhere and which scripts failed."""
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.foreign, tab.broken = [], []
    own = (server.address, "data:", "blob:")
    tab.on("request", lambda request: request.url.startswith(own) or tab.foreign.append(request.url))
    tab.on("pageerror", lambda error: tab.broken.append(str(error)))
    tab.on("console", lambda line: "Content Security" in line.text and tab.broken.append(line.text))
    tab.goto(server.link)
    tab.wait_for_url(f"{server.address}/")
    return tab


def drawn(tab: Any) -> None:
    """Wait until all maps of a page are drawn."""
    expect(tab.locator(".travas-map:not([data-ready])")).to_have_count(0)


def settled(tab: Any) -> None:
    """End what is animated on the page. To wait for it may take for ever: a page that is not painted has no frames."""
    tab.evaluate("document.getAnimations().forEach((each) => { try { each.finish(); } catch { each.cancel(); } })")


def violations(tab: Any) -> list[str]:
    """What axe finds wrong with the page as it is shown, in light and dark: the rules, and where."""
    from axe_playwright_python.sync_playwright import Axe

    lines = []
    for theme in ("dark", "light"):
        tab.emulate_media(color_scheme=theme)
        settled(tab)
        found = Axe().run(tab).response["violations"]
        lines += [
            f"{theme}, {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
            for rule in found
            for node in rule["nodes"]
        ]
    return lines
