"""Dialogs, menus, popovers and the palette: focus, keys and closing."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from support.browser import PHONE, Site, Tab
from support.spans import new_span

# Of what is new: the pages are checked without it.
OVERLAY = "[data-overlay]"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.fixture
def tab(tab: Tab) -> Tab:
    """A tab with the animations that overlays have when they open and close."""
    tab.page.emulate_media(reduced_motion="no-preference")
    return tab


def test_a_dialog_keeps_the_focus_inside_and_returns_it(tab: Tab) -> None:
    page = tab.show("/keys")
    opener = page.get_by_role("button", name="New key")
    opener.press("Enter")
    dialog = page.get_by_role("dialog", name="New key")
    expect(dialog.get_by_label("Name")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        # At the edges, the focus moves on in the next frame.
        tab.wait_for_focus_in_overlay()
    assert tab.find_violations() == []
    tab.press_escape()
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()


def test_a_key_toggles_the_theme_which_is_kept_but_not_while_a_dialog_is_open(
    fresh_tab: Tab,
) -> None:
    tab = fresh_tab
    page = tab.open("/experiments")
    light = page.evaluate(BACKGROUND)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_contain_text("Go to Alerts")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") is None
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("t")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert page.evaluate(BACKGROUND) != light
    page.reload()
    tab.settle()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_menu_is_used_with_the_keyboard(tab: Tab) -> None:
    page = tab.show("/experiments")
    opener = page.get_by_role("button", name=re.compile("^Your account"))
    opener.press("Enter")
    expect(page.get_by_role("menuitem", name="Profile")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitemradio", name="System theme")).to_be_focused()
    assert tab.find_violations(within=OVERLAY) == []
    tab.press_escape()
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(opener).to_be_focused()
    opener.press("Enter")
    page.get_by_role("menuitem", name="Profile").press("Enter")
    expect(page).to_have_url(re.compile("/profile"))


def test_columns_are_chosen_in_a_menu_that_stays_open(tab: Tab) -> None:
    page = tab.show("/traces?range=30d")
    page.get_by_role("button", name=re.compile("^Columns")).click()
    page.get_by_role("menuitemcheckbox", name="Tools").click()
    page.get_by_role("menuitemcheckbox", name="Input").click()
    expect(page.get_by_role("columnheader", name="Tools")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Input")).to_have_count(0)
    expect(page).to_have_url(re.compile("cols=.*tools"))


def test_a_filter_is_added_with_the_keyboard_and_the_focus_returns(tab: Tab) -> None:
    page = tab.show("/traces?range=30d")
    opener = page.get_by_role("button", name=re.compile("^Add filter"))
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Search fields and attributes")).to_be_focused()
    page.keyboard.type("user")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_label("Search values").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_text("User is nobody")).to_be_visible()
    expect(opener).to_be_focused()
    opener.click()
    tab.press_escape()
    expect(opener).to_be_focused()


def test_the_palette_finds_users_and_sessions(tab: Tab, demo: Site) -> None:
    now = datetime.now(UTC)
    spans = [
        new_span(now - timedelta(minutes=3), userId="zelda-7", sessionId="zelda-talk/1"),
        new_span(now - timedelta(days=20), userId="long-gone-zoe"),
    ]
    demo.send("/spans", {"spans": spans})
    page = tab.show("/agents")

    def search(text: str) -> None:
        page.keyboard.press("Control+k")
        page.get_by_label("Search and commands").last.fill(text)

    search("zelda")
    expect(page.get_by_role("option", name="zelda-7")).to_contain_text("user")
    session = page.get_by_role("option", name="zelda-talk/1")
    expect(session).to_contain_text("session")
    assert tab.find_violations(within=OVERLAY) == []
    session.click()
    expect(page.get_by_role("heading", name="Session", level=1)).to_be_visible()
    search("ZELDA-7")
    page.get_by_role("option", name=re.compile("^zelda-7")).click()
    expect(page.get_by_role("heading", name="zelda-7", level=1)).to_be_visible()
    # Not in the range of the page: the user opens with one that shows something.
    search("long-gone")
    page.get_by_role("option", name="long-gone-zoe").click()
    expect(page.get_by_role("heading", name="long-gone-zoe", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile("range=90d"))


def test_the_palette_is_used_with_the_arrow_keys(tab: Tab) -> None:
    page = tab.show("/experiments")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search and commands")
    expect(field).to_be_focused()
    expect(page.get_by_role("option").first).to_have_attribute("data-highlighted", "")
    assert tab.find_violations(within=OVERLAY) == []
    # Until something is typed, pages that are not in the rail do not take places.
    expect(page.get_by_role("option", name="Silences")).to_have_count(0)
    field.fill("mute")
    expect(page.get_by_role("option", name="Silences")).to_be_visible()
    field.fill("")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/dashboards"))
    page.keyboard.press("Control+k")
    field.fill("two words")
    page.get_by_role("option", name=re.compile("Search traces for")).click()
    expect(page).to_have_url(re.compile("search=two"))


def test_on_a_phone_the_menu_is_a_drawer_which_escape_closes(tab: Tab) -> None:
    tab.page.set_viewport_size(PHONE)
    page = tab.show("/experiments")
    button = page.get_by_role("button", name="Menu")
    link = page.get_by_role("link", name="API keys")
    expect(link).not_to_be_in_viewport()
    button.click()
    expect(link).to_be_visible()
    assert tab.find_violations(within=OVERLAY) == []
    tab.press_escape()
    expect(link).to_have_count(0)
    expect(button).to_be_focused()
    button.click()
    link.click()
    expect(page).to_have_url(re.compile("/keys"))
    expect(page.get_by_text("production fleet")).to_be_visible()


def test_a_name_is_changed_and_the_toast_leaves_shortcuts_on(tab: Tab, demo: Site) -> None:
    page = tab.show("/profile")
    page.get_by_label("Name").fill("Demo User")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog", name="Saved.")).to_be_visible()
    assert demo.call("GET", "/users/profile")["name"] == "Demo User"
    assert tab.find_violations() == []
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("/experiments"))
