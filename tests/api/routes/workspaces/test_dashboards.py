"""Dashboards: panels with validated queries, which can be asked as they are stored."""

from typing import Any

from support.service import Service, assert_error

QUERY = {
    "of": "spans",
    "measures": ["cost", "signal:quality"],
    "groupBy": ["model", "attribute:tenant"],
    "granularity": "daily",
    "filters": [{"field": "kind", "op": "in", "value": ["llm", "embedding"]}],
    "orderBy": {"field": "cost", "order": "desc"},
    "limit": 5,
}
PANEL = {"title": "Cost by model", "chart": "area", "query": QUERY, "width": 12, "height": 3}


async def test_a_stored_panel_can_be_asked_as_it_is(service: Service) -> None:
    ada = await service.sign_up()
    body = {"name": "Costs", "panels": [PANEL, {"title": "All", "query": {"measures": ["count"]}}]}
    made = await ada.data("POST", "/dashboards", json=body)
    assert made["id"].startswith("dsh_")
    stored = await ada.data("GET", f"/dashboards/{made['id']}")
    assert stored == made
    first, second = stored["panels"]
    assert first == {**PANEL, "query": {**QUERY, "startDate": None, "endDate": None}}
    assert (second["chart"], second["width"], second["height"]) == ("line", 6, 4)
    for panel in stored["panels"]:
        answer = await ada.data("POST", "/analytics/query", json=panel["query"])
        assert answer["total"] == (0 if panel is first else 1)


async def test_a_dashboard_is_changed_and_deleted(service: Service) -> None:
    ada = await service.sign_up()
    made = await ada.data("POST", "/dashboards", json={"name": "Costs"})
    assert (made["panels"], made["isShared"]) == ([], False)
    path = f"/dashboards/{made['id']}"
    changed = await ada.data("PUT", path, json={"panels": [PANEL], "isShared": True})
    assert changed["name"] == "Costs"
    assert [panel["title"] for panel in changed["panels"]] == ["Cost by model"]
    listed = await ada.data("GET", "/dashboards")
    assert [dashboard["id"] for dashboard in listed] == [made["id"]]
    await ada.data("DELETE", path)
    assert await ada.data("GET", "/dashboards") == []
    workspace = ada.user["defaultWorkspaceId"]
    entries = await ada.data("GET", f"/workspaces/{workspace}/audit")
    actions = [entry["action"] for entry in entries if entry["action"].startswith("dashboard.")]
    assert actions == ["dashboard.deleted", "dashboard.changed", "dashboard.created"]


async def test_an_invalid_panel_is_refused(service: Service) -> None:
    ada = await service.sign_up()
    panels: list[tuple[dict[str, Any], str]] = [
        ({"title": ""}, "title"),
        ({"chart": "pie"}, "chart"),
        ({"width": 13}, "width"),
        ({"query": {"measures": []}}, "query.measures"),
        ({"query": {"measures": ["speed"]}}, "query.measures.0"),
        ({"query": {"measures": ["count"], "groupBy": ["name"]}}, "query.groupBy.0"),
        ({"query": {"measures": ["count"], "orderBy": {"field": "cost"}}}, "query"),
    ]
    for panel, field in panels:
        body = {"name": "Costs", "panels": [{**PANEL, **panel}]}
        refused = await ada.call("POST", "/dashboards", json=body)
        assert_error(refused, 400, f"panels.0.{field}")
