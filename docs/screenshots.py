"""Takes the screenshots of the README: `make screenshots` writes them to docs/images."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import httpx  # noqa: E402 -- the test helpers are on the path set above
from playwright.sync_api import Browser  # noqa: E402

from spanwise.demo.setup import EMAIL, MARKER, PASSWORD  # noqa: E402
from support.browser import Site, Theme, open_tab, start_chromium  # noqa: E402
from support.polling import wait_for  # noqa: E402
from support.process import run_demo  # noqa: E402

IMAGES = ROOT / "docs" / "images"


@contextmanager
def run_site() -> Iterator[Site]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unlimited = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
        with run_demo(folder, **unlimited) as service:
            wait_for((folder / "data" / MARKER).exists, seconds=600)
            body = {"email": EMAIL, "password": PASSWORD}
            answer = httpx.post(f"{service.api}/auth/login", json=body, timeout=60)
            yield Site(service.url, answer.json()["data"]["token"])


def list_screenshots(site: Site) -> list[tuple[str, Theme, str]]:
    """Return the name, theme and path of each screenshot."""
    query = "agentId=research-analyst&status=success&limit=100"
    traces = site.call("GET", f"/spans/traces?{query}")
    trace_id = max(traces, key=lambda trace: trace["spanCount"])["traceId"]
    spans = site.call("GET", f"/spans/traces/{trace_id}")["spans"]
    [_, answer, *_] = [span["spanId"] for span in spans if span["kind"] == "llm"]
    [experiment] = site.call("GET", "/experiments?status=stopped")
    [alert, *_] = site.call("GET", "/spans/alerts")
    return [
        ("overview", "light", "/?range=14d"),
        ("trace", "dark", f"/traces/{trace_id}?span={answer}"),
        ("experiment", "light", f"/experiments/{experiment['id']}"),
        ("alerts", "dark", f"/alerts?alert={alert['id']}"),
    ]


def take_screenshot(browser: Browser, site: Site, name: str, theme: Theme, path: str) -> None:
    with open_tab(browser, site.url, site.token, theme=theme) as tab:
        page = tab.open(path)
        # Charts are drawn shortly after their data has arrived.
        page.wait_for_timeout(1500)
        page.screenshot(path=IMAGES / f"{name}.png")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with run_site() as site, start_chromium() as browser:
        for name, theme, path in list_screenshots(site):
            take_screenshot(browser, site, name, theme, path)


if __name__ == "__main__":
    main()
