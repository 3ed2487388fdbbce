"""The frame in a real browser: addresses, tabs, rail, strip, light and dark, keyboard and widths."""

from __future__ import annotations

import re
from typing import Any

from browser import Server
from web_flow import (
    HOSTILE,
    card,
    choose,
    content,
    heading,
    name_data_set,
    opened,
    press,
    protect_persons,
    release,
    result_tab,
    to_columns,
    to_confirm,
    to_release,
    upload,
    watched,
)

pytest_plugins = ["web_fixtures"]


def test_a_reload_is_not_leaving(page: Any) -> None:
    press(page, "Try it with a made-up hospital log")
    to_release(page, "0.7", "1/5000")
    page.reload()
    heading(page, "Confirm")
    page.get_by_role("button", name="3 Protect").click()
    assert page.get_by_label("epsilon", exact=True).input_value() == "0.7"
    assert page.get_by_label("delta", exact=True).input_value() == "1/5000"
    to_confirm(page)
    name_data_set(page)
    page.get_by_role("button", name=re.compile("^Release for")).click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.reload()
    heading(page, "Released")


def at(tab: Any, path: str) -> None:
    """Wait until the tab has this address."""
    tab.wait_for_function("path => location.pathname.replace(/\\/new\\/[^/]+/, '/new/DRAFT') === path", arg=path)


def test_every_step_has_an_address_for_back_forward_and_reload(page: Any) -> None:
    at(page, "/new/DRAFT/log")
    press(page, "Try it with a made-up hospital log")
    to_columns(page)
    at(page, "/new/DRAFT/columns")
    press(page, "Continue")
    heading(page, "Protect")
    at(page, "/new/DRAFT/protect")  # the address follows the heading
    page.go_back()
    heading(page, "Columns")
    at(page, "/new/DRAFT/columns")
    page.go_forward()
    heading(page, "Protect")
    page.reload()
    heading(page, "Protect")
    page.get_by_role("link", name="Home").click()
    heading(page, "Home")
    at(page, "/")
    assert page.get_by_role("link", name="Home").get_attribute("aria-current") == "page"
    page.go_back()
    heading(page, "Protect")
    at(page, "/new/DRAFT/protect")
    draft = page.url.rpartition("/")[0]
    page.goto(f"{draft}/result")  # it is not ready for that step
    heading(page, "Protect")
    at(page, "/new/DRAFT/protect")


def test_an_address_that_leads_nowhere_says_so(page: Any, server: Server) -> None:
    page.goto(f"{server.address}/new/ended/columns")
    heading(page, "This draft has ended")
    page.get_by_role("link", name="Start a release").click()
    heading(page, "Choose an event log")
    page.evaluate("history.pushState(null, '', '/nowhere'); emitEvent('travas-path', '/nowhere')")
    heading(page, "There is no such screen")


def test_each_tab_has_its_own_draft(page: Any, server: Server) -> None:
    press(page, "Try it with a made-up hospital log")
    to_columns(page)
    second = watched(page.context, server)
    second.goto(f"{server.address}/new")
    heading(second, "Choose an event log")
    upload(second, content("second.csv", b"case_id,activity,timestamp\n1,only in the second,2020-01-01\n"))
    to_columns(second)
    assert page.url != second.url
    for tab, mine in ((page, False), (second, True)):
        tab.reload()
        heading(tab, "Columns")
        press(tab, "Show the values")
        tab.get_by_role("gridcell", name="•••••").first.wait_for(state="detached")
        assert ("only in the second" in tab.content()) is mine
    shared = watched(page.context, server)
    shared.goto(page.url)
    heading(shared, "Columns")
    assert shared.foreign == shared.broken == second.foreign == second.broken == []


def test_the_strip_shows_the_data_set_and_what_is_left(page: Any) -> None:
    strip = page.get_by_role("region", name="status")
    strip.get_by_text("Data set: none chosen").wait_for()
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    name_data_set(page, "strip")
    page.get_by_text("Set a budget").first.click()
    page.get_by_label("ε of all releases").fill("3")
    page.get_by_label("δ of all releases").fill("1e-5")
    press(page, "Set this budget")
    release(page)
    strip.get_by_text("Data set: strip").wait_for()
    strip.get_by_text("ε left: 2 of 3").wait_for()


