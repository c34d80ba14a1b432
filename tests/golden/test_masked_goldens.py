"""Recorded exports keep their usage, costs and names under masking rules."""

from typing import Any

import pytest

from golden.test_goldens import COPIED, WITH_SPANS, Golden, _id, send
from support.service import Person, Service

METADATA_ONLY = {"mode": "metadataOnly"}


async def sign_up_with(service: Service, rules: dict[str, Any]) -> Person:
    person = await service.sign_up()
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/masking"
    await person.data("PUT", path, json=rules)
    return person


async def read_spans(person: Person) -> dict[str, dict[str, Any]]:
    traces = await person.data("GET", "/spans/traces", params={"limit": 100})
    details = [await person.data("GET", f"/spans/traces/{t['traceId']}") for t in traces]
    return {span["spanId"]: span for trace in details for span in trace["spans"]}


@pytest.mark.parametrize("golden", WITH_SPANS, ids=_id)
async def test_metadata_only_removes_nothing_but_contents(service: Service, golden: Golden) -> None:
    plain, masked = await service.sign_up(), await sign_up_with(service, METADATA_ONLY)
    await send(plain, golden)
    await send(masked, golden)
    expected, got = await read_spans(plain), await read_spans(masked)
    for span_id, span in expected.items():
        kept = got[span_id]
        fields = (*COPIED, "name", "cost", "durationMs")
        assert {name: kept[name] for name in fields} == {name: span[name] for name in fields}
        assert (kept["input"], kept["output"]) == (None, None)
