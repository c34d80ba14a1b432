"""One service with a small demo and one browser, shared by all tests of this folder."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from spanwise.demo.setup import PASSWORD
from support.browser import PHONE, OpenTab, Site, Tab, find_chromium, open_tab, start_chromium
from support.demo import FilledDemo, sign_in
from support.site_data import sign_in_as

HERE = Path(__file__).parent

# Fixtures are package-scoped: Playwright keeps an event loop running in its thread, which would
# break asynchronous tests of other folders.


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip these tests without a browser."""
    for item in items:
        if HERE in item.path.parents and find_chromium() is None:
            item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="package")
def demo(filled_demo: FilledDemo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A demo with little traffic, without rate limits, that evaluates alerts often."""
    folder = tmp_path_factory.mktemp("demo")
    # Each evaluation takes 0.1 s of CPU time.
    with filled_demo.run_copy(folder, alert_interval_seconds=3) as service:
        with sign_in(service.url) as http:
            token = http.headers["Authorization"].removeprefix("Bearer ")
        yield Site(service.url, token)


@pytest.fixture(scope="package")
def viewer(demo: Site) -> Site:
    """Another person of the demo, who may only read."""
    return sign_in_as(demo.url, "joel@example.com", PASSWORD)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with start_chromium() as browser:
        yield browser


@pytest.fixture
def opener(chromium: Browser, demo: Site) -> OpenTab:
    """Opens tabs of a signed-in user."""
    return partial(open_tab, chromium, demo.url, demo.token)


@pytest.fixture(scope="module")
def _long_lived(chromium: Browser, demo: Site) -> Iterator[Tab]:
    with open_tab(chromium, demo.url, demo.token) as opened:
        yield opened


@pytest.fixture
def tab(_long_lived: Tab) -> Iterator[Tab]:
    """The tab of this file, which has loaded the scripts; what a test stores in it stays there."""
    page = _long_lived.page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)
    yield _long_lived
    troubles, _long_lived.troubles = _long_lived.troubles, []
    assert not troubles, "\n".join(troubles)


@pytest.fixture
def phone(tab: Tab) -> Tab:
    """The same on the screen of a phone."""
    tab.page.set_viewport_size(PHONE)
    return tab


@pytest.fixture
def fresh_tab(opener: OpenTab) -> Iterator[Tab]:
    """A tab in which nothing is stored, and no page is open."""
    with opener() as opened:
        yield opened
