"""Takes the pictures of the README from a running `make demo`: python docs/screenshots.py [URL]."""

import json
import sys
from pathlib import Path
from typing import Any, Literal

import httpx
from playwright.sync_api import Page, ViewportSize, sync_playwright

IMAGES = Path(__file__).parent / "images"
CHROMIUM = "/usr/bin/chromium"
Scheme = Literal["light", "dark"]
SIZE = ViewportSize(width=1440, height=900)
SIGN_IN = {"email": "demo@example.com", "password": "watch the fleet"}


class Demo:
    def __init__(self, address: str) -> None:
        self.address = address
        self._http = httpx.Client(base_url=f"{address}/api")
        self.token = self._http.post("/auth/login", json=SIGN_IN).json()["data"]["token"]
        self._http.headers["Authorization"] = f"Bearer {self.token}"

    def get(self, path: str, **filters: str) -> Any:  # noqa: ANN401 -- JSON
        return self._http.get(path, params=filters).json()["data"]

    def find(self, path: str, **filters: str) -> list[dict[str, Any]]:
        return list(self.get(path, **filters))


def pictures_of(demo: Demo) -> list[tuple[str, Scheme, str]]:
    filters = {"agentId": "research-analyst", "status": "success", "limit": "100"}
    traces = demo.find("/spans/traces", **filters)
    trace_id = max(traces, key=lambda one: one["spanCount"])["traceId"]
    spans = demo.get(f"/spans/traces/{trace_id}")["spans"]
    [_, answer, *_] = [span["spanId"] for span in spans if span["kind"] == "llm"]
    [experiment, *_] = [one for one in demo.find("/experiments") if one["status"] == "stopped"]
    return [
        ("overview", "light", "/?range=14d"),
        ("trace", "dark", f"/traces/{trace_id}?span={answer}"),
        ("experiment", "light", f"/experiments/{experiment['id']}"),
        ("alerts", "dark", "/alerts"),
    ]


def shoot(page: Page, address: str, path: str, name: str) -> None:
    page.goto(address + path)
    page.wait_for_load_state("networkidle")
    # A chart is painted a moment after its data has come.
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / f"{name}.png")


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8787"
    demo = Demo(address)
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        keep = f"localStorage.setItem('spanwise.token', {json.dumps(demo.token)})"
        for name, scheme, path in pictures_of(demo):
            context = browser.new_context(viewport=SIZE, color_scheme=scheme)
            context.add_init_script(keep)
            shoot(context.new_page(), address, path, name)
        browser.close()


if __name__ == "__main__":
    main()
