"""All other pages: content, layout, accessibility and no errors; and variants of every page."""

import pytest
from playwright.sync_api import Browser, expect

from support.browser import Site, Tab, open_tab
from support.demo_pages import PAGES, SCROLL_SIZES, WORKSPACE, address, assert_fits, check_page

WIDTHS = (2560, 1440, 1024, 390, 360)


@pytest.mark.parametrize("name", WORKSPACE)
def test_a_page_is_complete_fits_and_is_accessible(name: str, tab: Tab, demo: Site) -> None:
    check_page(tab, demo, name)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_a_loaded_page_fits_every_width_and_is_readable_in_the_dark(
    name: str, tab: Tab, demo: Site
) -> None:
    page = tab.open(address(demo, name))
    assert PAGES[name][1] in page.locator("body").inner_text()
    page.emulate_media(color_scheme="dark")
    assert tab.find_violations("color-contrast") == []
    for width in WIDTHS:
        assert_fits(page, width, 844)


# Without an account; they are shown without the frame and may scroll.
PUBLIC_PAGES = {
    "/login": "Sign in",
    "/register": "Create an account",
    "/forgot-password": "Forgot",
    "/reset-password?token=x": "password",
    "/invitation?token=x": "nvitation",
    "/verify-email?token=x": "mail",
}


@pytest.mark.parametrize("widths", [(390,), pytest.param(WIDTHS, marks=pytest.mark.long)])
def test_public_pages_fit_and_are_accessible(
    chromium: Browser, demo: Site, widths: tuple[int, ...]
) -> None:
    with open_tab(chromium, demo.url) as tab:
        page = tab.page
        for path, text in PUBLIC_PAGES.items():
            tab.show(path)
            expect(page.locator("body")).to_contain_text(text)
            assert tab.find_violations() == [], path
            for width in widths:
                page.set_viewport_size({"width": width, "height": 844})
                assert page.evaluate(SCROLL_SIZES)[0] <= width, (path, width)
            # Links that are not valid any more are refused.
            tab.forget("status of 4")
