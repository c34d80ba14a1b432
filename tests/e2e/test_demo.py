"""`spanwise demo`: a workspace that is filled once, and live traffic."""

from pathlib import Path

from support.demo import FilledDemo, count_traces, read, sign_in
from support.polling import wait_for
from support.process import run_command


def test_a_demo_is_filled_once_and_generates_traffic(
    filled_demo: FilledDemo, tmp_path: Path
) -> None:
    assert 600 < filled_demo.traces < 3000
    with filled_demo.run_copy(tmp_path) as service:
        with sign_in(service.url) as http:
            filled = count_traces(http)
            assert filled_demo.traces <= filled < filled_demo.traces + 100
            assert read(http, "/analytics/metrics")["activeAgents"] == 8
            assert read(http, "/analytics/costs")["unpricedModels"] == ["house-screener-8b"]
            assert len(read(http, "/analytics/costs")["byModel"]) == 12
            assert len(read(http, "/signals/summary")) == 6
            coding = read(http, "/analytics/coding-agents")
            assert {agent["agent"]: agent["source"] for agent in coding["agents"]} == {
                "Claude Code": "both",
                "Codex": "calls",
                "Gemini CLI": "calls",
            }
            assert coding["notSent"] == []
            assert read(http, "/metrics/names")
            assert {e["status"] for e in read(http, "/experiments")} == {
                *("draft", "running", "stopped"),
            }
            assert max(s["traceCount"] for s in read(http, "/spans/sessions")) > 1
            assert read(http, "/logs?level=warn")
            [workspace] = read(http, "/workspaces")
            assert (workspace["name"], workspace["members"]) == ("Acme assistants", 3)
            assert len(read(http, f"/workspaces/{workspace['id']}/invitations")) == 1
            assert [d["name"] for d in read(http, "/dashboards")] == ["Tools", "Costs"]
            for panel in (p for d in read(http, "/dashboards") for p in d["panels"]):
                answer = http.post("/analytics/query", json=panel["query"]).json()["data"]
                assert answer["rows"], panel["title"]
            assert len(read(http, "/views")) == 2
            keys = {one["name"] for one in read(http, "/analytics/attributes")}
            assert {"app.plan", "app.region"} <= keys
            # A conversation starts at least every 30 s, and some turns take another 30 s.
            wait_for(lambda: count_traces(http) > filled, seconds=180)
        assert service.stop() == 0


def test_demo_fresh_deletes_only_a_demo_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "precious").write_text("mine")
    ended = run_command(tmp_path, "demo", "--fresh")
    assert ended.returncode == 1
    assert "is not a demo folder" in ended.stderr
    assert (folder / "precious").exists()
