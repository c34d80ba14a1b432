"""When the code of pages is loaded, and how much of it."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

import spanwise
from support.browser import SAVE_DATA, OpenTab, Site
from support.demo_pages import PAGES, address

DIST = Path(spanwise.__file__).parent / "web_dist"
MOST_BYTES = 400 * 1024


@pytest.mark.long
def test_pages_work_with_the_settings_of_most_browsers(opener: OpenTab, demo: Site) -> None:
    """With motion, and the code of all pages loaded in the background."""
    with opener(is_new=True, has_motion=True) as tab:
        for name in ("overview", "dashboard", "explore", "trace", "single spans", "experiment"):
            page = tab.open(address(demo, name))
            expect(page.locator("body")).to_contain_text(PAGES[name][1])


def test_to_save_data_only_the_code_of_the_page_is_loaded_and_it_is_small(opener: OpenTab) -> None:
    """What the overview loads before it is complete, as it is sent: compressed."""
    with opener(is_new=True) as tab:
        page = tab.page
        page.add_init_script(SAVE_DATA)
        tab.open("/?range=30d")
        assert page.evaluate("navigator.connection.saveData")
        page.evaluate("new Promise(requestIdleCallback)")
        page.wait_for_load_state("networkidle")
        paths = {urlsplit(url).path for url in tab.requested if "/api/" not in url}
        sizes = {path: compressed_size(path) for path in paths}
        assert any(path.endswith(".css") for path in sizes)
        assert not any("/assets/StartPage" in path for path in sizes)
        assert sum(sizes.values()) < MOST_BYTES, sizes
        page.get_by_role("navigation").get_by_role("link", name="Get started").click()
        page.get_by_role("heading", level=1, name="Get started").wait_for()
        assert any("/assets/StartPage" in url for url in tab.requested)


def compressed_size(path: str) -> int:
    file = DIST / path.removeprefix("/")
    file = file if file.is_file() else DIST / "index.html"
    compressed = file.with_name(f"{file.name}.gz")
    return (compressed if compressed.is_file() else file).stat().st_size


def test_no_click_waits_for_code_and_missing_code_matters_only_when_its_page_is_opened(
    opener: OpenTab,
) -> None:
    """The code of all pages is loaded in the background after the first page."""
    with opener(is_new=True, has_motion=True) as tab:
        page = tab.page
        navigation = page.get_by_role("navigation")
        page.route("**/assets/AdminPage*", lambda route: route.abort())
        with page.expect_request(lambda request: "/assets/StartPage" in request.url):
            tab.open("/keys")
            page.evaluate("window.isSamePage = true")
        page.wait_for_load_state("networkidle")
        tab.requested.clear()
        navigation.get_by_role("link", name="Experiments").click()
        page.get_by_role("heading", level=1, name="Experiments").wait_for()
        tab.settle()
        assert [url for url in tab.requested if "/assets/" in url] == []
        assert page.evaluate("window.isSamePage"), "the page was reloaded"
        page.unroute("**/assets/AdminPage*")
        navigation.get_by_role("link", name="Administration").click()
        page.get_by_role("heading", level=1).filter(has_text="Administration").wait_for()
        tab.troubles.clear()
