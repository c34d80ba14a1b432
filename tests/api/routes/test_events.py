"""URLs of webhooks may be secrets: who may not manage them sees them shortened."""

from typing import Any

from support.service import Service
from support.teams import make_team

URL = "https://hooks.invalid/services/T0/B0/very-secret"
SHORT = "https://hooks.invalid/…cret"


async def test_only_those_who_manage_webhooks_see_their_urls(service: Service) -> None:
    team = await make_team(service)
    as_owner: dict[str, Any] = {"headers": team.header}
    hook = await team.owner.data("POST", "/events/webhooks", json={"url": URL}, **as_owner)
    assert hook["url"] == URL
    await team.owner.data("POST", f"/events/webhooks/{hook['id']}/test", **as_owner)
    await team.owner.data("POST", "/agents", json={"name": "planner"}, **as_owner)
    notify = {"notify": {"webhooks": [{"url": URL}]}}
    for path in ("/alerts/settings", "/agents/planner/alerts"):
        await team.owner.data("PUT", path, json=notify, **as_owner)
    headers = {role: (person, team.header) for role, person in team.by_role.items()}
    for scope in ("read", "full"):
        key = await team.owner.data(
            "POST", "/keys", json={"name": scope, "scopes": [scope]}, **as_owner
        )
        headers[scope] = (team.owner, {"Authorization": f"Bearer {key['key']}"})
    paths = {
        "/events/webhooks": {"owner", "admin", "full"},
        "/events/deliveries": {"owner", "admin", "full"},
        f"/events/webhooks/{hook['id']}/deliveries": {"owner", "admin", "full"},
        "/alerts/settings": {"owner", "admin", "editor", "full"},
        "/agents": {"owner", "admin", "editor", "full"},
        "/agents/planner": {"owner", "admin", "editor", "full"},
    }
    for path, shown in paths.items():
        for name, (person, header) in headers.items():
            answer = await person.call("GET", path, headers=header)
            assert answer.status_code == 200, (path, name)
            assert (URL in answer.text) is (name in shown), (path, name)
            assert (SHORT in answer.text) is (name not in shown), (path, name)
