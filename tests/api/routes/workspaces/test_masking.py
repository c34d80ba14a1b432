"""Masking rules: who may set them, what is refused, and the preview."""

from typing import Any

from support.service import Person, assert_error
from support.spans import span
from support.teams import Team

RULES = {
    "mode": "mask",
    "detectors": ["email", "secret"],
    "patterns": [{"name": "ticket", "regex": "TICKET-[0-9]+"}],
    "dropAttributes": ["internal.*"],
}


async def test_rules_apply_from_the_next_request_on(person: Person) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}"
    off = (await person.data("GET", path))["masking"]
    assert off == {"mode": "off", "detectors": [], "patterns": [], "dropAttributes": []}
    assert await person.data("PUT", f"{path}/masking", json=RULES) == RULES
    assert (await person.data("GET", path))["masking"] == RULES
    text = "ann@example.com asks about TICKET-77"
    attributes = {"internal.host": "db1", "public": "yes"}
    sent = span(name="ask", kind="llm", input=text, attributes=attributes)
    await person.data("POST", "/spans", json={"spans": [sent]})
    [trace] = await person.data("GET", "/spans/traces", params={"search": "ticket"})
    stored = str(await person.data("GET", f"/spans/traces/{trace['traceId']}"))
    assert "[email] asks about [ticket]" in stored
    assert "internal.host" not in stored
    assert await person.data("GET", "/spans/traces", params={"search": "ann"}) == []
    [entry] = await person.data("GET", f"{path}/audit", params={"type": "masking.changed"})
    assert entry["data"] == RULES
    await person.data("PUT", f"{path}/masking", json={"mode": "off"})
    await person.data("POST", "/spans", json={"spans": [span(name="open", input=text)]})
    assert len(await person.data("GET", "/spans/traces", params={"search": "ann"})) == 1


async def test_a_preview_shows_what_would_be_kept(person: Person) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/masking/preview"
    text = "ann@example.com, TICKET-77"
    kept = await person.data("POST", path, json={"text": text})
    assert kept == {"text": text}
    kept = await person.data("POST", path, json={"text": text, "rules": RULES})
    assert kept == {"text": "[email], [ticket]"}
    only = {"text": text, "rules": {"mode": "metadataOnly"}}
    assert await person.data("POST", path, json=only) == {"text": ""}


async def test_invalid_rules_are_refused(person: Person) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}"
    invalid: list[tuple[dict[str, Any], str]] = [
        ({"mode": "mask", "detectors": ["shoe size"]}, "detectors.0"),
        ({"mode": "mask", "patterns": [{"name": "a", "regex": "("}]}, "patterns.0.regex"),
    ]
    for rules, field in invalid:
        assert_error(await person.call("PUT", f"{path}/masking", json=rules), 400, field)
    assert (await person.data("GET", path))["masking"]["mode"] == "off"


async def test_only_admins_change_rules(team: Team) -> None:
    path = f"{team.path}/masking"
    assert_error(await team.editor.call("PUT", path, json=RULES), 403)
    await team.admin.data("PUT", path, json=RULES)
