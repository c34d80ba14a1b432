"""The field that names the workspace of a record for the engine cannot be set by a sender.

It is planted at every level of an export, in every form that the engine could read.
"""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.message import Message

from spanwise.ingest.protobuf_wire import bytes_field, varint
from support.otlp import Exporter, make_logs, make_metrics, make_span, make_traces
from support.service import Person, Service

# Of an export, a resource, a scope and an item: the fields on the way down.
DEPTHS = ((), (1,), (1, 2), (1, 2, 2))
EXPORTS: dict[str, Callable[[], Message]] = {
    "/api/otlp/v1/traces": lambda: make_traces([make_span(name="planted")]),
    "/api/otlp/v1/logs": lambda: make_logs("planted"),
    "/api/otlp/v1/metrics": lambda: make_metrics("planted"),
}
READS = ("/spans/traces", "/spans", "/logs", "/signals", "/metrics/names", "/agents")


def plant(data: bytes, depth: tuple[int, ...], field: bytes, *, at_start: bool) -> bytes:
    """Add a field to the first message at a depth."""
    if not depth:
        return field + data if at_start else data + field
    number, length, rest = data[0] >> 3, *read_varint(data[1:])
    assert number == depth[0]
    inner = plant(rest[:length], depth[1:], field, at_start=at_start)
    return bytes_field(number, inner) + rest[length:]


def read_varint(data: bytes) -> tuple[int, bytes]:
    value = 0
    for place, byte in enumerate(data):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, data[place + 1 :]
    raise AssertionError(data)


def forms(workspace: str) -> list[bytes]:
    name = bytes_field(1, workspace.encode())
    head = bytes_field(100, name)
    group = varint(100 << 3 | 3) + name + varint(100 << 3 | 4)
    return [head, bytes_field(100, name + varint(2 << 3) + b"\x01"), head * 3, group]


@pytest.mark.parametrize("path", EXPORTS)
async def test_a_planted_workspace_has_no_effect(service: Service, path: str) -> None:
    thief, victim = await service.sign_up(), await service.sign_up()
    exporter = Exporter(service.http, (await thief.new_key(scopes=["ingest"]))["key"])
    answers = set()
    for depth in DEPTHS:
        # Only a message that starts with its list can be walked down to its first item.
        for field in forms(victim.user["defaultWorkspaceId"]):
            for at_start in (True, False):
                body = shorten(path).SerializeToString()
                planted = plant(body, depth, field, at_start=at_start)
                answers.add((await exporter.post(planted, path)).status_code)
    assert answers <= {200, 400}
    assert 200 in answers
    assert await found_by(victim) == []
    assert await found_by(thief) != []


def shorten(path: str) -> Message:
    """Return the export without resources and names of scopes, which would come first."""
    message = EXPORTS[path]()
    for resource in getattr(message, message.DESCRIPTOR.fields[0].name):
        resource.ClearField("resource")
    return message


async def found_by(person: Person) -> list[str]:
    return [path for path in READS if await person.data("GET", path)]


async def test_a_workspace_in_a_rest_body_has_no_effect(service: Service) -> None:
    thief, victim = await service.sign_up(), await service.sign_up()
    workspace = victim.user["defaultWorkspaceId"]
    names = ("workspace", "workspaceId", "workspace_id", "_workspace", "head")
    planted: dict[str, Any] = dict.fromkeys(names, workspace)
    resource: dict[str, Any] = {
        "resource": planted,
        "attributes": planted | {"spanwise.workspace": workspace},
    }
    times = {"startTime": "2026-01-31T12:00:00Z", "endTime": "2026-01-31T12:00:01Z"}
    bodies: dict[str, dict[str, Any]] = {
        "/spans": {"name": "planted", "spanId": "b7ad6b7169203331", **times},
        "/logs": {"message": "planted"},
        "/signals": {"signalName": "planted", "value": 1},
    }
    ids = {"traceId": "0af7651916cd43dd8448eb211c80319c"}
    for path, body in bodies.items():
        for more in (planted, resource, {}):
            sent = await thief.call("POST", path, json={**ids, **body, **more})
            assert sent.status_code in {201, 400}, sent.text
        sent = await thief.call(
            "POST", path, json={**ids, **body}, headers={"X-Workspace-Id": workspace}
        )
        assert sent.status_code == 404, sent.text
    assert await found_by(victim) == []
    assert await found_by(thief) != []
