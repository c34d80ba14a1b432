"""`spanwise demo`: a filled workspace, traffic that goes on, and no second filling."""

from pathlib import Path
from typing import Any

import httpx

from spanwise.demo.setup import EMAIL, MARKER, PASSWORD
from support.polling import wait_for
from support.process import Running, run_command, run_demo

QUIET = ("--scale", "0.02", "--seed", "3")


def sign_in(service: Running) -> httpx.Client:
    body = {"email": EMAIL, "password": PASSWORD}
    answer = httpx.post(f"{service.api}/auth/login", json=body, timeout=60)
    token = answer.json()["data"]["token"]
    return httpx.Client(
        base_url=service.api, headers={"Authorization": f"Bearer {token}"}, timeout=60
    )


def data(http: httpx.Client, path: str) -> Any:
    answer = http.get(path)
    assert answer.is_success, answer.text
    return answer.json()["data"]


def count_traces(http: httpx.Client) -> int:
    """All of them: the default window moves on, and leaves the month's oldest behind."""
    return int(data(http, "/analytics/metrics?startTime=2020-01-01T00:00:00Z")["totalTraces"])


def test_a_demo_is_filled_once_and_goes_on(tmp_path: Path) -> None:
    marker = tmp_path / "data" / MARKER
    with run_demo(tmp_path, *QUIET, rate_limit_standard=0) as service:
        wait_for(marker.exists, seconds=240)
        with sign_in(service) as http:
            filled = count_traces(http)
            assert 200 < filled < 1000
            assert data(http, "/analytics/metrics")["activeAgents"] == 5
            assert data(http, "/analytics/costs")["unpricedModels"] == ["house-screener-8b"]
            assert len(data(http, "/analytics/costs")["byModel"]) == 9
            assert len(data(http, "/signals/summary")) == 6
            assert {e["status"] for e in data(http, "/experiments")} == {
                *("draft", "running", "stopped"),
            }
            assert max(s["traceCount"] for s in data(http, "/spans/sessions")) > 1
            assert data(http, "/logs?level=warn")
            # A conversation begins every 30 s or sooner, and some turns last as long again.
            wait_for(lambda: count_traces(http) > filled, seconds=180)
        assert service.stop() == 0
    with (
        run_demo(tmp_path, *QUIET) as service,
        sign_in(service) as http,
    ):
        assert filled < count_traces(http) < filled + 100


def test_only_a_demo_is_thrown_away(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "precious").write_text("mine")
    ended = run_command(tmp_path, "demo", "--fresh")
    assert ended.returncode == 1
    assert "is not a demo folder" in ended.stderr
    assert (folder / "precious").exists()