def test_the_strip_says_what_is_confidential(page: Any) -> None:
    strip = page.get_by_role("region", name="status")
    assert strip.get_by_text("Public").is_visible() and not strip.get_by_text("CONFIDENTIAL").is_visible()
    public = strip.evaluate("element => getComputedStyle(element).backgroundColor")
    press(page, "Try it with a made-up hospital log")
    to_columns(page)
    strip.get_by_text("CONFIDENTIAL").wait_for()
    assert not strip.get_by_text("Public").is_visible()
    assert strip.evaluate("element => getComputedStyle(element).backgroundColor") != public
    box = page.get_by_role("region", name="confidential")
    assert "CONFIDENTIAL" in box.evaluate("element => getComputedStyle(element).backgroundImage")  # the watermark
    press(page, "Continue")
    heading(page, "Protect")
    strip.get_by_text("Public").wait_for()


def test_light_and_dark_follow_the_system_and_a_switch(browser: Any, server: Server) -> None:
    context = browser.new_context(color_scheme="dark")
    tab = opened(context, server)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(background)
    tab.emulate_media(color_scheme="light")
    tab.wait_for_function(f"dark => {background} !== dark", arg=dark)
    choose(tab, "Theme", "dark")
    tab.wait_for_function(f"dark => {background} === dark", arg=dark)
    tab.reload()
    heading(tab, "Choose an event log")
    tab.wait_for_function(f"dark => {background} === dark", arg=dark)
    context.close()


def test_two_browsers_do_not_see_each_other(page: Any, browser: Any, server: Server) -> None:
    press(page, "Try it with a made-up hospital log")
    to_release(page)
    release(page)
    context = browser.new_context()
    other = opened(context, server)
    assert other.get_by_role("button", name="6 Result").is_disabled()
    upload(other, content("other.csv", b"case_id,activity,timestamp\n1,secret of the other,2020-01-01\n"))
    to_columns(other)
    context.close()
    page.reload()
    heading(page, "Released")
    assert "secret of the other" not in page.content()


def test_names_are_text_wherever_they_come_from(page: Any) -> None:
    rows = "".join(
        f'{n},"{HOSTILE}",1,2025-01-01\n{n},"\'"" `x` ${{y}} </script><script>window.hacked=2</script>",2,2025-01-02\n'
        for n in range(400)
    )
    upload(page, content(f"{HOSTILE}.csv", f'case_id,activity,"{HOSTILE}",timestamp\n{rows}'.encode()))
    page.get_by_text("What the doctor found").wait_for()
    to_columns(page)
    press(page, "Show the values")
    page.get_by_role("gridcell", name=HOSTILE).first.wait_for()
    page.get_by_role("columnheader", name=HOSTILE, exact=True).wait_for()
    press(page, "Continue")
    protect_persons(page, HOSTILE, "2")
    page.get_by_text(f"guess whether a given {HOSTILE} was in the log").wait_for()
    card(page, "One case")
    press(page, "2 Columns")
    to_release(page)
    release(page)
    for tab in ("Variants", "Map"):
        assert HOSTILE[:9] in result_tab(page, tab)
    page.reload()
    heading(page, "Released")
    assert page.evaluate("window.hacked") is None and page.locator("img[src=x]").count() == 0


SCREENS = ((320, 640), (390, 844), (1024, 768), (1440, 900))


def test_every_step_fits_the_screen(page: Any) -> None:
    def fits() -> None:
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            wide = page.evaluate("document.fonts.ready.then(() => document.documentElement.scrollWidth)")
            assert wide <= width  # before its font is there, an icon is a long word

    fits()
    press(page, "Try it with a made-up hospital log")
    page.get_by_text("What the doctor found").wait_for()
    fits()
    to_columns(page)
    for name in ("Columns", "Protect", "Forecast", "Confirm"):
        heading(page, name)
        fits()
        if name != "Confirm":
            press(page, "Continue")
    release(page)
    fits()
