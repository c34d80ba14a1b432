"""Trace ids of every shape."""

import pytest

from support.service import Service
from support.spans import span


@pytest.mark.parametrize("trace_id", ["ab" * 15 + "00", "00" * 8 + "ab" * 8, "ab" * 8 + "00" * 8])
async def test_an_id_that_starts_or_ends_with_zero_bytes_is_found(
    service: Service, trace_id: str
) -> None:
    person = await service.sign_up()
    sent = span(trace_id)
    await person.data("POST", "/spans", json=sent)
    assert [t["traceId"] for t in await person.data("GET", "/spans/traces")] == [trace_id]
    found = await person.data("GET", f"/spans/traces/{trace_id}")
    assert (found["traceId"], found["spanCount"]) == (trace_id, 1)
    alone = await person.data("GET", f"/spans/traces/{trace_id}/spans/{sent['spanId']}")
    assert alone["spanId"] == sent["spanId"]
